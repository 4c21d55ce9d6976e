import { formatAdvice } from '../../../nodes/shared/api/errors/advice';
import { describeError } from '../../../nodes/shared/api/errors/describe';
import { adviseOn, isQuotaExhausted } from '../../../nodes/shared/api/errors/evidence';
import type { ErrorSource, FindingKind } from '../../../nodes/shared/api/errors/findings';
import { ALL_OPTION_NAMES } from '../../support/option-names';

const PLACES = ['modelList', 'response', 'imageSubmit', 'taskPoll', 'failedTask'];

/** An error by its place, status, code and type (`-` for none), and the message behind them. */
function evidence(said: string) {
	const [source, status, ...rest] = said.split(' ');
	const [code, type, ...words] = rest.map((word) => (word === '-' ? undefined : word));
	const given = { status: Number(status) || undefined, code, type, message: words.join(' ') };
	return { source: source as ErrorSource, ...given };
}

const advice = (said: string) => formatAdvice(adviseOn(evidence(said)).advice, ALL_OPTION_NAMES);

/** What a provider refuses is in refused-key.test.ts. */
type OwnKind = Exclude<FindingKind, 'providerKey'> | 'nothing';

/** What is found in errors, word for word where they were recorded. A code is before words. */
const CASES = `
	keyExpired response 403 API_KEY_EXPIRED - API key 已过期
	keyExpired modelList 401 - - The token has expired
	keyExpired response 401 expired_key auth_error Authentication Error
	quota response 429 insufficient_quota insufficient_quota API key 额度已用完
	quota imageSubmit 429 API_KEY_QUOTA_EXHAUSTED - API key 额度已用完
	quota response 429 USAGE_LIMIT_EXCEEDED - daily usage limit exceeded
	quota response 429 usage_limit_reached - The usage limit has been reached
	quota response 400 billing_hard_limit_reached - Billing hard limit
	quota failedTask 429 quota_exceeded - x
	quota response 400 400 budget_exceeded Budget has been exceeded!
	quota response 429 DAILY_LIMIT_EXCEEDED rate_limit_error x
	quota response 429 - - You exceeded your current quota, please check your plan
	quota response 403 - - quota exhausted
	keyDisabled response 401 API_KEY_DISABLED - API key is disabled
	keyDisabled modelList 401 USER_INACTIVE - User account is not active
	keyDisabled response 401 - - This key has been revoked
	keyInvalid response 401 INVALID_API_KEY - Invalid API key
	keyInvalid modelList 401 invalid_api_key x Incorrect API key provided: sk-1.
	keyInvalid modelList 401 - authentication_error Invalid API key
	keyInvalid modelList 400 400 no_db_connection No connected db.
	keyMissing response 401 API_KEY_REQUIRED - API key is required in Authorization
	noImages imageSubmit 403 permission_error permission_error Image generation is not enabled
	noImages imageSubmit 403 - - the API key’s group does not permit images
	address response 403 ACCESS_DENIED - Access denied. Your IP is 203.0.113.7
	address modelList 403 - - Your IP address 2001:db8::7 is not on the allowlist
	balance response 403 billing_error billing_error insufficient balance
	balance failedTask 403 - billing_error insufficient balance
	balance imageSubmit 403 INSUFFICIENT_BALANCE - Insufficient account balance
	balance response 403 insufficient_user_quota new_api_error 用户额度不足
	balance response 400 - - Your credit balance is too low to access the API
	model failedTask 404 - model_not_found Model "m" is not supported by any configured account
	model response 404 model_not_found x The model \`gpt-9\` does not exist
	model response 503 model_not_found new_api_error No available channel
	model response 404 - not_found_error model: claude-9 not found
	model response 400 - - Invalid model name passed in model=gpt-9
	model response 403 - - This group is not allowed to use the model gpt-9
	model response 503 - - No available channel for model gpt-9 under group default
	noAccount response 503 - - No available accounts supporting model: gpt-9
	model response 401 - key_model_access_denied key not allowed to access model
	noImagesHere imageSubmit 404 not_found_error - Images API is not supported for this platform
	noImageTasks imageSubmit 404 - not_found async image tasks are not enabled
	wrongModelKind imageSubmit 400 - - images endpoint requires an image model, got "gpt-5.4"
	wrongModelKind response 404 - - This model is only supported in v1/images/generations and not in
	wrongModelKind response 400 - - gpt-image-2 is not a text model
	moderation failedTask 400 moderation_blocked provider_error rejected
	moderation failedTask - moderation_blocked image_generation_user_error
	moderation failedTask 400 content_policy_violation image_generation_user_error word0 word1
	moderation imageSubmit 400 - - Your request was rejected by the safety system.
	moderation response 400 content_filter - x
	outage response 502 - upstream_error Upstream service temporarily unavailable
	outage failedTask 502 - upstream_error The model fell over
	outage response 503 - api_error Service temporarily unavailable
	noAccount response 529 - overloaded_error All available accounts exhausted
	noAccount response 429 server_error - All available accounts exhausted
	noAccount failedTask 503 - api_error No available compatible accounts
	continuation response 400 continuation_state_unavailable - its upstream state is unavailable.
	continuation response 400 previous_response_not_found - x
	continuation response 400 - - Unsupported parameter: previous_response_id
	path response 404 - invalid_request_error Invalid URL (POST /v1/v1/responses)
	path modelList 404 - - Not Found
	keyExpired response 403 API_KEY_EXPIRED - insufficient balance
	nothing imageSubmit 400 invalid_value - bad size
	nothing modelList 400 - - content policy
`;

