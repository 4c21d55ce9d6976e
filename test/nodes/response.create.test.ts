import type { IDataObject } from 'n8n-workflow';
import { byId, createResponse, itemsOf, startStory, type Story } from './arrange';

let story: Story;
beforeEach(async () => {
	story = await startStory();
});
afterEach(async () => await story.close());

/** The bodies that reached the gateway. */
const bodies = () => story.gateway.requests.map(({ body }) => body);

/** Runs the node once with these options and returns the one body that it sent. */
async function sentWith(options: IDataObject, given: IDataObject = {}, json: IDataObject = {}) {
	await story.text(createResponse({ ...given, options }), { items: itemsOf(json) });
	expect(bodies()).toHaveLength(1);
	return bodies()[0];
}

/** Answers with this output, whatever is asked. */
function answerWith(response: object, headers?: Record<string, string>) {
	story.gateway.settings.intercept = () => ({
		kind: 'reply',
		status: 200,
		headers,
		body: response,
	});
}

const message = (...texts: string[]) => ({
	type: 'message',
	role: 'assistant',
	content: texts.map((text) => ({ type: 'output_text', text })),
});

describe('What Response → Create sends', () => {
	test('is model and input only, where nothing else is set', async () => {
		await story.text(createResponse());

		expect(story.gateway.requests).toHaveLength(1);
		expect(story.gateway.requests[0]).toMatchObject({ method: 'POST', path: '/v1/responses' });
		expect(story.gateway.requests[0]?.headers['content-type']).toMatch(/^application\/json/);
		expect(bodies()).toEqual([{ model: 'aurora-text-1', input: 'Hello there' }]);
	});

	test('is the prompt to the letter', async () => {
		const prompt = '  Grüße,\n\t"quoted" \\ 😀 {{ not an expression }} ';
		await story.text(createResponse({ prompt }));

		expect(bodies()).toEqual([{ model: 'aurora-text-1', input: prompt }]);
	});

	test.each<[string, IDataObject, object]>([
		['instructions', { instructions: 'Answer in French' }, { instructions: 'Answer in French' }],
		['maxOutputTokens', { maxOutputTokens: 100 }, { max_output_tokens: 100 }],
		['temperature', { temperature: 0.7 }, { temperature: 0.7 }],
		['a temperature of 0', { temperature: 0 }, { temperature: 0 }],
		['store switched off', { store: false }, { store: false }],
		['store switched on', { store: true }, { store: true }],
		['extraBody as text', { extraBody: '{ "top_p": 0.5 }' }, { top_p: 0.5 }],
		['an empty extraBody', { extraBody: '' }, {}],
		['an extraBody of nothing', { extraBody: '{}' }, {}],
		['empty instructions', { instructions: '' }, {}],
		['what only concerns the node', { timeout: 9, maxRetries: 0, concurrency: 2 }, {}],
	])('carries %s', async (_name, options, expected) => {
		expect(await sentWith(options)).toEqual({
			model: 'aurora-text-1',
			input: 'Hello there',
			...expected,
		});
	});

	test('carries an extra body from an expression that yields an object', async () => {
		const body = await sentWith(
			{ extraBody: '={{ { metadata: { order: $json.order }, top_p: 0.4 } }}' },
			{},
			{ order: 'A-7' },
		);
		expect(body).toMatchObject({ metadata: { order: 'A-7' }, top_p: 0.4 });
	});

	test('lets the extra body win over the fields above it', async () => {
		const body = await sentWith({
			temperature: 1,
			extraBody: '{ "temperature": 0.2, "input": [{ "role": "user", "content": "Other" }] }',
		});
		expect(body).toEqual({
			model: 'aurora-text-1',
			input: [{ role: 'user', content: 'Other' }],
			temperature: 0.2,
		});
	});

	test('may take model and input from the extra body alone', async () => {
		const body = await sentWith(
			{ extraBody: '{ "model": "aurora-omni-1", "input": "Hi" }' },
			{ model: byId(''), prompt: '' },
		);
		expect(body).toEqual({ model: 'aurora-omni-1', input: 'Hi' });
	});

	test.each<[string, IDataObject, object]>([
		['a number as text', { maxOutputTokens: '={{ "64" }}' }, { max_output_tokens: 64 }],
		['a fraction as text', { temperature: '={{ "0.25" }}' }, { temperature: 0.25 }],
		['a number of the item', { maxOutputTokens: '={{ $json.limit }}' }, { max_output_tokens: 32 }],
	])('turns %s from an expression into a number', async (_name, options, expected) => {
		expect(await sentWith(options, {}, { limit: 32 })).toMatchObject(expected);
	});

	test('follows expressions for each item', async () => {
		await story.text(
			createResponse({
				model: byId('={{ $json.model }}'),
				prompt: '=Say {{ $json.word }}',
				options: { instructions: '={{ $json.how }}', concurrency: 1 },
			}),
			{
				items: itemsOf(
					{ model: 'aurora-text-1', word: 'yes', how: 'loud' },
					{ model: 'aurora-text-1-mini', word: 'no', how: '' },
				),
			},
		);
		expect(bodies()).toEqual([
			{ model: 'aurora-text-1', input: 'Say yes', instructions: 'loud' },
			{ model: 'aurora-text-1-mini', input: 'Say no' },
		]);
	});

	test('uses the model that was picked from the list', async () => {
		const model = { __rl: true, mode: 'list', value: 'aurora-omni-1', cachedResultName: 'Omni' };
		await story.text(createResponse({ model }));
		expect(bodies()).toEqual([{ model: 'aurora-omni-1', input: 'Hello there' }]);
	});

	test('uses a model that a whole expression yields', async () => {
		await story.text(createResponse({ model: '={{ $json.id }}' }), {
			items: itemsOf({ id: 'Aurora-Text-2.5-Preview' }),
		});
		expect(bodies()).toEqual([{ model: 'Aurora-Text-2.5-Preview', input: 'Hello there' }]);
	});
});

