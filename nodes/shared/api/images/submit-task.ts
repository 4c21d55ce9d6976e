import { formatAdvice } from '../errors/advice';
import { CanceledError, InvalidResponseError, ModelAccessError } from '../errors/errors';
import { unusableReply } from '../errors/from-reply';
import { pickIds } from '../errors/reply-ids';
import { asRecord, parseJson } from '../http/json';
import { parseReply } from '../http/parse-reply';
import type { Slot } from '../http/rate-limit-queue';
import { send, type Client } from '../http/request';
import { header, type GatewayReply } from '../http/transport';
import { readNamedTaskId, readPlainTaskId, readTaskId } from './read-task-id';
import { findTask, isTask, readTask, toPollResult, type AcceptedTask } from './task';
import { NOTHING_MADE } from './task-errors';
import { parseTaskPath } from './task-id';

/** Which of the two submit endpoints. */
export type SubmitKind = 'generations' | 'edits';

/** What is submitted. */
export interface ImageSubmission {
	kind: SubmitKind;
	/** The request itself, or a form made from it. */
	body: Record<string, unknown> | FormData;
	/** Milliseconds that the task may take, and that the gateway may refuse it. */
	maxWaitMs: number;
}

/** How an image came to its task. */
export interface Submitted {
	/** What the gateway said when it accepted the task. */
	first: AcceptedTask;
	/** Milliseconds since the epoch at which Max Wait ends. */
	endsAt: number;
	refusals: Refusals;
}

/**
 * Submits an image when the queue of the run allows it. If the gateway refuses it at once, it
 * submits it again.
 * @param earlier the refusals of earlier submits of this image
 * @throws {ModelAccessError} the image is not submitted again; nothing says that a task exists
 */
export async function submitUntilAccepted(
	client: QueuedClient,
	{ kind, body, maxWaitMs }: ImageSubmission,
	earlier?: Refusals,
): Promise<Submitted> {
	const refusals = earlier ?? new Refusals(client, maxWaitMs);
	for (;;) {
		await refusals.waitForSlot();
		const endsAt = client.time.now() + maxWaitMs;
		try {
			const first = await submitImageTask({ ...client, deadline: endsAt }, kind, body);
			return { first, endsAt, refusals };
		} catch (error) {
			refusals.note(error);
		}
	}
}

/**
 * Submits an image task, once (see the retry table).
 *
 * Where the 202's body can't be read, the ID is taken from its `Location`: the task is paid for.
 * @throws {ModelAccessError} see {@link request}; nothing says that a task exists
 * @see contract, "POST /v1/images/generations/async" and "POST /v1/images/edits/async"
 */
export async function submitImageTask(
	client: Client,
	kind: SubmitKind,
	body: Record<string, unknown> | FormData,
): Promise<AcceptedTask> {
	const path = `/images/${kind}/async`;
	return acceptedTask(client, await send(client, 'image', { method: 'POST', path, body }));
}

/**
 * Reads the reply to a submit. The task exists and may be paid for, so its ID is taken from
 * wherever it stands: the body, however it wraps the task, or the `Location`.
 * @throws {InvalidResponseError} no ID stands anywhere
 */
function acceptedTask(client: Client, reply: GatewayReply): AcceptedTask {
	const whole = parseJson(reply.body);
	const found =
		findTask(whole, (fields) => readNamedTaskId(fields) !== undefined) ??
		findTask(whole, (fields) => isTask(fields) && readTaskId(fields) !== undefined);
	const body = found ?? asRecord(whole);
	const taskId =
		readTaskId(body) ??
		findTaskAddress(whole, reply) ??
		readNestedId(whole, readTaskId) ??
		readNestedId(whole, readPlainTaskId);
	if (taskId === undefined) throw noTaskId(client, reply);
	const json = isTask(body) ? body : { ...body, task_id: taskId, status: 'processing' };
	return { ...toPollResult(client, { reply }, json, readTask(json)), taskId };
}

/** The ID in the `Location`, or in any address of a task that the body names. */
function findTaskAddress(body: unknown, reply: GatewayReply): string | undefined {
	const named = parseTaskPath(header(reply.headers, 'location') ?? '');
	if (named !== undefined) return named;
	const isAddress = (value: unknown): value is string =>
		typeof value === 'string' && parseTaskPath(value) !== undefined;
	const holder = findTask(body, (fields) => Object.values(fields).some(isAddress));
	return parseTaskPath(Object.values(holder ?? {}).find(isAddress) ?? '');
}