/** What each kind says to do, and what the evidence rules out. */
const SAYS: Record<OwnKind, [says: RegExp, never: RegExp]> = {
	keyExpired: [/has expired.*new key/, /balance|disabled|images|incomplete/],
	quota: [/quota.*console/, /Wait|slow|Concurrency|balance/],
	keyDisabled: [/disabled\. Enable it/, /expired|incomplete|images/],
	keyInvalid: [/^Fix the credential: .*does not know this API key/, /expired|disabled|images/],
	keyMissing: [/saw no API key.*Authorization/, /expired|disabled/],
	noImages: [/group may not generate images/, /balance|expired|address/],
	address: [/address/, /expired|balance|images/],
	balance: [/^Top up the balance/, /[Cc]hange the request|expired|images/],
	model: [/use another model/, /Base URL|asynchronous|expired/],
	noImagesHere: [/platform without image models/, /Base URL|asynchronous/],
	noImageTasks: [/image tasks are turned off/, /Base URL|model is in/],
	wrongModelKind: [/use another model/, /Base URL|a field is missing/],
	moderation: [/^Change the prompt or the image.*Nothing was made/, /a field is missing/],
	outage: [/outage\. Try again later/, /small request/],
	noAccount: [/No account.*Try again later/, /quota|small request/],
	continuation: [/Previous Response ID option/, /a field is missing/],
	path: [/Base URL.*\/v1/, /model|asynchronous/],
	nothing: [/^Fix the request/, /prompt/],
};

const ALL = CASES.trim().split(/\n\s*/);
test.each(ALL)('the advice on %s names that', (line) => {
	const [kind, said] = line.split(/ (.*)/) as [OwnKind, string];
	expect(adviseOn(evidence(said)).kind).toBe(kind === 'nothing' ? undefined : kind);
	const [says, never] = SAYS[kind];
	expect(advice(said)).toMatch(says);
	expect(advice(said)).not.toMatch(never);
});

