import { AgentExecutor, createToolCallingAgent } from '@langchain/classic/agents';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { DynamicTool } from '@langchain/core/tools';
import type { IDataObject } from 'n8n-workflow';
import { descriptionOf } from '../../gateway';
import { byId, createResponse, generateImage, getModels, numbered, reply } from '../nodes/arrange';
import { WAYS } from '../nodes/chat-model.arrange';
import { GONE, NO_STREAM, useLiteLlm } from './arrange';

const { bodies, chatModel, fault, imageError, posts, provider, text, textError } = useLiteLlm();

const CITY = { type: 'object', properties: { city: { type: 'string' } } };
const TOOLS = JSON.stringify([{ type: 'function', name: 'weather', parameters: CITY }]);
const matching = (pattern: RegExp) => expect.stringMatching(pattern) as string;

const told = (message: RegExp, description = /./) => {
	return { message: matching(message), description: matching(description) };
};
const MAYBE = /may have been executed and charged/;

/** The item of one response. */
const answer = async (given: IDataObject) => (await text(createResponse(given))).items[0]!;

test('the model list has LiteLLM’s names', async () => {
	const { items } = await text(getModels());
	const names = [...Object.keys(provider().models), GONE];
	expect(items.map(({ json }) => json.id).sort()).toEqual(names.sort());
});

describe.each([
	['at once', { stream: false }, { model: 'aurora-text-1' }],
	['streamed', { stream: true }, { model: 'aurora-text-1', stream: true }],
	['streamed by LiteLLM alone', { stream: true, model: byId(NO_STREAM) }, { model: NO_STREAM }],
])('an answer %s', (_way, given, body) => {
	test('arrives whole, and is asked for once', async () => {
		const { json } = await answer({ ...given, prompt: 'Hi [[words:60]]' });
		const named = { text: matching(/^w1 .* w60$/), request_id: matching(/./) };
		expect(json).toMatchObject({ status: 'completed', usage: { output_tokens: 60 }, ...named });
		expect(bodies()).toEqual([{ ...body, input: 'Hi [[words:60]]' }]);
	});

	test('has the calls of tools', async () => {
		const prompt = '[[call:weather {"city":"Oslo"}]]';
		const { json } = await answer({ ...given, prompt, options: { tools: TOOLS } });
		expect(json.tool_calls).toMatchObject([{ name: 'weather', arguments: { city: 'Oslo' } }]);
	});

	test('follows a JSON schema', async () => {
		const schema =
			'{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}';
		const format = { type: 'json_schema', name: 'number', schema, strict: true };
		const options = { outputFormat: { format } };
		expect((await answer({ ...given, prompt: 'It is 7', options })).json.parsed).toEqual({ n: 7 });
	});

	test('has the image that the model drew', async () => {
		const options = { tools: '[{"type":"image_generation"}]' };
		const { binary } = await answer({ ...given, prompt: 'A boat', options });
		expect(binary?.data?.mimeType).toBe('image/png');
		expect(descriptionOf(Buffer.from(binary!.data!.data, 'base64'))).toContain('A boat');
	});

	test('that failed is an error with the model’s reason, and is not asked for again', async () => {
		const failed = /^The model’s response failed \(server_error\): The model failed on purpose\.$/;
		const error = await textError(createResponse({ ...given, prompt: '[[fail]]' }));
		expect(error).toMatchObject(told(failed, /charged/));
		expect(posts()).toBe(1);
	});

	test.each([
		[429, /rate limit is reached \(HTTP 429, rate_limit_exceeded\): .*too many requests/],
		[500, /an internal error \(HTTP 500, internal_error\): .*something went wrong/],
	])('that is refused with %s is asked for once more, as without LiteLLM', async (status, says) => {
		const parameters = { ...given, prompt: `[[status:${status}]]`, options: { maxRetries: 1 } };
		const error = { message: matching(says), httpCode: String(status) };
		expect(await textError(createResponse(parameters))).toMatchObject(error);
		expect(posts()).toBe(2);
	});
});

test.each([
	['a stream that ends early', /closed the responses stream before any terminal event/],
	['a stream that breaks', /payload is not completed/],
	['a stream without events', /closed the responses stream before any terminal event/],
	['a stream with an error event', /\(gpu_on_fire\): the model went away/],
])('%s may have been charged, and is not asked for again', async (name, message) => {
	fault(name);
	const parameters = createResponse({ stream: true, prompt: '[[words:60]]' });
	expect(await textError(parameters)).toMatchObject(told(message, MAYBE));
	expect(posts()).toBe(1);
});

