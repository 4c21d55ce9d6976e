import { adviceFor, type Control } from '../errors/advice';
import {
	AnswerError,
	CancelledError,
	quotable,
	StatusError,
	type ModelAccessError,
} from '../errors/errors';
import {
	factsOf,
	faultFailure,
	HTML_ADVICE,
	IN_DOUBT_ADVICE,
	isHtml,
	replyFailure,
	requestIdOf,
	unusableAnswer,
	type Failure,
	type Redact,
} from '../errors/from-reply';
import { parseJson } from './json';
import { backoffMs, retryRule, type RequestKind } from './retry';
import { statusMeaning } from '../errors/status-table';
import type { Time } from './clock';
import type { Place } from './rate-limit-queue';
import {
	TransportFault,
	type GatewayReply,
	type GatewayRequest,
	type OpenReply,
	type Transport,
} from './transport';

/** What the client needs from outside, and the bounds that hold for everything it does. */
export interface Client {
	transport: Transport;
	time: Time;
	/** Ends every wait, and nothing is sent once it is aborted. */
	signal?: AbortSignal;
	/** Ends what is under way as well, such as a stream; `signal` where it is absent. */
	cancel?: AbortSignal;
	/** How often one request is sent again at most. */
	maxRetries: number;
	/** Milliseconds for one request. */
	timeoutMs: number;
	/** No wait ends after this moment (milliseconds since the epoch). */
	deadline: number;
	/** Takes secrets out of text that somebody else wrote. */
	redact: Redact;
	/** Fields and options that an advice may name, as its reader sees them; absent: none. */
	controls?: ReadonlySet<string>;
	/** Where requests that cost money wait for their turn; absent: none does. */
	place?: Place;
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
 * Sends a request and hands over its success reply, read to the end.
 * @throws {ModelAccessError} see {@link attempts}
 */
export async function exchange(
	client: Client,
	kind: RequestKind,
	message: Message,
): Promise<GatewayReply> {
	return await attempts(client, kind, 'Timeout', async () => {
		return await client.transport.send({ ...message, timeoutMs: client.timeoutMs });
	});
}

/**
 * Sends a request and hands over its success reply as soon as its headers are here.
 * @param idleMs milliseconds without a byte after which the connection is given up
 * @throws {ModelAccessError} see {@link attempts}
 */
export async function openExchange(
	client: Client,
	kind: RequestKind,
	message: Message,
	idleMs: number,
): Promise<OpenReply> {
	const timeoutMs = Math.min(client.timeoutMs, idleMs);
	const limit = idleMs < client.timeoutMs ? 'Idle Timeout' : 'Timeout';
	return await attempts<OpenReply>(client, kind, limit, async () => {
		return await client.transport.open({ ...message, timeoutMs });
	});
}

/**
 * The one place that sends a request to the gateway: once, or again as the retry table allows,
 * and turns every outcome into a success reply or a typed error.
 *
 * @param kind decides the column of the retry table
 * @param limit what bounds the time of one request
 * @param send sends it once, and resolves with a reply of any status
 * @throws {StatusError} the gateway answered with an error
 * @throws {NetworkError} no reply came
 * @throws {CancelledError} the client's signal is aborted
 * @see contract, "Errors"
 */
async function attempts<Reply extends GatewayReply | OpenReply>(
	client: Client,
	kind: RequestKind,
	limit: Control,
	send: () => Promise<Reply>,
): Promise<Reply> {
	const place = kind === 'read' ? undefined : client.place;
	let internalErrors = 0;
	let inDoubt = false;
	let refusal: ModelAccessError | undefined;
	for (let retries = 0; ; retries++) {
		if (client.signal?.aborted) throw cancelled(kind, inDoubt);
		if (!(await hasPlace(client, place, () => cancelled(kind, inDoubt)))) {
			throw notWaitedFor(refusal ?? noPlace(client));
		}
		const sent = await attempt(client, kind, limit, send);
		if ('reply' in sent) {
			place?.accepted();
			return sent.reply;
		}

		const { failure } = sent;
		const { rule, executed } = retryRule(failure.outcome, kind);
		inDoubt ||= executed;
		if (failure.outcome === 'internalError') internalErrors++;
		const again =
			retries < client.maxRetries &&
			(rule === 'bounded' || (rule === 'once' && internalErrors === 1));
		const error = failure.toError(factsOf(failure, kind, rule !== 'never', inDoubt));
		if (failure.outcome === 'rateLimited') place?.refused();
		if (!again) throw error;
		refusal = error;

		const asked = failure.facts.retryAfter;
		const waitMs = asked !== undefined ? asked * 1000 : backoffMs(retries, client.time.random());
		if (client.time.now() + waitMs > client.deadline) throw notWaitedFor(error);
		client.onRetry?.({ reason: error.message, waitMs, attempt: retries + 1 });
		try {
			await pause(client, waitMs);
		} catch (error) {
			throw error instanceof CancelledError ? cancelled(kind, inDoubt) : error;
		}
	}
}

/**
 * Waits for the client's turn.
 * @returns false where its deadline came first
 * @throws what `cancelled` makes: the client's signal is aborted
 */
async function hasPlace(
	{ time, deadline, signal }: Client,
	place: Place | undefined,
	cancelled: () => CancelledError,
): Promise<boolean> {
	if (!place) return true;
	try {
		return await place.enter({ time, deadline, signal });
	} catch (error) {
		throw signal?.aborted ? cancelled() : error;
	}
}

/** For a request that waited behind others which the gateway refused, and was never sent. */
function noPlace({ controls }: Client): StatusError {
	const { title, advice } = statusMeaning(429);
	return new StatusError(`${title} (HTTP 429): the turn of this item did not come`, {
		httpStatus: 429,
		retryable: true,
		advice: adviceFor(['Nothing was sent for this item.', ...advice], controls),
	});
}

/** @param inDoubt whether an earlier attempt may have been executed */
function cancelled(kind: RequestKind, inDoubt: boolean): CancelledError {
	return new CancelledError(inDoubt ? IN_DOUBT_ADVICE[kind] : '');
}

/** One attempt: a success reply, or what went wrong. */
async function attempt<Reply extends GatewayReply | OpenReply>(
	client: Client,
	kind: RequestKind,
	limit: Control,
	send: () => Promise<Reply>,
): Promise<{ reply: Reply } | { failure: Failure }> {
	try {
		const reply = await send();
		if (reply.status < 300) return { reply };
		return { failure: replyFailure(client, 'body' in reply ? reply : await reply.whole()) };
	} catch (error) {
		return { failure: faultFailure(faultOf(client, kind, error), limit, client.controls) };
	}
}

function faultOf({ signal, cancel }: Client, kind: RequestKind, error: unknown): TransportFault {
	if (!(error instanceof TransportFault)) throw error;
	const isCancelled = error.kind === 'cancelled' || (cancel ?? signal)?.aborted;
	if (isCancelled) throw cancelled(kind, true);
	return error;
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

/** The same error, saying that the wait it asked for was too long to begin. */
export function notWaitedFor<E extends ModelAccessError>(error: E): E {
	const { retryAfter, advice } = error.facts;
	const reason =
		retryAfter !== undefined
			? `It asked to wait ${retryAfter} s, which is longer than the time left.`
			: 'No time was left to try again.';
	error.facts.advice = `${reason} ${advice}`;
	error.facts.outOfTime = true;
	return error;
}

/**
 * Parses a success reply. What parses as JSON is JSON, whatever its content type says.
 * @throws {AnswerError} it is no JSON
 * @see contract, "Errors" 5
 */
export function parseAnswer(client: Client, kind: RequestKind, reply: GatewayReply): Answer {
	const requestId = requestIdOf(client.redact, reply);
	const json = parseJson(reply.body);
	if (json !== undefined) return { json, reply, requestId };
	const unusable = unusableAnswer(kind);
	throw new AnswerError(
		isHtml(reply)
			? 'The gateway answered with a web page (HTML) in place of JSON'
			: reply.body.trim() === ''
				? 'The gateway answered with nothing in place of JSON'
				: `The gateway’s answer is not JSON: ${quotable(client.redact(reply.body), 100)}`,
		{
			...unusable,
			retryable: unusable.retryable && !isHtml(reply),
			advice: [isHtml(reply) ? HTML_ADVICE : '', unusable.advice].filter(Boolean).join(' '),
			httpStatus: reply.status,
			requestId,
		},
	);
}
