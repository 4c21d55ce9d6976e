import { pictureBelongsTo, sizeOf } from '../../gateway';
import { sampleOf } from '../../gateway/responses/sample';
import { setTheScene } from './support/client';
import { BLUE, dataUrl, pngOf, RED } from './support/pictures';

const TEXT = 'output.0.content.0.text';

async function answerTo(fields: Record<string, unknown>) {
	const { client } = await setTheScene({ defaultSize: '16x16' });
	return await client.respond(fields);
}

const user = (...content: unknown[]) => [{ role: 'user', content }];
const text = (value: string) => ({ type: 'input_text', text: value });

describe('Answers › texts', () => {
	it.each([
		[{ input: 'Hi' }, 'You said: Hi'],
		[{ input: 'Hi', instructions: 'Be brief.' }, 'You said: Hi\nI keep to: Be brief.'],
		[{ input: '[[words:3]]' }, 'w1 w2 w3'],
		[{ input: 'Classify as spam, ham or other: cheap ham for you' }, 'ham'],
		[{ input: 'Classify: I love it, thanks' }, 'positive'],
		[{ input: 'It came late and broken', instructions: 'Say the sentiment.' }, 'negative'],
		[
			{ input: 'It is a box', instructions: 'Classify into positive, negative or neutral' },
			'neutral',
		],
		[
			{ input: 'Write an image prompt for a red boat.' },
			expect.stringMatching(/^a red boat, [a-z ]+, [a-z ]+, [a-z ]+$/),
		],
		[
			{ input: 'Write a prompt for a picture of Oslo' },
			expect.stringMatching(/^Oslo, [a-z ]+, [a-z ]+, [a-z ]+$/),
		],
		[
			{ input: 'a red boat', instructions: 'You write one image prompt.' },
			expect.stringMatching(/^a red boat, /),
		],
	])('%j', async (fields, expected) => {
		expect((await answerTo(fields)).at(TEXT)).toEqual(expected);
	});

	it('are the same for the same request', async () => {
		const fields = { input: 'Write an image prompt for a red boat.' };
		expect((await answerTo(fields)).at(TEXT)).toBe((await answerTo(fields)).at(TEXT));
	});

	it('describe pictures by type, size and main colour', async () => {
		const picture = (bytes: Buffer) => ({ type: 'input_image', image_url: dataUrl(bytes) });
		const input = user(
			text('What is this?'),
			picture(pngOf(40, 30, RED)),
			{ ...picture(pngOf(2, 2, BLUE)), detail: 'low' },
			{ type: 'input_image', image_url: 'https://example.com/a.png' },
		);
		expect((await answerTo({ input })).at(TEXT)).toBe(
			'I see a picture (image/png, 40x30, mostly red) and a picture (image/png, 2x2, mostly blue)' +
				' and a picture at https://example.com/a.png. You asked: What is this?',
		);
	});

	it('describe files by name, type, length and beginning', async () => {
		const file_data = dataUrl(Buffer.from('first line\nsecond'), 'text/plain');
		const input = user(
			{ type: 'input_file', filename: 'notes.txt', file_data },
			{ type: 'input_file', file_url: 'https://example.com/a.pdf' },
		);
		expect((await answerTo({ input })).at(TEXT)).toBe(
			'I see the file notes.txt (text/plain, 17 bytes, beginning "first line") and' +
				' a file at https://example.com/a.pdf.',
		);
	});

	it('a refusal where the input says [[refuse]]', async () => {
		expect((await answerTo({ input: 'Hi [[refuse]]' })).at('output.0.content')).toEqual([
			{ type: 'refusal', refusal: 'I cannot help with that.' },
		]);
	});

	it('a reasoning item where a summary is asked for, sealed where include says so', async () => {
		const answer = await answerTo({
			input: 'Hi',
			reasoning: { summary: 'auto' },
			include: ['reasoning.encrypted_content'],
		});
		expect(answer.at('output.0')).toMatchObject({
			type: 'reasoning',
			summary: [{ type: 'summary_text', text: '**Reading the request**\n\nIt says: Hi' }],
			encrypted_content: expect.any(String) as string,
		});
		expect(answer.at('usage.output_tokens_details.reasoning_tokens')).toBe(6);
	});

	it('an error the first time only where the input says [[once:503]]', async () => {
		const { client } = await setTheScene();
		const refused = await client.respond({ input: 'Hi [[once:503]]' });
		expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2']);
		expect((await client.respond({ input: 'Hi [[once:503]]' })).at(TEXT)).toBe('You said: Hi');
		expect((await client.generate({ prompt: 'x [[once:429]]' })).status).toBe(429);
		expect((await client.generate({ prompt: 'x [[once:429]]' })).status).toBe(202);
	});
});

