import * as faults from '../../gateway/faults/catalogue';
import { ALL_SITES, API_SITES, type CallSite } from './call-sites';
import { at, fails, row, type Expected, type Failure, type Row } from './expected';
import { MODES } from './harness';

type Sentences = Failure['advice'];

/** A call site for each column of the retry table. */
const EACH_KIND: CallSite[] = ['models', 'response', 'generate', 'download'];

export const REQUEST = { request_id: '{request}' };

type Status = ReturnType<typeof status>;

const status = (status: number, outcome: Failure['outcome'], title: string, advice: Sentences) => {
	return { status, outcome, title, advice };
};

/** A status for each row of the retry table: each call site is tried, and each choice of On Error. */
const EVERYWHERE = [400, 500, 502, 503];

const UNLISTED = 'Check the request and the credential.';

/** What each status means. To add one is a line. */
// prettier-ignore
export const STATUSES: Status[] = [
	status(400, 'refused', 'The gateway refused the request as invalid', ['Fix the request: a field is missing, has the wrong type, or is not allowed here.']),
	status(401, 'refused', 'The gateway did not accept the API key', ['Fix the credential: copy the key again from the gateway’s console, or create a new one.', 'Some gateways also answer this to a used-up key, a missing permission, or an address that they do not allow.']),
	status(403, 'refused', 'The gateway does not permit this', ['The key or its group lacks this permission (such as images), or the balance is used up. Check both in the gateway’s console. Some gateways also refuse the address of this n8n.']),
	status(404, 'refused', 'The gateway does not know this address or model', ['Check the Base URL of the credential (it ends in /v1), and that the key’s list has the model. For images, the gateway’s asynchronous tasks may be turned off.']),
	status(408, 'doubt', 'The request did not complete in time', ['Check the time-outs on the way to the gateway.']),
	status(413, 'refused', 'The request is too large for the gateway', ['Shrink or split the input or the file.']),
	status(418, 'refused', 'The gateway refused the request', [UNLISTED]),
	status(429, 'later', 'The gateway’s rate limit is reached', ['Wait, or raise the limit in the gateway’s console.', { ifOption: 'Concurrency', text: 'Lower the Concurrency option to work on fewer items at once.' }]),
	status(499, 'refused', 'The connection was closed before the gateway answered', ['Check the time-outs of proxies between n8n and the gateway.']),
	status(500, 'internal', 'The gateway had an internal error', ['If the error stays, report it to the gateway’s operator.']),
	status(502, 'doubt', 'The gateway got an invalid reply from the model’s provider', ['Test the connection with a small request, such as Model → Get Many.']),
	status(503, 'later', 'The gateway is overloaded or partly unavailable', ['Try again later.']),
	status(504, 'doubt', 'The gateway waited too long for the model', ['Send a smaller request.', { ifOption: 'Stream', text: 'Turn on Stream for long answers.' }]),
	status(520, 'doubt', 'The gateway failed', ['If the error stays, report it to the gateway’s operator.']),
	status(529, 'later', 'The gateway is overloaded or partly unavailable', ['Try again later.']),
];

const FORBIDDEN =
	'The key or its group lacks this permission, or the balance is used up. Check both in the gateway’s console. Some gateways also refuse the address of this n8n.';

const IMAGES_OFF = 'For images, the gateway’s asynchronous tasks may be turned off.';

/** What a status means at a call site where the table's advice says more than can be true there. */
const AT_SITE: Record<number, Partial<Record<CallSite, Sentences>>> = {
	403: { models: [FORBIDDEN], response: [FORBIDDEN] },
	404: {
		models: ['Check the Base URL of the credential (it ends in /v1).'],
		// The list of models is asked, and settles both the address and the model.
		response: ['The key’s list has'],
		generate: ['The key’s list has', IMAGES_OFF],
	},
};

const ofStatus = (code: number) => STATUSES.find((one) => one.status === code)!;

/** The status, and the gateway's own code where it has one. */
const shown = (status: number, { code }: Record<string, unknown>) =>
	typeof code === 'string' ? `${status}, ${code}` : String(status);

/** Where the queue waits, by kind of request, and not each for itself. */
const QUEUED: Record<number, Failure['ofKind']> = {
	429: { response: { waits: [2, 4, 8] }, image: { sent: 7, waits: [2, 4, 8, 16, 30, 30] } },
	503: { image: { waits: [15, 20, 30] } },
	529: { image: { waits: [15, 20, 30] } },
};

/** A status of the gateway; `quote` is what the error shows of the body. */
const refusal = (
	{ status: code, outcome, title, advice }: Status,
	quote: string,
	details: Record<string, unknown> = {},
	more: Partial<Failure> = {},
) =>
	fails(outcome, `${title} (HTTP ${shown(code, details)})${quote && `: ${quote}`}`, advice, {
		details: { http_status: code, ...details, ...REQUEST },
		ofKind: QUEUED[code],
		...more,
	});

export const STORAGE_FAULT = 'The storage host or the network failed.';

const ASK_OPERATOR = 'Ask the gateway’s operator.';

export const noImage = (what: string) =>
	fails('unusable', `${what} came instead of an image`, [
		'Open the image_url of the task in a browser to see what the storage host answers.',
	]);

export function stored(code: number, more: Partial<Failure> = {}): Failure {
	const details = { http_status: code };
	if ([403, 404, 410].includes(code)) {
		const advice = `The image is paid for, but the task names no other link. ${ASK_OPERATOR}`;
		const message = `HTTP ${code}, the link no longer works`;
		return fails('refused', message, [advice], { details, ...more });
	}
	const isPassing = code === 408 || code === 429 || code >= 500;
	const advice = [isPassing ? STORAGE_FAULT : ASK_OPERATOR];
	return fails(isPassing ? 'later' : 'refused', `HTTP ${code}`, advice, { details, ...more });
}

