import { InvalidResponseError } from '../errors/errors';
import { unusableReply } from '../errors/from-reply';
import { pickIds } from '../errors/reply-ids';
import { asRecord, parseJson } from '../http/json';
import { send, parseReply, type Client } from '../http/request';
import { header, type GatewayReply } from '../http/transport';
import { imageTaskSchema } from '../schemas';
import { toPollResult, type AcceptedTask } from './task';
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
 * wherever it stands: the body, even one that is not as it should be, or the `Location`.
 * @throws {InvalidResponseError} no ID stands anywhere
 */
function acceptedTask(client: Client, reply: GatewayReply): AcceptedTask {
	const body = asRecord(parseJson(reply.body));
	const taskId =
		readId(body.task_id) ??
		readId(body.id) ??
		parseTaskPath(header(reply.headers, 'location') ?? '');
	if (taskId === undefined) {
		const ids = pickIds(parseReply(client, 'image', reply));
		throw new InvalidResponseError('The gateway accepted the image task, but named no task ID', {
			...unusableReply('image'),
			httpStatus: reply.status,
			...ids,
		});
	}
	const checked = imageTaskSchema.safeParse(body);
	const task = checked.success ? checked.data : { task_id: taskId, status: 'processing' };
	const json = checked.success ? body : { ...body, ...task };
	return { ...toPollResult(client, { json, reply }, task), taskId };
}

function readId(value: unknown): string | undefined {
	const text = typeof value === 'number' ? String(value) : value;
	return typeof text === 'string' && text !== '' ? text : undefined;
}