describe('Answers › functions', () => {
	const tool = (name: string, properties: Record<string, unknown> = {}) => ({
		type: 'function',
		name,
		parameters: { type: 'object', properties, required: Object.keys(properties) },
	});
	const tools = [
		tool('get_weather', { city: { type: 'string', enum: ['Bergen', 'Oslo'] } }),
		tool('add_note', { note: { type: 'string' }, stars: { type: 'integer', maximum: 5 } }),
	];
	const called = async (fields: Record<string, unknown>) => {
		const output = (await answerTo({ tools, ...fields })).at('output') as Array<{
			type: string;
			name?: string;
		}>;
		return output.map(({ type, name }) => name ?? type);
	};

	it.each([
		[
			'auto: those that the message names',
			{ input: 'add note: get weather' },
			['get_weather', 'add_note'],
		],
		['auto: those that the message names', { input: 'Call ADD_NOTE' }, ['add_note']],
		['auto: the first, where none is named', { input: 'Hi' }, ['get_weather']],
		['required', { input: 'Hi', tool_choice: 'required' }, ['get_weather']],
		['none', { input: 'add note', tool_choice: 'none' }, ['message']],
		['one', { input: 'Hi', tool_choice: { type: 'function', name: 'add_note' } }, ['add_note']],
		[
			'some',
			{
				input: 'get weather, add note',
				tool_choice: {
					type: 'allowed_tools',
					mode: 'auto',
					tools: [{ type: 'function', name: 'add_note' }],
				},
			},
			['add_note'],
		],
		[
			'not side by side',
			{ input: 'get weather, add note', parallel_tool_calls: false },
			['get_weather'],
		],
		['[[no-tools]]', { input: 'add note [[no-tools]]' }, ['message']],
	])('which are called: %s (%j)', async (_name, fields, names) => {
		expect(await called(fields)).toEqual(names);
	});

	it('arguments conform to the parameters', async () => {
		const answer = await answerTo({ tools, input: 'get weather in Oslo, add note, 4 stars' });
		expect(answer.at('output.0')).toEqual({
			id: expect.stringMatching(/^fc_/) as string,
			type: 'function_call',
			status: 'completed',
			call_id: expect.stringMatching(/^call_/) as string,
			name: 'get_weather',
			arguments: '{"city":"Oslo"}',
		});
		expect(JSON.parse(answer.string('output.1.arguments'))).toEqual({
			note: 'get weather in Oslo, add note, 4 stars',
			stars: 4,
		});
		expect(answer.at('output.0.call_id')).not.toBe(answer.at('output.1.call_id'));
	});

	it.each<[string, string[][]]>([
		['[[call:add_note]] get weather', [['add_note'], ['message']]],
		['[[call:ADD_NOTE]] [[call:get_weather]]', [['add_note', 'get_weather'], ['message']]],
		['[[call:add_note]] [[then:get_weather]]', [['add_note'], ['get_weather'], ['message']]],
		['[[then:add_note]] [[then:add_note]]', [['add_note'], ['add_note'], ['message']]],
		['[[call:nobody]] [[call:add_note]]', [['add_note'], ['message']]],
		['[[call:nobody]]', [['message']]],
	])('are called as the message says, round by round: %s', async (text, rounds) => {
		const { client } = await setTheScene();
		const input: unknown[] = [{ role: 'user', content: text }];
		const seen: string[][] = [];
		do {
			const answer = await client.respond({ tools, input });
			const output = answer.at('output') as Array<{ type: string; name?: string }>;
			seen.push(output.map(({ type, name }) => name ?? type));
			for (const item of output as Array<{ type: string; call_id?: string }>) {
				const { type, call_id } = item;
				input.push(item);
				if (type === 'function_call') {
					input.push({ type: 'function_call_output', call_id, output: 'Done' });
				}
			}
		} while (!seen.at(-1)?.includes('message'));
		expect(seen).toEqual(rounds);
	});

	it('are called with the arguments that the message says, and are no part of it', async () => {
		const input = 'Well [[call:add_note {"note":"{a}"}]] then';
		const call = await answerTo({ tools, input });
		expect(call.at('output.0.arguments')).toBe('{"note":"{a}"}');
		const text = await answerTo({ input });
		expect(text.string('output.0.content.0.text')).toBe('You said: Well then');
	});

	it('once their outputs are there the answer is a text that uses them', async () => {
		const { client } = await setTheScene();
		const question = { role: 'user', content: 'get weather in Oslo, add note' };
		const calls = (await client.respond({ tools, input: [question] })).at('output') as Array<{
			call_id: string;
		}>;
		const outputs = calls.map(({ call_id }, index) => ({
			type: 'function_call_output',
			call_id,
			output: index === 0 ? 'rain' : [text('noted')],
		}));
		const expected = 'get_weather says: rain\nadd_note says: noted';
		const handedBack = { tools, input: [question, ...calls, ...outputs] };
		expect((await client.respond(handedBack)).at(TEXT)).toBe(expected);
		const first = await client.respond({ tools, input: [question] });
		const remembered = (first.at('output') as Array<{ call_id: string }>).map(
			({ call_id }, index) => ({ ...outputs[index], call_id }),
		);
		const built = { tools, input: remembered, previous_response_id: first.at('id') };
		expect((await client.respond(built)).at(TEXT)).toBe(expected);
	});

	it('a call is cut where max_output_tokens is too small', async () => {
		const answer = await answerTo({ tools, input: 'add note x', max_output_tokens: 1 });
		expect(answer.at('status')).toBe('incomplete');
		expect(answer.at('output.0')).toMatchObject({
			status: 'incomplete',
			arguments: '{"note":"add',
		});
	});
});

