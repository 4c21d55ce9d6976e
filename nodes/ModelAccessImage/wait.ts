import type { IDataObject, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { FailedTaskError, ModelAccessError, UnknownTaskError } from '../shared/api/errors/errors';
import { quotable } from '../shared/api/errors/sanitize';
import { waitForImageTask } from '../shared/api/images/wait-for-task';
import type { Observation } from '../shared/api/images/task';
import type { PictureOrigin } from '../shared/api/images/task-images';
import type { Client } from '../shared/api/http/request';
import type { ItemScope } from '../shared/n8n/runner/run-items';
import { maxRetriesOf, maxRetriesOption, timeoutOption } from '../shared/n8n/fields/options';
import { numberParameter, secondsParameter } from '../shared/n8n/fields/parameters';
import { deliver, type Delivery } from './download';

/** The options of everything that waits for a task. */
export const waitingOptions: INodeProperties[] = [
	{
		displayName: 'Max Wait (Seconds)',
		name: 'maxWait',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 900,
		description: 'How long to wait for the image in all',
	},
	{
		displayName: 'On Timeout',
		name: 'onTimeout',
		type: 'options',
		options: [
			{
				name: 'Fail with an Error',
				value: 'error',
				description: 'The error names the task, which can be fetched later with Task → Wait',
			},
			{
				name: 'Return the Task',
				value: 'returnTask',
				description: 'The item holds the task as it stands, so that the workflow can go on with it',
			},
		],
		default: 'error',
		description: 'What to do when the image is not done within Max Wait',
	},
	{
		displayName: 'Poll Interval (Seconds)',
		name: 'pollInterval',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 3,
		description:
			'How long to wait at least before looking at the task again. Where the gateway asks for longer, that counts.',
	},
];

export const requestOptions: INodeProperties[] = [
	timeoutOption(60, 'How long to wait for one reply, and for the next byte of a download'),
	maxRetriesOption,
];

/** How long to wait, and what then. */
export interface Waiting {
	pollIntervalMs: number;
	onTimeout: 'error' | 'returnTask';
}

/**
 * Reads the waiting options, before anything is sent.
 * @throws {InputError}
 */
export function waitingOf({ options }: ItemScope): Waiting {
	const seconds = numberParameter(options.pollInterval, {
		field: 'Poll Interval',
		fallback: 3,
		min: 1,
	});
	return {
		pollIntervalMs: Math.ceil(seconds * 1000),
		onTimeout: options.onTimeout === 'returnTask' ? 'returnTask' : 'error',
	};
}

/**
 * A client for one item, bounded by its options: `maxWait` in all, `timeout` for each request.
 * @throws {InputError}
 */
export function boundedClient(item: ItemScope): Client {
	const { timeout, maxRetries, maxWait } = item.options;
	const wait = numberParameter(maxWait, { field: 'Max Wait', fallback: 900, min: 0 });
	return item.client({
		timeoutMs: secondsParameter(timeout, 'Timeout', 60),
		maxRetries: maxRetriesOf(maxRetries),
		deadline: item.connection.time.now() + wait * 1000,
	});
}

/** The item of a task that is not waited for: the gateway's body, and when to look again. */
export function taskOutput(taskId: string, { json, retryAfter }: Observation): INodeExecutionData {
	return {
		json: {
			...(json as IDataObject),
			task_id: taskId,
			...(retryAfter !== undefined && { retry_after: retryAfter }),
		},
	};
}

interface Collection {
	/** What is already known of the task, such as the 202. */
	first?: Observation;
	waiting: Waiting;
	delivery: Delivery;
	/** Told of each look at the task, the first one included. */
	onSeen: (seen: Observation) => void;
}

/**
 * Waits for an accepted task and hands on its pictures.
 * @throws {ModelAccessError} every error carries the task's ID
 */
export async function collect(
	item: ItemScope,
	client: Client,
	origin: PictureOrigin,
	{ first, waiting, delivery, onSeen }: Collection,
): Promise<INodeExecutionData[]> {
	const { taskId } = origin;
	try {
		const waited = await waitForImageTask(client, taskId, {
			first,
			pollIntervalMs: waiting.pollIntervalMs,
			deadline: client.deadline,
			onSeen,
		});
		if (waited.end === 'completed') {
			return await deliver(item, client, origin, waited.seen, delivery);
		}
		if (waiting.onTimeout === 'returnTask') return [taskOutput(taskId, waited.seen)];
		throw waited.error;
	} catch (error) {
		if (error instanceof FailedTaskError) item.ledger.dropFailed(taskId);
		if (error instanceof UnknownTaskError) item.ledger.dropUnknown(taskId);
		throw error instanceof ModelAccessError ? error.withTaskId(taskId) : error;
	}
}

/** Tells the log of each look at the task, and the editor of each change of its state. */
export function progressReport({ context, index, connection }: ItemScope, taskId: string) {
	let last: string | undefined;
	return ({ task, retryAfter }: Observation) => {
		const status = quotable(connection.redact(task.status), LONGEST_STATUS);
		context.logger.debug(`Item ${index}: image task ${taskId} is ${status}`, { retryAfter });
		if (status !== last) context.sendMessageToUI(`Image task ${taskId}: ${status}`);
		last = status;
	};
}

/** Characters of a status that somebody else's gateway may invent. */
const LONGEST_STATUS = 50;
