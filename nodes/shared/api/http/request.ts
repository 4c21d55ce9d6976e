import { formatAdvice, type OptionName } from '../errors/advice';
import {
	InvalidResponseError,
	CanceledError,
	ApiError,
	type ErrorDetails,
	type ModelAccessError,
} from '../errors/errors';
import { HTML_ADVICE } from '../errors/evidence';
import {
	getErrorDetails,
	failureFromFault,
	MAYBE_EXECUTED_ADVICE,
	isHtml,
	failureFromReply,
	getRequestId,
	unusableReply,
	type Failure,
} from '../errors/from-reply';
import { sanitizeField, type Redact } from '../errors/sanitize';
import { statusMeaning } from '../errors/status-table';
import { RequestAborted } from './abort';
import { parseJson } from './json';
import type { Slot } from './rate-limit-queue';
import {
	outOfTime,
	retryRule,
	sendWithRetry,
	type Attempt,
	type RequestKind,
	type RetryBounds,
} from './retry';
import {
	TransportFault,
	type GatewayReply,
	type GatewayRequest,
	type OpenReply,
	type Transport,
} from './transport';

/** What carries a request. */
export interface Carrier extends Pick<RetryBounds, 'time'> {
	transport: Transport;
	/** Takes secrets out of text from outside. */
	redact: Redact;
}

/** What bounds a request. */
export interface Bounds extends Pick<RetryBounds, 'maxRetries' | 'deadline'> {
	/** Milliseconds for one request. */
	timeoutMs: number;
}

/** What stops a request. */
export interface Stop {
	/** Ends every wait, and nothing is sent once it is aborted. */
	signal?: AbortSignal;
	/** Ends what is under way as well, such as a stream; `signal` if it is absent. */
	cancel?: AbortSignal;
}

/** What the client needs from outside, and the bounds that hold for everything it does. */
export interface Client extends Carrier, Bounds, Stop, Pick<RetryBounds, 'onRetry'> {
	/** Fields and options that an advice may name, as its reader sees them; absent: none. */
	optionNames?: ReadonlySet<string>;
	/** Where requests that cost money wait for their turn; absent: none does. */
	slot?: Slot;
}

/** A success reply, its JSON parsed. */
export interface ParsedReply {
	json: unknown;
	reply: GatewayReply;
	requestId?: string;
}

/** A request, its time-out that of the client. */
export type Message = Omit<GatewayRequest, 'timeoutMs'>;

/**
 * Sends a request and parses the answer.
 * @throws {InvalidResponseError} a success reply that is no JSON
 * @throws {ModelAccessError} see {@link send}
 */
export async function request(
	client: Client,
	kind: RequestKind,
	message: Message,
): Promise<ParsedReply> {
	return parseReply(client, kind, await send(client, kind, message));
}

/**
 * Sends a request and hands over its success reply, read to the end.
 * @throws {ModelAccessError} see {@link RequestAttempts.send}
 */
export async function send(
	client: Client,
	kind: RequestKind,
	message: Message,
): Promise<GatewayReply> {
	return await new RequestAttempts(client, kind, 'Timeout', async () => {
		return await client.transport.send({ ...message, timeoutMs: client.timeoutMs });
	}).send();
}

/**
 * Sends a request and hands over its success reply as soon as its headers are here.
 * @param idleMs milliseconds without a byte after which the connection is given up
 * @throws {ModelAccessError} see {@link RequestAttempts.send}
 */
export async function openStream(
	client: Client,
	kind: RequestKind,
	message: Message,
	idleMs: number,
): Promise<OpenReply> {
	const timeoutMs = Math.min(client.timeoutMs, idleMs);
	const limit = idleMs < client.timeoutMs ? 'Idle Timeout' : 'Timeout';
	return await new RequestAttempts<OpenReply>(client, kind, limit, async () => {
		return await client.transport.open({ ...message, timeoutMs });
	}).send();
}

/**
 * The one place that sends a request to the gateway: once, or again as the retry table allows. It
 * turns every outcome into a success reply or a typed error.
 * @see contract, "Errors"
 */
class RequestAttempts<Reply extends GatewayReply | OpenReply> {
	private readonly slot?: Slot;
	/** How many attempts the gateway answered with an internal error. */
	private internalErrors = 0;
	/** Whether an attempt may have been executed. */
	private maybeExecuted = false;
	/** Why the last attempt failed. */
	private lastError?: ModelAccessError;

	/**
	 * @param kind decides the column of the retry table
	 * @param limit what bounds the time of one request
	 * @param transmit sends it once, and resolves with a reply of any status
	 */
	constructor(
		private readonly client: Client,
		private readonly kind: RequestKind,
		private readonly limit: OptionName,
		private readonly transmit: () => Promise<Reply>,
	) {
		this.slot = kind === 'read' ? undefined : client.slot;
	}

