import { BinaryDataService } from 'n8n-core';
import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import { drawPicture } from '../../gateway';
import { readBinary, storeBinaryInMemory, storeBinaryOnDisk } from '../../scripts/engine/index';
import {
	byId,
	createResponse,
	generateImage,
	itemsOf,
	startHarness,
	type Harness,
	type RunOptions,
} from './arrange';

let harness: Harness;
beforeEach(async () => {
	await storeBinaryInMemory();
	harness = await startHarness();
});
afterEach(async () => await harness.close());

/** Runs the node, item after item, and returns the bodies that it sent. */
async function sent({ options, ...given }: IDataObject, run?: RunOptions) {
	const inOrder = { concurrency: 1, ...(options as IDataObject) };
	await harness.text(createResponse({ ...given, options: inOrder }), run);
	return harness.gateway.requests.map(({ body }) => body as IDataObject);
}

/** Runs the node over items that it refuses, and returns their errors. */
async function refused(given: IDataObject, options: RunOptions) {
	const onError = 'continueRegularOutput';
	const { items } = await harness.text(createResponse(given), { onError, ...options });
	expect(harness.gateway.count()).toBe(0);
	return items.map(({ json }) => json.error);
}

const BARE = { model: 'aurora-text-1', input: 'Hello there' };

describe('What Response → Create sends', () => {
	test('is model and input alone where nothing else is set', async () => {
		await harness.text(createResponse());
		const [{ method, path, headers, body } = {}, ...others] = harness.gateway.requests;
		expect({ method, path, body, others }).toEqual({
			method: 'POST',
			path: '/v1/responses',
			body: BARE,
			others: [],
		});
		expect(headers).toMatchObject({ accept: 'application/json' });
		expect(headers?.['content-type']).toMatch(/^application\/json/);
	});

	test('is the prompt to the letter, for the model that was picked from the list', async () => {
		const prompt = '  Grüße,\n\t"quoted" \\ 😀 {{ not an expression }} ';
		const model = { __rl: true, mode: 'list', value: 'aurora-omni-1', cachedResultName: 'Omni' };
		expect(await sent({ model, prompt })).toEqual([{ model: 'aurora-omni-1', input: prompt }]);
	});

	test('follows expressions for each item', async () => {
		const given = {
			model: byId('={{ $json.model }}'),
			prompt: '=Say {{ $json.word }}',
			options: { instructions: '={{ $json.how }}' },
		};
		const items = itemsOf(
			{ model: 'aurora-text-1', word: 'yes', how: 'loud' },
			{ model: 'Aurora-Text-2.5-Preview', word: 'no', how: '' },
		);
		expect(await sent(given, { items })).toEqual([
			{ model: 'aurora-text-1', input: 'Say yes', instructions: 'loud' },
			{ model: 'Aurora-Text-2.5-Preview', input: 'Say no' },
		]);
	});

	test('may come from the extra body alone', async () => {
		const extraBody =
			'{ "model": "aurora-omni-1", "input": [{ "role": "user", "content": "Hi" }] }';
		expect(await sent({ model: byId(''), prompt: '', options: { extraBody } })).toEqual([
			{ model: 'aurora-omni-1', input: [{ role: 'user', content: 'Hi' }] },
		]);
	});
});

