import type { IBinaryData } from 'n8n-workflow';
import { sanitizeField } from '../shared/api/errors/sanitize';
import type { Storage } from '../shared/api/images/download';
import type { QueuedClient } from '../shared/api/images/refusals';
import type { PollResult } from '../shared/api/images/task';
import { createFileStorage } from '../shared/n8n/http/file-storage';
import type { ItemScope } from '../shared/n8n/runner/operation';
import { addTaskUsage, type TokenUsage } from '../shared/n8n/token-usage';
import { readBounds } from './fields';

/** What the steps of an image item work with. */
export interface ImageScope extends Pick<ItemScope, 'work' | 'hint'> {
	client: QueuedClient;
	/** Milliseconds that a task may take from its submit, and that an image may be refused. */
	maxWaitMs: number;
	/** Where files go. */
	storage: Storage<IBinaryData>;
	/** The gateway's address, for image URLs that are relative to it. */
	baseUrl: string;
	/** Counts the tokens of a task whose images are here. */
	onUsage(taskId: string, usage: TokenUsage): void;
	/** Tells the log of each poll, and the editor of each change of the task's status. */
	onPoll(taskId: string, seen: PollResult): void;
}

/**
 * Makes what the steps of an image item work with.
 * @throws {ValidationError} an option is not usable
 */
export function readScope(item: ItemScope): ImageScope {
	const { context, connection, work, hint } = item;
	const bounds = readBounds(item);
	return {
		client: item.client(bounds),
		maxWaitMs: bounds.totalMs,
		storage: createFileStorage(context),
		baseUrl: connection.baseUrl,
		work,
		hint,
		onUsage: (taskId, usage) => addTaskUsage(context, taskId, usage),
		onPoll: progressReport(item),
	};
}

/** Characters of a status that a gateway may make up. */
const LONGEST_STATUS = 50;

function progressReport({ context, index, connection }: ItemScope): ImageScope['onPoll'] {
	let last: string | undefined;
	return (taskId, { task, retryAfter }) => {
		const status = sanitizeField(connection.redact, task.status, LONGEST_STATUS);
		context.logger.debug(`Item ${index}: image task ${taskId} is ${status}`, { retryAfter });
		if (status !== last) context.sendMessageToUI(`Image task ${taskId}: ${status}`);
		last = status;
	};
}
