import { seconds } from '../time';
import type { PictureSource } from '../pictures/draw';

/** What an image task was asked for. */
export interface TaskRequest {
	kind: 'generation' | 'edit';
	model: string;
	prompt: string;
	/** As asked; `auto` where nothing was. */
	size: string;
	/** Number of pictures. */
	n: number;
	/** Name of the key that asked. */
	key: string;
	/** The fields of the body (of a form: as text). */
	fields: Record<string, unknown>;
}

/** Why a task fails. */
export interface TaskFailure {
	type: string;
	message: string;
	/** Outcome status of the job. */
	httpStatus: number;
}

/** An image task. Its state is a function of this and of the time; nothing moves it on. */
export interface ImageTask {
	id: string;
	/** Name of the key that owns it. */
	key: string;
	/** `X-Request-ID` of its submit. */
	requestId: string;
	request: TaskRequest;
	/** Milliseconds since the Unix epoch. */
	createdAt: number;
	completesAt: number;
	expiresAt: number;
	/** Set where the job will fail. */
	failure?: TaskFailure;
	/** Size of its pictures. */
	width: number;
	height: number;
	/** What an edit was given, small; none for a generation. */
	sources: PictureSource[];
	mask?: PictureSource;
}

export type TaskStatus = 'processing' | 'completed' | 'failed';

/**
 * The state of a task at `now` (contract: States and transitions, Image task); `undefined` once it
 * has expired.
 */
export function statusOf(task: ImageTask, now: number): TaskStatus | undefined {
	if (now >= task.expiresAt) return undefined;
	if (now < task.completesAt) return 'processing';
	return task.failure ? 'failed' : 'completed';
}

/**
 * The task as the contract shows it (Resources, Image task): no field beyond those that its table
 * names for the state.
 * @param urlOf the signed address of picture `index`
 */
export function taskBody(task: ImageTask, status: TaskStatus, urlOf: (index: number) => string) {
	const common = {
		id: task.id,
		task_id: task.id,
		object: 'image.generation.task',
		status,
	};
	const expires_at = seconds(task.expiresAt);
	switch (status) {
		case 'processing':
			return { ...common, created_at: seconds(task.createdAt), expires_at };
		case 'failed': {
			const { type, message, httpStatus } = task.failure!;
			return { ...common, expires_at, http_status: httpStatus, error: { type, message } };
		}
		case 'completed': {
			const data = Array.from({ length: task.request.n }, (_unused, index) => ({
				url: urlOf(index),
				revised_prompt: revisedPrompt(task.request.prompt),
			}));
			return {
				...common,
				created_at: seconds(task.createdAt),
				expires_at,
				completed_at: seconds(task.completesAt),
				http_status: 200,
				image_url: urlOf(0),
				result: { created: seconds(task.completesAt), data },
			};
		}
	}
}

/** What the "model" makes of a prompt. */
export const revisedPrompt = (prompt: string) => `${prompt}, in soft light`;
