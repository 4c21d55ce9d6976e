import { setTheScene } from './support/client';
import { dataUrl, pngOf, RED } from './support/pictures';

const TEXT = 'output.0.content.0.text';

describe('Endpoints › POST /v1/responses', () => {
	it('200: Response when stream is absent or false', async () => {
		const { client } = await setTheScene();
		for (const answer of [await client.respond(), await client.respond({ stream: false })]) {
			expect(answer.status).toBe(200);
			expect(answer.headers['content-type']).toMatch(/^application\/json/);
			expect(answer.at('object')).toBe('response');
		}
	});

	it('a sequence of events when stream is true', async () => {
		const { client } = await setTheScene();
		const answer = await client.respond({ stream: true });
		expect(answer.status).toBe(200);
		expect(answer.headers['content-type']).toMatch(/^text\/event-stream/);
		expect(answer.text).toMatch(/^event: response\.created\ndata: \{/);
	});

	it('an error is JSON also where a stream was asked for', async () => {
		const { client } = await setTheScene();
		const answer = await client.respond({ stream: true, model: 'none' });
		expect(answer.status).toBe(404);
		expect(answer.at('error.code')).toBe('model_not_found');
	});
});

describe('Resources › Response request', () => {
	it('model — exact ID from the list of the same key', async () => {
		const { client } = await setTheScene();
		expect((await client.respond({ model: 'aurora-text-1' })).at('model')).toBe('aurora-text-1');
		expect((await client.respond({ model: 'aurora-omni-1' }, { key: 'textOnly' })).status).toBe(
			404,
		);
	});

	it('input — a short string is the minimal form', async () => {
		const { client } = await setTheScene();
		expect((await client.respond({ input: 'Hi' })).at(TEXT)).toBe('You said: Hi');
	});

	it('input — an array of items', async () => {
		const { client } = await setTheScene();
		const input = [
			{ role: 'system', content: 'Be brief.' },
			{ role: 'developer', content: [{ type: 'input_text', text: 'Be kind.' }] },
			{ role: 'user', content: 'One' },
			{ role: 'assistant', content: [{ type: 'output_text', text: 'Yes?' }] },
			{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Two' }] },
		];
		expect((await client.respond({ input })).at(TEXT)).toBe(
			'You said: Two\nBefore that you said: One\nI keep to: Be brief.\nBe kind.',
		);
	});

	it.each([
		['input', ''],
		['input', []],
		['input[0]', ['x']],
		['input[0].role', [{ content: 'x' }]],
		['input[0].role', [{ role: 'tool', content: 'x' }]],
		['input[0].content', [{ role: 'user' }]],
		['input[0].content', [{ role: 'user', content: [] }]],
		['input[0].content', [{ role: 'user', content: 5 }]],
		['input[0].content[0].type', [{ role: 'user', content: [{ type: 'text', text: 'x' }] }]],
		['input[0].content[0].text', [{ role: 'user', content: [{ type: 'input_text' }] }]],
		['input[0].content[0].image_url', [{ role: 'user', content: [{ type: 'input_image' }] }]],
		[
			'input[0].content[0].image_url',
			[{ role: 'user', content: [{ type: 'input_image', image_url: 'data:,x' }] }],
		],
		[
			'input[0].content[0].image_url',
			[
				{
					role: 'user',
					content: [{ type: 'input_image', image_url: dataUrl(Buffer.from('text')) }],
				},
			],
		],
		[
			'input[0].content[0].detail',
			[
				{
					role: 'user',
					content: [{ type: 'input_image', image_url: 'https://x.example', detail: 'huge' }],
				},
			],
		],
		['input[0].content[0].file_data', [{ role: 'user', content: [{ type: 'input_file' }] }]],
		[
			'input[0].content[0].filename',
			[
				{
					role: 'user',
					content: [{ type: 'input_file', file_data: 'data:text/plain;base64,eA==' }],
				},
			],
		],
		['input[0].type', [{ type: 'mystery' }]],
		['input[0].arguments', [{ type: 'function_call', call_id: 'c', name: 'f' }]],
		['input', [{ type: 'function_call_output', call_id: 'never', output: 'x' }]],
	])('input — 400 names %s: %j', async (field, input) => {
		const { client } = await setTheScene();
		const answer = await client.respond({ input });
		expect(answer.status).toBe(400);
		expect(answer.at('error.param')).toBe(field);
		expect(answer.string('error.message')).toMatch(
			new RegExp(`^${field.replace(/[[\]]/g, '\\$&')}`),
		);
	});

	it('store — may be set to false explicitly: then nothing can build on the response', async () => {
		const { client } = await setTheScene();
		const build = async (store?: boolean) => {
			const first = await client.respond({ input: 'One', store });
			expect(first.at('store')).toBe(store ?? true);
			return await client.respond({ input: 'Two', previous_response_id: first.at('id') });
		};
		expect((await build()).at(TEXT)).toBe('You said: Two\nBefore that you said: One');
		const forgotten = await build(false);
		expect(forgotten.status).toBe(400);
		expect(forgotten.at('error')).toMatchObject({
			code: 'previous_response_not_found',
			param: 'previous_response_id',
		});
	});

	it('tools — support depends on model and capability', async () => {
		const { client } = await setTheScene();
		const tools = [{ type: 'web_search' }];
		expect((await client.respond({ tools }, { key: 'plain' })).status).toBe(403);
		expect((await client.respond({ tools })).status).toBe(200);
		expect((await client.respond({ tools: [] }, { key: 'plain' })).status).toBe(200);
	});

	it.each<[string, unknown, unknown?]>([
		['instructions', 'Be brief.'],
		['max_output_tokens', 500],
		['max_tool_calls', 3],
		['metadata', { order: '17' }],
		['parallel_tool_calls', false],
		['prompt_cache_key', 'cache-1'],
		['reasoning', { effort: 'low', summary: null }],
		['safety_identifier', 'user-1'],
		['service_tier', 'flex'],
		['service_tier', 'auto', 'default'],
		['store', false],
		['temperature', 0],
		['temperature', 1.5],
		['text', { verbosity: 'low' }, { format: { type: 'text' }, verbosity: 'low' }],
		['tool_choice', 'none'],
		['tools', [{ type: 'web_search', filters: {} }]],
		['top_logprobs', 5],
		['top_p', 0.2],
		['truncation', 'auto'],
		['user', 'someone'],
	])('%s — repeated in the response: %j', async (field, value, shown = value) => {
		const { client } = await setTheScene();
		const answer = await client.respond({ [field]: value });
		expect(answer.status).toBe(200);
		expect(answer.at(field)).toEqual(shown);
	});

	it('fields that nobody knows are taken', async () => {
		const { client } = await setTheScene();
		expect((await client.respond({ some_new_field: { a: [1] } })).status).toBe(200);
	});

	it.each([
		['instructions', 5, 'instructions'],
		['max_output_tokens', 0, 'max_output_tokens'],
		['max_output_tokens', 1.5, 'max_output_tokens'],
		['metadata', { a: 1 }, 'metadata.a'],
		['metadata', 'x', 'metadata'],
		['temperature', 2.1, 'temperature'],
		['temperature', '1', 'temperature'],
		['top_p', 1.1, 'top_p'],
		['reasoning', { effort: 'much' }, 'reasoning.effort'],
		['reasoning', { summary: true }, 'reasoning.summary'],
		['previous_response_id', 5, 'previous_response_id'],
		['previous_response_id', 'resp_unknown', 'previous_response_id'],
		['text', { format: { type: 'xml' } }, 'text.format.type'],
		['text', { format: { type: 'json_schema', schema: {} } }, 'text.format.name'],
		['text', { format: { type: 'json_schema', name: 'a b', schema: {} } }, 'text.format.name'],
		['text', { format: { type: 'json_schema', name: 'a' } }, 'text.format.schema'],
		['tools', [{ type: 'function' }], 'tools[0].name'],
		['tools', [{ type: 'function', name: 'a b' }], 'tools[0].name'],
		['tools', [{ type: 'function', name: 'a', parameters: 'x' }], 'tools[0].parameters'],
		['tools', [{ name: 'a' }], 'tools[0].type'],
		['tool_choice', 'sometimes', 'tool_choice'],
		['tool_choice', 'required', 'tool_choice'],
		['tool_choice', { type: 'function', name: 'none' }, 'tool_choice.name'],
		['parallel_tool_calls', 'no', 'parallel_tool_calls'],
		['include', 'reasoning', 'include'],
		['include', [5], 'include[0]'],
		['truncation', 'some', 'truncation'],
		['service_tier', 'gold', 'service_tier'],
		['background', true, 'background'],
	])('%s — 400 for %j names %s', async (field, value, param) => {
		const { client } = await setTheScene();
		const answer = await client.respond({ [field]: value });
		expect(answer.status).toBe(400);
		expect(answer.at('error.param')).toBe(param);
		expect(answer.string('error.message').startsWith(`${param} `)).toBe(true);
	});

	it('previous_response_id — of another key is as unknown as any', async () => {
		const { client } = await setTheScene();
		const previous_response_id = (await client.respond()).string('id');
		const answer = await client.respond({ previous_response_id }, { key: 'second' });
		expect(answer.status).toBe(400);
	});
});

describe('Resources › Response', () => {
	it('id, object, status, model, output, usage', async () => {
		const { client } = await setTheScene();
		const answer = await client.respond();
		expect(answer.json).toMatchObject({
			id: expect.stringMatching(/^resp_/) as string,
			object: 'response',
			status: 'completed',
			model: 'aurora-text-1',
			created_at: Date.UTC(2026, 0, 1) / 1000,
			error: null,
			incomplete_details: null,
		});
		expect((await client.respond()).at('id')).not.toBe(answer.at('id'));
	});

	it('output — may hold several items, and several messages', async () => {
		const { client } = await setTheScene();
		const answer = await client.respond({ input: 'Hi [[two]]', reasoning: { summary: 'auto' } });
		const output = answer.at('output') as Array<{ type: string }>;
		expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'message']);
	});

	it('output — may be empty', async () => {
		const { client } = await setTheScene();
		const answer = await client.respond({ input: 'Hi [[empty]]' });
		expect(answer.json).toMatchObject({ status: 'completed', output: [] });
	});

	it('output item of type message — role assistant, content with output_text', async () => {
		const { client } = await setTheScene();
		const answer = await client.respond({ input: 'Hi' });
		expect(answer.at('output')).toEqual([
			{
				id: expect.stringMatching(/^msg_/) as string,
				type: 'message',
				role: 'assistant',
				status: 'completed',
				content: [{ type: 'output_text', text: 'You said: Hi', annotations: [], logprobs: [] }],
			},
		]);
	});

	it('other output item types exist, also ones that nobody knows', async () => {
		const { client } = await setTheScene();
		const answer = await client.respond({ input: 'Hi [[unknown]]' });
		expect(answer.at('output.0.type')).toBe('telemetry');
		expect(answer.at('output.1.type')).toBe('message');
	});

	it('usage — input_tokens, output_tokens, total_tokens: pieces of white space and up to 12 characters', async () => {
		const { client } = await setTheScene();
		// Hello | Constantinop | le; keep | short — You | said: | Hello | Constantinop | le | I | keep | to: | keep | short
		const answer = await client.respond({
			input: 'Hello Constantinople',
			instructions: 'keep short',
		});
		expect(answer.at('usage')).toEqual({
			input_tokens: 5,
			input_tokens_details: { cached_tokens: 0 },
			output_tokens: 10,
			output_tokens_details: { reasoning_tokens: 0 },
			total_tokens: 15,
		});
	});

	it('usage — a picture counts 85, a file 100, and history counts again', async () => {
		const { client } = await setTheScene();
		const content = [
			{ type: 'input_text', text: 'Look' },
			{ type: 'input_image', image_url: dataUrl(pngOf(2, 2, RED)) },
			{ type: 'input_file', filename: 'a.txt', file_data: dataUrl(Buffer.from('x'), 'text/plain') },
		];
		const first = await client.respond({ input: [{ role: 'user', content }] });
		expect(first.at('usage.input_tokens')).toBe(186);
		const second = await client.respond({ input: 'And', previous_response_id: first.at('id') });
		const spoken = first.at('usage.output_tokens') as number;
		expect(second.at('usage.input_tokens')).toBe(186 + spoken + 1);
	});
});