describe('Answers › other tools', () => {
	it('web_search: a search, and a source that the text cites', async () => {
		const answer = await answerTo({ input: 'Oslo?', tools: [{ type: 'web_search' }] });
		expect(answer.at('output.0')).toMatchObject({
			type: 'web_search_call',
			status: 'completed',
			action: { type: 'search', query: 'Oslo?' },
		});
		const part = answer.at('output.1.content.0') as {
			text: string;
			annotations: Array<{ start_index: number; end_index: number }>;
		};
		const [citation] = part.annotations;
		expect(citation).toMatchObject({
			type: 'url_citation',
			title: 'Example Encyclopedia',
			url: 'https://example.com/encyclopedia?q=Oslo%3F',
		});
		expect(part.text.slice(citation?.start_index, citation?.end_index)).toBe(
			'Example Encyclopedia',
		);
	});

	it.each([
		['16x16', undefined, 16, 16],
		['32x24', '32x24', 32, 24],
	])('image_generation: a picture as base64 PNG (%s)', async (size, asked, width, height) => {
		const tools = [{ type: 'image_generation', ...(asked ? { size: asked } : {}) }];
		const answer = await answerTo({ input: 'a red boat', tools });
		expect(answer.at('output.0')).toMatchObject({
			type: 'image_generation_call',
			status: 'completed',
			output_format: 'png',
			revised_prompt: 'a red boat, in soft light',
			size,
		});
		const png = Buffer.from(answer.string('output.0.result'), 'base64');
		expect(sizeOf(png)).toEqual({ width, height });
		expect(pictureBelongsTo('a red boat', png)).toBe(true);
		expect(answer.at('output.1.type')).toBe('message');
	});

	it('an item handed back from an earlier answer is taken', async () => {
		const { client } = await setTheScene({ defaultSize: '8x8' });
		const tools = [{ type: 'web_search' }, { type: 'image_generation' }];
		const first = await client.respond({ tools, input: 'Oslo', reasoning: { summary: 'auto' } });
		const input = [
			{ role: 'user', content: 'Oslo' },
			...(first.at('output') as unknown[]),
			{ role: 'user', content: 'And Bergen?' },
		];
		expect((await client.respond({ input })).at(TEXT)).toBe(
			'You said: And Bergen?\nBefore that you said: Oslo',
		);
	});
});

