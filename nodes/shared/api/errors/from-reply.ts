import { formatAdvice, type Advice, type OptionName } from './advice';
import { NetworkError, ApiError, type ErrorDetails, type ModelAccessError } from './errors';
import { sanitizeField, type Redact } from './sanitize';
import { asRecord, parseJson } from '../http/json';
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

export const HTML_ADVICE =
	'A web page in place of JSON points to a wrong Base URL, a login page of a proxy, or a firewall in front of the gateway. Open the Base URL of the credential in a browser to see the page.';

/** What to do where a request may have been executed although its answer is not here. */
export const MAYBE_EXECUTED_ADVICE: Record<Exclude<RequestKind, 'read'>, string> & {
	read?: undefined;
} = {
	response:
		'The request may have been executed and charged. Check the usage in the gateway’s console before you send it again.',
	image:
		'An image task may exist and be charged although no task ID arrived. Check the usage in the gateway’s console before you submit it again.',
};

/** What went wrong with one exchange, before it is known whether it is final. */
export interface Failure {
	outcome: Outcome;
	advice: string;
	details: Omit<ErrorDetails, 'advice' | 'retryable'>;
	toError(details: ErrorDetails): ModelAccessError;
}

/** The details of a failure, now that it is known what the request was. */
export function getErrorDetails(
	{ advice, details }: Failure,
	kind: RequestKind,
	mayRetry: boolean,
	executed: boolean,
): ErrorDetails {
	const doubt = executed ? MAYBE_EXECUTED_ADVICE[kind] : undefined;
	return {
		...details,
		advice: [doubt, advice].filter(Boolean).join(' '),
		retryable: mayRetry && (kind === 'read' || !executed),
		...(executed && kind !== 'read' && { maybeExecuted: true }),
	};
}

/** A reply with an error status, as a failure. Contract, "Errors". */
export function failureFromReply(
	{ redact, time, optionNames }: { redact: Redact; time: Clock; optionNames?: ReadonlySet<string> },
	reply: GatewayReply,
): Failure {
	const { title, advice } = statusMeaning(reply.status);
	const said = gatewayError(redact, reply);
	const retryAfter = parseRetryAfter(reply.headers, time.now());
	return {
		outcome: statusOutcome(reply.status),
		advice: formatAdvice(said.isHtml ? [...advice, HTML_ADVICE] : advice, optionNames),
		details: {
			httpStatus: reply.status,
			type: said.type,
			code: said.code,
			requestId: getRequestId(redact, reply),
			retryAfter,
		},
		toError: (details) =>
			new ApiError(
				`${title} (HTTP ${reply.status})${said.message ? `: ${said.message}` : ''}`,
				details,
			),
	};
}

const FAULT_MEANINGS: Record<FaultKind, { title: string; advice: string }> = {
	unreached: {
		title: 'The gateway cannot be reached',
		advice:
			'Check the Base URL of the credential, that the gateway is running, and that this machine may connect to it.',
	},
	timeout: {
		title: 'The gateway did not answer in time',
		advice: 'It may be overloaded, or something on the way to it slow.',
	},
	lost: {
		title: 'The connection to the gateway was lost before its answer was here',
		advice: 'Check the network and the proxies between n8n and the gateway.',
	},
	certificate: {
		title: 'The gateway’s TLS certificate is not accepted',
		advice:
			'Check the host in the Base URL. The gateway needs a valid certificate for it; verification is not switched off, since the key would be readable on the way.',
	},
	clientCertificate: {
		title: 'The gateway asks for a client certificate',
		advice:
			'These nodes cannot send one. Ask the gateway’s operator for an address that needs none, or run a proxy that adds the certificate.',
	},
	handshake: {
		title: 'The gateway refuses the TLS handshake',
		advice:
			'It may ask for a client certificate, which these nodes cannot send, or for another version of TLS. Ask the gateway’s operator.',
	},
	tls: {
		title: 'The gateway’s address does not speak TLS as https needs it',
		advice: 'Check the Base URL of the credential: whether it is https or http, and its port.',
	},
	blocked: {
		title: 'n8n’s own protection refuses to connect to the gateway’s address',
		advice:
			'The address is in a private network that this n8n instance does not allow (SSRF protection). Ask its administrator to allow the host.',
	},
};

/**
 * A missing reply, as a failure.
 * @param limit what bounds the time
 * @param optionNames the options that its reader can set
 */
export function failureFromFault(
	fault: TransportFault,
	limit: OptionName,
	optionNames?: ReadonlySet<string>,
): Failure {
	const { kind } = fault;
	const { title, advice } = FAULT_MEANINGS[kind];
	const reason = fault.detail ?? fault.code;
	const longer: Advice =
		kind === 'timeout'
			? [{ ifOption: limit, text: `Raise the ${limit} option if the request needs longer.` }]
			: [];
	return {
		outcome: faultOutcome(kind),
		advice: formatAdvice([advice, ...longer], optionNames),
		details: {},
		toError: (details) => new NetworkError(reason ? `${title} (${reason})` : title, details),
	};
}

/** What an error reply says, fit for a message. */
interface GatewayError {
	type?: string;
	code?: string;
	message?: string;
	isHtml?: boolean;
}

/** The error object of the contract ("Resources"), or what else of the body can be quoted. */
function gatewayError(redact: Redact, reply: GatewayReply): GatewayError {
	const quote = (value: unknown) => sanitizeField(redact, value);
	const body = parseJson(reply.body);
	if (body === undefined && isHtml(reply)) {
		return { message: 'a web page (HTML) in place of JSON', isHtml: true };
	}
	const error = innermostError(body);
	if (typeof error === 'string') return { message: quote(error) };
	const { type, code, message } = error;
	return {
		type: quote(type),
		code: quote(typeof code === 'number' ? String(code) : code),
		message: quote(message) ?? quote(reply.body),
	};
}

/** How deep an error object may be wrapped into others. */
const DEEPEST_ERROR = 3;

function innermostError(body: unknown): Record<string, unknown> | string {
	let error: unknown = body;
	for (let depth = 0; depth < DEEPEST_ERROR; depth++) {
		const inner = asRecord(error).error;
		if (inner === undefined || inner === null) break;
		error = inner;
	}
	return typeof error === 'string' ? error : asRecord(error);
}

/** The reply's `X-Request-ID`. */
export function getRequestId(
	redact: Redact,
	reply: Pick<GatewayReply, 'headers'>,
): string | undefined {
	const id = header(reply.headers, 'x-request-id');
	return sanitizeField(redact, id, 200);
}

/** What is known of a success reply that can't be used, by the kind of request. */
export function unusableReply(
	kind: RequestKind,
): Pick<ErrorDetails, 'advice' | 'retryable' | 'maybeExecuted'> {
	if (kind !== 'read') {
		return { advice: MAYBE_EXECUTED_ADVICE[kind], retryable: false, maybeExecuted: true };
	}
	const advice = 'The address may not be that of a gateway with the Model Access API.';
	return { advice, retryable: true };
}
