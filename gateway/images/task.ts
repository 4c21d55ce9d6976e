import { tokensOf } from '../responses/language';
import { seconds } from '../time';
import type { ImageSource } from '../drawing/draw';

/** What an image task was asked for. */
export interface TaskRequest {
	kind: 'generation' | 'edit';
	model: string;
	prompt: string;
	/** As asked; `auto` where nothing was. */
	size: string;
	/** Number of images. */
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
	code?: string;
	/** Outcome status of the job; real gateways may leave it out. */
	httpStatus?: number;
}

/** An image task. Its state is a function of this and of the time; nothing moves it on. */
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
	/** When it was taken to work; absent if it was refused before. */
	startsAt?: number;
	completesAt: number;
	expiresAt: number;
	/** Set where the job will fail. */
	failure?: TaskFailure;
	/** Set where the result of the completed task is an error. */
	errorInResult?: { type: string; code: string; message: string };
	/** A restart of the gateway left it at work for ever. */
	orphaned?: boolean;
	/** Milliseconds since the Unix epoch from which the gateway no longer knows it. */
	forgottenAt?: number;
	/** Number of images that it makes. */
	images: number;
	/** Size of its images. */
	width: number;
	height: number;
	/** What an edit was given, small; none for a generation. */
	sources: ImageSource[];
	mask?: ImageSource;
}

export type TaskStatus = 'processing' | 'completed' | 'failed';

/**
 * The state of a task at `now` (contract: States and transitions, Image task); `undefined` once it
 * has expired, or the gateway has lost it.
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
	/** With all that real gateways add. */
	full?: boolean;
	/** Other words for the states. */
	words?: Partial<Record<TaskStatus, string>>;
}

/**
 * The task as the contract shows it (Resources, Image task): no field beyond those that its table
 * names for the state, unless it is to be full.
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

/** What was really made, and what it took. */
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

/** What the "model" makes of a prompt. */
export const revisedPrompt = (prompt: string) => `${prompt}, in soft light`;
