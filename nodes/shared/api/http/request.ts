import type { OptionName } from '../errors/advice';
import {
	InvalidResponseError,
	CanceledError,
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
	getPlace,
	neverSent,
	unusableReply,
	type Failure,
} from '../errors/from-reply';
import { getReplyIds } from '../errors/reply-ids';
import { sanitizeField } from '../errors/sanitize';
import { RequestAborted } from './abort';
import type { Client, Message, ParsedReply } from './client';
import { parseJson } from './json';
import type { Slot } from './rate-limit-queue';
import {
	outOfTime,
	retryRule,
	sendWithRetry,
	type Attempt,
	type RequestKind,
	type Rule,
} from './retry';
import {
	TransportFault,
	type GatewayReply,
	type GatewayRequest,
	type OpenReply,
} from './transport';

export type { Bounds, Carrier, Client, Message, ParsedReply, Stop } from './client';

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
	const { transport, timeoutMs } = client;
	return await new RequestAttempts(client, kind, message, {
		limit: 'Timeout',
		transmit: async (headers) => await transport.send({ ...message, ...headers, timeoutMs }),
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
	const { transport } = client;
	return await new RequestAttempts<OpenReply>(client, kind, message, {
		limit,
		transmit: async (headers) => await transport.open({ ...message, ...headers, timeoutMs }),
	}).send();
}

/** How a request is sent once. */
interface Way<Reply> {
	/** What bounds its time. */
	limit: OptionName;
	/**
	 * Resolves with a reply of any status.
	 * @param headers what this attempt carries beside the message
	 */
	transmit(headers: Pick<GatewayRequest, 'headers'>): Promise<Reply>;
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
	private last?: { failure: Failure; error: ModelAccessError };
	/** The ID that the attempt under way carries. */
	private sentId?: string;

	/**
	 * @param kind decides the column of the retry table
	 */
	constructor(
		private readonly client: Client,
		private readonly kind: RequestKind,
		private readonly message: Message,
		private readonly way: Way<Reply>,
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
			throw error instanceof CanceledError ? this.canceled() : await this.explained(error);
		}
	}

	private async sendOnce(): Promise<Attempt<Reply>> {
		if (this.client.signal?.aborted) throw new CanceledError();
		if (!(await this.acquireSlot())) {
			throw outOfTime(this.last?.error ?? neverSent(this.client));
		}
		this.checkKey();
		const result = await this.receive();
		if ('failure' in result) return this.failed(result.failure);
		this.slot?.onAccepted();
		return { value: result.reply };
	}

	/** @throws {ModelAccessError} the gateway refused the key in this run */
	private checkKey() {
		const { run } = this.client;
		if (!run?.keyRefused) return;
		const doubt = this.maybeExecuted ? MAYBE_EXECUTED_ADVICE[this.kind] : undefined;
		if (doubt === undefined) throw run.keyRefused.with({});
		const advice = `${doubt} ${run.keyRefused.details.advice}`;
		throw run.keyRefused.with({ advice, maybeExecuted: true });
	}

	/**
	 * Waits for the client's turn.
	 * @returns false if its deadline came first
	 */
	private async acquireSlot(): Promise<boolean> {
		const { time, deadline, signal } = this.client;
		try {
			return (await this.slot?.acquire({ time, deadline, signal })) ?? true;
		} catch (error) {
			throw signal?.aborted ? new CanceledError() : error;
		}
	}

	/** Sends the request once, with an ID of its own if it may cost money. */
	private async transmit(): Promise<Reply> {
		this.sentId = this.kind === 'read' ? undefined : this.client.newRequestId?.();
		const { sentId } = this;
		if (sentId === undefined) return await this.way.transmit({});
		const reply = await this.way.transmit({ headers: { 'X-Request-ID': sentId } });
		return Object.assign(reply, { sentId });
	}

	/** A success reply, or what went wrong. */
	private async receive(): Promise<{ reply: Reply } | { failure: Failure }> {
		const { client } = this;
		try {
			const reply = await this.transmit();
			if (reply.status < 300) return { reply };
			const whole = await this.readWhole(reply);
			return { failure: failureFromReply(client, whole, getPlace(this.kind, this.message.path)) };
		} catch (error) {
			return { failure: this.toFailure(error) };
		}
	}

	private async readWhole(reply: GatewayReply | OpenReply): Promise<GatewayReply> {
		return 'whole' in reply ? { ...(await reply.whole()), sentId: this.sentId } : reply;
	}

	/** @throws {CanceledError} the request was canceled; it may have been executed */
	private toFailure(error: unknown): Failure {
		if (this.isCanceled(error)) {
			this.maybeExecuted = true;
			throw new CanceledError();
		}
		if (error instanceof TransportFault) {
			const { optionNames } = this.client;
			return failureFromFault(error, this.way.limit, { optionNames, sentId: this.sentId });
		}
		throw error;
	}

	private canceled(): CanceledError {
		if (!this.maybeExecuted) return new CanceledError();
		const canceled = new CanceledError(MAYBE_EXECUTED_ADVICE[this.kind]);
		return canceled.with({ requestId: this.sentId });
	}

	/** The error of the last attempt, with what the model list says where it is about the model. */
	private async explained(error: unknown): Promise<unknown> {
		const { last, client, message } = this;
		if (this.kind === 'read' || !last || error !== last.error) return error;
		const advice = await client.adviseOnModel?.(message.body, last.failure);
		return advice === undefined ? error : this.toError({ ...last.failure, advice });
	}

	private isCanceled(error: unknown): boolean {
		const { cancel, signal } = this.client;
		const isAborted = (cancel ?? signal)?.aborted === true;
		return error instanceof RequestAborted || (error instanceof TransportFault && isAborted);
	}

	private failed(failure: Failure): { error: ModelAccessError; mayRetry: boolean } {
		const { outcome } = failure;
		const { rule, executed } = retryRule(outcome, this.kind);
		this.maybeExecuted ||= executed;
		if (outcome === 'internalError') this.internalErrors++;
		if (outcome === 'rateLimited') this.slot?.onRateLimited();
		const error = this.toError(failure);
		this.last = { failure, error };
		if (failure.details.httpStatus === 401 && this.client.run) {
			// Without what this item alone has to be told, such as that it may have been executed.
			this.client.run.keyRefused ??= failure.toError(
				getErrorDetails(failure, 'read', false, false),
			);
		}
		const onceMore = rule === 'once' && this.internalErrors === 1;
		return { error, mayRetry: onceMore || isRepeatable(rule, failure) };
	}

	private toError(failure: Failure): ModelAccessError {
		const { rule } = retryRule(failure.outcome, this.kind);
		const mayHelp = rule === 'once' || isRepeatable(rule, failure);
		return failure.toError(getErrorDetails(failure, this.kind, mayHelp, this.maybeExecuted));
	}
}

/** Whether a failure may be tried again as often as the user allows. */
function isRepeatable(rule: Rule, { details }: Failure): boolean {
	return rule === 'bounded' || (rule === 'ifAsked' && details.retryAfter !== undefined);
}

/**
 * Parses a success reply. What parses as JSON is JSON, whatever its content type says.
 * @throws {InvalidResponseError} it is no JSON
 * @see contract, "Errors" 5
 */
export function parseReply(client: Client, kind: RequestKind, reply: GatewayReply): ParsedReply {
	const ids = getReplyIds(client.redact, reply);
	const json = parseJson(reply.body);
	if (json !== undefined) return { json, reply, ...ids };
	throw new InvalidResponseError(describeBody(client, reply), {
		...notJsonFacts(kind, isHtml(reply)),
		httpStatus: reply.status,
		...ids,
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
