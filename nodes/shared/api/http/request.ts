import { CanceledError, type ModelAccessError } from '../errors/errors';
import {
	getErrorDetails,
	failureFromFault,
	MAYBE_EXECUTED_ADVICE,
	failureFromReply,
	getErrorSource,
	neverSent,
	type Failure,
} from '../errors/from-reply';
import { RequestAborted } from './abort';
import type { Client, Message, ParsedReply } from './client';
import { parseReply, recognizeBody } from './parse-reply';
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

/** Finds the error in a success reply that is one instead of an answer. */
type FindError = (reply: GatewayReply) => Promise<GatewayReply | undefined>;

/**
 * Sends a request and hands over its success reply, read to the end.
 * @param findError by default finds JSON that is an error and nothing else
 * @throws {ModelAccessError} see {@link RequestAttempts.send}
 */
export async function send(
	client: Client,
	kind: RequestKind,
	message: Message,
	findError: FindError = findErrorInJson,
): Promise<GatewayReply> {
	const { transport, timeoutMs } = client;
	return await new RequestAttempts<GatewayReply>(client, kind, message, {
		transmit: async (headers) => await transport.send({ ...message, ...headers, timeoutMs }),
		accept: async (reply: GatewayReply) => {
			const error = await findError(reply);
			return error ? { error } : { value: reply };
		},
	}).send();
}

const findErrorInJson: FindError = async (reply) =>
	await Promise.resolve(recognizeBody(reply).kind === 'error' ? reply : undefined);

/**
 * Sends a request and hands over what `begin` makes of its success reply, whose headers are here.
 * @param begin gets the reply, and when its request was sent
 * @throws {ModelAccessError} see {@link RequestAttempts.send}
 */
export async function openStream<Value>(
	client: Client,
	kind: RequestKind,
	message: Message,
	begin: (reply: OpenReply, startedAt: number) => Promise<Accepted<Value>>,
): Promise<Value> {
	const { transport, time, timeoutMs } = client;
	let startedAt = time.now();
	return await new RequestAttempts<Value, OpenReply>(client, kind, message, {
		transmit: async (headers) => {
			startedAt = time.now();
			return await transport.open({ ...message, ...headers, timeoutMs });
		},
		accept: async (reply) => await begin(reply, startedAt),
	}).send();
}

/** What a success reply is: what was asked for, or an error in its place. */
type Accepted<Value> = { value: Value } | { error: GatewayReply };

/** How a request is sent once. */
interface Way<Value, Reply> {
	/**
	 * Resolves with a reply of any status.
	 * @param headers what this attempt carries beside the message
	 */
	transmit(headers: Pick<GatewayRequest, 'headers'>): Promise<Reply>;
	/** Looks at a success reply. */
	accept(reply: Reply): Promise<Accepted<Value>>;
}

/**
 * The one place that sends a request to the gateway: once, or again as the retry table allows. It
 * turns every outcome into a success reply or a typed error.
 * @see contract, "Errors"
 */
class RequestAttempts<Value, Reply extends GatewayReply | OpenReply = GatewayReply> {
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
		private readonly way: Way<Value, Reply>,
	) {
		this.slot = kind === 'read' ? undefined : client.slot;
	}

	/**
	 * @throws {ApiError} the gateway answered with an error
	 * @throws {NetworkError} no reply came
	 * @throws {CanceledError} the client's signal is aborted
	 */
	async send(): Promise<Value> {
		try {
			return await sendWithRetry(this.client, async () => await this.sendOnce());
		} catch (error) {
			throw error instanceof CanceledError ? this.canceled() : await this.explained(error);
		}
	}

	private async sendOnce(): Promise<Attempt<Value>> {
		if (this.client.signal?.aborted) throw new CanceledError();
		if (!(await this.acquireSlot())) {
			throw outOfTime(this.last?.error ?? neverSent(this.client));
		}
		this.checkKey();
		const result = await this.receive();
		if ('failure' in result) return this.failed(result.failure);
		if (this.kind === 'response') this.slot?.onSucceeded();
		return result;
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

	/** What was asked for, or what went wrong. */
	private async receive(): Promise<{ value: Value } | { failure: Failure }> {
		try {
			const reply = await this.transmit();
			const accepted =
				reply.status < 300 ? await this.way.accept(reply) : { error: await this.readWhole(reply) };
			if ('value' in accepted) return accepted;
			const source = getErrorSource(this.kind, this.message.path);
			return { failure: failureFromReply(this.client, accepted.error, source) };
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
			return failureFromFault(error, 'Timeout', { optionNames, sentId: this.sentId });
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

	private failed(failure: Failure): Exclude<Attempt<Value>, { value: Value }> {
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
		const { httpStatus, finding } = failure.details;
		// Where a provider refused the gateway, the key goes on: other models have other providers, and
		// tasks that were accepted can still be fetched.
		if (httpStatus !== 401 || finding === 'providerKey' || !run) return;
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

/** Whether a failure may be tried again as often as the user allows. */
function isRepeatable(rule: Rule, { details }: Failure): boolean {
	return rule === 'bounded' || (rule === 'ifAsked' && details.retryAfter !== undefined);
}
