import type { FailedTaskError } from '../../../nodes/shared/api/errors/errors';
import { taskState } from '../../../nodes/shared/api/images/task';
import { failedTask } from '../../../nodes/shared/api/images/task-errors';
import { imageTaskSchema } from '../../../nodes/shared/api/schemas';
import { arrange, expectError } from './arrange';

/** The error of a task that the gateway sent so. */
function failed(task: object): FailedTaskError {
	const read = imageTaskSchema.parse({ status: 'failed', ...task });
	expect(taskState(read)).toBe('failed');
	return failedTask(arrange().client, 't', read);
}

type Outcome = 'rateLimited' | 'unavailable' | 'inDoubt' | 'refused';

/** What a reader is told; only what the gateway refused is submitted again, by us or by n8n. */
const OUTCOMES: Record<Outcome, [details: object, title: RegExp, advice: RegExp]> = {
	rateLimited: [
		{ refusal: 'rateLimited', retryable: true },
		/^The gateway’s rate limit refused the image task/,
		/^Nothing was made or charged\. /,
	],
	unavailable: [
		{ refusal: 'unavailable', retryable: true },
		/^The gateway could not take the image task/,
		/^Nothing was made or charged\. /,
	],
	inDoubt: [
		{ maybeExecuted: true, retryable: false },
		/^The image task failed/,
		/^The image may have been made and charged, .*Check the usage in the gateway’s/,
	],
	refused: [{ retryable: false }, /^(The|A) /, /Nothing was made\.$/],
};

function expectOutcome(error: FailedTaskError, outcome: Outcome) {
	const [details, title, advice] = OUTCOMES[outcome];
	expectError(error, 'FailedTaskError', title, { taskId: 't', advice });
	const { refusal, maybeExecuted, retryable } = error.details;
	expect({ refusal, maybeExecuted, retryable }).toEqual(details);
}

test.each<[Outcome, statuses: Array<number | undefined>]>([
	['rateLimited', [429]],
	['unavailable', [503, 529]],
	['inDoubt', [408, 500, 501, 502, 504, 520, 599, undefined, 0, 200, 302]],
	['refused', [400, 401, 402, 403, 404, 405, 409, 413, 422, 451, 499]],
])('a failed task is %s by its status: %j', (outcome, statuses) => {
	for (const http_status of statuses) {
		const error = failed({ http_status, error: { message: 'no luck' } });
		expectOutcome(error, outcome);
		const isError = http_status !== undefined && http_status >= 400;
		expect(error.message).toContain(isError ? `(HTTP ${http_status}): no luck` : ': no luck');
		expect(error.details.httpStatus).toBe(isError ? http_status : undefined);
	}
});

const STORE = 'failed to store generated image to object storage';
const BEFORE = /before you submit it again\.$/;
const CONCURRENCY = 'Concurrency limit exceeded for user, please retry later';

test.each<[Outcome, status: number | undefined, error: object, advice: RegExp]>([
	['rateLimited', 429, { type: 'rate_limit_error', message: CONCURRENCY }, /raise the limit/],
	['rateLimited', 429, { code: 'rate_limit_exceeded', message: 'the quota a minute' }, /limit/],
	['refused', 429, { code: 'insufficient_quota', message: 'used up' }, /Raise or reset the quota/],
	['refused', 429, { message: 'You exceeded your current quota' }, /Raise or reset the quota/],
	['inDoubt', 503, { message: 'The image could not be stored' }, BEFORE],
	['inDoubt', 503, { code: 'image_storage_unavailable', message: 'later' }, BEFORE],
	['inDoubt', 503, { type: 'UPLOAD_ERROR', message: 'later' }, BEFORE],
	['unavailable', 503, { message: 'a historical outage, restored soon' }, /Try again later/],
	['inDoubt', 502, { type: 'upstream_error', message: STORE }, /outage\. Try again later/],
	// An error in place of the images: the code or the type stands for a status.
	['rateLimited', undefined, { type: 'rate_limit_error', message: 'wait' }, /raise the limit/],
	['unavailable', undefined, { code: 'server_is_overloaded', message: 'wait' }, /Try again later/],
	['inDoubt', undefined, { type: 'upstream_error', message: 'gone' }, /outage/],
	['inDoubt', undefined, { type: 'some_error', code: 7, message: 'gone' }, /Check the usage/],
	['refused', undefined, { code: 422, message: 'no such size' }, /Check the request/],
	['refused', 200, { type: 'image_generation_user_error', message: 'no' }, /^Change the prompt/],
])('a failed task is %s by %s and %j', (outcome, http_status, said, advice) => {
	const inPlaceOfImages = { status: 'completed', http_status: 200, result: { error: said } };
	const error = failed(http_status ? { http_status, error: said } : inPlaceOfImages);
	expectOutcome(error, outcome);
	expect(error.details.advice).toMatch(advice);
});

const CODES = ['rate_limit_error', 'server_is_overloaded', 'content_policy_violation'];
test.each(CODES)('a task that failed without a status is in doubt, not free: %s', (code) => {
	const error = failed({ error: { code, message: 'no' } });
	expectOutcome(error, 'inDoubt');
	expect(error.details.advice).not.toContain('Nothing was made');
});

test.each<[string, unknown[]]>([
	['out of luck', [{ type: 'T', message: 'out of luck' }, 'out of luck']],
	['T', [{ type: 'T' }, { type: 'T', message: '' }]],
	['the gateway gave no reason', [undefined, {}, '', { type: '', message: '' }]],
])('a failed task says why: %s', (reason, errors) => {
	const messages = errors.map((error) => failed({ error }).message);
	expect(new Set(messages)).toEqual(new Set([`The image task failed: ${reason}`]));
});