const CODED = { type: 'some_type', code: 'some_code' };

const WRONG_ID =
	'The task ID is wrong, the task has expired, or another API key submitted it. Use the credential that submitted the task.';
const UNKNOWN = 'The gateway knows no image task "{task}" (HTTP 404)';
const UNKNOWN_TASK = fails('refused', UNKNOWN, [WRONG_ID], {
	details: { http_status: 404, ...CODED, ...REQUEST },
});

const atSites = (each: Status): Expected =>
	Object.fromEntries(
		Object.entries(AT_SITE[each.status] ?? {}).map(([site, advice]) => [
			site,
			refusal({ ...each, advice }, `because of ${each.status}`, CODED),
		]),
	);

const statusRows = STATUSES.map((each): Row => {
	const { status: code } = each;
	const everywhere = EVERYWHERE.includes(code);
	const expected: Expected = {
		...at(everywhere ? ALL_SITES : EACH_KIND, refusal(each, `because of ${code}`, CODED)),
		...atSites(each),
		...(code === 404 && { get: UNKNOWN_TASK, wait: UNKNOWN_TASK }),
		download: stored(code),
	};
	const fault = { ...faults.statusFault(code), name: `HTTP ${code}` };
	return row('Statuses', fault, expected, everywhere && { modes: MODES });
});

export const WEB_PAGE = 'a web page (HTML) instead of JSON';

export const WEB_PAGE_ADVICE =
	'The Base URL may be wrong, or a login page or a firewall answered. Open the Base URL of the credential in a browser to see the page.';

/** What an error quotes of each body: once, whatever its status. */
const ERROR_BODIES: Array<[faults.ErrorContent, quote: string, advice?: string]> = [
	['nothing', ''],
	['plain text', 'upstream is sad [31m'],
	['a web page', WEB_PAGE, WEB_PAGE_ADVICE],
	['{}', '{}'],
	['256 KB of text', `${'very '.repeat(100).trimEnd()}…`],
];

const errorBodyRows = ERROR_BODIES.map(([content, quote, advice]): Row => {
	const fault = faults.statusFault(400, content);
	const { advice: ofTheStatus, ...invalid } = ofStatus(400);
	const failure = refusal({ ...invalid, advice: advice ? [advice] : ofTheStatus }, quote);
	const expected = { ...at(['models', 'stream'], failure), download: stored(400) };
	return row('Bodies of errors', fault, expected);
});

/** Longer than any time that is left. */
const TOO_LONG = 1000;

/** Refused by 429 an image is sent again until Max Wait. */
function waitsFor(code: number, seconds: number): Partial<Failure> {
	if (seconds >= TOO_LONG) return { sent: 1, waits: [] };
	const waits = [seconds, seconds, seconds];
	if (code !== 429 || seconds === 0) return { waits, ofKind: {} };
	const times = Math.floor(100 / seconds);
	const image = { sent: times + 1, waits: Array<number>(times).fill(seconds) };
	return { waits, ofKind: { image } };
}

function asked(code: number, form: string): Row {
	const { seconds } = faults.RETRY_AFTERS[form]!;
	const limits = ['rate_limit_error', 'rate_limit_exceeded'];
	const [type, kind] = code === 429 ? limits : ['overloaded_error', 'service_unavailable'];
	const more = seconds === undefined ? {} : waitsFor(code, seconds);
	const limited = refusal(ofStatus(code), 'not now', { type, code: kind }, more);
	if (more.sent)
		limited.advice = [`It asked to wait ${seconds} s, which is longer than the time left.`];
	const isFirst = form === 'Retry-After: 7';
	const expected = {
		...at(isFirst ? ['models', 'generate'] : ['models'], limited),
		...((isFirst || more.sent) && { download: stored(code, more) }),
	};
	return row('Retry-After in every form', faults.retryAfterFault(code, form), expected);
}

const REDIRECT = [
	'Check the Base URL of the credential. Usual causes are http instead of https, a missing path, or a login page. The nodes follow no redirect, because the key would go to the other address.',
];

const SIX = { sent: 6, waits: [0, 0, 0, 0, 0] };
const TOO_MANY = fails('refused', 'more than 5 redirects', [ASK_OPERATOR], SIX);

const NO_IMAGE = noImage('JSON');

const NO_WEB_ADDRESS = fails('refused', 'its address is not a web address', [ASK_OPERATOR]);

/** Redirects, and what comes of them at the storage. The gateway's are never followed. */
const REDIRECTS: Array<[status: number, target: string, atStorage: Failure]> = [
	[301, 'another origin', NO_IMAGE],
	[307, 'another origin', NO_IMAGE],
	[302, 'a host without a scheme', NO_IMAGE],
	[302, 'itself, in a loop', TOO_MANY],
	[302, 'a file', NO_WEB_ADDRESS],
	[302, 'nowhere', stored(302)],
];

const redirectRows = REDIRECTS.map(([code, target, atStorage]): Row => {
	const fault = faults.redirectFault(code, target);
	const title = 'The gateway’s address redirects to another one';
	const own = status(code, 'refused', title, REDIRECT);
	const isFirst = code === 307 && target === 'another origin';
	const sites: CallSite[] = isFirst ? API_SITES : ['models'];
	const expected = { ...at(sites, refusal(own, '')), download: atStorage };
	return row('Redirects', fault, expected);
});

export const STATUS_ROWS: Row[] = [
	...statusRows,
	...errorBodyRows,
	...Object.keys(faults.RETRY_AFTERS).map((form) => asked(429, form)),
	asked(503, 'Retry-After: 7'),
	...redirectRows,
];
