import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { FailedTaskError, ModelAccessError, UnknownTaskError } from '../shared/api/errors/errors';
import { sanitizeField } from '../shared/api/errors/sanitize';
import type { Client } from '../shared/api/http/request';
import type { PollResult } from '../shared/api/images/task';
import type { ImageOrigin } from '../shared/api/images/task-images';
import { waitForImageTask } from '../shared/api/images/wait-for-task';
import { createFileStorage } from '../shared/n8n/http/file-storage';
import type { ItemScope } from '../shared/n8n/runner/operation';
import { downloadImages } from './download';
import type { FileSettings, WaitSettings } from './fields';

/** The item of a task that is not waited for: the gateway's body, and when to look again. */
export function taskOutput(taskId: string, { json, retryAfter }: PollResult): INodeExecutionData {
	return {
		json: {
			...(json as IDataObject),
			task_id: taskId,
			...(retryAfter !== undefined && { retry_after: retryAfter }),
		},
	};
}

/** What is waited for, and how. */
export interface WaitRequest {
	origin: ImageOrigin;
	wait: WaitSettings;
	files: FileSettings;
	/** What is already known of the task, such as the 202. */
	first?: PollResult;
	/** Told of each poll, the first result included. */
	onPoll: (seen: PollResult) => void;
}

/**
 * Waits for an accepted task and makes items of its images.
 * @throws {ModelAccessError} every error carries the task's ID
 */
export async function waitAndDownload(
	item: ItemScope,
	client: Client,
	{ origin, wait, files, first, onPoll }: WaitRequest,
): Promise<INodeExecutionData[]> {
	const { taskId } = origin;
	try {
		const waited = await waitForImageTask(client, taskId, {
			first,
			pollIntervalMs: wait.pollIntervalMs,
			deadline: client.deadline,
			onSeen: onPoll,
		});
		if (waited.end === 'completed') {
			return await downloadImages(createDownloader(item, client), waited.last.task, origin, files);
		}
		if (wait.returnsTask) return [taskOutput(taskId, waited.last)];
		throw waited.error;
	} catch (error) {
		if (error instanceof FailedTaskError) item.resumeStore.dropFailed(taskId);
		if (error instanceof UnknownTaskError) item.resumeStore.dropUnknown(taskId);
		throw error instanceof ModelAccessError ? error.withTaskId(taskId) : error;
	}
}

/** What downloads the images of an item. */
export function createDownloader({ context, connection }: ItemScope, client: Client) {
	return { client, storage: createFileStorage(context), baseUrl: connection.baseUrl };
}

/** Characters of a status that a gateway may make up. */
const LONGEST_STATUS = 50;

/** Tells the log of each poll, and the editor of each change of the task's status. */
export function progressReport({ context, index, connection }: ItemScope, taskId: string) {
	let last: string | undefined;
	return ({ task, retryAfter }: PollResult) => {
		const status = sanitizeField(connection.redact, task.status, LONGEST_STATUS);
		context.logger.debug(`Item ${index}: image task ${taskId} is ${status}`, { retryAfter });
		if (status !== last) context.sendMessageToUI(`Image task ${taskId}: ${status}`);
		last = status;
	};
}
