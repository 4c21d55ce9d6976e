import type { IExecuteFunctions } from 'n8n-workflow';
import { sanitizeField, type Redact } from '../api/errors/sanitize';
import type { PollResult } from '../api/images/task';

/** Characters of a status that a gateway may make up. */
const LONGEST_STATUS = 50;

/** The item that waits for a task. */
interface WaitingItem {
	context: IExecuteFunctions;
	index: number;
	connection: { redact: Redact };
}

/**
 * Tells the log of each poll of an item's task, and the editor of each change of its status.
 * @returns by task, what to call with each reply
 */
export function taskProgress({ context, index, connection }: WaitingItem) {
	let last: string | undefined;
	return (taskId: string) =>
		({ task, retryAfter }: PollResult): void => {
			const status = sanitizeField(connection.redact, task.status, LONGEST_STATUS);
			context.logger.debug(`Item ${index}: image task ${taskId} is ${status}`, { retryAfter });
			if (status !== last) context.sendMessageToUI(`Image task ${taskId}: ${status}`);
			last = status;
		};
}
