import type { TaskEndName } from '../../gateway/images/ends';

const IN_DOUBT =
	'The image may have been made and charged, although it cannot be fetched. Check the usage in the gateway’s console before you submit it again.';

const REFUSED_4 = 'The gateway refused this image 4 times.';
const REFUSED_6 = 'The gateway refused this image 6 times within Max Wait (100 s).';

const ONE_TOO_MANY = 'The gateway’s rate limit refused the image task (HTTP 429)';
const NOT_TAKEN = 'The gateway could not take the image task';
const FAILED = 'The image task failed';
const NO_MODEL = 'Model is not supported by any configured account in this group';
const NO_STORE = 'failed to store generated image to object storage';
const MODERATED =
	'The model’s provider refused the prompt or an image (HTTP 400, moderation_blocked): Your request was rejected';
const LINE = 'Concurrency limit exceeded for user, please retry later';
const UPSTREAM = 'Upstream rate limit exceeded, please retry later';
const NO_ADDRESS = `The gateway refused the image task (HTTP 404): ${NO_MODEL}`;
const NO_BALANCE = 'The balance is used up (HTTP 403): insufficient balance';
const QUOTA = 'A quota or budget is used up (HTTP 429, insufficient_quota): API key 额度已用完';

/**
 * Every end of the built-in gateway's tasks that is told by the task itself: how often the image is
 * submitted with Max Retries at 3 and Max Wait at 100 s, the error, and how its advice begins.
 */
const ENDS: Array<[end: TaskEndName, submits: number, message: string, advice: string]> = [
	['line is full', 6, `${ONE_TOO_MANY}: ${LINE}`, REFUSED_6],
	['too many requests', 6, `${ONE_TOO_MANY}: group requests-per-minute limit exceeded`, REFUSED_6],
	['provider 429', 6, `${ONE_TOO_MANY}: ${UPSTREAM}`, REFUSED_6],
	['no account', 4, `${NOT_TAKEN} (HTTP 503): No available compatible accounts`, REFUSED_4],
	['overloaded', 4, `${NOT_TAKEN} (HTTP 529): All available accounts exhausted`, REFUSED_4],
	['not stored', 1, `${FAILED} (HTTP 502): ${NO_STORE}`, IN_DOUBT],
	['server error', 1, `${FAILED} (HTTP 500): internal server error`, IN_DOUBT],
	['timed out', 1, `${FAILED} (HTTP 408): the request did not complete in time`, IN_DOUBT],
	['no status', 1, `${FAILED}: image generation failed`, IN_DOUBT],
	['provider 500', 1, `${FAILED} (HTTP 502): Upstream service temporarily unavailable`, IN_DOUBT],
	['error in the result', 1, `${MODERATED} by the safety system.`, 'Change the prompt'],
	['refused by the provider', 1, MODERATED, 'Change the prompt'],
	['no account has the model', 1, NO_ADDRESS, 'Nothing was'],
	['no balance', 1, NO_BALANCE, 'Top up the balance'],
	['quota used up', 1, QUOTA, 'Raise or reset the quota'],
];

export const TASK_END_ROWS = ENDS.map(([end, submits, message, advice]) => {
	return { end, submits, message, advice, retryable: submits > 1 };
});
