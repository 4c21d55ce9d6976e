import { pollImageTask } from '../../../nodes/shared/api/images/poll-task';
import { arrange, expectError, fail, quotedError, reply, sending, succeed } from './arrange';

const said = { code: 'INVALID_API_KEY', message: 'Invalid API key' };
const INVALID = reply(401, said, { 'x-request-id': 'req_1' });

const send = sending();

test('after a 401 nothing of the run carries the key, and all fails with the same error', async () => {
	const { client, sent, failure } = arrange([INVALID], { run: {} });
	const first = await failure(send(client));
	for (const kind of ['read', 'response', 'image'] as const) {
		const next = await failure(sending(kind)(client));
		expect(next).toMatchObject({ name: first.name, message: first.message });
		expect(next.details).toEqual(first.details);
	}
	const poll = await failure(pollImageTask(client, 'task_7'));
	const says =
		'The gateway did not accept the API key (HTTP 401, INVALID_API_KEY): Invalid API key';
	const advice = /The image task was accepted/;
	expectError(poll, 'ApiError', says, { httpStatus: 401, taskId: 'task_7', advice });
	expect(sent).toHaveLength(1);
	// Another run may have another key.
	await expect(succeed([reply(200, {})], send, { run: {} })).resolves.toBeDefined();
});

test.each([
	['is not sent again', reply(503, '', { 'retry-after': '60' }), undefined, /^Fix the credential/],
	['says that it may have been executed', reply(500), true, /^The request may have.*API key/],
])('a request that waits meanwhile %s', async (_, before, maybeExecuted, advice) => {
	const run = {};
	const { client, sent, failure } = arrange([before], { run });
	const other = arrange([INVALID], { run });
	const waiting = failure(send(client));
	await other.failure(send(other.client));
	const { details } = await waiting;
	expect([details.httpStatus, details.maybeExecuted]).toEqual([401, maybeExecuted]);
	expect(details.advice).toMatch(advice);
	expect(sent).toHaveLength(1);
});

test.each([400, 403, 404, 429])('HTTP %i ends nothing but its own request', async (status) => {
	const script = [reply(status), reply(200, {})];
	const { client, sent, failure, drive } = arrange(script, { run: {}, maxRetries: 0 });
	await failure(send(client));
	await drive(send(client));
	expect(sent).toHaveLength(2);
});

/** A refusal in LiteLLM's words, whose provider gave no JSON. */
const refusal = (message: string) => ({
	error: { message, type: 'authentication_error', param: null, code: '401' },
});
const OPENAI = 'AuthenticationError: OpenAIException -';
const REVOKED = { code: 'api_key_revoked', message: 'the API key is revoked' };
const UNKNOWN = { type: 'authentication_error', message: 'who are you' };

test.each([
	quotedError(REVOKED, '401', 'authentication_error'),
	quotedError(UNKNOWN, '401', 'authentication_error'),
	refusal(`litellm.${OPENAI} Incorrect API key provided: sk-1.`),
	refusal('litellm.AuthenticationError: AnthropicException - invalid x-api-key'),
	refusal(`${OPENAI} The api_key client option must be set`),
])('a key that the provider refuses is another one, and the run sends on: %j', async (body) => {
	const script = [reply(401, body), reply(200, {})];
	const { client, sent, failure, drive } = arrange(script, { run: {} });
	const error = await failure(send(client));
	const advice =
		'The API key of the credential is fine: the model’s provider refused the gateway’s own key. Tell the gateway’s operator.';
	const says = /^The model’s provider did not accept the gateway’s own API key/;
	expectError(error, 'ApiError', says, { advice, finding: 'providerKey' });
	expect(sent).toHaveLength(1);
	await drive(send(client));
	expect(sent).toHaveLength(2);
});

test.each([
	'Authentication Error, Invalid proxy server token passed. Received API Key = sk-1',
	'Incorrect API key provided: sk-1. You can find your API key at https://platform.openai.com',
])('a key that the gateway itself refuses is the credential’s: %s', async (message) => {
	const { error } = await fail(reply(401, refusal(message)), send);
	expect(error.details.finding).not.toBe('providerKey');
	expect(error.details.advice).toMatch(/^Fix the credential((?!is fine).)*$/);
});

const QUOTA = { code: 'insufficient_quota', message: 'used up' };
test.each([
	['an error’s own code, that of the provider', quotedError(QUOTA, '429'), QUOTA.code],
	['braces that are no JSON', quotedError('{oops} }{', '429'), '429'],
	['JSON without code and type', quotedError('{"a":1}', '429'), '429'],
	['a code of the gateway itself', quotedError(QUOTA, 'C'), 'C'],
])('where an error is quoted, its code is read: %s', async (_what, body, code) => {
	const { error } = await fail(reply(429, body), send, { maxRetries: 0 });
	expect(error.details).toMatchObject({ code });
});
