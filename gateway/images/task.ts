import { tokensOf } from '../responses/language';
import { seconds } from '../time';
import type { ImageSource } from '../drawing/draw';

/** The request of an image task. */
export interface TaskRequest {
	kind: 'generation' | 'edit';
	model: string;
	prompt: string;
	/** As requested; `auto` if the request names none. */
	size: string;
	/** Number of requested images. */
	n: number;
	/** Name of the key of the request. */
	key: string;
	/** The fields of the body (of a form: as text). */
	fields: Record<string, unknown>;
}

/** Why a task fails. */
export interface TaskFailure {
	type: string;
	message: string;
	code?: string;
	/** Outcome status of the job; real gateways may leave it out. */
	httpStatus?: number;
}

/** An image task. Its state depends on these fields and the time alone. */
export interface ImageTask {
	id: string;
	/** Name of the key that owns it. */
	key: string;
	/** Name of the account that pays. */
	account: string;
	/** `X-Request-ID` of its submit. */
	requestId: string;
	request: TaskRequest;
	/** Milliseconds since the Unix epoch. */
	createdAt: number;
	/** When its work starts; absent if the gateway refused it first. */
	startsAt?: number;
	completesAt: number;
	expiresAt: number;
	/** Set if the job will fail. */
	failure?: TaskFailure;
	/** Set if the result of the completed task is an error. */
	errorInResult?: { type: string; code: string; message: string };
	/** A restart of the gateway left it in the state `processing` until it expires. */
	orphaned?: boolean;
	/** Time from which the gateway no longer knows it, in milliseconds since the Unix epoch. */
	forgottenAt?: number;
	/** Number of images that it makes. */
	images: number;
	/** Size of its images in pixels. */
	width: number;
	height: number;
	/** The images of an edit, scaled down; none for a generation. */
	sources: ImageSource[];
	mask?: ImageSource;
}

export type TaskStatus = 'processing' | 'completed' | 'failed';

/**
 * The state of a task at `now` (contract: States and transitions, Image task). `undefined` once the
 * task has expired, or the gateway has lost it.
 */
export function statusOf(task: ImageTask, now: number): TaskStatus | undefined {
	if (now >= task.expiresAt || now >= (task.forgottenAt ?? Infinity)) return undefined;
	if (task.orphaned || now < task.completesAt) return 'processing';
	return task.failure ? 'failed' : 'completed';
}

/** How a task is shown. */
export interface TaskView {
	/** The signed address of image `index`. */
	urlOf: (index: number) => string;
	/** Whether it has the fields that real gateways add. */
	full?: boolean;
	/** Other names of the states. */
	words?: Partial<Record<TaskStatus, string>>;
}

/**
 * The task as the contract shows it (Resources, Image task). It has only the fields that the
 * contract's table names for the state, unless `full` is set.
 */
export function taskBody(task: ImageTask, status: TaskStatus, { urlOf, full, words }: TaskView) {
	const common = {
		id: task.id,
		task_id: task.id,
		object: 'image.generation.task',
		status: words?.[status] ?? status,
	};
	const created_at = seconds(task.createdAt);
	const expires_at = seconds(task.expiresAt);
	const completed_at = seconds(task.completesAt);
	switch (status) {
		case 'processing':
			return { ...common, created_at, expires_at };
		case 'failed': {
			const { httpStatus, ...error } = task.failure!;
			const times = full ? { created_at, completed_at } : {};
			return { ...common, ...times, expires_at, http_status: httpStatus, error };
		}
		case 'completed': {
			const times = { created_at, expires_at, completed_at };
			const { errorInResult: error } = task;
			if (error) return { ...common, ...times, http_status: 200, result: { error } };
			const data = Array.from({ length: task.images }, (_unused, index) => ({
				url: urlOf(index),
				revised_prompt: revisedPrompt(task.request.prompt),
			}));
			const result = { created: completed_at, data, ...(full ? resultDetails(task) : {}) };
			return { ...common, ...times, http_status: 200, image_url: urlOf(0), result };
		}
	}
}

/** Tokens of one image. */
const TOKENS_PER_IMAGE = 4160;

/** The real properties and the usage of the result. */
function resultDetails({ width, height, images, request }: ImageTask) {
	const text_tokens = tokensOf(request.prompt);
	const output_tokens = images * TOKENS_PER_IMAGE;
	return {
		background: 'opaque',
		output_format: 'png',
		quality: 'high',
		size: `${width}x${height}`,
		usage: {
			input_tokens: text_tokens,
			input_tokens_details: { text_tokens, image_tokens: 0 },
			output_tokens,
			total_tokens: text_tokens + output_tokens,
		},
	};
}

/** The prompt as the "model" revises it. */
export const revisedPrompt = (prompt: string) => `${prompt}, in soft light`;
