import { FailedTaskError, ModelAccessError, UnknownTaskError } from '../shared/api/errors/errors';
import type { PollResult } from '../shared/api/images/task';
import { waitForImageTask } from '../shared/api/images/poll-task';
import type { ImageScope, WaitSettings } from './fields';

/** A task that is waited for. */
export interface AwaitedTask {
	taskId: string;
	/** What is already known of the task, such as the 202. */
	first?: PollResult;
	/** Unix seconds at which the gateway accepted it; absent: a user entered the ID. */
	acceptedAt?: number;
	/** Milliseconds since the epoch at which Max Wait ends. */
	endsAt: number;
}

/** How the waiting ended: with images, or with the task as it stands. */
export interface EndOfWait {
	taskId: string;
	seen: PollResult;
	isDone: boolean;
}

/**
 * Waits for an accepted task.
 * @returns the task with its images; if Max Wait ended first, and the user wants it so, without
 * @throws {ModelAccessError} every error carries the task's ID
 */
export async function waitForTask(
	{ client, work, onPoll }: ImageScope,
	{ taskId, first, acceptedAt, endsAt }: AwaitedTask,
	{ pollIntervalMs, returnsTask }: WaitSettings,
): Promise<EndOfWait> {
	try {
		const result = await waitForImageTask(
			{ ...client, deadline: endsAt },
			{
				taskId,
				first,
				acceptedAt,
				pollIntervalMs,
				deadline: endsAt,
				onSeen: onPoll(taskId),
			},
		);
		if (result.end === 'completed') {
			// The gateway has room for another task by now, also while the images are downloaded.
			client.slot.onSucceeded();
			client.slot.release();
			return { taskId, seen: result.last, isDone: true };
		}
		if (returnsTask) return { taskId, seen: result.last, isDone: false };
		throw result.error;
	} catch (error) {
		if (error instanceof FailedTaskError) work.dropTask(taskId);
		if (error instanceof UnknownTaskError) work.dropUnknownTask(taskId);
		throw error instanceof ModelAccessError ? error.withTaskId(taskId) : error;
	}
}
