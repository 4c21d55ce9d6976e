import { getReplyIds, type ReplyIds } from '../errors/reply-ids';
import { asRecord } from '../http/json';
import type { ParsedReply, Client } from '../http/request';
import { readGatewayTime, parseRetryAfter } from '../http/retry-after';
import { imageTaskSchema, type ImageTask } from '../schemas';

/** What one reply said about a task. */
export interface PollResult extends ReplyIds {
	/** Checked, for reading. */
	task: ImageTask;
	/** How it stands, whatever the gateway calls it. */
	state: TaskState;
	/** As the gateway sent it. */
	json: Record<string, unknown>;
	/** Seconds, where the reply named them. */
	retryAfter?: number;
	/** When the reply was here: milliseconds since the epoch, by the local clock. */
	now: number;
	/** The same moment by the gateway's clock. */
	gatewayTime: number;
}

/** A task the gateway has accepted. From here on it may cost money and must not get lost. */
export interface AcceptedTask extends PollResult {
	taskId: string;
}

export type TaskState = 'working' | 'completed' | 'failed';

/** Names of a status, without case, spaces, hyphens and underscores. */
const STATUSES: Record<TaskState, readonly string[]> = {
	working: [
		'processing',
		'queued',
		'inqueue',
		'pending',
		'waiting',
		'inprogress',
		'running',
		'started',
		'starting',
		'submitted',
		'accepted',
		'created',
		'generating',
		'notstart',
	],
	completed: ['completed', 'complete', 'succeeded', 'success', 'successful', 'done', 'finished'],
	failed: [
		'failed',
		'failure',
		'fail',
		'error',
		'errored',
		'cancelled',
		'canceled',
		'rejected',
		'aborted',
		'expired',
		'timeout',
		'timedout',
	],
};

/**
 * How a task stands. A task with an image is done. A task with an error has failed, unless its
 * status says that it is still running. A status that no list has means: keep waiting.
 * @see contract, "Image task" (`status`)
 */
export function taskState(task: ImageTask): TaskState {
	if (hasImages(task)) return 'completed';
	const word = task.status.toLowerCase().replace(/[\s_-]+/g, '');
	const isAtWork = STATUSES.working.includes(word);
	if (getTaskError(task) && !isAtWork) return 'failed';
	if (STATUSES.completed.includes(word)) return 'completed';
	return STATUSES.failed.includes(word) ? 'failed' : 'working';
}

/** Whether a task has an image. */
export function hasImages({ image_url, result }: ImageTask): boolean {
	return Boolean(image_url) || (result?.data ?? []).some(({ url }) => Boolean(url));
}

/** Why a task failed: its own error, or the one instead of its images. */
export function getTaskError(task: ImageTask): ImageTask['error'] {
	return [task.error, task.result?.error].find((error) => error && saysSomething(error));
}

/** Some gateways send an error without content beside each task. */
const saysSomething = (error: object) =>
	Object.values(error).some((value) => Boolean(value) && value !== '0');

/**
 * What a reply says about a task.
 * @param json the task as it came
 * @param task the same, checked
 */
export function toPollResult(
	client: Client,
	{ reply }: Pick<ParsedReply, 'reply'>,
	json: Record<string, unknown>,
	task: ImageTask,
): PollResult {
	const now = client.time.now();
	return {
		...getReplyIds(client.redact, reply),
		task,
		state: taskState(task),
		json,
		retryAfter: parseRetryAfter(reply.headers, now),
		now,
		gatewayTime: readGatewayTime(reply.headers, now),
	};
}

/** How deep a task may be wrapped into other objects and lists. */
const DEEPEST = 4;

/**
 * Finds a task in a reply that may wrap it: `{ code, data: { … } }`, `{ data: [{ … }] }`.
 * @param isTask tells it from what is around it
 * @returns the outermost one
 */
export function findTask(
	body: unknown,
	isTask: (found: Record<string, unknown>) => boolean,
): Record<string, unknown> | undefined {
	let level: unknown[] = [body];
	for (let depth = 0; depth <= DEEPEST; depth++) {
		const found = level.map(asRecord).find(isTask);
		if (found) return found;
		level = level.flatMap((value) => Object.values(asRecord(value)));
	}
	return undefined;
}

/** The task in a body; one that can't be read is at work. */
export function readTask(body: Record<string, unknown>): ImageTask {
	const checked = imageTaskSchema.safeParse(body);
	return checked.success ? checked.data : { status: 'processing' };
}

/** Whether an object is a task with a status. */
export function isTask(value: Record<string, unknown>): boolean {
	return imageTaskSchema.safeParse(value).success;
}