describe('An option of Response → Create', () => {
	const SEARCH = [{ type: 'web_search' }];
	const TOOL = { type: 'function', name: 'f', parameters: { type: 'object' } };
	const SCHEMA = { type: 'object', properties: { answer: { type: 'string' } } };
	const format = (given: IDataObject) => ({ outputFormat: { format: given } });
	const sentSchema = (name: string, strict: boolean) => ({
		text: { format: { type: 'json_schema', name, schema: SCHEMA, strict } },
	});

	test('reaches the gateway beside all others', async () => {
		const stored = await harness.text(createResponse({ options: { store: true } }));
		const previous = stored.items[0]!.json.id as string;
		const options = {
			instructions: 'Be brief',
			maxOutputTokens: 50,
			temperature: 0.5,
			topP: 0.9,
			reasoningEffort: 'low',
			reasoningSummary: 'concise',
			store: false,
			previousResponseId: previous,
			...format({ type: 'text' }),
			tools: JSON.stringify(SEARCH),
			toolChoice: 'auto',
			parallelToolCalls: true,
			metadata: '{ "a": "b" }',
			include: 'reasoning.encrypted_content, message.output_text.logprobs',
			truncation: 'disabled',
			serviceTier: 'priority',
			extraBody: '{ "user": "42" }',
			binaryPropertyName: 'data',
			concurrency: 1,
			timeout: 100,
			idleTimeout: 20,
			maxRetries: 1,
		};
		expect(await sent({ options })).toEqual([
			{ ...BARE, store: true },
			{
				...BARE,
				instructions: 'Be brief',
				max_output_tokens: 50,
				temperature: 0.5,
				top_p: 0.9,
				reasoning: { effort: 'low', summary: 'concise' },
				store: false,
				previous_response_id: previous,
				text: { format: { type: 'text' } },
				tools: SEARCH,
				tool_choice: 'auto',
				parallel_tool_calls: true,
				metadata: { a: 'b' },
				include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
				truncation: 'disabled',
				service_tier: 'priority',
				user: '42',
			},
		]);
	});

	test.each<[string, IDataObject, object]>([
		[
			'a 0 and a number as text',
			{ temperature: 0, topP: '={{ "0.5" }}' },
			{ temperature: 0, top_p: 0.5 },
		],
		['what is switched off', { parallelToolCalls: false }, { parallel_tool_calls: false }],
		['a part of Reasoning', { reasoningEffort: 'low' }, { reasoning: { effort: 'low' } }],
		['a list of an expression', { include: '={{ ["a.b"] }}' }, { include: ['a.b'] }],
		['nothing', { metadata: '{}', tools: ' [] ', include: ' , ', toolChoice: ' ' }, {}],
		[
			'any JSON as output',
			format({ type: 'json_object' }),
			{ text: { format: { type: 'json_object' } } },
		],
		[
			'a schema',
			format({ type: 'json_schema', name: 'reply', schema: JSON.stringify(SCHEMA), strict: false }),
			sentSchema('reply', false),
		],
		[
			'an extra body over it',
			{ topP: 0.5, ...format({ type: 'text' }), extraBody: '{ "top_p": 0.1, "text": { "a": 1 } }' },
			{ top_p: 0.1, text: { format: { type: 'text' }, a: 1 } },
		],
	])('sends %s, and nothing else', async (_name, options, expected) => {
		expect(await sent({ options })).toEqual([{ ...BARE, ...expected }]);
	});

	test('is left out where it is empty, or where an expression leaves it open', async () => {
		const names = [
			...['instructions', 'include', 'metadata', 'tools', 'toolChoice', 'extraBody', 'store'],
			...['truncation', 'topP', 'reasoningEffort', 'previousResponseId', 'parallelToolCalls'],
		];
		const options = Object.fromEntries(names.map((name) => [name, '={{ $json.value }}']));
		const items = itemsOf({ value: '' }, { value: null }, {});
		expect(await sent({ options }, { items })).toEqual([BARE, BARE, BARE]);
	});

	test('for JSON takes text and an object alike', async () => {
		const values = { metadata: { k: 'v' }, tools: [TOOL], schema: SCHEMA, extra: { user: 'u' } };
		const texts = Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]);
		const options = {
			metadata: '={{ $json.metadata }}',
			tools: '={{ $json.tools }}',
			...format({ schema: '={{ $json.schema }}' }),
			extraBody: '={{ $json.extra }}',
		};
		const { metadata, tools } = values;
		const expected = { ...BARE, metadata, tools, ...sentSchema('answer', true), user: 'u' };
		const items = itemsOf(values, Object.fromEntries(texts) as IDataObject);
		expect(await sent({ options }, { items })).toEqual([expected, expected]);
	});

	test('names a tool by a word, by its function or as JSON', async () => {
		const tools = JSON.stringify([...SEARCH, TOOL]);
		const options = { tools, toolChoice: '={{ $json.choice }}' };
		const [tool] = SEARCH;
		const choices = ['none', ' required ', 'f', JSON.stringify(tool), tool];
		const items = itemsOf(...choices.map((choice) => ({ choice })));
		const chosen = (await sent({ options }, { items })).map((body) => body.tool_choice);
		expect(chosen).toEqual(['none', 'required', { type: 'function', name: 'f' }, tool, tool]);
	});

	test('is refused by its name before anything is sent', async () => {
		const options = {
			topP: '={{ $json.topP }}',
			maxOutputTokens: '={{ $json.tokens }}',
			toolChoice: '={{ $json.choice }}',
			...format({ schema: '={{ $json.schema ?? { a: 1 } }}', name: '={{ $json.name ?? "a" }}' }),
		};
		const items = itemsOf(
			{ topP: -1 },
			{ tokens: 0 },
			{ tokens: 1.5 },
			{ choice: '{\n "type" }' },
			{ schema: '{ "type" }' },
			{ name: 'a'.repeat(65) },
		);
		expect(await refused({ options }, { items })).toEqual([
			'Top P is below 0',
			'Max Output Tokens is below 1',
			'Max Output Tokens is not a whole number',
			expect.stringMatching(/^Tool Choice is not valid JSON: .*position 10/),
			expect.stringMatching(/^Schema is not valid JSON: .*position 9/),
			'Schema Name is not a name',
		]);
	});
});

