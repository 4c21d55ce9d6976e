import { ApiError } from '../errors/errors';
import { request, type Client } from '../http/request';
import { checkReply, imageTaskSchema } from '../schemas';
import { toPollResult, type PollResult } from './task';
import { unknownTask, withTask } from './task-errors';

/**
 * Reads a task once.
 * @throws {TaskError} the gateway does not know the task
 * @throws {ModelAccessError} see {@link request}; every error carries the task's ID
 * @see contract, "GET /v1/images/tasks/<task_id>" and "Errors" 6
 */
export async function pollImageTask(client: Client, taskId: string): Promise<PollResult> {
	try {
		const path = `/images/tasks/${encodeURIComponent(taskId)}`;
		const answer = await request(client, 'read', { method: 'GET', path });
		const what = { what: 'image task', kind: 'read' } as const;
		return toPollResult(client, answer, checkReply(imageTaskSchema, answer, what));
	} catch (error) {
		const unknown = error instanceof ApiError && error.details.httpStatus === 404;
		throw unknown ? unknownTask(taskId, error) : withTask(error, taskId);
	}
}
