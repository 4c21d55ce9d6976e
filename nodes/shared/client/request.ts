import {
	AnswerError,
	CancelledError,
	NetworkError,
	quotable,
	StatusError,
	type FailureFacts,
	type ModelAccessError,
} from './errors';
import { fieldsOf, parseJson } from './json';
import {
	backoffMs,
	faultOutcome,
	retryRule,
	statusOutcome,
	type Outcome,
	type RequestKind,
} from './retry';
import { retryAfterSeconds } from './retry-after';
import { statusMeaning } from './status-table';
import type { Time } from './time';
import {
	header,
	TransportFault,
	type FaultKind,
	type GatewayReply,
	type GatewayRequest,
	type Transport,
} from './transport';

/** What the client needs from outside, and the bounds that hold for everything it does. */
export interface Client {
	transport: Transport;
	time: Time;
	/** Ends every wait, and nothing is sent once it is aborted. */
	signal?: AbortSignal;
	/** How often one request is sent again at most. */
	maxRetries: number;
	/** Milliseconds for one request. */
	timeoutMs: number;
	/** No wait ends after this moment (milliseconds since the epoch). */
	deadline: number;
	/** Takes secrets out of text that somebody else wrote. */
	redact: (text: string) => string;
	/** Told of each wait, for logs. */
	onRetry?: (retry: { reason: string; waitMs: number; attempt: number }) => void;
}

/** A success reply, its JSON parsed. */
export interface Answer {
	json: unknown;
	reply: GatewayReply;
	requestId?: string;
}

/** A request, its time-out that of the client. */
export type Message = Omit<GatewayRequest, 'timeoutMs'>;

/**
 * Sends a request and parses the answer.
 * @throws {AnswerError} a success reply that is no JSON
 * @throws {ModelAccessError} see {@link exchange}
 */
export async function request(
	client: Client,
	kind: RequestKind,
	message: Message,
): Promise<Answer> {
	return parseAnswer(client, kind, await exchange(client, kind, message));
}

/**
 * The one place that sends a request to the gateway: once, or again as the retry table allows,
 * and turns every outcome into a success reply or a typed error.
 *
 * @param kind decides the column of the retry table
 * @throws {StatusError} the gateway answered with an error
 * @throws {NetworkError} no reply came
 * @throws {CancelledError} the client's signal is aborted
 * @see contract, "Errors"
 */
export async function exchange(
	client: Client,
	kind: RequestKind,
	message: Message,
): Promise<GatewayReply> {
	let internalErrors = 0;
	for (let retries = 0; ; retries++) {
		if (client.signal?.aborted) throw new CancelledError();
		const sent = await send(client, { ...message, timeoutMs: client.timeoutMs });
		if ('reply' in sent && sent.reply.status < 300) return sent.reply;

		const failure = 'reply' in sent ? replyFailure(client, sent.reply) : faultFailure(sent.fault);
		const { rule, executed } = retryRule(failure.outcome, kind);
		if (failure.outcome === 'internalError') internalErrors++;
		const again =
			retries < client.maxRetries &&
			(rule === 'bounded' || (rule === 'once' && internalErrors === 1));
		const error = failure.toError(factsOf(failure, kind, rule !== 'never', executed));
		if (!again) throw error;

		const asked = failure.facts.retryAfter;
		const waitMs = asked !== undefined ? asked * 1000 : backoffMs(retries, client.time.random());
		if (client.time.now() + waitMs > client.deadline) throw notWaitedFor(error);
		client.onRetry?.({ reason: error.message, waitMs, attempt: retries + 1 });
		await pause(client, waitMs);
	}
}

/**
 * Waits on the client's time.
 * @throws {CancelledError} the client's signal is, or becomes, aborted
 */
export async function pause(client: Pick<Client, 'time' | 'signal'>, ms: number): Promise<void> {
	try {
		await client.time.sleep(ms, client.signal);
	} catch (error) {
		throw client.signal?.aborted ? new CancelledError() : error;
	}
}

/** Whether a reply is a web page: a wrong address, a login page, a firewall. Contract, "Errors" 5. */
export function isHtml(reply: GatewayReply): boolean {
	return (
		/\bhtml\b/i.test(header(reply.headers, 'content-type') ?? '') ||
		/^\s*<(!doctype|html|head|body)\b/i.test(reply.body.slice(0, 1000))
	);
}

export const HTML_ADVICE =
	'A web page in place of JSON points to a wrong Base URL, a login page of a proxy, or a firewall in front of the gateway. Open the Base URL of the credential in a browser to see the page.';

const IN_DOUBT_ADVICE: Record<RequestKind, string> = {
	read: '',
	response:
		'The request may have been executed and charged. Check the usage in the gateway’s console before you send it again.',
	image:
		'An image task may exist and be charged although no task ID arrived. Check the usage in the gateway’s console before you submit it again.',
};

type Sent = { reply: GatewayReply } | { fault: TransportFault };

/** What went wrong with one exchange, before it is known whether it is final. */
interface Failure {
	outcome: Outcome;
	advice: string;
	facts: Omit<FailureFacts, 'advice' | 'retryable'>;
	toError(facts: FailureFacts): ModelAccessError;
}

