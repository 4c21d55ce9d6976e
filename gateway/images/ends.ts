import type { TaskFailure } from './task';

/** How an image task ends at a real gateway. */
export interface TaskEnd {
	failure?: TaskFailure;
	/** The task is completed, and its result is this error. */
	errorInResult?: { type: string; code: string; message: string };
	/** Whether the usage log charges it. */
	charged: boolean;
	/** Seconds of work; `taskSeconds` if absent. */
	seconds?: number;
	/** The provider's failure parks its account. */
	parks?: boolean;
	/** `orphaned`: it stays at work for ever. `lost`: the gateway forgets it when it is done. */
	fate?: 'orphaned' | 'lost';
}

/** A failure that comes before any work. */
const atOnce = (httpStatus: number, type: string, message: string): TaskEnd => ({
	failure: { type, message, httpStatus },
	charged: false,
	seconds: 0,
});

/** A failure after the work was done. */
const charged = (httpStatus: number | undefined, type: string, message: string): TaskEnd => ({
	failure: { type, message, httpStatus },
	charged: true,
});

const provider = (httpStatus: number, type: string, message: string): TaskEnd => ({
	failure: { type, message, httpStatus },
	charged: false,
	parks: true,
});

const REFUSAL = [
	'I can’t help to make this image, because it would show a real person in a harmful way.',
	'If you like, I can make an image of an invented person in a friendly scene.',
].join('\n\n');

const noAccount = (message: string) => atOnce(503, 'api_error', message);

/** The endings by name; the words of most are those of the recorded gateway. */
export const TASK_ENDS = {
	'not stored': charged(502, 'api_error', 'failed to store generated image to object storage'),
	'too slow': { ...charged(504, 'api_error', 'image generation timed out'), seconds: 1800 },
	'server error': charged(500, 'api_error', 'internal server error'),
	'timed out': charged(408, 'timeout_error', 'the request did not complete in time'),
	'no status': charged(undefined, 'api_error', 'image generation failed'),
	'error in the result': {
		errorInResult: {
			type: 'image_generation_user_error',
			code: 'moderation_blocked',
			message: 'Your request was rejected by the safety system.',
		},
		charged: false,
	},
	'line is full': atOnce(
		429,
		'rate_limit_error',
		'Concurrency limit exceeded for user, please retry later',
	),
	'too many requests': atOnce(
		429,
		'rate_limit_exceeded',
		'group requests-per-minute limit exceeded',
	),
	'no account': noAccount('No available compatible accounts'),
	'no account has the model': atOnce(
		404,
		'model_not_found',
		'Model is not supported by any configured account in this group',
	),
	overloaded: atOnce(529, 'overloaded_error', 'All available accounts exhausted'),
	'no balance': atOnce(403, 'billing_error', 'insufficient balance'),
	'quota used up': {
		failure: {
			type: 'insufficient_quota',
			code: 'insufficient_quota',
			message: 'API key 额度已用完',
			httpStatus: 429,
		},
		charged: false,
		seconds: 0,
	},
	'provider 429': provider(
		429,
		'rate_limit_error',
		'Upstream rate limit exceeded, please retry later',
	),
	'provider 500': provider(502, 'upstream_error', 'Upstream service temporarily unavailable'),
	'refused by the model': {
		failure: {
			type: 'image_generation_user_error',
			code: 'content_policy_violation',
			message: Array(3).fill(REFUSAL).join('\n\n'),
			httpStatus: 400,
		},
		charged: false,
	},
	'refused by the provider': {
		failure: {
			type: 'provider_error',
			code: 'moderation_blocked',
			message: 'Your request was rejected',
			httpStatus: 400,
		},
		charged: false,
	},
	orphaned: { charged: false, fate: 'orphaned' },
	lost: { charged: true, fate: 'lost' },
} satisfies Record<string, TaskEnd>;

export type TaskEndName = keyof typeof TASK_ENDS;

/** The ending of this name. */
export const endNamed = (name: TaskEndName): TaskEnd => TASK_ENDS[name];

/** The ending that the word `[[end:NAME]]` of a prompt asks for. */
export function endInPrompt(prompt: string): TaskEndName | undefined {
	const name = /\[\[end:([^\]]+)\]\]/.exec(prompt)?.[1];
	return name !== undefined && Object.hasOwn(TASK_ENDS, name) ? (name as TaskEndName) : undefined;
}
