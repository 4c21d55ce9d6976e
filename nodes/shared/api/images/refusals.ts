import { formatAdvice } from '../errors/advice';
import { CanceledError, ModelAccessError } from '../errors/errors';
import type { Slot } from '../http/rate-limit-queue';
import type { Client } from '../http/request';
import { NOTHING_MADE } from './task-errors';

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
