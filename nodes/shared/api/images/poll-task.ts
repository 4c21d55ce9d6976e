import { StatusError } from '../errors/errors';
import { request, type Client } from '../http/request';
import { checkAnswer, imageTaskSchema } from '../schemas';
import { observe, type Observation } from './task';
import { unknownTask, withTask } from './task-errors';

/**
 * Reads a task once.
 * @throws {TaskError} the gateway does not know the task
 * @throws {ModelAccessError} see {@link request}; every error carries the task's ID
 * @see contract, "GET /v1/images/tasks/<task_id>" and "Errors" 6
 */
export async function pollImageTask(client: Client, taskId: string): Promise<Observation> {
	try {
		const path = `/images/tasks/${encodeURIComponent(taskId)}`;
		const answer = await request(client, 'read', { method: 'GET', path });
		const what = { what: 'image task', kind: 'read' } as const;
		return observe(client, answer, checkAnswer(imageTaskSchema, answer, what));
	} catch (error) {
		const unknown = error instanceof StatusError && error.facts.httpStatus === 404;
		throw unknown ? unknownTask(taskId, error) : withTask(error, taskId);
	}
}
