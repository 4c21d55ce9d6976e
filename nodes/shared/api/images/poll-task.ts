import { ApiError, InvalidResponseError } from '../errors/errors';
import { request, type Client, type ParsedReply } from '../http/request';
import { sendWithRetry, type Attempt } from '../http/retry';
import { checkReply, imageTaskSchema, type ImageTask } from '../schemas';
import { readTaskId } from './read-task-id';
import { findTask, isTask, toPollResult, type PollResult } from './task';
import { unknownTask, withTask } from './task-errors';

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
