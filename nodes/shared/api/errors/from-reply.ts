import { formatAdvice, type Advice, type OptionName } from './advice';
import { describeError } from './describe';
import {
	NetworkError,
	ApiError,
	type ErrorDetails,
	type ModelAccessError,
	type Refusal,
} from './errors';
import { impliedStatus } from './error-body';
import {
	adviseOn,
	HTML_ADVICE,
	isQuotaExhausted,
	type Evidence,
	type ErrorSource,
} from './evidence';
import { readErrorFields } from './gateway-error';
import { getReplyIds } from './reply-ids';
import { quoteMessage, sanitizeField, type Redact } from './sanitize';
import { parseJson } from '../http/json';
import { faultOutcome, statusOutcome, type Outcome, type RequestKind } from '../http/retry';
import { parseRetryAfter } from '../http/retry-after';
import { statusMeaning } from './status-table';
import type { Clock } from '../http/clock';
import { header, type FaultKind, type GatewayReply, type TransportFault } from '../http/transport';

/** Whether a reply is a web page: a wrong address, a login page, a firewall. Contract, "Errors" 5. */
export function isHtml(reply: GatewayReply): boolean {
	return (
		/\bhtml\b/i.test(header(reply.headers, 'content-type') ?? '') ||
		/^\s*<(!doctype|html|head|body)\b/i.test(reply.body.slice(0, 1000))
	);
}

export { HTML_ADVICE };

/** What to do where a request may have been executed although its answer is not here. */
export const MAYBE_EXECUTED_ADVICE: Record<Exclude<RequestKind, 'read'>, string> & {
	read?: undefined;
} = {
	response:
		'The request may have been executed and charged. Check the usage in the gateway’s console before you send it again.',
	image:
		'An image task may exist and be charged although no task ID arrived. Check the usage in the gateway’s console before you submit it again.',
};

/** What went wrong with one request, before it is known whether it is final. */
export interface Failure {
	outcome: Outcome;
	advice: string;
	details: Omit<ErrorDetails, 'advice' | 'retryable'>;
	toError(details: ErrorDetails): ModelAccessError;
}

/** The details of a failure, now that it is known what the request was. */
export function getErrorDetails(
	{ advice, details, outcome }: Failure,
	kind: RequestKind,
	mayRetry: boolean,
	executed: boolean,
): ErrorDetails {
	const doubt = executed ? MAYBE_EXECUTED_ADVICE[kind] : undefined;
	return {
		...details,
		...(kind === 'image' && isRefusal(outcome) && { refusal: outcome }),
		advice: [doubt, advice].filter(Boolean).join(' '),
		retryable: mayRetry && (kind === 'read' || !executed),
		...(executed && kind !== 'read' && { maybeExecuted: true }),
	};
}

const isRefusal = (outcome: Outcome): outcome is Refusal =>
	outcome === 'rateLimited' || outcome === 'unavailable';

/** Where the reply to a request comes from. */
export function getErrorSource(kind: RequestKind, path: string): ErrorSource {
	if (kind === 'response') return 'response';
	if (kind === 'image') return 'imageSubmit';
	return path.startsWith('/models') ? 'modelList' : 'taskPoll';
}

/**
 * A reply with an error status, or with an error instead of an answer, as a failure.
 * @see contract, "Errors"
 */
export function failureFromReply(
	{ redact, time, optionNames }: { redact: Redact; time: Clock; optionNames?: ReadonlySet<string> },
	reply: GatewayReply,
	source: ErrorSource,
): Failure {
	const { body, ...said } = gatewayError(redact, reply);
	const status = reply.status < 300 ? (impliedStatus(said) ?? reply.status) : reply.status;
	const evidence = { ...said, status, body, source };
	const { kind, title = statusMeaning(status).title, advice } = adviseOn(evidence);
	return {
		outcome: getOutcome(evidence, reply),
		advice: formatAdvice(advice, optionNames),
		details: {
			finding: kind,
			httpStatus: status,
			type: said.type,
			code: said.code,
			...getReplyIds(redact, reply),
			retryAfter: parseRetryAfter(reply.headers, time.now()),
		},
		toError: (details) => new ApiError(describeError({ title, status, ...said }), details),
	};
}

/** @returns of an error in a success reply that names no status: in doubt */
function getOutcome(evidence: Evidence & { status: number }, reply: GatewayReply): Outcome {
	if (evidence.status < 300) return 'inDoubt';
	// What a proxy or a busy moment puts instead of a task or a list is looked at again.
	const isFree = evidence.source === 'modelList' || evidence.source === 'taskPoll';
	if (reply.status < 300 && isFree && evidence.status !== 401) return 'inDoubt';
	const isUsedUp = evidence.status === 429 && isQuotaExhausted(evidence);
	return isUsedUp ? 'quotaExhausted' : statusOutcome(evidence.status);
}

