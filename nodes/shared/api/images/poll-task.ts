import { ApiError, InvalidResponseError, ModelAccessError } from '../errors/errors';
import { request, type Client, type ParsedReply } from '../http/request';
import { pause, sendWithRetry, type Attempt } from '../http/retry';
import { checkReply, imageTaskSchema, type ImageTask } from '../schemas';
import { readTaskId } from './read-task-id';
import { findTask, isTask, toPollResult, type PollResult } from './task';
import { failedTask, timedOut, unknownTask, withTask } from './task-errors';

/**
 * Reads a task once. It costs nothing, so a reply that is no task is looked at again, as often as
 * Max Retries allows.
 * @param acceptedAt Unix seconds at which the gateway accepted it; absent: a user entered the ID
 * @throws {TaskError} the gateway does not know the task
 * @throws {ModelAccessError} see {@link request}; every error carries the task's ID
 * @see contract, "GET /v1/images/tasks/<task_id>" and "Errors" 6
 */
export async function pollImageTask(
	client: Client,
	taskId: string,
	acceptedAt?: number,
): Promise<PollResult> {
	try {
		return await pollUntilTask(client, taskId);
	} catch (error) {
		throw isUnknown(error) ? unknownTask(taskId, error, acceptedAt) : withTask(error, taskId);
	}
}

/** A 404 of the gateway itself, not of a wrong path. */
const isUnknown = (error: unknown): error is ApiError =>
	error instanceof ApiError && error.details.httpStatus === 404 && !isWrongPath(error);

const isWrongPath = ({ details: { finding, code, type } }: ApiError) =>
	finding === 'path' && code === undefined && type === undefined;

/** Replies that are no task and requests that failed share the retries. */
async function pollUntilTask(client: Client, taskId: string): Promise<PollResult> {
	let left = client.maxRetries;
	const onRetry: Client['onRetry'] = (retry) => {
		left--;
		client.onRetry?.(retry);
	};
	return await sendWithRetry({ ...client, onRetry }, async () => {
		const attempt = await pollOnce({ ...client, onRetry, maxRetries: left }, taskId);
		return 'value' in attempt ? attempt : { ...attempt, mayRetry: left > 0 };
	});
}

/** A cache on the way must not answer instead of the gateway. */
const FRESH = { 'Cache-Control': 'no-cache' };

async function pollOnce(client: Client, taskId: string): Promise<Attempt<PollResult>> {
	const path = `/images/tasks/${encodeURIComponent(taskId)}`;
	try {
		const answer = await request(client, 'read', { method: 'GET', path, headers: FRESH });
		return { value: readPoll(client, answer, taskId) };
	} catch (error) {
		return repeatable(error);
	}
}

/** @throws what another look does not change */
function repeatable(error: unknown): Attempt<PollResult> {
	if (error instanceof InvalidResponseError) return { error, mayRetry: true };
	throw error;
}

/** @throws {InvalidResponseError} the reply is no task */
function readPoll(client: Client, answer: ParsedReply, taskId: string): PollResult {
	const json = unwrapTask(answer.json, taskId);
	const what = { what: 'image task', kind: 'read' } as const;
	const task: ImageTask = checkReply(imageTaskSchema, { ...answer, json }, what);
	return toPollResult(client, answer, json, task);
}

/** The task itself where the reply wraps it; else the reply as it came. */
function unwrapTask(body: unknown, taskId: string): Record<string, unknown> {
	const found =
		findTask(body, (fields) => isTask(fields) && readTaskId(fields) === taskId) ??
		findTask(body, (fields) => isTask(fields) && readTaskId(fields) !== undefined) ??
		findTask(body, isTask);
	return found ?? (body as Record<string, unknown>);
}

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
