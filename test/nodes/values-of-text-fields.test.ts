import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { resources as imageResources } from '../../nodes/ModelAccessImage/ModelAccessImage.node';
import { resources as textResources } from '../../nodes/ModelAccess/ModelAccess.node';
import { properties as chatProperties } from '../../nodes/LmChatModelAccess/fields';
import { optionLabel } from '../../nodes/shared/n8n/fields/option-names';
import { drawImage } from '../../gateway';
import { storeBinaryInMemory } from '../../scripts/engine/index';
import {
	createResponse,
	editImage,
	generateImage,
	getModels,
	getTask,
	type Harness,
	shown,
	sourceFiles,
	startHarness,
	waitForTask,
} from './arrange';
import { startChat } from './chat-model.arrange';

let harness: Harness;
beforeEach(async () => {
	await storeBinaryInMemory();
	harness = await startHarness();
});
afterEach(async () => await harness.close());

/** The body of the only request that costs. */
const sent = () => {
	const posts = harness.gateway.requests.filter(({ method }) => method === 'POST');
	expect(posts).toHaveLength(1);
	return posts[0]?.body;
};

/** What an expression in `name` yields becomes the value of that parameter. */
const yielding = (value: string) => `={{ ${value} }}`;

describe('A number, a boolean or a time from an expression is its text', () => {
	const TIME = "DateTime.fromISO('2026-01-01T00:00:00Z', { zone: 'utc' })";

	test.each([
		['7', '7'],
		['0', '0'],
		['1.5', '1.5'],
		['false', 'false'],
		['true', 'true'],
		[TIME, '2026-01-01T00:00:00.000Z'],
		[`${TIME}.toJSDate()`, '2026-01-01T00:00:00.000Z'],
	])('%s, in Prompt and Instructions', async (value, text) => {
		const expression = yielding(value);
		await harness.text(createResponse({ prompt: expression, instructions: expression }));
		expect(sent()).toMatchObject({ input: text, instructions: text });

		harness.gateway.requests.length = 0;
		await harness.image(generateImage({ prompt: expression, waitForCompletion: false }));
		expect(sent()).toMatchObject({ prompt: text });
	});

	test('in a message, an input as JSON, and the options of a response', async () => {
		const messages = {
			message: [{ role: 'user', type: 'text', text: '={{ 42 }}' }],
		};
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

		harness.gateway.requests.length = 0;
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

const PICTURE = {
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
			const expression =
				field.type === 'resourceLocator'
					? { __rl: true, mode: 'id', value: `={{ (${value}) }}` }
					: `={{ (${value}) }}`;
			const parameters = OPERATIONS[of]!(withValue(path, field, expression));
			const run = node === 'text' ? harness.textError : harness.imageError;
			const error = shown(
				await run(parameters, { items: [{ json: {}, binary: { data: PICTURE } }] }),
			);
			const named = TAKES_LISTS.test(label) && got === 'a list' ? 'an object' : got;
			expect(error.message).toMatch(new RegExp(`^${label}.* is ${named}, n`));
			if (named === got) expect(error.description).toMatch(wayOut);
			expect(error.context.details).toMatchObject({ retryable: false });
		}
		expect(harness.gateway.count()).toBe(0);
	});

	test.each<[string, IDataObject]>([
		['Role', { role: '={{ [1] }}', text: 'Hi' }],
		['Type', { type: '={{ [1] }}', text: 'Hi' }],
		['Prompt', { text: '={{ [1] }}' }],
		['Prompt', { type: 'image', text: '={{ [1] }}' }],
		['Image Source', { type: 'image', imageSource: '={{ [1] }}' }],
		['Image URL', { type: 'image', imageSource: 'url', imageUrl: '={{ [1] }}' }],
		[
			'Detail',
			{ type: 'image', imageSource: 'url', imageUrl: 'https://a.b', detail: '={{ [1] }}' },
		],
	])('in a message: %s', async (label, row) => {
		const messages = { message: [{ role: 'user', type: 'text', ...row }] };
		const error = shown(
			await harness.textError(createResponse({ inputType: 'messages', messages })),
		);
		expect(error.message).toBe(`Message 1: ${label} is a list, not a text`);
		expect(error.description).toMatch(/^Write one entry of the list/);
		expect(harness.gateway.count()).toBe(0);
	});

	test('in Output Format', async () => {
		for (const [format, label] of [
			[{ type: '={{ [1] }}' }, 'Output Format: Type'],
			[{ name: '={{ [1] }}' }, 'Schema Name'],
		] as const) {
			const { error } = await harness.textError(
				createResponse({ options: { outputFormat: { format } } }),
			);
			expect(error.message).toBe(`${label} is a list, not a text`);
		}
		expect(harness.gateway.count()).toBe(0);
	});

	test('in the chat model', async () => {
		const chat = await startChat();
		const fields = textFields(chatProperties).filter(
			({ field }) => !TAKES_LISTS.test(field.displayName),
		);
		for (const { field, path } of fields) {
			const value =
				field.type === 'resourceLocator'
					? { __rl: true, mode: 'id', value: '={{ [1] }}' }
					: '={{ [1] }}';
			await expect(chat.supply(withValue(path, field, value))).rejects.toMatchObject({
				message: `${optionLabel(field)} is a list, not a text`,
				description: expect.stringMatching(/^Write one entry/) as string,
			});
		}
		await chat.close();
	});
});
