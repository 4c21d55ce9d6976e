import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { StringOutputParser } from '@langchain/core/output_parsers';
import { DynamicStructuredTool, DynamicTool, tool } from '@langchain/core/tools';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import { drawPicture } from '../../gateway';
import { byId } from './arrange';
import {
	chunksOf,
	startChat,
	whole,
	type ChatStory,
	type LangChainModel,
} from './chat-model.arrange';

let story: ChatStory;
beforeEach(async () => {
	story = await startChat();
});
afterEach(async () => await story.close());

const noop = async () => '';
const weather = tool(noop, {
	name: 'get_weather',
	description: 'Says what the weather is',
	schema: z.object({ city: z.string().describe('Where') }),
});
const clock = tool(noop, {
	name: 'get_time',
	description: 'Says what time it is',
	schema: { type: 'object', properties: { zone: { type: 'string' } } },
});

describe('a request', () => {
	test('is model and conversation only, where nothing else is set', async () => {
		const { model } = await story.supply();
		const messages = [new SystemMessage('Be kind'), new HumanMessage('Hi')];
		const answer = await story.drive(model.invoke(messages));
		expect(answer.content).toBe('You said: Hi\nI keep to: Be kind');
		expect(story.bodies()).toEqual([
			{
				model: 'aurora-text-1',
				input: [
					{ role: 'system', content: 'Be kind' },
					{ role: 'user', content: 'Hi' },
				],
			},
		]);
	});

	test.each<[IDataObject, object]>([
		[{ temperature: 0.5 }, { temperature: 0.5 }],
		[{ maxOutputTokens: 99 }, { max_output_tokens: 99 }],
		[{ topP: 0.9 }, { top_p: 0.9 }],
		[{ reasoningEffort: 'low' }, { reasoning: { effort: 'low' } }],
		[{ store: false }, { store: false }],
		[{ serviceTier: 'flex' }, { service_tier: 'flex' }],
		[{ timeout: 100, idleTimeout: 10, maxRetries: 1 }, {}],
		[{ extraBody: '{"user":"42"}' }, { user: '42' }],
		[{ temperature: 0.5, extraBody: { temperature: 1 } }, { temperature: 1 }],
	])('carries %j', async (options, fields) => {
		const { model } = await story.supply({ options });
		await story.drive(model.invoke('Hi'));
		expect(story.bodies()).toEqual([
			{ model: 'aurora-text-1', input: [{ role: 'user', content: 'Hi' }], ...fields },
		]);
	});

	test('uses the model that was picked from the list', async () => {
		const { model } = await story.supply({
			model: { __rl: true, mode: 'list', value: 'aurora-omni-1' },
		});
		await story.drive(model.invoke('Hi'));
		expect(story.bodies()[0]).toMatchObject({ model: 'aurora-omni-1' });
	});

	test('adds tools of the extra body to those of the agent', async () => {
		const { model } = await story.supply({
			options: { extraBody: '{"tools":[{"type":"web_search"}]}' },
		});
		await story.drive(model.bindTools([weather]).invoke('Hi [[no-tools]]'));
		const tools = story.bodies()[0]?.tools as object[];
		expect(tools).toEqual([
			expect.objectContaining({ type: 'function', name: 'get_weather' }),
			{ type: 'web_search' },
		]);
	});

	test('is not streamed unless somebody reads the stream', async () => {
		const { model } = await story.supply();
		await story.drive(model.invoke('Hi'));
		await story.drive(chunksOf(model, 'Hi'));
		expect(story.bodies().map(({ stream }) => stream)).toEqual([undefined, true]);
	});
});

describe('a tool', () => {
	const parameters = (properties: object, more: object = {}) => ({
		type: 'object',
		properties,
		...more,
	});
	test.each([
		[
			'by zod',
			weather,
			parameters(
				{ city: { type: 'string', description: 'Where' } },
				{ required: ['city'], additionalProperties: false },
			),
		],
		['by JSON Schema', clock, parameters({ zone: { type: 'string' } })],
		[
			'by a structured tool of zod with optional fields',
			new DynamicStructuredTool({
				name: 'note',
				description: 'Notes it',
				schema: z.object({ text: z.string().optional(), tags: z.array(z.enum(['a', 'b'])) }),
				func: noop,
			}),
			parameters(
				{
					text: { type: 'string' },
					tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
				},
				{ required: ['tags'], additionalProperties: false },
			),
		],
		[
			'of one text, as n8n’s calculator is',
			new DynamicTool({ name: 'calculator', description: 'Reckons', func: noop }),
			parameters({ input: { type: 'string' } }, { additionalProperties: false }),
		],
		[
			'in OpenAI’s form',
			{
				type: 'function',
				function: { name: 'plain', description: 'Plain', parameters: { type: 'object' } },
			},
			parameters({}),
		],
	])('%s is a function with its parameters', async (_name, given, expected) => {
		const { model } = await story.supply();
		await story.drive(model.bindTools([given, weather]).invoke('Hi [[no-tools]]'));
		const [sent] = story.bodies()[0]?.tools as object[];
		expect(sent).toMatchObject({ type: 'function', strict: false });
		expect(sent).toHaveProperty('parameters', expected);
		expect(story.bodies()[0]).not.toHaveProperty('tool_choice');
	});

	test('has to be called where an agent says so', async () => {
		const { model } = await story.supply();
		await story.drive(model.bindTools([weather], { tool_choice: 'any' }).invoke('Hi'));
		expect(story.bodies()[0]).toMatchObject({ tool_choice: 'required' });
	});

	test('stays with the model it was bound to', async () => {
		const { model } = await story.supply();
		model.bindTools([weather]);
		await story.drive(model.invoke('Hi'));
		expect(story.bodies()[0]).not.toHaveProperty('tools');
	});
});

