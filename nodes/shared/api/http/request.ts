import type { OptionName } from '../errors/advice';
import { CanceledError, type ModelAccessError } from '../errors/errors';
import { isErrorBody } from '../errors/error-body';
import {
	getErrorDetails,
	failureFromFault,
	MAYBE_EXECUTED_ADVICE,
	failureFromReply,
	getPlace,
	neverSent,
	type Failure,
} from '../errors/from-reply';
import { RequestAborted } from './abort';
import type { Client, Message, ParsedReply } from './client';
import { parseJson } from './json';
import { parseReply } from './parse-reply';
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
		if (this.kind === 'response') this.slot?.onSucceeded();
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
		const { deadline, signal } = this.client;
		try {
			return (await this.slot?.acquire({ deadline, signal })) ?? true;
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
			if (reply.status < 300 && !isError(reply)) return { reply };
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
		const { details, advice: known } = last.failure;
		const advice = await client.adviseOnModel?.(message.body, { ...details, advice: known });
		return advice === undefined ? error : this.toError({ ...last.failure, advice });
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
		const error = this.toError(failure);
		this.last = { failure, error };
		this.noteRefusedKey(failure);
		const onceMore = rule === 'once' && this.internalErrors === 1;
		const mayRetry = onceMore || isRepeatable(rule, failure);
		return { error, mayRetry, waitMs: this.queueWaitMs(failure) };
	}

	private noteRefusedKey(failure: Failure) {
		const { run } = this.client;
		if (failure.details.httpStatus !== 401 || !run) return;
		// Without what this item alone has to be told, such as that it may have been executed.
		run.keyRefused ??= failure.toError(getErrorDetails(failure, 'read', false, false));
	}

	/** Where a queue orders the requests, it waits, and not each request for itself. */
	private queueWaitMs({ outcome, details }: Failure): number | undefined {
		if (outcome !== 'rateLimited' || this.kind !== 'response' || !this.slot) return undefined;
		const { retryAfter } = details;
		this.slot.onRateLimited(retryAfter === undefined ? undefined : retryAfter * 1000);
		return 0;
	}

	private toError(failure: Failure): ModelAccessError {
		const { rule } = retryRule(failure.outcome, this.kind);
		const mayHelp = rule === 'once' || rule === 'queued' || isRepeatable(rule, failure);
		return failure.toError(getErrorDetails(failure, this.kind, mayHelp, this.maybeExecuted));
	}
}

/** Whether a success reply, read to the end, is an error. */
function isError(reply: GatewayReply | OpenReply): boolean {
	return 'body' in reply && isErrorBody(parseJson(reply.body));
}

/** Whether a failure may be tried again as often as the user allows. */
function isRepeatable(rule: Rule, { details }: Failure): boolean {
	return rule === 'bounded' || (rule === 'ifAsked' && details.retryAfter !== undefined);
}