async function send(client: Client, message: GatewayRequest): Promise<Sent> {
	try {
		return { reply: await client.transport.send(message) };
	} catch (error) {
		return { fault: faultOf(client, error) };
	}
}

function faultOf({ signal }: Client, error: unknown): TransportFault {
	if (!(error instanceof TransportFault)) throw error;
	if (error.kind === 'cancelled' || signal?.aborted) throw new CancelledError();
	return error;
}

function factsOf(
	{ advice, facts, outcome }: Failure,
	kind: RequestKind,
	mayRetry: boolean,
	executed: boolean,
): FailureFacts {
	const doubt = executed ? IN_DOUBT_ADVICE[kind] : '';
	return {
		...facts,
		advice: [doubt, advice].filter(Boolean).join(' '),
		retryable: mayRetry && (kind === 'read' || outcome !== 'internalError'),
	};
}

function replyFailure(client: Client, reply: GatewayReply): Failure {
	const { title, advice } = statusMeaning(reply.status);
	const said = gatewayError(client, reply);
	const retryAfter = retryAfterSeconds(reply.headers, client.time.now());
	return {
		outcome: statusOutcome(reply.status),
		advice: said.message === HTML_MESSAGE ? `${advice} ${HTML_ADVICE}` : advice,
		facts: {
			httpStatus: reply.status,
			type: said.type,
			code: said.code,
			requestId: requestIdOf(client, reply),
			retryAfter,
		},
		toError: (facts) =>
			new StatusError(
				`${title} (HTTP ${reply.status})${said.message ? `: ${said.message}` : ''}`,
				facts,
			),
	};
}

const FAULT_MEANINGS: Record<Exclude<FaultKind, 'cancelled'>, { title: string; advice: string }> = {
	unreached: {
		title: 'The gateway cannot be reached',
		advice:
			'Check the Base URL of the credential, that the gateway is running, and that this machine may connect to it.',
	},
	timeout: {
		title: 'The gateway did not answer in time',
		advice: 'Raise the Timeout option if the request needs longer.',
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
	blocked: {
		title: 'n8n’s own protection refuses to connect to the gateway’s address',
		advice:
			'The address is in a private network that this n8n instance does not allow (SSRF protection). Ask its administrator to allow the host.',
	},
};

function faultFailure(fault: TransportFault): Failure {
	const kind = fault.kind as Exclude<FaultKind, 'cancelled'>;
	const { title, advice } = FAULT_MEANINGS[kind];
	const reason = fault.detail ?? fault.code;
	return {
		outcome: faultOutcome(kind),
		advice,
		facts: {},
		toError: (facts) => new NetworkError(reason ? `${title} (${reason})` : title, facts),
	};
}

/** The same error, saying that the wait it asked for was too long to begin. */
export function notWaitedFor<E extends ModelAccessError>(error: E): E {
	const { retryAfter, advice } = error.facts;
	const reason =
		retryAfter !== undefined
			? `It asked to wait ${retryAfter} s, which is longer than the time left.`
			: 'No time was left to try again.';
	error.facts.advice = `${reason} ${advice}`;
	return error;
}

const HTML_MESSAGE = 'a web page (HTML) in place of JSON';

/** The error object of the contract ("Resources"), or what else of the body can be quoted. */
function gatewayError(client: Client, reply: GatewayReply) {
	const quote = (value: unknown) =>
		typeof value === 'string' && value !== '' ? quotable(client.redact(value)) : undefined;
	const body = parseJson(reply.body);
	if (body === undefined && isHtml(reply)) return { message: HTML_MESSAGE };
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
		const inner = fieldsOf(error).error;
		if (inner === undefined || inner === null) break;
		error = inner;
	}
	return typeof error === 'string' ? error : fieldsOf(error);
}

function requestIdOf(client: Client, reply: GatewayReply): string | undefined {
	const id = header(reply.headers, 'x-request-id');
	return id === undefined ? undefined : quotable(client.redact(id), 200);
}

/**
 * Parses a success reply. What parses as JSON is JSON, whatever its content type says.
 * @throws {AnswerError} it is no JSON
 * @see contract, "Errors" 5
 */
export function parseAnswer(client: Client, kind: RequestKind, reply: GatewayReply): Answer {
	const requestId = requestIdOf(client, reply);
	const json = parseJson(reply.body);
	if (json !== undefined) return { json, reply, requestId };
	throw new AnswerError(
		isHtml(reply)
			? 'The gateway answered with a web page (HTML) in place of JSON'
			: reply.body.trim() === ''
				? 'The gateway answered with nothing in place of JSON'
				: `The gateway’s answer is not JSON: ${quotable(client.redact(reply.body), 100)}`,
		{
			advice: [isHtml(reply) ? HTML_ADVICE : '', unusableAnswerAdvice(kind)]
				.filter(Boolean)
				.join(' '),
			retryable: kind === 'read',
			httpStatus: reply.status,
			requestId,
		},
	);
}

/** What to say of a success reply that can't be used, by the kind of request. */
export function unusableAnswerAdvice(kind: RequestKind): string {
	return (
		IN_DOUBT_ADVICE[kind] || 'The address may not be that of a gateway with the Model Access API.'
	);
}