test('Input (JSON) may be a list as text or from an expression, or a text', async () => {
	const list = [
		{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
		{ type: 'function_call', call_id: 'c1', name: 'get_weather', arguments: '{}' },
		{ type: 'function_call_output', call_id: 'c1', output: 'Rain' },
	];
	const items = itemsOf({ input: JSON.stringify(list) }, { input: list }, { input: 'Just words' });
	const given = { inputType: 'json', inputJson: '={{ $json.input }}' };
	const bodies = await sent(given, { items });
	expect(bodies.map(({ input }) => input)).toEqual([list, list, 'Just words']);

	harness.gateway.requests.length = 0;
	expect(await refused(given, { items: itemsOf({ input: '[{ "role": ]' }) })).toEqual([
		expect.stringMatching(/^Input \(JSON\) is not valid JSON: /),
	]);
});

describe('Messages', () => {
	const BOAT = drawPicture({ prompt: 'boat', index: 0, width: 24, height: 16 });
	const SHIP = drawPicture({ prompt: 'ship', index: 0, width: 24, height: 16 });
	const PDF = Buffer.from('%PDF-1.4 a report');

	const file = (bytes: Buffer, fileName: string, mimeType: string): IBinaryData => ({
		data: bytes.toString('base64'),
		fileName,
		mimeType,
	});
	const BINARY = {
		data: file(BOAT, 'boat.png', 'image/png'),
		ship: file(SHIP, 'ship.png', 'image/png'),
		report: file(PDF, 'report.pdf', 'application/octet-stream'),
	};
	const ITEMS: INodeExecutionData[] = [{ json: { field: 'ship' }, binary: BINARY }];

	const rows = (...message: IDataObject[]) => ({ inputType: 'messages', messages: { message } });
	const image = (binaryPropertyNames: string): IDataObject => ({
		role: 'user',
		type: 'image',
		binaryPropertyNames,
	});
	const dataUrl = (bytes: Buffer, type = 'image/png') =>
		`data:${type};base64,${bytes.toString('base64')}`;
	/** A part that shows an image. */
	const seen = (url: Buffer | string, detail?: string) => ({
		type: 'input_image',
		image_url: typeof url === 'string' ? url : dataUrl(url),
		...(detail && { detail }),
	});

	test('of text are sent in their order, each with its role', async () => {
		const conversation = [
			{ role: 'system', content: 'Be brief' },
			{ role: 'developer', content: 'Use metric units' },
			{ role: 'user', content: 'How tall is it?' },
			{ role: 'assistant', content: '300 m' },
		];
		const given = rows(
			...conversation.map(({ role, content }) => ({ role, type: 'text', text: content })),
			{ text: '=And {{ $json.field }}?' },
		);
		expect(await sent(given, { items: ITEMS })).toMatchObject([
			{ input: [...conversation, { role: 'user', content: 'And ship?' }] },
		]);
	});

	test('hold images and files of the item, and images at an address, with a text before', async () => {
		const imageUrl = 'https://pictures.example.com/boat.png';
		const given = rows(
			{ role: 'user', type: 'image', text: 'What is this?', detail: 'low' },
			{ ...image('ship, data'), text: ' ', detail: 'high' },
			{ role: 'user', type: 'image', imageSource: 'url', imageUrl: ` ${imageUrl} ` },
			{ role: 'user', type: 'image', imageSource: 'url', imageUrl: dataUrl(BOAT) },
			{ role: 'user', type: 'file', text: 'Sum up', fileBinaryPropertyNames: 'report' },
			{ role: 'user', type: 'file' },
		);
		const [body] = await sent(given, { items: ITEMS });
		const document = {
			type: 'input_file',
			filename: 'report.pdf',
			file_data: dataUrl(PDF, 'application/pdf'),
		};
		expect((body?.input as IDataObject[]).map(({ content }) => content)).toEqual([
			[{ type: 'input_text', text: 'What is this?' }, seen(BOAT, 'low')],
			[seen(SHIP, 'high'), seen(BOAT, 'high')],
			[seen(imageUrl, 'auto')],
			[seen(dataUrl(BOAT), 'auto')],
			[{ type: 'input_text', text: 'Sum up' }, document],
			[{ type: 'input_file', filename: 'boat.png', file_data: dataUrl(BOAT) }],
		]);
	});

	/** The images of each message that was sent. */
	const imagesOf = (body: IDataObject | undefined) =>
		(body?.input as Array<{ content: IDataObject[] }>).map(({ content }) =>
			content.map(({ image_url }) => image_url),
		);

	test('find files by names and by expressions, in the item and in earlier nodes', async () => {
		const given = rows(
			image('={{ $json.field }}'),
			image('={{ ["data", "ship"] }}'),
			image('={{ $input.item.binary.ship }}'),
			image('={{ Object.values($input.item.binary).slice(0, 2) }}'),
			image('={{ $("Input").item.binary.data }}'),
		);
		const [body] = await sent(given, { items: ITEMS });
		const [boat, ship] = [dataUrl(BOAT), dataUrl(SHIP)];
		expect(imagesOf(body)).toEqual([[ship], [boat, ship], [ship], [boat, ship], [boat]]);
	});

	test('find files in the JSON of their own item, where n8n keeps them there', async () => {
		const given = rows(image('photos.one'), image('={{ $json.photos.one }}'));
		const items = [BINARY.data, BINARY.ship].map((one) => ({
			json: { photos: { one: { ...one } } },
		}));
		const bodies = await sent(given, { binaryMode: 'combined', items });
		const [boat, ship] = [dataUrl(BOAT), dataUrl(SHIP)];
		expect(bodies.map(imagesOf)).toEqual([
			[[boat], [boat]],
			[[ship], [ship]],
		]);
	});

	test.each<['separate' | 'combined', string[]]>([
		['separate', ['data', '={{ $binary.data }}', '={{ $("Input").item.binary.data }}']],
		['combined', ['data']],
	])('read a file on disk in pieces, each time once (%s)', async (binaryMode, references) => {
		const storage = await storeBinaryOnDisk();
		try {
			const { items } = await harness.image(generateImage());
			const data = items[0]!.binary!.data!;
			expect(data.id).toMatch(/^filesystem/);
			const url = dataUrl(await readBinary(data));
			const streams = jest.spyOn(BinaryDataService.prototype, 'getAsStream');
			const buffers = jest.spyOn(BinaryDataService.prototype, 'getAsBuffer');
			harness.gateway.requests.length = 0;
			const item =
				binaryMode === 'combined'
					? { json: { data: { ...data } } }
					: { json: {}, binary: { data } };
			const [body] = await sent(rows(...references.map(image)), { binaryMode, items: [item] });

			expect(imagesOf(body)).toEqual(references.map(() => [url]));
			expect(streams).toHaveBeenCalledTimes(references.length);
			expect(buffers).not.toHaveBeenCalled();
		} finally {
			jest.restoreAllMocks();
			await storage.remove();
		}
	});

	test.each(['separate', 'combined'] as const)(
		'name the row whose file is not there (%s)',
		async (binaryMode) => {
			const missing = { role: 'user', type: 'file', fileBinaryPropertyNames: 'none' };
			const given = rows({ text: 'Hello' }, missing);
			expect(await refused(given, { items: ITEMS, binaryMode })).toEqual([
				'Message 2: Input Binary Field "none" is not a binary field of the item',
			]);
		},
	);
});
