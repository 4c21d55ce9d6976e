import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { DynamicTool, tool } from '@langchain/core/tools';
import { z } from 'zod';
import { drawImage } from '../../gateway';
import { ANSWER_OPTIONS, byId, type IDataObject } from './arrange';
import { chunksOf, THINKS, useChat, WAYS, type Asked } from './chat-model.arrange';

const harness = useChat();

const object = (properties: object) => ({ type: 'object' as const, properties });
const noop = async () => '';
const weather = tool(noop, {
	name: 'get_weather',
	description: 'Says what the weather is',
	schema: z.object({ city: z.string().describe('Where') }),
});
const ZONE = object({ zone: { type: 'string' } });
const clock = tool(noop, { name: 'get_time', description: 'Says what time it is', schema: ZONE });

describe('a request', () => {
	test('is model and conversation only, and streamed only where a stream is read', async () => {
		const { model } = await harness.supply({ model: byId('Aurora-Text-2.5-Preview') });
		const messages = [new SystemMessage('Be kind'), new HumanMessage('Hi')];
		const answer = await harness.drive(model.invoke(messages));
		expect(answer.content).toBe('You said: Hi\nI keep to: Be kind');
		await harness.drive(chunksOf(model, 'Hi'));
		const user = { role: 'user', content: 'Hi' };
		const sent = { model: 'Aurora-Text-2.5-Preview', input: [user] };
		expect(harness.bodies()).toEqual([
			{ ...sent, instructions: 'Be kind' },
			{ ...sent, stream: true },
		]);
	});

	test('carries each option, and the extra body over them, whose tools are added', async () => {
		const schema = { type: 'object', properties: { a: { type: 'string' } } };
		const sentFormat = { type: 'json_schema', name: 'a', schema, strict: true };
		const format = { ...sentFormat, schema: JSON.stringify(schema) };
		const extraBody = '{"user":"42","top_p":0.1,"tools":[{"type":"web_search"}]}';
		const rows: typeof ANSWER_OPTIONS = [
			...ANSWER_OPTIONS,
			['responseFormat', { format }, { text: { format: sentFormat, verbosity: 'low' } }],
			['extraBody', extraBody, { user: '42', top_p: 0.1 }],
		];
		const { model } = await harness.supply({
			model: { __rl: true, mode: 'list', value: 'aurora-omni-1' },
			options: Object.fromEntries(rows.map(([name, value]) => [name, value])) as IDataObject,
		});
		const reasoning_content = '[{"type":"reasoning","id":"rs_1"}]';
		const answered = new AIMessage({ content: 'So', additional_kwargs: { reasoning_content } });
		const user = { role: 'user', content: 'Hi [[no-tools]]' };
		const bound = model.bindTools([weather]);
		await harness.drive(bound.invoke([answered, new HumanMessage(user.content)]));
		expect(harness.bodies()).toEqual([
			Object.assign({}, ...rows.map(([, , sent]) => sent), {
				model: 'aurora-omni-1',
				// The gateway stores nothing, so it does not know the thought by its ID.
				input: [{ role: 'assistant', content: [{ type: 'output_text', text: 'So' }] }, user],
				tools: [expect.objectContaining({ name: 'get_weather' }), { type: 'web_search' }],
			}),
		]);
	});
});

// Which parameters each kind of schema makes is in test/unit/chat-model-tools.test.ts.
test('tools are functions with their parameters, for the model that they were bound to', async () => {
	const { model } = await harness.supply();
	// Of one text, as n8n's calculator is.
	const calculator = new DynamicTool({ name: 'calculator', description: 'Sums', func: noop });
	const all = model.bindTools([weather, clock, calculator]);
	await harness.drive(all.invoke('Hi [[no-tools]]'));
	await harness.drive(model.bindTools([weather], { tool_choice: 'any' }).invoke('Hi'));
	await harness.drive(model.invoke('Hi'));
	const [withAll, chosen, without] = harness.bodies();
	const description = expect.any(String) as string;
	expect(withAll?.tools).toMatchObject([
		{ type: 'function', name: 'get_weather', parameters: { required: ['city'] }, description },
		{ parameters: ZONE, strict: false, description },
		{ parameters: object({ input: { type: 'string' } }), description },
	]);
	expect(withAll).not.toHaveProperty('tool_choice');
	expect(chosen).toMatchObject({ tool_choice: 'required' });
	expect(without).not.toHaveProperty('tools');
});

