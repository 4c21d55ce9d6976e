import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { resources as imageResources } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { resources as textResources } from '../../nodes/ModelAccess/ModelAccess.node';
import { create } from '../../nodes/ModelAccess/actions/response/create.operation';
import { generate } from '../../nodes/ModelAccessImage/actions/image/generate.operation';
import { wait } from '../../nodes/ModelAccessImage/actions/task/wait.operation';
import { properties as chatProperties } from '../../nodes/LmChatModelAccess/fields';
import { optionLabel } from '../../nodes/shared/n8n/fields/option-names';
import { drawImage } from '../../gateway';
import { shown, submitted, useHarness } from './arrange';
import { useChat } from './chat-model.arrange';
import {
	createResponse,
	editImage,
	generateImage,
	getModels,
	getTask,
	sourceFiles,
	waitForTask,
} from './parameters';

const harness = useHarness();
const chat = useChat();

/** The body of the last request that costs. */
const sent = () => harness.gateway.requests.findLast(({ method }) => method === 'POST')?.body;

describe('A number, a boolean or a time from an expression is its text', () => {
	const TIME = "DateTime.fromISO('2026-01-01T00:00:00Z', { zone: 'utc' })";

	test.each([
		['0', '0'],
		['1.5', '1.5'],
		['false', 'false'],
		[TIME, '2026-01-01T00:00:00.000Z'],
		[`${TIME}.toJSDate()`, '2026-01-01T00:00:00.000Z'],
	])('%s, in Prompt and Instructions', async (value, text) => {
		const expression = `={{ ${value} }}`;
		await harness.text(createResponse({ prompt: expression, instructions: expression }));
		expect(sent()).toMatchObject({ input: text, instructions: text });

		await harness.image(generateImage({ prompt: expression, waitForCompletion: false }));
		expect(sent()).toMatchObject({ prompt: text });
	});

	test('in a message, an input as JSON, and the options of a response', async () => {
		const messages = { message: [{ role: 'user', type: 'text', text: '={{ 42 }}' }] };
		const options = {
			previousResponseId: '={{ 12 }}',
			outputFormat: { format: { name: '={{ 1 }}', schema: '={{ ({ type: "object" }) }}' } },
			include: '={{ 5 }}',
			toolChoice: '={{ 3 }}',
		};
		harness.gateway.settings.intercept = () => ({ kind: 'reply', status: 400 });
		const more = { inputType: 'messages', messages, options };
		await harness.textError(createResponse(more));
		expect(sent()).toMatchObject({
			input: [{ role: 'user', content: '42' }],
			previous_response_id: '12',
			include: ['5'],
			tool_choice: { type: 'function', name: '3' },
			text: { format: { name: '1' } },
		});

		await harness.textError(createResponse({ inputType: 'json', inputJson: '={{ 42 }}' }));
		expect(sent()).toMatchObject({ input: '42' });
	});

	test('in the model, the file’s name, the output field and the search', async () => {
		harness.gateway.settings.models = {
			7: { images: true },
			17: { text: true },
			text: { text: true },
		};
		const model = { __rl: true, mode: 'id', value: '={{ 7 }}' };
		const options = { fileName: '={{ 2026 }}', binaryPropertyName: '={{ 5 }}' };
		const run = await harness.image(generateImage({ model, options }));
		expect(run.items[0]?.binary).toMatchObject({ 5: { fileName: '2026.png' } });

		const found = await harness.text(getModels({ options: { search: '={{ 7 }}' } }));
		expect(found.items.map(({ json }) => json.id)).toEqual(['7', '17']);
	});
});

/** The fields of an operation, with those inside its collections, that hold a text or a choice. */
function textFields(
	properties: INodeProperties[],
): Array<{ field: INodeProperties; path: string }> {
	return properties.flatMap((field) => {
		if (field.type === 'collection') {
			return textFields(field.options as INodeProperties[]).map((inner) => ({
				...inner,
				path: `${field.name}.${inner.path}`,
			}));
		}
		const isText = ['string', 'options', 'resourceLocator'].includes(field.type);
		return isText ? [{ field, path: field.name }] : [];
	});
}

