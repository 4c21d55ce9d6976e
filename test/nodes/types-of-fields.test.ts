import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { resources as imageResources } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { resources as textResources } from '../../nodes/ModelAccess/ModelAccess.node';
import { properties as chatProperties } from '../../nodes/LmChatModelAccess/fields';
import { optionLabel } from '../../nodes/shared/n8n/fields/option-names';
import { drawImage } from '../../gateway';
import { byId, createResponse, editImage, file, generateImage, getModels } from './arrange';
import { getTask, reply, shown, sourceFiles, submitted, useHarness, waitForTask } from './arrange';
import { useChat } from './chat-model.arrange';

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
		harness.answer(reply(400));
		await harness.textError(createResponse({ inputType: 'messages', messages, options }));
		expect(sent()).toMatchObject({
			...{ input: [{ role: 'user', content: '42' }], previous_response_id: '12', include: ['5'] },
			...{ tool_choice: { type: 'function', name: '3' }, text: { format: { name: '1' } } },
		});

		await harness.textError(createResponse({ inputType: 'json', inputJson: '={{ 42 }}' }));
		expect(sent()).toMatchObject({ input: '42' });
	});

	test('in the model, the file’s name, the output field and the search', async () => {
		const text = { text: true };
		harness.gateway.settings.models = { 7: { images: true }, 17: text, text };
		const options = { fileName: '={{ 2026 }}', binaryPropertyName: '={{ 5 }}' };
		const run = await harness.image(generateImage({ model: byId('={{ 7 }}'), options }));
		expect(run.items[0]?.binary).toMatchObject({ 5: { fileName: '2026.png' } });

		const found = await harness.text(getModels({ options: { search: '={{ 7 }}' } }));
		expect(found.items.map(({ json }) => json.id)).toEqual(['7', '17']);
	});
});

type Placed = { field: INodeProperties; path: string };

/** The fields of an operation, with those inside its collections, that hold a text or a choice. */
const textFields = (properties: INodeProperties[]): Placed[] =>
	properties.flatMap((field) => {
		const inner = field.type === 'collection' ? (field.options as INodeProperties[]) : [];
		const isText = ['string', 'options', 'resourceLocator'].includes(field.type);
		return [
			...(isText ? [{ field, path: field.name }] : []),
			...textFields(inner).map((of) => ({ ...of, path: `${field.name}.${of.path}` })),
		];
	});