const TWO_CALLS =
	'How is it? [[call:get_weather {"city":"Bergen"}]] [[call:get_time {"zone":"CET"}]]';

describe.each(WAYS)('an answer %s', (_name, ask) => {
	test('is a text with its usage and why it ended', async () => {
		const { model, runs } = await harness.supply();
		const answer = await harness.drive(ask(model, 'Hello you there'));
		expect(answer).toMatchObject({
			content: 'You said: Hello you there',
			tool_calls: [],
			usage_metadata: { input_tokens: 3, output_tokens: 5, total_tokens: 8 },
			response_metadata: { finish_reason: 'stop' },
		});
		const [run] = runs();
		expect(run?.data?.ai_languageModel?.[0]?.[0]?.json).toMatchObject({
			response: { generations: [[{ text: 'You said: Hello you there' }]] },
			tokenUsage: { promptTokens: 3, completionTokens: 5, totalTokens: 8 },
		});
	});

	test('that was cut off says why, in the answer and beside the node', async () => {
		const { model, runs } = await harness.supply({ options: { maxOutputTokens: 2 } });
		const answer = await harness.drive(ask(model, 'One two three four'));
		expect(answer.content).toBe('You said:');
		expect(answer.response_metadata.finish_reason).toBe('length');
		const message = expect.stringContaining('Max Output Tokens') as string;
		expect(runs()[0]?.hints).toMatchObject([{ message, type: 'warning' }]);
	});

	test('is the refusal, or empty without a word', async () => {
		const { model } = await harness.supply();
		const { content } = await harness.drive(ask(model, '[[refuse]]'));
		expect(content).toBe('I cannot help with that.');
		const silence = await harness.drive(ask(model, '[[empty]]'));
		expect(silence).toMatchObject({ content: '', tool_calls: [], additional_kwargs: {} });
		expect(silence.additional_kwargs).not.toHaveProperty('reasoning_content');
	});

	test('keeps what is not known, and what was thought, beside its text', async () => {
		const { model } = await harness.supply(THINKS);
		const { content, additional_kwargs: more } = await harness.drive(ask(model, 'Hm [[unknown]]'));
		expect(content).toBe('You said: Hm');
		expect(more.output_items).toEqual([expect.objectContaining({ type: 'telemetry' })]);
		const thought = JSON.parse(String(more.reasoning_content)) as object[];
		expect(thought).toEqual([expect.objectContaining({ type: 'reasoning' })]);
	});

	test('ends before the first text that it is to stop at', async () => {
		const { model } = await harness.supply();
		const stopping = model.withConfig({ stop: ['four', ' three'] });
		const answer = await harness.drive(ask(stopping as Asked, 'One two three four'));
		expect(answer.content).toBe('You said: One two');
	});
});

describe('a stream', () => {
	beforeEach(() => void (harness.gateway.settings.deltaMs = 1000));

	test('hands on each piece as it comes, and the rest once it is complete', async () => {
		const { model } = await harness.supply();
		const at: string[] = [];
		const start = harness.time.now();
		const read = async () => {
			for await (const { text } of await model.stream('a b')) {
				at.push(`${text} ${Math.round((harness.time.now() - start) / 1000)}`);
			}
		};
		await harness.drive(read());
		expect(at).toEqual(['You 1', ' said: 2', ' a 3', ' b 4', ' 4']);
	});

	test('closes its connection when its reader leaves', async () => {
		const { model } = await harness.supply();
		const read = async () => {
			for await (const { text } of await model.stream('[[words:100]]')) if (text !== '') break;
		};
		await harness.drive(read());
		await harness.time.advance(1);
		expect(harness.gateway.requests[0]?.status).toBe(499);
	});
});

