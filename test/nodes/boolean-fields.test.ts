import type { IDataObject } from 'n8n-workflow';
import {
	createResponse,
	generateImage,
	getModels,
	getTask,
	shown,
	submitted,
	useHarness,
	waitForTask,
} from './arrange';
import { useChat } from './chat-model.arrange';

const harness = useHarness();
const chat = useChat();

/** Values that are neither true nor false, with what the error calls them. */
const NEITHER: Array<[string, string]> = [
	['={{ [true] }}', 'a list'],
	['={{ ({ on: true }) }}', 'an object'],
	['={{ 0 }}', 'the number 0'],
	['={{ 1 }}', 'the number 1'],
	['no', '"no"'],
	['={{ "0" }}', '"0"'],
];

const format = (strict: string) => ({
	outputFormat: { format: { type: 'json_schema', schema: '{"type":"object"}', strict } },
});

type Make = (value: string) => IDataObject;

const TEXT: Array<[string, Make]> = [
	['Return All', (returnAll) => getModels({ returnAll })],
	['Stream', (stream) => createResponse({ stream })],
	['Simplify', (simplify) => createResponse({ simplify })],
	['Store', (store) => createResponse({ options: { store } })],
	['Parallel Tool Calls', (value) => createResponse({ options: { parallelToolCalls: value } })],
	['Strict', (strict) => createResponse({ options: format(strict) })],
	['Code Interpreter', (value) => createResponse({ builtInTools: { codeInterpreter: value } })],
	['Image Generation', (value) => createResponse({ builtInTools: { imageGeneration: value } })],
];

const IMAGE: Array<[string, Make]> = [
	['Wait for Completion', (value) => generateImage({ waitForCompletion: value })],
	['Simplify', (simplify) => generateImage({ simplify })],
	['Download Images', (downloadImages) => generateImage({ options: { downloadImages } })],
	['Simplify', (simplify) => getTask('task_1', { simplify })],
	['Download Images', (downloadImages) => waitForTask('task_1', { options: { downloadImages } })],
];

describe.each(NEITHER)('A boolean field that gets %s', (value, got) => {
	test.each([
		...TEXT.map((row) => ['textError', ...row] as const),
		...IMAGE.map((row) => ['imageError', ...row] as const),
	])('is refused before anything is sent (%s): %s', async (run, field, make) => {
		const { message, description } = shown(await harness[run](make(value)));
		expect(message).toBe(`${field} is ${got}, not true or false`);
		expect(description).toMatch(/^Turn it on or off, or write an expression/);
		expect(harness.gateway.count()).toBe(0);
	});

	test.each<[string, IDataObject]>([
		['Store', { options: { store: value } }],
		['Code Interpreter', { builtInTools: { codeInterpreter: value } }],
	])('of the chat model is refused: %s', async (field, parameters) => {
		await expect(chat.drive(chat.supply(parameters))).rejects.toThrow(
			`${field} is ${got}, not true or false`,
		);
	});
});

describe.each([' False ', '={{ "false" }}', '={{ false }}'])('%j is off', (off) => {
	test('for what waits, downloads and simplifies', async () => {
		const { items } = await harness.image(generateImage({ waitForCompletion: off }));
		expect(items[0]?.json.status).toBe('processing');
		const { id } = await submitted(harness);
		const given = { simplify: off, options: { downloadImages: off } };
		const [done] = (await harness.image(waitForTask(id, given))).items;
		expect(done?.binary).toBeUndefined();
		expect(done?.json).toHaveProperty('result');
	});

	test('for what is sent', async () => {
		const options = { store: off, parallelToolCalls: off, ...format(off) };
		await harness.text(
			createResponse({ options, stream: off, builtInTools: { codeInterpreter: off } }),
		);
		const [body] = harness.bodies('responses');
		expect(body).toMatchObject({
			store: false,
			parallel_tool_calls: false,
			text: { format: { strict: false } },
		});
		expect(body).not.toHaveProperty('stream');
		expect(body).not.toHaveProperty('tools');
	});
});

describe.each(['TRUE', '={{ "true" }}', '={{ true }}'])('%j is on', (on) => {
	test('for what is sent', async () => {
		const given = { stream: on, options: { store: on }, builtInTools: { codeInterpreter: on } };
		await harness.text(createResponse(given));
		const tools = [{ type: 'code_interpreter' }];
		expect(harness.bodies('responses')).toMatchObject([{ store: true, stream: true, tools }]);
	});
});

test.each(['', ' ', '={{ $json.nothing }}', '={{ null }}'])(
	'%j counts as not set: the default of the field holds',
	async (nothing) => {
		const given = { waitForCompletion: nothing, options: { downloadImages: nothing } };
		const { items } = await harness.image(generateImage(given));
		expect(items[0]?.binary).toHaveProperty('data');
		await harness.text(createResponse({ stream: nothing, options: { store: nothing } }));
		const [body] = harness.bodies('responses');
		expect(body).not.toHaveProperty('stream');
		expect(body).not.toHaveProperty('store');
	},
);
