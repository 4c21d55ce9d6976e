import { arrange, fail, reply, sending } from './arrange';

const FAILED =
	"\n\nLiteLLM: model group 'm' failed with the error above. No fallback was attempted.";

/** An error as LiteLLM words it: its provider's own stands in the message. */
const quoting = (error: string, type: string, code: string) => ({
	error: { message: `litellm.APIError: OpenAIException - ${error}${FAILED}`, type, code },
});

/** The error of a response, and how often it was asked for. */
async function refusedWith(status: number, body: object) {
	const { error, sent } = await fail(reply(status, body), sending());
	return { message: error.message, ...error.details, sent: sent.length };
}

const QUOTA = '{"error":{"code":"insufficient_quota","message":"used up"}}';
const LIMIT = '{"error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"x"}}';
const REVOKED = '{"error":{"code":"api_key_revoked","message":"the API key is revoked"}}';
const UNKNOWN = '{"error":{"type":"authentication_error","message":"who are you"}}';
const matching = (pattern: RegExp) => expect.stringMatching(pattern) as string;

test('a quota used up at the provider is not asked for again', async () => {
	const message = matching(/^A quota or budget is used up \(HTTP 429, insufficient_quota\)/);
	const told = await refusedWith(429, quoting(QUOTA, 'throttling_error', '429'));
	expect(told).toMatchObject({ message, code: 'insufficient_quota', sent: 1 });
});

test('a rate limit of the provider is waited out', async () => {
	const { code, sent } = await refusedWith(429, quoting(LIMIT, 'throttling_error', '429'));
	expect(code).toBe('rate_limit_exceeded');
	expect(sent).toBeGreaterThan(1);
});

/** A refusal in LiteLLM's words, whose provider gave no JSON. */
const refusal = (message: string) => ({
	error: { message, type: 'authentication_error', param: null, code: '401' },
});
const OPENAI = 'AuthenticationError: OpenAIException -';
const BY_PROVIDER = [
	quoting(REVOKED, 'authentication_error', '401'),
	quoting(UNKNOWN, 'authentication_error', '401'),
	refusal(`litellm.AuthenticationError: ${OPENAI} Incorrect API key provided: sk-1.`),
	refusal('litellm.AuthenticationError: AnthropicException - invalid x-api-key'),
	refusal(`${OPENAI} The api_key client option must be set`),
];

test.each(BY_PROVIDER)('a key that the provider refuses is another one: %j', async (body) => {
	const { message, advice, sent } = await refusedWith(401, body);
	expect(message).toMatch(/^The model’s provider did not accept the gateway’s own API key/);
	expect(advice).toBe(
		'The API key of the credential is fine: the model’s provider refused the gateway’s own key. Tell the gateway’s operator.',
	);
	expect(sent).toBe(1);
});

test('a key that the provider refuses does not keep the run from sending more', async () => {
	const script = [reply(401, BY_PROVIDER[2]), reply(200, {})];
	const { client, sent, failure, drive } = arrange(script, { run: {} });
	const { details } = await failure(sending()(client));
	expect(details).toMatchObject({ finding: 'providerKey' });
	await drive(sending()(client));
	expect(sent).toHaveLength(2);
});

test.each([
	'Authentication Error, Invalid proxy server token passed. Received API Key = sk-1',
	'Incorrect API key provided: sk-1. You can find your API key at https://platform.openai.com',
])('a key that the gateway itself refuses is the credential’s: %s', async (message) => {
	const { advice, finding } = await refusedWith(401, refusal(message));
	expect(finding).not.toBe('providerKey');
	expect(advice).toMatch(/^Fix the credential|API key/);
	expect(advice).not.toMatch(/is fine/);
});

test.each([
	['braces that are no JSON', quoting('{oops} }{', 'T', '429'), { type: 'T', code: '429' }],
	['JSON without code and type', quoting('{"a":1}', 'T', '429'), { type: 'T', code: '429' }],
	['a code of the gateway itself', quoting(QUOTA, 'T', 'C'), { type: 'T', code: 'C' }],
])('%s: the gateway’s own code counts', async (_what, body, details) => {
	expect(await refusedWith(429, body)).toMatchObject(details);
});