function readNestedId(body: unknown, read: typeof readTaskId): string | undefined {
	const holder = findTask(body, (fields) => read(fields) !== undefined);
	return holder && read(holder);
}

/** @returns the error of a reply that accepts a task and names none, with what it says instead */
function noTaskId(client: Client, reply: GatewayReply): ModelAccessError {
	const ids = pickIds(parseReply(client, 'image', reply));
	return new InvalidResponseError('The gateway accepted the image task, but named no task ID', {
		...unusableReply('image'),
		httpStatus: reply.status,
		partialText: client.redact(reply.body),
		...ids,
	});
}

/** A client whose requests wait in the queue of the run. */
export type QueuedClient = Client & { slot: Slot };

/** Seconds to wait after each 503 in a row; the last counts for all that follow. */
const UNAVAILABLE_WAITS = [15, 20, 30];

/**
 * What one image went through before the gateway took it. The gateway refuses a submit at once, or
 * accepts it and ends its task in the same way. Both are the same here. Max Wait, from the first
 * submit on, bounds 429; Max Retries bounds 503.
 * @see contract, "Errors" (429, 503)
 */
export class Refusals {
	/** Milliseconds since the epoch; a wait for the first submit has no end. */
	private deadline = Infinity;
	private count = 0;
	private unavailable = 0;
	private last?: ModelAccessError;

	/** @param maxWaitMs milliseconds from the first submit */
	constructor(
		private readonly client: QueuedClient,
		private readonly maxWaitMs: number,
	) {}

	/**
	 * Waits until the image may be submitted.
	 * @throws {ModelAccessError} Max Wait ended first
	 * @throws {CanceledError} the client is canceled
	 */
	async waitForSlot(): Promise<void> {
		const { slot, signal, time } = this.client;
		let isInTime: boolean;
		try {
			isInTime = await slot.acquire({ deadline: this.deadline, signal });
		} catch (error) {
			throw signal?.aborted ? new CanceledError() : error;
		}
		if (!isInTime && this.last) throw this.giveUp(this.last);
		if (this.deadline === Infinity) this.deadline = time.now() + this.maxWaitMs;
	}

	/**
	 * Notes a refusal; the queue pauses.
	 * @throws {ModelAccessError} any other failure, and the refusal after which the image is not
	 * submitted again
	 */
	note(error: unknown): void {
		if (!isRefusal(error)) throw error;
		const { refusal, retryAfter } = error.details;
		this.last = error;
		this.count++;
		const { slot, onRetry } = this.client;
		const askedMs = retryAfter === undefined ? undefined : retryAfter * 1000;
		if (refusal === 'rateLimited') slot.onRateLimited(askedMs);
		else this.noteUnavailable(error, askedMs);
		onRetry?.({ reason: error.message, waitMs: askedMs ?? 0, attempt: this.count });
	}

	/** @throws {ModelAccessError} the limit of refusals is reached, perhaps by another image */
	private noteUnavailable(error: ModelAccessError, askedMs: number | undefined) {
		const { slot, maxRetries } = this.client;
		this.unavailable++;
		if (this.unavailable > maxRetries || slot.hasGivenUp) {
			slot.onGivenUp();
			throw this.giveUp(error);
		}
		const seconds = UNAVAILABLE_WAITS[this.unavailable - 1] ?? UNAVAILABLE_WAITS.at(-1)!;
		slot.onUnavailable(seconds * 1000, askedMs);
	}

	private giveUp(error: ModelAccessError): ModelAccessError {
		const { maxWaitMs, count } = this;
		const times = count === 1 ? 'once' : `${count} times`;
		const isLate = error.details.refusal === 'rateLimited';
		const within = isLate ? ` within Max Wait (${maxWaitMs / 1000} s)` : '';
		const advice = formatAdvice(
			[
				`The gateway refused this image ${times}${within}.`,
				error.details.advice.includes(NOTHING_MADE) ? '' : NOTHING_MADE,
				error.details.advice,
				...(isLate ? [{ ifOption: 'Max Wait', text: 'Raise the Max Wait option.' } as const] : []),
			],
			this.client.optionNames,
		);
		return error.asFinalRefusal().with({ advice, retryable: true });
	}
}

const isRefusal = (error: unknown): error is ModelAccessError =>
	error instanceof ModelAccessError && error.details.refusal !== undefined;
