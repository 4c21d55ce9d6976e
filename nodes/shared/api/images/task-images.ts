import { TaskError } from '../errors/errors';
import type { ImageTask } from '../schemas';

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
 * The images of a completed task: each entry of `result.data` that has a `url`; where there is
 * none, the task's `image_url`.
 * @throws {TaskError} the task has neither
 * @see contract, "Image task"
 */
export function getTaskImages(taskId: string, task: ImageTask): TaskImage[] {
	const entries = (task.result?.data ?? []).filter(({ url }) => url);
	const found =
		entries.length > 0 ? entries : task.image_url ? [{ url: task.image_url }] : undefined;
	if (!found) {
		throw new TaskError('The image task is completed, but names no picture', {
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

/**
 * The one home of an image's output shape: the JSON of the item that stands for it.
 * The download adds `file`.
 */
export function toImageOutput(
	task: ImageTask,
	{ url, entry, index, count }: TaskImage,
	{ taskId, model, prompt }: ImageOrigin,
): Record<string, unknown> {
	return {
		task_id: taskId,
		status: task.status,
		...(model !== undefined && { model }),
		...(prompt !== undefined && { prompt }),
		image_url: url,
		image_index: index,
		image_count: count,
		created_at: task.created_at,
		completed_at: task.completed_at,
		expires_at: task.expires_at,
		http_status: task.http_status,
		image: entry,
	};
}