/** Parameters in which a field holds this text, and those on which it depends as it needs them. */
function withValue({ field: { displayOptions, type }, path }: Placed, text: string): IDataObject {
	const show = Object.entries(displayOptions?.show ?? {});
	const depends = show.map(([name, values]) => [name.replace(/^\//, ''), values?.[0]]);
	const value: unknown = type === 'resourceLocator' ? byId(text) : text;
	const set = path.split('.').reduceRight((inner, name) => ({ [name]: inner }), value);
	return { ...Object.fromEntries(depends), ...(set as object) } as IDataObject;
}

const data = file(drawImage({ prompt: 'boat', index: 0, width: 24, height: 16 }));

const PROPERTIES: Record<string, INodeProperties[]> = Object.fromEntries(
	[...textResources, ...imageResources].flatMap(({ value, operations }) =>
		operations.map((operation) => [`${value}.${operation.value}`, operation.properties]),
	),
);

/** All fields of all operations. */
const FIELDS = Object.entries(PROPERTIES).flatMap(([of, properties]) =>
	textFields(properties).map((placed) => {
		return { name: `${of}: ${optionLabel(placed.field)}`, of, placed };
	}),
);

/** The error of an operation. */
async function failing(of: string, given: IDataObject, options = {}) {
	const run = /^(model|response)/.test(of) ? 'textError' : 'imageError';
	return shown(await harness[run](given, options));
}

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

	test.each(FIELDS)('$name', async ({ of, placed }) => {
		const label = optionLabel(placed.field);
		const values = [
			['a list', '[{ "a": 1 }]', /^Write one entry of the list, such as \{\{ .+ \}\}/],
			['an object', '{ a: { b: 1 } }', /^Write (one of its fields|the name of the field)/],
		] as const;
		for (const [got, value, wayOut] of values) {
			if (got === 'an object' && TAKES_OBJECTS.test(label)) continue;
			const parameters = OPERATIONS[of]!(withValue(placed, `={{ (${value}) }}`));
			const error = await failing(of, parameters, { items: [{ json: {}, binary: { data } }] });
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
		for (const placed of textFields(chatProperties)) {
			if (TAKES_LISTS.test(placed.field.displayName)) continue;
			const message = `${optionLabel(placed.field)} is a list, not a text`;
			const description = expect.stringMatching(/^Write one entry/) as string;
			const supplied = chat.supply(withValue(placed, LIST));
			await expect(supplied).rejects.toMatchObject({ message, description });
		}
	});
});

test.each(['={{ " " }}', '\u00a0'])(
	'A number field of blanks (%j) counts as not set, in each operation and the chat model',
	async (blank) => {
		/** A value for each number among the options. */
		function numbers(properties: INodeProperties[]): IDataObject {
			const options = properties
				.filter(({ name }) => name === 'options' || name === 'advanced')
				.flatMap((collection) => collection.options as INodeProperties[]);
			const names = options.filter(({ type }) => type === 'number').map(({ name }) => name);
			expect(names.length).toBeGreaterThan(0);
			return { options: Object.fromEntries(names.map((name) => [name, blank])) };
		}
		const numbersOf = (of: string) => numbers(PROPERTIES[of]!);

		await harness.text(createResponse(numbersOf('response.create')));
		expect(sent()).toEqual({ model: 'aurora-text-1', input: 'Hello there' });
		const { items: models } = await harness.text(getModels({ limit: blank }));
		expect(models.length).toBeGreaterThan(1);

		// They wait, download and ask for one image.
		const run = await harness.image(generateImage(numbersOf('image.generate')));
		expect(run.items[0]?.binary).toHaveProperty('data');
		expect(sent()).toEqual({ model: 'aurora-image-1', prompt: 'A boat' });
		const { id } = await submitted(harness);
		const { items } = await harness.image(waitForTask(id, numbersOf('task.wait')));
		expect(items[0]?.json.status).toBe('completed');

		const { model } = await chat.supply(numbers(chatProperties));
		await chat.drive(model.invoke('Hello'));
		expect(Object.keys(chat.bodies()[0] ?? {}).sort()).toEqual(['input', 'model']);
	},
);

describe('A boolean field', () => {
	const strictly = (strict: string) => ({
		outputFormat: { format: { type: 'json_schema', schema: '{"type":"object"}', strict } },
	});
	test.each<[string, (value: string) => IDataObject]>([
		['Return All', (returnAll) => getModels({ returnAll })],
		['Stream', (stream) => createResponse({ stream })],
		['Simplify', (simplify) => createResponse({ simplify })],
		['Store', (store) => createResponse({ options: { store } })],
		['Parallel Tool Calls', (on) => createResponse({ options: { parallelToolCalls: on } })],
		['Strict', (strict) => createResponse({ options: strictly(strict) })],
		['Code Interpreter', (on) => createResponse({ builtInTools: { codeInterpreter: on } })],
		['Image Generation', (on) => createResponse({ builtInTools: { imageGeneration: on } })],
		['Wait for Completion', (on) => generateImage({ waitForCompletion: on })],
		['Simplify', (simplify) => generateImage({ simplify })],
		['Download Images', (on) => generateImage({ options: { downloadImages: on } })],
		['Simplify', (simplify) => getTask('task_1', { simplify })],
		['Download Images', (on) => waitForTask('t', { options: { downloadImages: on } })],
	])('that is no boolean is refused: %s', async (field, make) => {
		const given = make('={{ 1 }}');
		const { message, description } = await failing(given.resource as string, given);
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
		const store = chat.drive(chat.supply({ options: { store: value } }));
		await expect(store).rejects.toThrow(`Store is ${got}, not true`);
		const tool = chat.drive(chat.supply({ builtInTools: { codeInterpreter: value } }));
		await expect(tool).rejects.toThrow(`Code Interpreter is ${got}, not true`);
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
		const text = { format: { strict: false } };
		expect(sent()).toMatchObject({ store: false, parallel_tool_calls: false, text });
		for (const name of ['stream', 'tools']) expect(sent()).not.toHaveProperty(name);
	});

	test.each(['TRUE', '={{ "true" }}', '={{ true }}'])('is on by %j', async (on) => {
		const given = { stream: on, options: { store: on }, builtInTools: { codeInterpreter: on } };
		await harness.text(createResponse(given));
		const tools = [{ type: 'code_interpreter' }];
		expect(sent()).toMatchObject({ store: true, stream: true, tools });
	});

	const UNSET = [' ', '={{ $json.nothing }}', '={{ null }}'];
	test.each(UNSET)('is as by default with %j', async (nothing) => {
		const given = { waitForCompletion: nothing, options: { downloadImages: nothing } };
		const { items } = await harness.image(generateImage(given));
		expect(items[0]?.binary).toHaveProperty('data');
		await harness.text(createResponse({ stream: nothing, options: { store: nothing } }));
		for (const name of ['stream', 'store']) expect(sent()).not.toHaveProperty(name);
	});
});