describe('States and transitions › Response', () => {
	it('completed marks success, with HTTP 200 and usable output', async () => {
		const { client } = await setTheScene();
		const answer = await client.respond();
		expect([answer.status, answer.at('status')]).toEqual([200, 'completed']);
	});

	it('incomplete: the answer is cut where max_output_tokens is too small', async () => {
		const { client } = await setTheScene();
		const answer = await client.respond({ input: 'Hi you', max_output_tokens: 3 });
		expect(answer.json).toMatchObject({
			status: 'incomplete',
			incomplete_details: { reason: 'max_output_tokens' },
			output: [{ status: 'incomplete', content: [{ text: 'You said: Hi' }] }],
			usage: { output_tokens: 3 },
		});
		const enough = await client.respond({ input: 'Hi you', max_output_tokens: 4 });
		expect(enough.json).toMatchObject({ status: 'completed', incomplete_details: null });
	});

	it('incomplete: nothing follows the item that is cut, and it cites nothing that is cut off', async () => {
		const { client } = await setTheScene();
		const input = 'Hi you [[two]]';
		const cut = await client.respond({
			input,
			max_output_tokens: 3,
			tools: [{ type: 'web_search' }],
		});
		expect(cut.at('output')).toMatchObject([
			{ type: 'web_search_call' },
			{ type: 'message', content: [{ text: 'You said: Hi', annotations: [] }] },
		]);
		expect(cut.at('output')).toHaveLength(2);
	});

	it('failed: an error and no output', async () => {
		const { client } = await setTheScene();
		const answer = await client.respond({ input: 'Hi [[fail]]' });
		expect(answer.status).toBe(200);
		expect(answer.json).toMatchObject({
			status: 'failed',
			error: { code: 'server_error', message: 'The model failed on purpose.' },
			output: [],
			usage: null,
		});
	});
});