/** What the ID of a request is good for whose reply never came. */
const ASK_BY_ID =
	'Give the request ID to the gateway’s operator, or look it up in the gateway’s console.';

const FAULT_MEANINGS: Record<FaultKind, { title: string; advice: string }> = {
	unreached: {
		title: 'The gateway cannot be reached',
		advice:
			'Check the Base URL of the credential, that the gateway is running, and that this machine may connect to it.',
	},
	timeout: {
		title: 'The gateway did not answer in time',
		advice: 'The gateway, or a proxy in front of it, may be overloaded.',
	},
	lost: {
		title: 'The connection to the gateway was lost before its answer arrived',
		advice: 'Check the network and the proxies between n8n and the gateway.',
	},
	certificate: {
		title: 'The gateway’s TLS certificate is not accepted',
		advice:
			'Check the host in the Base URL: the gateway needs a valid certificate for it. The nodes always verify it, to protect the API key.',
	},
	clientCertificate: {
		title: 'The gateway asks for a client certificate',
		advice:
			'These nodes cannot send one. Ask the gateway’s operator for an address that needs none, or run a proxy that adds the certificate.',
	},
	handshake: {
		title: 'The gateway refuses the TLS handshake',
		advice:
			'It may require a client certificate, which these nodes cannot send, or another TLS version. Ask the gateway’s operator.',
	},
	tls: {
		title: 'The gateway’s address does not speak TLS, which https needs',
		advice: 'Check the Base URL of the credential: https or http, and the port.',
	},
	blocked: {
		title: 'n8n’s SSRF protection blocked the gateway’s address',
		advice:
			'The address is in a private network that this n8n instance does not allow. Ask its administrator to allow the host.',
	},
};

/**
 * A missing reply, as a failure.
 * @param limit what bounds the time
 * @param more the options that its reader can set, and the request's ID
 */
export function failureFromFault(
	fault: TransportFault,
	limit: OptionName,
	{ optionNames, sentId }: { optionNames?: ReadonlySet<string>; sentId?: string } = {},
): Failure {
	const { kind } = fault;
	const { title, advice } = FAULT_MEANINGS[kind];
	const reason = fault.detail ?? fault.code;
	const longer: Advice =
		kind === 'timeout'
			? [{ ifOption: limit, text: `Raise the ${limit} option if the request needs longer.` }]
			: [];
	const outcome = faultOutcome(kind);
	const isDoubt = sentId !== undefined && outcome === 'inDoubt';
	return {
		outcome,
		advice: formatAdvice([advice, ...longer, isDoubt ? ASK_BY_ID : ''], optionNames),
		details: { ...(isDoubt && { requestId: sentId }) },
		toError: (details) => new NetworkError(reason ? `${title} (${reason})` : title, details),
	};
}

/** For a request that waited behind others which the gateway refused, and was never sent. */
export function neverSent({ optionNames }: { optionNames?: ReadonlySet<string> }): ApiError {
	const { title, advice } = statusMeaning(429);
	return new ApiError(`${title} (HTTP 429): this item was not sent within its time limit`, {
		httpStatus: 429,
		retryable: true,
		advice: formatAdvice(['Nothing was sent for this item.', ...advice], optionNames),
	});
}

/** What an error reply says, fit for a message. */
interface GatewayError {
	type?: string;
	code?: string;
	message?: string;
	/** Whether the gateway passes on an error of its provider. */
	fromProvider?: boolean;
	/** What the body is where it is no JSON; absent: JSON, or nothing. */
	body?: 'html' | 'text';
}

/** The error object of the contract ("Resources"), or what else of the body can be quoted. */
function gatewayError(redact: Redact, reply: GatewayReply): GatewayError {
	const quote = (value: unknown) => sanitizeField(redact, value);
	const body = parseJson(reply.body);
	if (body === undefined && isHtml(reply)) {
		return { message: 'a web page (HTML) instead of JSON', body: 'html' };
	}
	const { type, code, message, fromProvider } = readErrorFields(body);
	const isText = body === undefined && reply.body.trim() !== '';
	return {
		type: quote(type),
		code: quote(typeof code === 'number' ? String(code) : code),
		message: quoteMessage(redact, message) ?? quoteMessage(redact, reply.body),
		...(fromProvider && { fromProvider }),
		...(isText && { body: 'text' as const }),
	};
}

/** What is known of a success reply that can't be used, by the kind of request. */
export function unusableReply(
	kind: RequestKind,
): Pick<ErrorDetails, 'advice' | 'retryable' | 'maybeExecuted'> {
	if (kind !== 'read') {
		return { advice: MAYBE_EXECUTED_ADVICE[kind], retryable: false, maybeExecuted: true };
	}
	const advice = 'The address may not belong to a gateway with the Model Access API.';
	return { advice, retryable: true };
}