test('the address that the gateway saw is named, an option only if the reader has it', () => {
	const told = (said: string) => formatAdvice(adviseOn(evidence(`response ${said}`)).advice);
	expect(told('403 ACCESS_DENIED - Your IP is 203.0.113.7')).toBe(
		'The API key may not be used from the address 203.0.113.7. Allow it for the key in the gateway’s console.',
	);
	expect(told('403 ACCESS_DENIED - no')).toContain('address of this n8n');
	expect(told('400 continuation_state_unavailable')).toBe(
		'Send the whole conversation instead of the ID of an earlier response.',
	);
});

test.each([
	[false, '429 rate_limit_exceeded rate_limit_error quota exceeded for requests'],
	[false, '429 - rate_limit_error group requests-per-minute limit exceeded'],
	[false, '429 - - Too many requests, please slow down'],
	[false, '429 requests_per_minute_quota_exceeded - x'],
	[false, '429 - - You exceeded your quota. Requests per minute. Please retry in 9 s'],
	[false, '503 billing_error - Billing service temporarily unavailable'],
	[true, '429 insufficient_quota rate_limit_error'],
	[true, '429 insufficientQuota'],
	[true, '429 billing_error'],
])('a limit that passes by itself is no used-up quota (%p): %s', (quota, said) => {
	expect(isQuotaExhausted(evidence(`response ${said}`))).toBe(quota);
});

test.each<['text' | 'html', RegExp]>([
	[
		'text',
		/^Check the Base URL of the credential: it ends in \/v1((?!model|asynchronous)[^.])*\.$/,
	],
	['html', /^The Base URL may be wrong((?!model|asynchronous).)*$/],
])('a 404 that is %s instead of JSON is a wrong Base URL', (body, says) => {
	for (const place of PLACES.slice(0, 4)) {
		const found = adviseOn({ ...evidence(`${place} 404 - - 404 page not found`), body });
		expect(found.title).toBe('The gateway does not know this address');
		expect(formatAdvice(found.advice)).toMatch(says);
	}
});

test.each([
	['response 401', /copy the key again.*used-up key.*permission.*address/, /images/],
	['imageSubmit 403', /lacks this permission.*images.*balance.*address/, /asynchronous/],
	['response 403', /lacks this permission.*balance.*address/, /images/],
	['response 429', /raise the limit in the gateway’s console/, /images/],
	['modelList 404', /Base URL/, /model|asynchronous/],
	['response 404', /Base URL.*model/, /asynchronous/],
	['imageSubmit 404', /Base URL.*model.*asynchronous/, /expired/],
	['failedTask 404', /model/, /Base URL|asynchronous/],
])('without a known code, what can be wrong at its place is named: %s', (place, says, never) => {
	for (const said of ['', 'Forbidden', '拒绝', 'because']) {
		expect(advice(`${place} - - ${said}`)).toMatch(says);
		expect(advice(`${place} some_code SOME ${said}`)).not.toMatch(never);
	}
});

test.each(PLACES)('every status has an advice: %s', (place) => {
	for (const status of [301, 400, 401, 403, 404, 408, 418, 429, 500, 502, 503, 504, 520, 529])
		for (const said of ['', 'because', '\u0000', '已过期'])
			expect(advice(`${place} ${status} - - ${said}`)).toMatch(/\.$/);
});

const LONG = 'c'.repeat(500);
test.each([
	[{ status: 403, code: 'EXPIRED', message: '已过期' }, 'No (HTTP 403, EXPIRED): 已过期'],
	[{ code: 'EXPIRED', message: '已过期' }, 'No (EXPIRED): 已过期'],
	[{ status: 403, code: 'EXPIRED', message: 'EXPIRED' }, 'No (HTTP 403): EXPIRED'],
	[{ status: 403, code: '403' }, 'No (HTTP 403)'],
	[{ code: LONG }, `No (${LONG.slice(0, 60)}…)`],
	[{}, 'No'],
])('an error’s one line has the status, the code and the words, each once: %j', (said, line) => {
	expect(describeError({ title: 'No', ...said })).toBe(line);
});
