import { formatAdvice, type Advice } from '../errors/advice';
import { adviseOn, HTML_ADVICE } from '../errors/evidence';
import { STATUS_TABLE, statusMeaning } from '../errors/status-table';

/*
 * What the test of the credential says. n8n's own test matches the status of an error, not its
 * body. In a success it compares single fields with single values. The texts on the statuses also
 * cover what the codes of error replies would tell.
 */

/** What the model list says of itself by a status, with what to do. */
export interface StatusMessage {
	status: number;
	message: string;
}

/** A field of a success reply, and what its value means. */
export interface BodyMessage {
	/** A path with dots. */
	key: string;
	value: unknown;
	message: string;
}

const REDIRECTS = [300, 301, 302, 303, 307, 308];
const WRONG_PATH = [405, 410, 501];
/** Cloudflare's own, of a gateway behind it. */
const BEHIND_CLOUDFLARE = [520, 521, 522, 523, 524, 525, 526, 530];

const CHECK_BOTH = 'Check the Base URL and the API key of the credential.';
const CHECK_PATH = 'Check the Base URL of the credential: it ends in /v1, with nothing after it.';

/** What a status means for the model list, where the general words do not fit. */
const OF_MODEL_LIST: Record<number, { title?: string; advice: Advice }> = {
	400: { advice: [`${CHECK_BOTH} Some gateways answer this to a key that they do not know.`] },
	402: {
		title: 'The balance is used up',
		advice: ['Top up the balance in the gateway’s console, or use another key.'],
	},
	407: {
		title: 'A proxy on the way to the gateway asks for a login',
		advice: ['Check the proxy settings of n8n with its administrator.'],
	},
	426: { title: 'The address needs https', advice: ['Begin the Base URL with https://.'] },
	429: {
		advice: [
			'Wait a minute, then test again. If the error stays, the key’s quota is used up. Raise it in the gateway’s console, or use another key.',
		],
	},
	502: {
		title: 'The gateway, or a proxy in front of it, got an invalid reply',
		advice: ['Check that the gateway is running, then test again.'],
	},
	504: {
		title: 'The gateway, or a proxy in front of it, waited too long',
		advice: ['Check that the gateway is running, then test again.'],
	},
	...Object.fromEntries(WRONG_PATH.map((status) => [status, { advice: [CHECK_PATH] }])),
	...Object.fromEntries(
		BEHIND_CLOUDFLARE.map((status) => [
			status,
			{
				title: 'Cloudflare cannot reach the gateway behind it',
				advice: ['Check that the gateway is running, or tell its operator.'],
			},
		]),
	),
};

const asMessage = (title: string, advice: Advice) => `${title}. ${formatAdvice(advice)}`;

/** What the test says of each status. */
export function statusMessages(): StatusMessage[] {
	const known = [...REDIRECTS, ...Object.keys(STATUS_TABLE), ...Object.keys(OF_MODEL_LIST)];
	return [...new Set(known.map(Number))].map((status) => {
		const own = OF_MODEL_LIST[status];
		const { advice } = own ?? adviseOn({ status, source: 'modelList' });
		return { status, message: asMessage(own?.title ?? statusMeaning(status).title, advice) };
	});
}

/** Codes of keys that are expired, disabled, used up, or not known, as gateways in use write them. */
const CODES = [
	...['API_KEY_EXPIRED', 'api_key_expired', 'key_expired', 'token_expired', 'expired_key'],
	...['API_KEY_DISABLED', 'api_key_disabled', 'key_disabled', 'USER_INACTIVE'],
	...['API_KEY_REVOKED', 'api_key_revoked', 'account_disabled'],
	...['API_KEY_QUOTA_EXHAUSTED', 'USAGE_LIMIT_EXCEEDED', 'insufficient_quota', 'quota_exceeded'],
	...['INSUFFICIENT_BALANCE', 'insufficient_balance', 'insufficient_user_quota'],
	...['INVALID_API_KEY', 'invalid_api_key', 'API_KEY_REQUIRED', 'ACCESS_DENIED'],
];

/** Where gateways put a code. */
const CODE_PATHS = ['code', 'error.code', 'error.type'];

const NO_LIST = `The address answers, but not with a list of models. ${HTML_ADVICE}`;

/** What the test says of a success reply; the first that fits counts. */
export function bodyMessages(): BodyMessage[] {
	const codes = CODES.flatMap((code) => {
		const { title = statusMeaning(401).title, advice } = adviseOn({ code, source: 'modelList' });
		const message = asMessage(title, advice);
		return CODE_PATHS.map((key) => ({ key, value: code, message }));
	});
	const noList = [undefined, null].map((value) => ({ key: 'data', value, message: NO_LIST }));
	return [...codes, ...noList];
}