describe('Answers › JSON', () => {
	const schema = {
		type: 'object',
		properties: {
			kind: { type: 'string', enum: ['complaint', 'praise', 'negative'] },
			amount: { type: 'number', minimum: 10, maximum: 99 },
			urgent: { type: 'boolean' },
			note: { type: ['string', 'null'] },
		},
		required: ['kind', 'amount', 'urgent', 'note'],
		additionalProperties: false,
	};
	const format = { type: 'json_schema', name: 'row', schema, strict: true };

	it('json_schema: conforms, and is decided by the input', async () => {
		const parsed = async (input: string) =>
			JSON.parse((await answerTo({ input, text: { format } })).string(TEXT)) as unknown;
		expect(await parsed('A complaint about 42 euros')).toEqual({
			kind: 'complaint',
			amount: 42,
			urgent: true,
			note: 'A complaint about 42 euros',
		});
		expect(await parsed('So bad')).toMatchObject({ kind: 'negative', amount: 10, urgent: false });
	});

	it('json_object: the text in an object', async () => {
		const answer = await answerTo({ input: 'Hi', text: { format: { type: 'json_object' } } });
		expect(JSON.parse(answer.string(TEXT))).toEqual({ answer: 'You said: Hi' });
	});

	it('does not parse where the input says [[bad-json]]', async () => {
		const answer = await answerTo({ input: 'Hi [[bad-json]]', text: { format } });
		expect(answer.at(TEXT)).toBe('{ "answer": ');
	});

	it.each<[string, unknown, unknown]>([
		['any', {}, 'good 7'],
		['const', { const: 5 }, 5],
		['enum of numbers', { enum: [3] }, 3],
		['integer', { type: 'integer' }, 7],
		['integer above', { type: 'integer', exclusiveMinimum: 7 }, 8],
		['integer below', { type: 'integer', maximum: -3 }, -3],
		['integer between', { type: 'integer', minimum: 20, maximum: 21, multipleOf: 7 }, 21],
		['number between', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.1 }, 0.05],
		['multiple', { type: 'number', minimum: 0.3, maximum: 0.9, multipleOf: 0.25 }, 0.5],
		['short string', { type: 'string', maxLength: 4 }, 'good'],
		['long string', { type: 'string', minLength: 8 }, 'good 7..'],
		['date', { type: 'string', format: 'date' }, '2026-01-31'],
		['boolean', { type: 'boolean' }, true],
		['null', { type: 'null' }, null],
		['list of types', { type: ['null', 'boolean'] }, true],
		['anyOf', { anyOf: [{ type: 'null' }, { type: 'integer' }] }, 7],
		['oneOf', { oneOf: [{ const: 'a' }, { const: 'b' }] }, 'a'],
		[
			'allOf',
			{ allOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { const: 2 } } }] },
			{ a: 1, b: 2 },
		],
		['array', { type: 'array', items: { type: 'string' } }, ['good 7']],
		[
			'array of some length',
			{ type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 3 },
			[7, 8],
		],
		['empty array', { type: 'array', items: {}, maxItems: 0 }, []],
		['tuple', { prefixItems: [{ const: 1 }, { type: 'boolean' }] }, [1, true]],
		['map', { type: 'object', additionalProperties: { type: 'integer' } }, { entry: 7 }],
		['object without type', { properties: { a: { properties: {} } } }, { a: {} }],
		[
			'$ref',
			{ $defs: { 'a/b': { const: 1 } }, properties: { x: { $ref: '#/$defs/a~1b' } } },
			{ x: 1 },
		],
	])('sample of a schema: %s', (_name, part, expected) => {
		expect(sampleOf(part, 'good 7')).toEqual(expected);
	});

	it('sample of a recursive schema: ends', () => {
		const node = {
			type: 'object',
			properties: {
				name: { type: 'string' },
				next: { anyOf: [{ $ref: '#' }, { type: 'null' }] },
				children: { type: 'array', items: { $ref: '#' } },
			},
			required: ['name', 'next', 'children'],
		};
		const sample = JSON.stringify(sampleOf(node, 'x'));
		expect(sample).toContain('"next":null');
		expect(sample).toContain('"children":[]');
	});
});