/** Parameters in which one field has a value, and the fields on which it depends as it needs them. */
function withValue(path: string, { displayOptions }: INodeProperties, value: unknown): IDataObject {
	const depends = Object.entries(displayOptions?.show ?? {}).map(([name, values]) => [
		name.replace(/^\//, ''),
		values?.[0],
	]);
	const set = path
		.split('.')
		.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as IDataObject;
	return { ...(Object.fromEntries(depends) as IDataObject), ...set } as IDataObject;
}

/** The value of a field that holds this text. */
const valueFor = ({ type }: INodeProperties, text: string) =>
	type === 'resourceLocator' ? { __rl: true, mode: 'id', value: text } : text;

const IMAGE = {
	data: drawImage({ prompt: 'boat', index: 0, width: 24, height: 16 }).toString('base64'),
	mimeType: 'image/png',
};

/** All fields of all operations. */
const FIELDS = [
	...textResources.map((resource) => ['text', resource] as const),
	...imageResources.map((resource) => ['image', resource] as const),
].flatMap(([node, resource]) =>
	resource.operations.flatMap((operation) =>
		textFields(operation.properties).map(({ field, path }) => {
			const name = `${resource.name} → ${operation.name}: ${optionLabel(field)}`;
			return { name, node, of: [resource.value, operation.value].join('.'), field, path };
		}),
	),
);

const OPERATIONS: Record<string, (given: IDataObject) => IDataObject> = {
	'model.getAll': getModels,
	'response.create': createResponse,
	'image.generate': generateImage,
	// A mask from a field goes with images from fields.
	'image.edit': ({ options, ...given }) => {
		const hasFile = 'maskBinaryPropertyName' in ((options as object | undefined) ?? {});
		return editImage({ ...(hasFile && sourceFiles('data')), options, ...given });
	},
	'task.get': (given) => getTask('t', given),
	'task.wait': (given) => waitForTask('t', given),
};

describe('A list or an object from an expression is refused before anything is sent', () => {
	/** These take a list of texts, a file, or JSON. */
	const TAKES_LISTS = /Binary Field|Mask URL|Include|Allowed Domains/;
	const TAKES_OBJECTS = /Tool Choice/;

	test.each(FIELDS)('$name', async ({ node, of, field, path }) => {
		const label = optionLabel(field);
		const values = [
			['a list', '[{ "a": 1 }]', /^Write one entry of the list, such as \{\{ .+ \}\}/],
			['an object', '{ a: { b: 1 } }', /^Write (one of its fields|the name of the field)/],
		] as const;
		for (const [got, value, wayOut] of values) {
			if (got === 'an object' && TAKES_OBJECTS.test(label)) continue;
			const expression = valueFor(field, `={{ (${value}) }}`);
			const parameters = OPERATIONS[of]!(withValue(path, field, expression));
			const run = node === 'text' ? harness.textError : harness.imageError;
			const error = shown(
				await run(parameters, { items: [{ json: {}, binary: { data: IMAGE } }] }),
			);
			const named = TAKES_LISTS.test(label) && got === 'a list' ? 'an object' : got;
			expect(error.message).toMatch(new RegExp(`^${label}.* is ${named}, n`));
			if (named === got) expect(error.description).toMatch(wayOut);
			expect(error.context.details).toMatchObject({ retryable: false });
		}
		expect(harness.gateway.count()).toBe(0);
	});

	const row = (given: IDataObject) => ({
		inputType: 'messages',
		messages: { message: [{ role: 'user', type: 'text', text: 'Hi', ...given }] },
	});
	const format = (given: IDataObject) => ({ options: { outputFormat: { format: given } } });
	const LIST = '={{ [1] }}';
	const address = { type: 'image', imageSource: 'url', imageUrl: 'https://a.b' };
	test.each<[string, IDataObject]>([
		['Message 1: Role', row({ role: LIST })],
		['Message 1: Type', row({ type: LIST })],
		['Message 1: Prompt', row({ text: LIST })],
		['Message 1: Prompt', row({ type: 'image', text: LIST })],
		['Message 1: Image Source', row({ type: 'image', imageSource: LIST })],
		['Message 1: Image URL', row({ ...address, imageUrl: LIST })],
		['Message 1: Detail', row({ ...address, detail: LIST })],
		['Output Format: Type', format({ type: LIST })],
		['Schema Name', format({ name: LIST })],
	])('in a row: %s', async (label, given) => {
		const error = shown(await harness.textError(createResponse(given)));
		expect(error.message).toBe(`${label} is a list, not a text`);
		expect(error.description).toMatch(/^Write one entry of the list/);
		expect(harness.gateway.count()).toBe(0);
	});

	test('in the chat model', async () => {
		const fields = textFields(chatProperties).filter(
			({ field }) => !TAKES_LISTS.test(field.displayName),
		);
		for (const { field, path } of fields) {
			const parameters = withValue(path, field, valueFor(field, '={{ [1] }}'));
			await expect(chat.supply(parameters)).rejects.toMatchObject({
				message: `${optionLabel(field)} is a list, not a text`,
				description: expect.stringMatching(/^Write one entry/) as string,
			});
		}
	});
});

describe.each(['={{ " " }}', '\u00a0'])(
	'A number field of blanks (%j) counts as not set',
	(blank) => {
		/** A value for each number among the options. */
		function numbers(properties: INodeProperties[]): IDataObject {
			const options = properties
				.filter(({ name }) => name === 'options' || name === 'advanced')
				.flatMap((collection) => collection.options as INodeProperties[]);
			const names = options.filter(({ type }) => type === 'number').map(({ name }) => name);
			expect(names.length).toBeGreaterThan(0);
			return { options: Object.fromEntries(names.map((name) => [name, blank])) };
		}

		test('in Response → Create and Model → Get Many', async () => {
			await harness.text(createResponse(numbers(create.properties)));
			expect(sent()).toEqual({ model: 'aurora-text-1', input: 'Hello there' });
			const { items } = await harness.text(getModels({ limit: blank }));
			expect(items.length).toBeGreaterThan(1);
		});

		test('in Image → Generate and Task → Wait: they wait, download and ask for one image', async () => {
			const run = await harness.image(generateImage(numbers(generate.properties)));
			expect(run.items[0]?.binary).toHaveProperty('data');
			expect(sent()).toEqual({ model: 'aurora-image-1', prompt: 'A boat' });
			const { id } = await submitted(harness);
			const { items } = await harness.image(waitForTask(id, numbers(wait.properties)));
			expect(items[0]?.json.status).toBe('completed');
		});

		test('in the chat model', async () => {
			const { model } = await chat.supply(numbers(chatProperties));
			await chat.drive(model.invoke('Hello'));
			expect(Object.keys(chat.bodies()[0] ?? {}).sort()).toEqual(['input', 'model']);
		});
	},
);

describe('A boolean field', () => {
	const strictly = (strict: string) => ({
		outputFormat: { format: { type: 'json_schema', schema: '{"type":"object"}', strict } },
	});
	type Make = (value: string) => IDataObject;
	const options =
		(name: string): Make =>
		(value) =>
			createResponse({ options: { [name]: value } });
	const tool =
		(name: string): Make =>
		(on) =>
			createResponse({ builtInTools: { [name]: on } });
	const FIELDS: Array<['textError' | 'imageError', string, Make]> = [
		['textError', 'Return All', (returnAll) => getModels({ returnAll })],
		['textError', 'Stream', (stream) => createResponse({ stream })],
		['textError', 'Simplify', (simplify) => createResponse({ simplify })],
		['textError', 'Store', options('store')],
		['textError', 'Parallel Tool Calls', options('parallelToolCalls')],
		['textError', 'Strict', (strict) => createResponse({ options: strictly(strict) })],
		['textError', 'Code Interpreter', tool('codeInterpreter')],
		['textError', 'Image Generation', tool('imageGeneration')],
		['imageError', 'Wait for Completion', (on) => generateImage({ waitForCompletion: on })],
		['imageError', 'Simplify', (simplify) => generateImage({ simplify })],
		['imageError', 'Download Images', (on) => generateImage({ options: { downloadImages: on } })],
		['imageError', 'Simplify', (simplify) => getTask('task_1', { simplify })],
		[
			'imageError',
			'Download Images',
			(on) => waitForTask('t', { options: { downloadImages: on } }),
		],
	];

	test.each(FIELDS)('that is no boolean is refused (%s): %s', async (run, field, make) => {
		const { message, description } = shown(await harness[run](make('={{ 1 }}')));
		expect(message).toBe(`${field} is the number 1, not true or false`);
		expect(description).toMatch(/^Turn it on or off, or write an expression/);
		expect(harness.gateway.count()).toBe(0);
	});

	test.each([
		['={{ [true] }}', 'a list'],
		['={{ ({ on: true }) }}', 'an object'],
		['={{ 0 }}', 'the number 0'],
		['no', '"no"'],
		['={{ "0" }}', '"0"'],
	])('that gets %s is refused, in the chat model as well', async (value, got) => {
		const { error } = await harness.textError(createResponse({ options: { store: value } }));
		expect(error.message).toBe(`Store is ${got}, not true or false`);
		for (const [field, given] of [
			['Store', { options: { store: value } }],
			['Code Interpreter', { builtInTools: { codeInterpreter: value } }],
		] as const) {
			await expect(chat.drive(chat.supply(given))).rejects.toThrow(`${field} is ${got}, not true`);
		}
	});

	test.each([' False ', '={{ "false" }}', '={{ false }}'])('is off by %j', async (off) => {
		const { items } = await harness.image(generateImage({ waitForCompletion: off }));
		expect(items[0]?.json.status).toBe('processing');
		const { id } = await submitted(harness);
		const bare = { simplify: off, options: { downloadImages: off } };
		const [done] = (await harness.image(waitForTask(id, bare))).items;
		expect(done?.binary).toBeUndefined();
		expect(done?.json).toHaveProperty('result');

		const given = { store: off, parallelToolCalls: off, ...strictly(off) };
		const builtInTools = { codeInterpreter: off };
		await harness.text(createResponse({ options: given, stream: off, builtInTools }));
		expect(sent()).toMatchObject({
			store: false,
			parallel_tool_calls: false,
			text: { format: { strict: false } },
		});
		for (const name of ['stream', 'tools']) expect(sent()).not.toHaveProperty(name);
	});

	test.each(['TRUE', '={{ "true" }}', '={{ true }}'])('is on by %j', async (on) => {
		const given = { stream: on, options: { store: on }, builtInTools: { codeInterpreter: on } };
		await harness.text(createResponse(given));
		const tools = [{ type: 'code_interpreter' }];
		expect(sent()).toMatchObject({ store: true, stream: true, tools });
	});

	test.each([' ', '={{ $json.nothing }}', '={{ null }}'])(
		'is as by default with %j',
		async (nothing) => {
			const given = { waitForCompletion: nothing, options: { downloadImages: nothing } };
			const { items } = await harness.image(generateImage(given));
			expect(items[0]?.binary).toHaveProperty('data');
			await harness.text(createResponse({ stream: nothing, options: { store: nothing } }));
			for (const name of ['stream', 'store']) expect(sent()).not.toHaveProperty(name);
		},
	);
});