const TWO_CALLS =
	'How is it? [[call:get_weather {"city":"Bergen"}]] [[call:get_time {"zone":"CET"}]]';

type Asked = Parameters<typeof chunksOf>[0] & Pick<LangChainModel, 'invoke'>;
const WAYS: Array<[string, (model: Asked, text: string) => Promise<AIMessage>]> = [
	['at once', async (model, text) => await model.invoke(text)],
	['streamed', async (model, text) => whole(await chunksOf(model, text))],
];

describe.each(WAYS)('an answer %s', (_name, ask) => {
	test('is a text with its usage and why it ended', async () => {
		const { model, runs } = await story.supply();
		const answer = await story.drive(ask(model, 'Hello you there'));
		expect(answer.content).toBe('You said: Hello you there');
		expect(answer.tool_calls).toEqual([]);
		expect(answer.usage_metadata).toMatchObject({
			input_tokens: 3,
			output_tokens: 5,
			total_tokens: 8,
		});
		expect(answer.response_metadata).toMatchObject({ finish_reason: 'stop' });
		const [run] = runs();
		expect(run?.data?.ai_languageModel?.[0]?.[0]?.json).toMatchObject({
			response: { generations: [[{ text: 'You said: Hello you there' }]] },
			tokenUsage: { promptTokens: 3, completionTokens: 5, totalTokens: 8 },
		});
	});

	test('calls two tools in one turn', async () => {
		const { model } = await story.supply();
		const answer = await story.drive(ask(model.bindTools([weather, clock]) as Asked, TWO_CALLS));
		expect(answer.content).toBe('');
		expect(answer.tool_calls).toEqual([
			expect.objectContaining({ name: 'get_weather', args: { city: 'Bergen' } }),
			expect.objectContaining({ name: 'get_time', args: { zone: 'CET' } }),
		]);
		const ids = answer.tool_calls?.map(({ id }) => id) ?? [];
		expect(new Set(ids).size).toBe(2);
		expect(ids[0]).toMatch(/^call_/);
		expect(answer.response_metadata.finish_reason).toBe('tool-calls');
	});

	test('that was cut off says why, in the answer and beside the node', async () => {
		const { model, runs } = await story.supply({ options: { maxOutputTokens: 2 } });
		const answer = await story.drive(ask(model, 'One two three four'));
		expect(answer.content).toBe('You said:');
		expect(answer.response_metadata.finish_reason).toBe('length');
		expect(runs()[0]?.hints).toEqual([
			expect.objectContaining({
				message: expect.stringContaining('Max Output Tokens') as string,
				type: 'warning',
			}),
		]);
	});

	test('that is a refusal says it', async () => {
		const { model } = await story.supply();
		const answer = await story.drive(ask(model, '[[refuse]]'));
		expect(answer.content).toBe('I cannot help with that.');
	});

	test('without a word is empty', async () => {
		const { model } = await story.supply();
		const answer = await story.drive(ask(model, '[[empty]]'));
		expect(answer).toMatchObject({ content: '', tool_calls: [] });
	});

	test('keeps what nobody knows, and what was thought, beside its text', async () => {
		const { model } = await story.supply({
			options: { extraBody: '{"reasoning":{"summary":"auto"}}' },
		});
		const answer = await story.drive(ask(model, 'Hm [[unknown]]'));
		expect(answer.content).toBe('You said: Hm');
		expect(answer.additional_kwargs.output_items).toEqual([
			expect.objectContaining({ type: 'telemetry' }),
		]);
		const thought = JSON.parse(String(answer.additional_kwargs.reasoning_content)) as object[];
		expect(thought).toEqual([expect.objectContaining({ type: 'reasoning' })]);
	});

	test('ends before a text that it is to stop at', async () => {
		const { model } = await story.supply();
		const stopping = model.withConfig({ stop: [' three', 'four'] } as never);
		const answer = await story.drive(ask(stopping as Asked, 'One two three four'));
		expect(answer.content).toBe('You said: One two');
	});
});

