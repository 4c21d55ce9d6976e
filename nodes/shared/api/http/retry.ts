import { CanceledError, type ModelAccessError } from '../errors/errors';
import type { Clock } from './clock';
import type { FaultKind } from './transport';

/** What a request costs if it is executed twice. */
export type RequestKind =
	/** Reading a list or a task: costs nothing. */
	| 'read'
	/** `POST /v1/responses`. */
	| 'response'
	/** Submitting an image task (generate, edit). */
	| 'image';

/** Everything that can become of a request that did not succeed. */
export type Outcome =
	| 'rateLimited'
	/** A quota or budget is used up: a limit that a short wait does not help against. */
	| 'quotaExhausted'
	| 'unavailable'
	| 'unreached'
	| 'internalError'
	| 'inDoubt'
	| 'refused';

export type Rule =
	/** Sent again until `maxRetries`. */
	| 'bounded'
	/** The same, if the gateway says when. */
	| 'ifAsked'
	/** Sent again once at most. */
	| 'once'
	/** Left to the caller, which knows the queue of all items: see `Refusals`. */
	| 'queued'
	| 'never';

interface Row {
	outcome: Outcome;
	read: Rule;
	response: Rule;
	image: Rule;
	/** Whether the gateway may have executed the request. */
	executed: 'no' | 'maybe';
}

/**
 * The retry rule, as data. A request that may cost money is sent again only in two cases. Either
 * the gateway said that it did nothing, or nothing can have reached it.
 * @see contract, "Errors", rules 1, 2 and 6
 */
export const RETRY_TABLE: readonly Row[] = [
	{
		outcome: 'rateLimited',
		read: 'bounded',
		response: 'bounded',
		image: 'queued',
		executed: 'no',
	},
	{
		outcome: 'quotaExhausted',
		read: 'ifAsked',
		response: 'ifAsked',
		image: 'ifAsked',
		executed: 'no',
	},
	{
		outcome: 'unavailable',
		read: 'bounded',
		response: 'bounded',
		image: 'queued',
		executed: 'no',
	},
	{ outcome: 'unreached', read: 'bounded', response: 'bounded', image: 'bounded', executed: 'no' },
	{ outcome: 'internalError', read: 'once', response: 'once', image: 'never', executed: 'maybe' },
	{ outcome: 'inDoubt', read: 'bounded', response: 'never', image: 'never', executed: 'maybe' },
	{ outcome: 'refused', read: 'never', response: 'never', image: 'never', executed: 'no' },
];

const ROWS = new Map(RETRY_TABLE.map((row) => [row.outcome, row]));

/** The rule for an outcome of a kind of request, and whether it may have been executed. */
export function retryRule(outcome: Outcome, kind: RequestKind): { rule: Rule; executed: boolean } {
	const row = ROWS.get(outcome)!;
	return { rule: row[kind], executed: row.executed === 'maybe' };
}

/**
 * The outcome that an error status stands for. Other 5xx than 500, 503 and 529 leave in doubt what
 * was done: 502, 504, and those that proxies add. Some providers answer 529 to an overload.
 */
export function statusOutcome(status: number): Outcome {
	switch (status) {
		case 429:
			return 'rateLimited';
		case 503:
		case 529:
			return 'unavailable';
		case 500:
			return 'internalError';
		case 408:
			return 'inDoubt';
		default:
			return status > 500 ? 'inDoubt' : 'refused';
	}
}

/** The outcome that a missing reply stands for. */
export function faultOutcome(fault: FaultKind): Outcome {
	switch (fault) {
		case 'unreached':
			return 'unreached';
		case 'timeout':
		case 'lost':
			return 'inDoubt';
		case 'certificate':
		case 'clientCertificate':
		case 'handshake':
		case 'tls':
		case 'blocked':
			return 'refused';
	}
}

const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 30_000;

/**
 * Exponential backoff with full jitter, for where the gateway names no time.
 * @param retries how often the request was sent again before, from 0
 * @param random from 0 to 1
 * @returns milliseconds
 */
export function backoffMs(retries: number, random: number): number {
	return Math.round(random * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retries));
}

/** What bounds the attempts of a request or a download. */
export interface RetryBounds {
	time: Clock;
	/** Ends every wait. */
	signal?: AbortSignal;
	/** How often it is sent again at most. */
	maxRetries: number;
	/** No wait ends after this moment (milliseconds since the epoch). */
	deadline: number;
	/** Told of each wait, for logs. */
	onRetry?: (retry: { reason: string; waitMs: number; attempt: number }) => void;
}

/** What one attempt brought: a value, or the error and whether another attempt may follow. */
export type Attempt<T> =
	| { value: T }
	| {
			error: ModelAccessError;
			mayRetry: boolean;
			/** Milliseconds until the next attempt, if the error does not decide. */
			waitMs?: number;
			/** For logs; the error's message if it is absent. */
			reason?: string;
	  };

/**
 * The only loop that sends something again, as often as `maxRetries` allows. It waits as long as
 * the error asks for, or else with backoff.
 * @throws {ModelAccessError} the error of the last attempt
 * @throws {CanceledError} the signal is aborted during a wait
 * @see contract, "Errors" (429) and "Limits"
 */
export async function sendWithRetry<T>(
	bounds: RetryBounds,
	sendOnce: () => Promise<Attempt<T>>,
): Promise<T> {
	const { time, maxRetries, deadline, onRetry } = bounds;
	for (let retries = 0; ; retries++) {
		const attempt = await sendOnce();
		if ('value' in attempt) return attempt.value;
		const { error, mayRetry, reason = error.message } = attempt;
		if (!mayRetry || retries >= maxRetries) throw error;
		const waitMs = attempt.waitMs ?? nextWaitMs(error, retries, time.random());
		if (time.now() + waitMs > deadline) throw outOfTime(error);
		onRetry?.({ reason, waitMs, attempt: retries + 1 });
		await pause(bounds, waitMs);
	}
}

function nextWaitMs({ details }: ModelAccessError, retries: number, random: number): number {
	const { retryAfter } = details;
	return retryAfter !== undefined ? retryAfter * 1000 : backoffMs(retries, random);
}

/**
 * Waits on the client's time.
 * @throws {CanceledError} the signal is, or becomes, aborted
 */
export async function pause(
	{ time, signal }: Pick<RetryBounds, 'time' | 'signal'>,
	ms: number,
): Promise<void> {
	try {
		await time.sleep(ms, signal);
	} catch (error) {
		throw signal?.aborted ? new CanceledError() : error;
	}
}

/** The same error, saying that no time was left for the wait before another attempt. */
export function outOfTime<E extends ModelAccessError>(error: E): E {
	const { retryAfter, advice } = error.details;
	const reason =
		retryAfter !== undefined
			? `It asked to wait ${retryAfter} s, which is longer than the time left.`
			: 'The time limit left no time for another attempt.';
	return error.with({ advice: `${reason} ${advice}`, outOfTime: true });
}