describe('a conversation', () => {
	test('goes back with its calls, their results and what was thought, also from n8n’s agent', async () => {
		const { model } = await harness.supply(THINKS);
		const agent = model.bindTools([weather, clock]);
		const asked = new HumanMessage(TWO_CALLS);
		const called = await harness.drive(agent.invoke([asked]));
		const made = called.tool_calls!.map((call, n) => {
			const id = call.id!;
			const output = `result ${n}`;
			// n8n's agent makes a message of each call, with what was thought in both.
			const { reasoning_content } = called.additional_kwargs;
			const more = { content: [], additional_kwargs: { reasoning_content } };
			const [name, args] = [call.name, JSON.stringify(call.args)];
			return {
				result: new ToolMessage({ tool_call_id: id, content: output }),
				rebuilt: new AIMessage({ ...more, tool_calls: [call] }),
				sentCall: { type: 'function_call', call_id: id, name, arguments: args },
				sentResult: { type: 'function_call_output', call_id: id, output },
			};
		});
		const results = made.map(({ result }) => result);
		const answer = await harness.drive(agent.invoke([asked, called, ...results]));
		expect(answer.content).toBe('get_weather says: result 0\nget_time says: result 1');
		const rebuilt = made.flatMap(({ rebuilt: one, result }) => [one, result]);
		await harness.drive(agent.invoke([asked, ...rebuilt]));

		const id = expect.stringMatching(/^rs_/) as string;
		const thought = expect.objectContaining({ type: 'reasoning', id }) as object;
		const begin = [{ role: 'user', content: TWO_CALLS }, thought];
		const [calls, outputs] = [made.map((one) => one.sentCall), made.map((one) => one.sentResult)];
		expect(made).toHaveLength(2);
		const [, second, third] = harness.bodies().map(({ input }) => input);
		expect(second).toEqual([...begin, ...calls, ...outputs]);
		const inPairs = made.flatMap(({ sentCall, sentResult }) => [sentCall, sentResult]);
		expect(third).toEqual([...begin, ...inPairs]);
	});

	// Each form that n8n's kit loses is in langchain-adapter.test.ts.
	test('may hold parts in the forms of n8n and of LangChain, and parts that are not known', async () => {
		const { model } = await harness.supply();
		const png = drawImage({ prompt: '', index: 0, width: 4, height: 3 }).toString('base64');
		const url = `data:image/png;base64,${png}`;
		const pdf = { mime_type: 'application/pdf', data: 'JVBERi0=', metadata: { filename: 'a.pdf' } };
		const file_data = 'data:application/pdf;base64,JVBERi0=';
		const unknown = { type: 'input_file', file_url: 'https://files.example.com/a.txt' };
		const parts = [
			{ type: 'image_url', image_url: { url, detail: 'low' } },
			{ type: 'file', source_type: 'base64', ...pdf },
			unknown,
		];
		const message = new HumanMessage({ content: parts as never });
		const before = JSON.stringify(message);
		await harness.drive(chunksOf(model, [message]));
		const content = [
			{ type: 'input_image', image_url: url, detail: 'low' },
			{ type: 'input_file', filename: 'a.pdf', file_data },
			unknown,
		];
		expect(harness.bodies()[0]?.input).toEqual([{ role: 'user', content }]);
		expect(JSON.stringify(message)).toBe(before);
	});
});

describe('structured output', () => {
	const schema = z.object({ category: z.enum(['bug', 'wish']) });
	const category = { type: 'string', enum: ['bug', 'wish'] };
	const json = { title: 'Sorted', ...object({ category }) };

	test.each([
		['zod', schema, { name: 'sort' }, 'sort'],
		['JSON Schema', json, {}, 'Sorted'],
		['JSON Schema under another name', json, { name: 'sort' }, 'sort'],
	])('by %s is JSON, parsed', async (_name, given, options, name) => {
		const { model } = await harness.supply();
		const structured = model.withStructuredOutput(given as typeof schema, options);
		expect(await harness.drive(structured.invoke('A wish'))).toEqual({ category: 'wish' });
		const format = { type: 'json_schema', name, schema: object({ category }) };
		expect(harness.bodies()[0]).toMatchObject({ text: { format } });
	});

	test('that does not fit is an error, or nothing beside its message', async () => {
		const { model } = await harness.supply();
		const structured = model.withStructuredOutput(schema, { includeRaw: true });
		const { raw, parsed } = await harness.drive(structured.invoke('A wish'));
		expect([raw.content, parsed]).toEqual(['{"category":"wish"}', { category: 'wish' }]);
		const broken = await harness.drive(structured.invoke('A wish [[bad-json]]'));
		expect(broken.parsed).toBeNull();
		const strict = model.withStructuredOutput(schema);
		const failing = harness.drive(strict.invoke('A wish [[bad-json]]'));
		const says = /^Failed to parse\. Text: "\{ "answer":"\. The gateway may not pass/;
		await expect(failing).rejects.toThrow(says);
		const extraBody = { text: { format: { type: 'json_object' } } };
		const { model: another } = await harness.supply({ options: { extraBody } });
		const misfit = harness.drive(another.withStructuredOutput(schema).invoke('A wish'));
		await expect(misfit).rejects.toThrow('category');
	});
});
