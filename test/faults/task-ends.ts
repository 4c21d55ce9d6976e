import type { TaskEndName } from '../../gateway/images/ends';

/** What comes of an image task that ends without an image. */
export interface TaskEndRow {
	end: TaskEndName;
	/** How often the image is submitted with Max Retries at 3 and Max Wait at 100 s. */
	submits: number;
	message: string;
	/** How the description begins. */
	advice: string;
	retryable: boolean;
}

const IN_DOUBT =
	'The image may have been made and charged, although it cannot be fetched. Check the usage in the gateway’s console before you submit it again.';

const doubt = (end: TaskEndName, message: string): TaskEndRow => ({
	end,
	submits: 1,
	message,
	advice: IN_DOUBT,
	retryable: false,
});

const refused = (end: TaskEndName, message: string, advice: string): TaskEndRow => ({
	...doubt(end, message),
	advice,
});

const tooMany = (end: TaskEndName, submits: number, message: string): TaskEndRow => ({
	end,
	submits,
	message,
	advice: `The gateway refused this image ${submits} times${submits > 4 ? ' within Max Wait (100 s)' : ''}.`,
	retryable: true,
});

const ONE_TOO_MANY = 'The gateway refused the image task as one too many';
const NOT_TAKEN = 'The gateway could not take the image task';
const PROVIDER_REFUSED = 'The model’s provider refused the prompt or an image';

/** Every end of the built-in gateway's tasks that is told by the task itself. */
export const TASK_END_ROWS: TaskEndRow[] = [
	tooMany(
		'line is full',
		6,
		`${ONE_TOO_MANY} (HTTP 429): Concurrency limit exceeded for user, please retry later`,
	),
	tooMany(
		'too many requests',
		6,
		`${ONE_TOO_MANY} (HTTP 429): group requests-per-minute limit exceeded`,
	),
	tooMany(
		'provider 429',
		6,
		`${ONE_TOO_MANY} (HTTP 429): Upstream rate limit exceeded, please retry later`,
	),
	tooMany('no account', 4, `${NOT_TAKEN} (HTTP 503): No available compatible accounts`),
	tooMany('overloaded', 4, `${NOT_TAKEN} (HTTP 529): All available accounts exhausted`),
	doubt(
		'not stored',
		'The image task failed (HTTP 502): failed to store generated image to object storage',
	),
	doubt('server error', 'The image task failed (HTTP 500): internal server error'),
	doubt('timed out', 'The image task failed (HTTP 408): the request did not complete in time'),
	doubt('no status', 'The image task failed: image generation failed'),
	doubt(
		'provider 500',
		'The image task failed (HTTP 502): Upstream service temporarily unavailable',
	),
	refused(
		'error in the result',
		`${PROVIDER_REFUSED} (HTTP 400, moderation_blocked): Your request was rejected by the safety system.`,
		'Change the prompt',
	),
	refused(
		'refused by the provider',
		`${PROVIDER_REFUSED} (HTTP 400, moderation_blocked): Your request was rejected`,
		'Change the prompt',
	),
	refused(
		'no account has the model',
		'The image task was refused (HTTP 404): Model is not supported by any configured account in this group',
		'Nothing was made.',
	),
	refused(
		'no balance',
		'The balance is used up (HTTP 403): insufficient balance',
		'Top up the balance',
	),
	refused(
		'quota used up',
		'A quota or budget is used up (HTTP 429, insufficient_quota): API key 额度已用完',
		'Raise or reset the quota',
	),
];