	/**
	 * @throws {ApiError} the gateway answered with an error
	 * @throws {NetworkError} no reply came
	 * @throws {CanceledError} the client's signal is aborted
	 */
	async send(): Promise<Reply> {
		try {
			return await sendWithRetry(this.client, async () => await this.sendOnce());
		} catch (error) {
			const doubt = this.maybeExecuted ? MAYBE_EXECUTED_ADVICE[this.kind] : undefined;
			throw error instanceof CanceledError ? new CanceledError(doubt) : error;
		}
	}

	private async sendOnce(): Promise<Attempt<Reply>> {
		if (this.client.signal?.aborted) throw new CanceledError();
		if (!(await this.acquireSlot())) {
			throw outOfTime(this.lastError ?? neverSent(this.client));
		}
		const result = await this.receive();
		if ('failure' in result) return this.failed(result.failure);
		if (this.kind === 'response') this.slot?.onSucceeded();
		return { value: result.reply };
	}

	/**
	 * Waits for the client's turn.
	 * @returns false if its deadline came first
	 */
	private async acquireSlot(): Promise<boolean> {
		const { deadline, signal } = this.client;
		try {
			return (await this.slot?.acquire({ deadline, signal })) ?? true;
		} catch (error) {
			throw signal?.aborted ? new CanceledError() : error;
		}
	}

	/** A success reply, or what went wrong. */
	private async receive(): Promise<{ reply: Reply } | { failure: Failure }> {
		const { client } = this;
		try {
			const reply = await this.transmit();
			if (reply.status < 300) return { reply };
			return { failure: failureFromReply(client, 'body' in reply ? reply : await reply.whole()) };
		} catch (error) {
			return { failure: this.toFailure(error) };
		}
	}

	/** @throws {CanceledError} the request was canceled; it may have been executed */
	private toFailure(error: unknown): Failure {
		if (this.isCanceled(error)) {
			this.maybeExecuted = true;
			throw new CanceledError();
		}
		if (error instanceof TransportFault) {
			return failureFromFault(error, this.limit, this.client.optionNames);
		}
		throw error;
	}

	private isCanceled(error: unknown): boolean {
		const { cancel, signal } = this.client;
		const isAborted = (cancel ?? signal)?.aborted === true;
		return error instanceof RequestAborted || (error instanceof TransportFault && isAborted);
	}

	private failed(failure: Failure): Exclude<Attempt<Reply>, { value: Reply }> {
		const { outcome } = failure;
		const { rule, executed } = retryRule(outcome, this.kind);
		this.maybeExecuted ||= executed;
		if (outcome === 'internalError') this.internalErrors++;
		const error = failure.toError(
			getErrorDetails(failure, this.kind, rule !== 'never', this.maybeExecuted),
		);
		this.lastError = error;
		const onceMore = rule === 'once' && this.internalErrors === 1;
		return { error, mayRetry: rule === 'bounded' || onceMore, waitMs: this.queueWaitMs(failure) };
	}

	/** Where a queue orders the requests, it waits, and not each request for itself. */
	private queueWaitMs({ outcome, details }: Failure): number | undefined {
		if (outcome !== 'rateLimited' || this.kind !== 'response' || !this.slot) return undefined;
		const { retryAfter } = details;
		this.slot.onRateLimited(retryAfter === undefined ? undefined : retryAfter * 1000);
		return 0;
	}
}

/** For a request that waited behind others which the gateway refused, and was never sent. */
function neverSent({ optionNames }: Client): ApiError {
	const { title, advice } = statusMeaning(429);
	return new ApiError(`${title} (HTTP 429): the turn of this item did not come`, {
		httpStatus: 429,
		retryable: true,
		advice: formatAdvice(['Nothing was sent for this item.', ...advice], optionNames),
	});
}

/**
 * Parses a success reply. What parses as JSON is JSON, whatever its content type says.
 * @throws {InvalidResponseError} it is no JSON
 * @see contract, "Errors" 5
 */
export function parseReply(client: Client, kind: RequestKind, reply: GatewayReply): ParsedReply {
	const requestId = getRequestId(client.redact, reply);
	const json = parseJson(reply.body);
	if (json !== undefined) return { json, reply, requestId };
	throw new InvalidResponseError(describeBody(client, reply), {
		...notJsonFacts(kind, isHtml(reply)),
		httpStatus: reply.status,
		requestId,
	});
}

function describeBody({ redact }: Client, reply: GatewayReply): string {
	if (isHtml(reply)) return 'The gateway answered with a web page (HTML) in place of JSON';
	if (reply.body.trim() === '') return 'The gateway answered with nothing in place of JSON';
	return `The gateway’s answer is not JSON: ${sanitizeField(redact, reply.body, 100)}`;
}

function notJsonFacts(kind: RequestKind, html: boolean): ErrorDetails {
	const { advice, retryable, ...doubt } = unusableReply(kind);
	return html
		? { ...doubt, advice: `${HTML_ADVICE} ${advice}`, retryable: false }
		: { ...doubt, advice, retryable };
}