test.each([
	[
		'no-such',
		/^The gateway refused the request as invalid \(HTTP 400\): .*Invalid model name/,
		/^The key’s list has no model "no-such"/,
	],
	[
		GONE,
		/^The gateway does not know this address or model \(HTTP 404, model_not_found\): .*'no-such' does not exist/,
		/^The key’s list has the model "gone", but no account/,
	],
])('the model "%s" is told as wrong', async (model, message, description) => {
	const error = await textError(createResponse({ model: byId(model) }));
	expect(error).toMatchObject(told(message, description));
});

test.each([
	['a model list', getModels()],
	['a response', createResponse()],
	['a streamed response', createResponse({ stream: true })],
])('%s with a wrong key points to the credential', async (_what, parameters) => {
	const refused = /^The gateway did not accept the API key \(HTTP 400\): No connected db\.$/;
	const error = await textError(parameters, { apiKey: 'sk-wrong-key-0001' });
	expect(error).toMatchObject(told(refused, /^Fix the credential: .*master key/));
	expect(posts()).toBe(0);
});

test.each([
	[429, 'insufficient_quota', /^A quota or budget is used up \(HTTP 429, insufficient_quota\)/],
	[401, 'api_key_revoked', /^The model’s provider did not accept the gateway’s own API key/],
])('%s %s of the provider is told, and not asked for again', async (status, code, message) => {
	provider().intercept = () => reply(status, { error: { code, message: 'No' } });
	expect(await textError(createResponse())).toMatchObject(told(message));
	expect(posts()).toBe(1);
});

test.each([
	['as JSON', (body: object): unknown => body],
	['as a text', () => 'who are you'],
	['as a web page', () => '<html><body>Unauthorized</body></html>'],
])(
	'a 401 of the provider, %s, is the gateway’s to mend, and ends no other item',
	async (...row) => {
		const [, form] = row;
		provider().intercept = () => reply(401, form({ error: { message: 'No' } }));
		const given = { items: numbered(2), onError: 'continueRegularOutput' } as const;
		const error = matching(/^The model’s provider did not accept the gateway’s own API key/);
		const advice = matching(/^The API key of the credential is fine/);
		for (const stream of [false, true]) {
			const { items } = await text(createResponse({ stream }), given);
			const json = { error, error_details: { advice } };
			expect(items).toMatchObject([{ json }, { json }]);
		}
		expect(posts()).toBe(4);
	},
);

test.each([429, 503])('a limit in a stream (%s of its provider) is waited out', async (status) => {
	provider().limitsInStreams = true;
	const { json } = await answer({ stream: true, prompt: `[[once:${status}]]` });
	expect(json.status).toBe('completed');
	expect(posts()).toBe(2);
});

test('image tasks are not there, which the image node says', async () => {
	const description = matching(/the gateway’s asynchronous tasks may be turned off/);
	expect(await imageError(generateImage())).toMatchObject({ httpCode: '404', description });
	expect(posts()).toBe(0);
});

describe('the chat model', () => {
	test.each(WAYS)('answers %s', async (_way, ask) => {
		expect((await ask(await chatModel(), 'Hi')).content).toBe('You said: Hi');
	});

	test('goes on for five rounds of calls in an agent', async () => {
		const func = async (number: string) => String(Number(number) + 1);
		const add = new DynamicTool({ name: 'add_one', description: 'Adds one', func });
		const prompt = ChatPromptTemplate.fromMessages([
			['human', '{input}'],
			['placeholder', '{agent_scratchpad}'],
		]);
		const agent = createToolCallingAgent({ llm: await chatModel(), tools: [add], prompt });
		const [first, ...others] = [1, 2, 3, 4, 5].map((number) => `add_one {"input":"${number}"}]]`);
		const input = [`[[call:${first}`, ...others.map((call) => `[[then:${call}`)].join(' ');
		const { output } = await new AgentExecutor({ agent, tools: [add] }).invoke({ input });
		expect(output).toBe([2, 3, 4, 5, 6].map((number) => `add_one says: ${number}`).join('\n'));
		expect(posts()).toBe(6);
	});

	test.each(WAYS)('%s, fails as its node says', async (_way, ask) => {
		const asked = ask(await chatModel(), 'Hi [[status:502]]');
		await expect(asked).rejects.toMatchObject(told(/\(HTTP 502, /, MAYBE));
		expect(posts()).toBe(1);
	});
});