describe('What Response → Create refuses before anything is sent', () => {
	test.each<[string, IDataObject, RegExp]>([
		['no model', { model: byId('') }, /^Model is empty$/],
		['a model of white space', { model: byId('  ') }, /^Model is empty$/],
		['an empty prompt', { prompt: '' }, /^Prompt is empty$/],
		['a prompt of white space', { prompt: ' \n\t' }, /^Prompt is empty$/],
		['a prompt that is no text', { prompt: '={{ $json.missing }}' }, /^Prompt is empty$/],
		[
			'an extra body that breaks',
			{ options: { extraBody: '{ "a": 1,\n "b" }' } },
			/^Extra Body is not valid JSON \(line 2, column \d+\)$/,
		],
		[
			'an extra body that ends early',
			{ options: { extraBody: '{ "a": 1' } },
			/^Extra Body is not valid JSON/,
		],
		[
			'an extra body that is a list',
			{ options: { extraBody: '[1]' } },
			/^Extra Body is not a JSON object$/,
		],
		[
			'an extra body that is a text',
			{ options: { extraBody: '"x"' } },
			/^Extra Body is not a JSON object$/,
		],
		[
			'an extra body of null',
			{ options: { extraBody: 'null' } },
			/^Extra Body is not a JSON object$/,
		],
		[
			'a demand to stream',
			{ options: { extraBody: '{ "stream": true }' } },
			/^Extra Body .*stream/,
		],
		[
			'messages in place of input',
			{ options: { extraBody: '{ "messages": [] }' } },
			/^Extra Body holds "messages"$/,
		],
		[
			'a token limit that is no number',
			{ options: { maxOutputTokens: '={{ "much" }}' } },
			/^Max Output Tokens is not a number$/,
		],
		[
			'a token limit of 0',
			{ options: { maxOutputTokens: '={{ 0 }}' } },
			/^Max Output Tokens is below 1$/,
		],
		[
			'a temperature that is no number',
			{ options: { temperature: '={{ "hot" }}' } },
			/^Temperature is not a number$/,
		],
		[
			'a temperature below 0',
			{ options: { temperature: '={{ -1 }}' } },
			/^Temperature is below 0$/,
		],
		[
			'a time-out that is no number',
			{ options: { timeout: '={{ "long" }}' } },
			/^Timeout is not a number$/,
		],
		['a time-out longer than a timer', { options: { timeout: 5_000_000 } }, /^Timeout is longer/],
		['a time-out of 0', { options: { timeout: '={{ 0 }}' } }, /^Timeout is 0$/],
		['retries below 0', { options: { maxRetries: '={{ -1 }}' } }, /^Max Retries is below 0$/],
		['a concurrency of 0', { options: { concurrency: '={{ 0 }}' } }, /^Concurrency is below 1$/],
		[
			'a concurrency that is no number',
			{ options: { concurrency: '={{ "all" }}' } },
			/^Concurrency is not a number$/,
		],
	])('%s, naming the field', async (_name, given, message) => {
		const run = await story.textError(createResponse(given));

		expect(run.error.message).toMatch(message);
		expect(run.error).toMatchObject({
			name: 'NodeOperationError',
			context: { itemIndex: 0 },
			description: expect.stringMatching(/\w{3,}.*\.$/) as string,
		});
		expect(story.gateway.count()).toBe(0);
	});
});