describe('a stream', () => {
	test('hands on each piece as it comes, and the rest once it is complete', async () => {
		await story.close();
		story = await startChat({ deltaMs: 1000 });
		const { model } = await story.supply();
		const at: Array<[string, number]> = [];
		const start = story.time.now();
		await story.drive(
			(async () => {
				for await (const chunk of await model.stream('a b')) {
					at.push([chunk.text, Math.round((story.time.now() - start) / 1000)]);
				}
			})(),
		);
		expect(at).toEqual([
			['You', 1],
			[' said:', 2],
			[' a', 3],
			[' b', 4],
			['', 4],
		]);
	});

	test('closes its connection when its reader leaves', async () => {
		await story.close();
		story = await startChat({ deltaMs: 1000 });
		const { model } = await story.supply();
		await story.drive(
			(async () => {
				for await (const chunk of await model.stream('[[words:100]]')) {
					if (chunk.text !== '') break;
				}
			})(),
		);
		await story.time.advance(1);
		expect(story.gateway.requests[0]?.status).toBe(499);
	});
});

describe('a conversation', () => {
	test('goes back with its calls and their results, and what was thought', async () => {
		const { model } = await story.supply({
			options: { extraBody: '{"reasoning":{"summary":"auto"}}' },
		});
		const agent = model.bindTools([weather, clock]);
		const asked = new HumanMessage(TWO_CALLS);
		const called = await story.drive(agent.invoke([asked]));
		const results = (called.tool_calls ?? []).map(
			({ id, name }) => new ToolMessage({ tool_call_id: id!, name, content: `result of ${name}` }),
		);
		const answer = await story.drive(agent.invoke([asked, called, ...results]));
		expect(answer.content).toBe(
			'get_weather says: result of get_weather\nget_time says: result of get_time',
		);
		const [first, second] = called.tool_calls ?? [];
		expect(story.bodies()[1]?.input).toEqual([
			{ role: 'user', content: TWO_CALLS },
			expect.objectContaining({ type: 'reasoning', id: expect.stringMatching(/^rs_/) as string }),
			{
				type: 'function_call',
				call_id: first?.id,
				name: 'get_weather',
				arguments: '{"city":"Bergen"}',
			},
			{
				type: 'function_call',
				call_id: second?.id,
				name: 'get_time',
				arguments: '{"zone":"CET"}',
			},
			{ type: 'function_call_output', call_id: first?.id, output: 'result of get_weather' },
			{ type: 'function_call_output', call_id: second?.id, output: 'result of get_time' },
		]);
	});

	test('is rebuilt by n8n’s agent, with a message for each call, and still goes back', async () => {
		const { model } = await story.supply();
		const thought = { type: 'reasoning', id: 'rs_1', summary: [] };
		const rebuilt = ['call_1', 'call_2'].flatMap((id) => [
			new AIMessage({
				content: [],
				tool_calls: [{ id, name: 'get_time', args: { id }, type: 'tool_call' }],
				additional_kwargs: { reasoning_content: JSON.stringify([thought]) },
			}),
			new ToolMessage({ tool_call_id: id, content: 'noon' }),
		]);
		await story.drive(model.bindTools([clock]).invoke([new HumanMessage('Hi'), ...rebuilt]));
		const call = (id: string) => ({
			type: 'function_call',
			call_id: id,
			name: 'get_time',
			arguments: JSON.stringify({ id }),
		});
		const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'noon' });
		expect(story.bodies()[0]?.input).toEqual([
			{ role: 'user', content: 'Hi' },
			thought,
			call('call_1'),
			output('call_1'),
			call('call_2'),
			output('call_2'),
		]);
	});

	const png = drawPicture({ prompt: 'A boat', index: 0, width: 4, height: 3 }).toString('base64');
	test.each<[string, object, object]>([
		[
			'in n8n’s form',
			{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: 'low' } },
			{ type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'low' },
		],
		[
			'at an address',
			{ type: 'image_url', image_url: 'https://pictures.example.com/boat.png' },
			{ type: 'input_image', image_url: 'https://pictures.example.com/boat.png' },
		],
		[
			'in LangChain’s form',
			{ type: 'image', mimeType: 'image/png', data: png },
			{ type: 'input_image', image_url: `data:image/png;base64,${png}` },
		],
		[
			'in LangChain’s older form',
			{ type: 'image', source_type: 'url', url: 'https://pictures.example.com/boat.png' },
			{ type: 'input_image', image_url: 'https://pictures.example.com/boat.png' },
		],
		[
			'that is a file of n8n’s agent',
			{
				type: 'file',
				source_type: 'base64',
				mime_type: 'application/pdf',
				data: 'JVBERi0=',
				metadata: { filename: 'invoice.pdf' },
			},
			{
				type: 'input_file',
				filename: 'invoice.pdf',
				file_data: 'data:application/pdf;base64,JVBERi0=',
			},
		],
		[
			'that the gateway has',
			{ type: 'file', source_type: 'id', id: 'file_1' },
			{ type: 'input_file', file_id: 'file_1' },
		],
		[
			'that is a text',
			{ type: 'text-plain', source_type: 'text', text: 'Words' },
			{ type: 'input_text', text: 'Words' },
		],
		[
			'that nobody here knows',
			{ type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,YQ==' },
			{ type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,YQ==' },
		],
	])('may hold a part %s', async (_name, part, sent) => {
		const { model } = await story.supply();
		const message = new HumanMessage({
			content: [{ type: 'text', text: 'What is it?' }, part] as never,
		});
		const before = JSON.stringify(message);
		await story.drive(model.invoke([message]));
		expect(story.bodies()[0]?.input).toEqual([
			{ role: 'user', content: [{ type: 'input_text', text: 'What is it?' }, sent] },
		]);
		expect(JSON.stringify(message)).toBe(before);
	});
});

