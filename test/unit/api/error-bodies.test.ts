import { impliedStatus, isErrorBody } from '../../../nodes/shared/api/errors/error-body';

const ERROR = { message: 'no', type: 'invalid_request_error' };

test.each<unknown>([
	{ error: ERROR },
	{ error: 'no' },
	{ error: ERROR, data: null },
	{ error: ERROR, data: [], output: '' },
	{ object: 'error', error: ERROR, status: 400 },
	{ success: false, message: 'no' },
	{ success: false, data: null },
	{ code: 'API_KEY_EXPIRED', message: '已过期' },
	{ code: 1001, message: 'no', data: null },
	{ code: 401, message: 'no' },
	{ status: 'error', message: 'no' },
	{ status: 'FAILED', message: 'no', id: null },
	{ type: 'error', error: ERROR, request_id: 'r' },
])('%j is an error in place of an answer', (body) => {
	expect(isErrorBody(body)).toBe(true);
});

test.each<unknown>([
	{ id: 'resp_1', object: 'response', status: 'completed', error: null, output: [] },
	{ id: 'resp_1', object: 'response', status: 'failed', error: ERROR, output: [] },
	{ id: 'resp_1', status: 'incomplete', error: ERROR, output: [{ type: 'message' }] },
	{ task_id: 't', status: 'failed', http_status: 400, error: ERROR },
	{ id: 7, status: 'failed', error: ERROR, message: 'no', code: 400 },
	{ status: 'completed', result: { error: ERROR } },
	{ status: 'completed', image_url: 'https://store.example/1.png', error: ERROR },
	{ object: 'list', data: [{ id: 'm' }] },
	{ object: 'list', data: [] },
	{ code: 0, message: 'ok', data: { task_id: 't' } },
	...[0, 200, '0', 'ok', 'SUCCESS', 'succeeded'].map((code) => ({ code, message: 'all is well' })),
	{ success: true, message: 'ok' },
	{ code: 'x' },
	{ code: null, message: 'hello' },
	{ message: '', code: 400 },
	{ message: 'hello', status: 'ok' },
	{ choices: [{ message: { content: 'hello' } }], error: ERROR },
	{ error: {} },
	{ error: '' },
	{ error: false },
	{},
	[{ error: ERROR }],
	[],
	'error',
	null,
	undefined,
	7,
])('%j is none', (body) => {
	expect(isErrorBody(body)).toBe(false);
});

test.each<[number | undefined, words: string]>([
	[400, '400 invalid_request_error content_policy_violation moderation_blocked unsupported_value'],
	[400, 'image_generation_user_error validation_failed bad_request'],
	[401, '401 authentication_error invalid_api_key token_expired Unauthorized'],
	[403, 'billing_error insufficient_balance permission_error ACCESS_DENIED not_allowed'],
	[404, 'not_found_error model_not_found NotFound'],
	[
		429,
		'rate_limit_error RateLimitExceeded too_many_requests concurrency_limit insufficient_quota',
	],
	[429, 'USAGE_LIMIT_EXCEEDED throttled 429'],
	[500, 'server_error internal 500'],
	[502, 'upstream_error bad_gateway provider_failed'],
	[503, 'server_is_overloaded overloaded_error service_unavailable no_capacity 503'],
	[504, 'timeout timed_out'],
	[529, '529'],
	[undefined, '200 399 600 4.5e2x api_error unknown -429'],
])('%s is what stands behind %s', (status, words) => {
	for (const word of words.split(' ')) {
		expect([word, impliedStatus({ code: word })]).toEqual([word, status]);
		// A type is a word; a number is a code.
		if (/^[a-z]/i.test(word)) expect([word, impliedStatus({ type: word })]).toEqual([word, status]);
	}
});

test('the code tells more than the type, if it is known', () => {
	expect(impliedStatus({ code: 'timeout', type: 'rate_limit_error' })).toBe(504);
	expect(impliedStatus({ code: 'E17', type: 'rate_limit_error' })).toBe(429);
	expect(impliedStatus({})).toBeUndefined();
});
