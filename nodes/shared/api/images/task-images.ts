import { TaskError } from '../errors/errors';
import { toIsoTime } from '../http/clock';
import { omitUndefined } from '../http/json';
import type { ImageTask } from '../schemas';
import { getTaskError, type PollResult } from './task';

/** One image of a completed task. */
export interface TaskImage {
	url: string;
	/** Its entry in the task's `result.data`, as the gateway sent it. */
	entry: Record<string, unknown>;
	/** Position among the task's images, from 0. */
	index: number;
	count: number;
}

/** What was asked for, as far as it is known. */
export interface ImageOrigin {
	taskId: string;
	model?: string;
	prompt?: string;
}

/**
 * The images of a completed task: each entry of `result.data` that has a `url`. If none has, the
 * task's `image_url`.
 * @throws {TaskError} the task has neither
 * @see contract, "Image task"
 */
export function getTaskImages(taskId: string, task: ImageTask): TaskImage[] {
	const entries = (task.result?.data ?? []).filter(({ url }) => url);
	const found =
		entries.length > 0 ? entries : task.image_url ? [{ url: task.image_url }] : undefined;
	if (!found) {
		throw new TaskError('The image task is completed, but names no image', {
			taskId,
			httpStatus: task.http_status,
			retryable: false,
			advice:
				'The gateway’s answer holds neither an image_url nor a result. Look at it with Task → Get, and ask the gateway’s operator.',
		});
	}
	return found.map((entry, index) => ({
		url: entry.url!,
		entry,
		index,
		count: found.length,
	}));
}

/** An image's output but for its file, at most nine fields; a file is the tenth. */
export function simplifyImage(
	task: ImageTask,
	{ url, index, count }: TaskImage,
	{ taskId, model, prompt }: ImageOrigin,
): Record<string, unknown> {
	const { expires_at, result } = task;
	return omitUndefined({
		task_id: taskId,
		status: 'completed',
		model,
		prompt,
		image_url: url,
		image_index: index,
		image_count: count,
		expires_at: toIsoTime(expires_at),
		usage: result?.usage,
	});
}

/** What one reply said about a task, as far as an output needs it. */
export type SeenTask = Pick<PollResult, 'task' | 'json' | 'retryAfter'>;

/** A task's fields in the form that images have, and its error. */
function simplifyTask(
	{ task, retryAfter }: SeenTask,
	{ taskId, model, prompt }: ImageOrigin,
): Record<string, unknown> {
	const { status, expires_at, http_status } = task;
	return omitUndefined({
		task_id: taskId,
		status,
		model,
		prompt,
		expires_at: toIsoTime(expires_at),
		http_status,
		error: getTaskError(task),
		retry_after: retryAfter,
	});
}

/**
 * The output of a task without images, and when to look again.
 * @param simplify whether it has the fields of images; else it is the gateway's body
 */
export function taskOutput(
	seen: SeenTask,
	origin: ImageOrigin,
	simplify: boolean,
): Record<string, unknown> {
	if (simplify) return simplifyTask(seen, origin);
	const { json, retryAfter } = seen;
	return {
		...json,
		task_id: origin.taskId,
		...omitUndefined({ retry_after: retryAfter }),
	};
}

/** An image's output as the gateway sent it: the task, and the image's own entry. */
export function rawImage(
	{ json, requestId, clientRequestId }: PollResult,
	{ entry, index, count }: TaskImage,
): Record<string, unknown> {
	return {
		...json,
		image: entry,
		image_index: index,
		image_count: count,
		...omitUndefined({ request_id: requestId, client_request_id: clientRequestId }),
	};
}