describe('structured output', () => {
	const schema = z.object({ category: z.enum(['bug', 'wish']) });

	const json = {
		title: 'Sorted',
		type: 'object',
		properties: { category: { type: 'string', enum: ['bug', 'wish'] } },
	};

	test.each([
		['zod', schema, { name: 'sort' }, 'sort'],
		['JSON Schema', json, {}, 'Sorted'],
	])('by %s is JSON, parsed', async (_name, given, options, name) => {
		const { model } = await story.supply();
		const structured = model.withStructuredOutput(given as typeof schema, options);
		expect(await story.drive(structured.invoke('A wish'))).toEqual({ category: 'wish' });
		expect(story.bodies()[0]).toMatchObject({
			text: {
				format: {
					type: 'json_schema',
					name,
					schema: { type: 'object', properties: json.properties },
				},
			},
		});
	});

	test('comes with its message where that is wanted', async () => {
		const { model } = await story.supply();
		const structured = model.withStructuredOutput(schema, { includeRaw: true });
		const { raw, parsed } = await story.drive(structured.invoke('A wish'));
		expect([raw.content, parsed]).toEqual(['{"category":"wish"}', { category: 'wish' }]);
		const broken = await story.drive(structured.invoke('A wish [[bad-json]]'));
		expect(broken.parsed).toBeNull();
	});

	test('that does not fit is an error', async () => {
		const { model } = await story.supply();
		const strict = model.withStructuredOutput(z.object({ other: z.number() }));
		await expect(story.drive(strict.invoke('A wish [[bad-json]]'))).rejects.toThrow(
			'Failed to parse. Text: "{ "answer":"',
		);
		const { model: refusing } = await story.supply({
			options: { extraBody: { text: { format: { type: 'json_object' } } } },
		});
		await expect(
			story.drive(refusing.withStructuredOutput(schema).invoke('A wish')),
		).rejects.toThrow('category');
	});

	test('of n8n’s kit is JSON by a schema', async () => {
		const { model } = await story.supply();
		const { chatModel } = model as unknown as {
			chatModel: import('../../nodes/LmChatModelAccess/chat-model').ModelAccessChatModel;
		};
		const result = await story.drive(
			chatModel
				.withStructuredOutput(json)
				.generate([{ role: 'user', content: [{ type: 'text', text: 'A wish' }] }]),
		);
		expect(result.message.content).toEqual([{ type: 'text', text: '{"category":"wish"}' }]);
		expect(story.bodies()[0]?.text).toEqual({
			format: { type: 'json_schema', name: 'Sorted', schema: json },
		});
	});

	test('by n8n’s parsers finds a text, also where the model thought', async () => {
		const { model } = await story.supply({
			options: { extraBody: '{"reasoning":{"summary":"auto"}}' },
		});
		const chain = model.pipe(new StringOutputParser());
		expect(await story.drive(chain.invoke('Hi'))).toBe('You said: Hi');
	});
});

describe('the model list', () => {
	test('is that of the other nodes', async () => {
		const { LmChatModelAccess } = await import(
			'../../nodes/LmChatModelAccess/LmChatModelAccess.node'
		);
		const { ModelAccess } = await import('../../nodes/ModelAccess/ModelAccess.node');
		expect(new LmChatModelAccess().methods.listSearch).toEqual(
			new ModelAccess().methods.listSearch,
		);
	});

	test('may be left for an ID', async () => {
		const { model } = await story.supply({ model: byId('Aurora-Text-2.5-Preview') });
		await story.drive(model.invoke('Hi'));
		expect(story.bodies()[0]).toMatchObject({ model: 'Aurora-Text-2.5-Preview' });
	});
});
