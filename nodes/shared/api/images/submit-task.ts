import { InvalidResponseError, type ModelAccessError } from '../errors/errors';
import { unusableReply } from '../errors/from-reply';
import { pickIds } from '../errors/reply-ids';
import { asRecord, parseJson } from '../http/json';
import { parseReply } from '../http/parse-reply';
import { send, type Client } from '../http/request';
import { header, type GatewayReply } from '../http/transport';
import { readNamedTaskId, readPlainTaskId, readTaskId } from './read-task-id';
import { findTask, isTask, readTask, toPollResult, type AcceptedTask } from './task';
import { parseTaskPath } from './task-id';

/** Which of the two submit endpoints. */
export type SubmitKind = 'generations' | 'edits';

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

/** @returns the error of a reply that accepts a task and names none */
function noTaskId(client: Client, reply: GatewayReply): ModelAccessError {
	const ids = pickIds(parseReply(client, 'image', reply));
	return new InvalidResponseError('The gateway accepted the image task, but named no task ID', {
		...unusableReply('image'),
		httpStatus: reply.status,
		...ids,
	});
}
