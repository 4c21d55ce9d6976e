import { ModelAccessError } from '../errors/errors';
import type { Client } from '../http/request';
import { pause } from '../http/retry';
import { pollImageTask } from './poll-task';
import type { PollResult } from './task';
import { failedTask, timedOut, withTask } from './task-errors';

/** Where the waiting for a task stands. It can be saved, so that the waiting can go on later. */
export interface PollState {
	/** How often in a row the gateway named no time to wait. */
	unnamedWaits: number;
}

export interface PollSettings {
	/** Milliseconds; no wait is shorter. */
	pollIntervalMs: number;
	/** Milliseconds since the epoch; no wait ends later. */
	deadline: number;
}

export type PollStep =
	/** The task has its images. */
	| { next: 'completed' }
	/** The task ended without. */
	| { next: 'failed' }
	/** Poll again after `waitMs`. */
	| { next: 'wait'; waitMs: number; state: PollState }
	/** No time is left for another poll, which may not come before `waitMs` have passed. */
	| { next: 'giveUp'; waitMs: number; because: 'deadline' | 'expiry'; endsAt: number };

const UNNAMED_WAIT_MS = 3_000;
const LONGEST_UNNAMED_WAIT_MS = 15_000;
const SHORTEST_WAIT_MS = 1_000;

/** How long before its expiry a task is polled for the last time. At its expiry it is gone. */
const BEFORE_EXPIRY_MS = 1_000;

/**
 * One step of waiting for a task, as a pure function of the last poll. The last poll is as late as
 * possible: at the deadline, unless the gateway asked for longer.
 * @see contract, "States and transitions" and "Limits" (poll fallback)
 */
export function pollStep(state: PollState, seen: PollResult, settings: PollSettings): PollStep {
	if (seen.state !== 'working') return { next: seen.state };
	const { now, retryAfter } = seen;
	const { deadline, pollIntervalMs } = settings;
	const unnamedWaits = retryAfter === undefined ? state.unnamedWaits + 1 : 0;
	const waitFor = (waitMs: number) => ({ next: 'wait', waitMs, state: { unnamedWaits } }) as const;
	const expiry = expiryMoment(seen);
	const endsAt = Math.min(deadline, expiry);
	const usual = Math.max(askedWaitMs(state, seen), pollIntervalMs);
	if (now + usual <= endsAt) return waitFor(usual);
	const least = leastWaitMs(seen);
	const last = Math.min(deadline, expiry - BEFORE_EXPIRY_MS) - now;
	if (last >= least) return waitFor(last);
	const because = expiry < deadline ? 'expiry' : 'deadline';
	return { next: 'giveUp', waitMs: least, because, endsAt };
}

/** Milliseconds before which the gateway does not want another poll. */
function leastWaitMs({ retryAfter }: PollResult): number {
	return Math.max(SHORTEST_WAIT_MS, retryAfter === undefined ? UNNAMED_WAIT_MS : retryAfter * 1000);
}

/** How long the gateway asks to wait, or a time that grows with each poll if it does not say. */
function askedWaitMs({ unnamedWaits }: PollState, { retryAfter }: PollResult): number {
	if (retryAfter !== undefined) return retryAfter * 1000;
	return Math.min(LONGEST_UNNAMED_WAIT_MS, UNNAMED_WAIT_MS * 1.5 ** unnamedWaits);
}

/** When the task's record ends, by the local clock. */
function expiryMoment({ task, now, gatewayTime }: PollResult): number {
	return task.expires_at === undefined ? Infinity : now + (task.expires_at * 1000 - gatewayTime);
}

/** How the waiting ended, with the last that was seen. */
export interface WaitResult {
	end: 'completed' | 'timedOut';
	last: PollResult;
	/** For `timedOut`: the error that says so, to be thrown or not. */
	error?: ModelAccessError;
}

/** A task that is waited for. */
export interface AwaitedTask extends PollSettings {
	taskId: string;
	/** What is already known of the task, such as the 202; else it is polled at once. */
	first?: PollResult;
	/** Unix seconds at which the gateway accepted it; absent: a user entered the ID. */
	acceptedAt?: number;
	/** Told of each reply. */
	onSeen?: (seen: PollResult) => void;
}

/**
 * Polls a task until it ends, the deadline or its expiry is near, or the client is canceled.
 *
 * @throws {TaskError} the task failed, or the gateway no longer knows it
 * @throws {ModelAccessError} a poll failed permanently; the error carries the task's ID
 */
export async function waitForImageTask(client: Client, awaited: AwaitedTask): Promise<WaitResult> {
	const { taskId, first, acceptedAt, onSeen } = awaited;
	const poll = async () => await pollImageTask(client, taskId, acceptedAt);
	let state: PollState = { unnamedWaits: 0 };
	let seen = first ?? (await poll());
	for (;;) {
		onSeen?.(seen);
		const step = pollStep(state, seen, awaited);
		if (step.next !== 'wait') return endWait(client, taskId, seen, step);
		const next = await pollAfter(client, awaited, step.waitMs);
		if (next instanceof ModelAccessError) return { end: 'timedOut', last: seen, error: next };
		state = step.state;
		seen = next;
	}
}

/** @throws {TaskError} the task failed */
function endWait(
	client: Client,
	taskId: string,
	seen: PollResult,
	step: Exclude<PollStep, { next: 'wait' }>,
): WaitResult {
	if (step.next === 'failed') throw failedTask(client, taskId, seen.task);
	if (step.next === 'giveUp') {
		return { end: 'timedOut', last: seen, error: timedOut(client, taskId, seen, step) };
	}
	return { end: 'completed', last: seen };
}

/** @returns the error if no time was left to poll again */
async function pollAfter(
	client: Client,
	{ taskId, acceptedAt }: AwaitedTask,
	waitMs: number,
): Promise<PollResult | ModelAccessError> {
	try {
		await pause(client, waitMs);
		return await pollImageTask(client, taskId, acceptedAt);
	} catch (error) {
		const known = withTask(error, taskId);
		if (known instanceof ModelAccessError && known.details.outOfTime) return known;
		throw known;
	}
}