describe('What Response → Create returns', () => {
	const usage = { input_tokens: 2, output_tokens: 4, total_tokens: 6 };

	test('is the simplified response', async () => {
		const run = await story.text(createResponse());

		expect(run.items).toEqual([
			{
				json: {
					id: expect.stringMatching(/^resp_/) as string,
					status: 'completed',
					model: 'aurora-text-1',
					text: 'You said: Hello there',
					usage: expect.objectContaining(usage) as object,
					request_id: story.gateway.requests[0]?.id,
				},
				pairedItem: { item: 0 },
			},
		]);
	});

	test('is the gateway’s object untouched where Simplify is off', async () => {
		const response = {
			id: 'resp_1',
			object: 'response',
			status: 'completed',
			model: 'aurora-text-1',
			output: [{ type: 'telemetry', beat: 1 }, message('Hi')],
			usage: { ...usage, extra: null },
			unknown_field: { kept: ['as', 'it', 'is'] },
			request_number: 1e21,
		};
		answerWith(response);
		const run = await story.text(createResponse({ simplify: false }));

		expect(run.items).toEqual([{ json: response, pairedItem: { item: 0 } }]);
	});

	test('joins the texts of all messages and leaves out unknown items', async () => {
		answerWith({
			id: 'resp_1',
			status: 'completed',
			output: [
				{ type: 'telemetry', content: [{ type: 'output_text', text: 'not this' }] },
				message('One', ' two'),
				{ type: 'message', content: [{ type: 'refusal', refusal: 'nor this' }] },
				{ type: 'message', content: 'malformed' },
				{ type: 'message', content: [null, { type: 'output_text' }] },
				message(' three'),
			],
		});
		const run = await story.text(createResponse());

		expect(run.items[0]?.json).toMatchObject({ text: 'One two three', usage: null });
		expect(run.items[0]?.json).not.toHaveProperty('model');
		expect(run.items[0]?.json).not.toHaveProperty('tool_calls');
		expect(run.items[0]?.json).not.toHaveProperty('parsed');
	});

	test('has an empty text where the output is empty', async () => {
		const run = await story.text(createResponse({ prompt: '[[empty]] Hello' }));
		expect(run.items[0]?.json).toMatchObject({ status: 'completed', text: '' });
	});

	test('has tool calls with their arguments parsed', async () => {
		const tools = [
			{
				type: 'function',
				name: 'weather',
				parameters: { type: 'object', properties: { city: { type: 'string' } } },
			},
		];
		const run = await story.text(
			createResponse({
				prompt: 'Use weather for Oslo',
				options: { extraBody: JSON.stringify({ tools }) },
			}),
		);
		expect(run.items[0]?.json).toMatchObject({
			text: '',
			tool_calls: [
				{
					id: expect.stringMatching(/^call_/) as string,
					name: 'weather',
					arguments: { city: expect.any(String) as string },
				},
			],
		});
	});

	test('keeps arguments that do not parse as text', async () => {
		answerWith({
			id: 'resp_1',
			status: 'completed',
			output: [{ type: 'function_call', call_id: 'c1', name: 'f', arguments: '{ broken' }],
		});
		const run = await story.text(createResponse());
		expect(run.items[0]?.json.tool_calls).toEqual([{ id: 'c1', name: 'f', arguments: '{ broken' }]);
	});

	test.each<[string, object]>([
		['JSON', { type: 'json_object' }],
		[
			'JSON of a schema',
			{
				type: 'json_schema',
				name: 'answer',
				schema: { type: 'object', properties: { answer: { type: 'string' } } },
			},
		],
	])('is parsed where %s was asked for', async (_name, format) => {
		const run = await story.text(
			createResponse({ options: { extraBody: JSON.stringify({ text: { format } }) } }),
		);
		const { parsed, text } = run.items[0]?.json as { parsed: unknown; text: string };
		expect(parsed).toEqual({ answer: expect.any(String) as string });
		expect(parsed).toEqual(JSON.parse(text));
	});

	test('says why it is incomplete', async () => {
		const run = await story.text(createResponse({ options: { maxOutputTokens: 1 } }));
		expect(run.items[0]?.json).toMatchObject({
			status: 'incomplete',
			incomplete_details: { reason: 'max_output_tokens' },
		});
	});

	test('has no request ID where the gateway named none', async () => {
		story.gateway.settings.intercept = ({ res }) => {
			res.removeHeader('X-Request-ID');
			return {
				kind: 'reply',
				status: 200,
				body: { id: 'resp_1', status: 'completed', output: [message('Hi')] },
			};
		};
		const run = await story.text(createResponse());
		expect(run.items[0]?.json).not.toHaveProperty('request_id');
	});

	test('is charged once for each item', async () => {
		await story.text(createResponse({ prompt: '={{ $json.n }}: hello' }), {
			items: itemsOf({ n: 1 }, { n: 2 }, { n: 3 }),
		});
		expect(story.gateway.charges).toHaveLength(3);
	});
});

describe('How Response → Create treats a failed answer', () => {
	test('a failed response is an error with the gateway’s reason, and is not sent again', async () => {
		const run = await story.textError(createResponse({ prompt: '[[fail]] Hello' }));

		expect(run.error.message).toBe('The model’s response failed: The model failed on purpose.');
		expect(run.error).toMatchObject({
			description: expect.stringMatching(
				/may have been charged.*Request ID: req_000001\.$/,
			) as string,
			context: { details: { code: 'server_error', retryable: false } },
		});
		expect(story.gateway.count()).toBe(1);
	});

	test('a cancelled response is an error', async () => {
		answerWith({ id: 'resp_1', status: 'cancelled', output: [] });
		const { error } = await story.textError(createResponse());
		expect(error.message).toBe('The model’s response was cancelled: the gateway gave no reason');
	});

	test('a refusal is an answer', async () => {
		const run = await story.text(createResponse({ prompt: '[[refuse]] Hello' }));
		expect(run.items[0]?.json).toMatchObject({ status: 'completed', text: '' });
	});
});
