import { BinaryDataService } from 'n8n-core';
import type { IBinaryData, IDataObject } from 'n8n-workflow';
import { drawPicture, pictureBelongsTo, sizeOf } from '../../gateway';
import { readBinary, storeBinaryInMemory, storeBinaryOnDisk } from '../../scripts/engine/index';
import { createResponse, generateImage, itemsOf, shown, startStory, type Story } from './arrange';

let story: Story;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = await startStory();
});
afterEach(async () => await story.close());

const BOAT = drawPicture({ prompt: 'boat', index: 0, width: 24, height: 16 });
const BOAT_URL = `data:image/png;base64,${BOAT.toString('base64')}`;
const PDF = Buffer.from('%PDF-1.4 a report');

const file = (bytes: Buffer, fileName: string, mimeType: string): IBinaryData => ({
	data: bytes.toString('base64'),
	fileName,
	mimeType,
});
const BINARY = {
	data: file(BOAT, 'boat.png', 'image/png'),
	report: file(PDF, 'report.pdf', 'application/pdf'),
	words: file(Buffer.from('words'), 'words.txt', 'text/plain'),
	hollow: file(Buffer.of(), 'hollow.txt', 'text/plain'),
};

/** Parameters with these rows of messages. */
const messages = (...message: IDataObject[]) =>
	createResponse({ inputType: 'messages', messages: { message } });

const json = (inputJson: unknown) =>
	createResponse({ inputType: 'json', inputJson: inputJson as IDataObject });

/** The `input` that reached the gateway. */
const input = () => (story.gateway.requests.at(-1)?.body as { input: unknown }).input;

describe('Messages', () => {
	test('are sent in their order, each with its role', async () => {
		await story.text(
			messages(
				{ role: 'system', type: 'text', text: 'Be brief' },
				{ role: 'developer', type: 'text', text: 'Use metric units' },
				{ role: 'user', type: 'text', text: 'How tall is it?' },
				{ role: 'assistant', type: 'text', text: '300 m' },
				{ role: 'user', type: 'text', text: '=And {{ $json.what }}?' },
			),
			{ items: itemsOf({ what: 'wide' }) },
		);
		expect(input()).toEqual([
			{ role: 'system', content: 'Be brief' },
			{ role: 'developer', content: 'Use metric units' },
			{ role: 'user', content: 'How tall is it?' },
			{ role: 'assistant', content: '300 m' },
			{ role: 'user', content: 'And wide?' },
		]);
	});

	test('may leave out what the editor fills in', async () => {
		await story.text(messages({ text: 'Hello' }));
		expect(input()).toEqual([{ role: 'user', content: 'Hello' }]);
	});

	test('hold a picture of the item, with a text beside it', async () => {
		await story.text(
			messages({ role: 'user', type: 'image', text: 'What is this?', detail: 'low' }),
			{
				items: [{ json: {}, binary: BINARY }],
			},
		);
		expect(input()).toEqual([
			{
				role: 'user',
				content: [
					{ type: 'input_text', text: 'What is this?' },
					{ type: 'input_image', image_url: BOAT_URL, detail: 'low' },
				],
			},
		]);
	});

	test('hold pictures of several fields, without a text', async () => {
		await story.text(
			messages({ role: 'user', type: 'image', text: '', binaryPropertyNames: 'data, data' }),
			{ items: [{ json: {}, binary: BINARY }] },
		);
		const [{ content } = { content: [] }] = input() as Array<{ content: object[] }>;
		expect(content).toHaveLength(2);
		expect(content.every((part) => 'image_url' in part && part.image_url === BOAT_URL)).toBe(true);
	});

	test('hold a picture at an address', async () => {
		const imageUrl = 'https://pictures.example.com/boat.png';
		await story.text(messages({ role: 'user', type: 'image', imageSource: 'url', imageUrl }));
		expect(input()).toEqual([
			{
				role: 'user',
				content: [expect.objectContaining({ type: 'input_image', image_url: imageUrl }) as object],
			},
		]);
	});

	test('hold a file with its name', async () => {
		await story.text(
			messages({ role: 'user', type: 'file', text: 'Sum up', fileBinaryPropertyNames: 'report' }),
			{ items: [{ json: {}, binary: BINARY }] },
		);
		expect(input()).toEqual([
			{
				role: 'user',
				content: [
					{ type: 'input_text', text: 'Sum up' },
					{
						type: 'input_file',
						filename: 'report.pdf',
						file_data: `data:application/pdf;base64,${PDF.toString('base64')}`,
					},
				],
			},
		]);
	});

	test('hold a picture from n8n’s storage on disk', async () => {
		const storage = await storeBinaryOnDisk();
		try {
			const { items } = await story.image(generateImage());
			await story.text(messages({ role: 'user', type: 'image' }), {
				items: [{ json: {}, binary: { data: items[0]!.binary!.data! } }],
			});
			const bytes = await readBinary(items[0]?.binary?.data);
			expect(JSON.stringify(input())).toContain(bytes.toString('base64'));
		} finally {
			await storage.remove();
		}
	});

	test.each<[string, IDataObject[], RegExp]>([
		['no message', [], /^Messages has no message$/],
		[
			'an empty message',
			[
				{ role: 'user', type: 'text', text: 'Hi' },
				{ role: 'user', type: 'text', text: ' ' },
			],
			/^Message 2 is empty$/,
		],
		[
			'a picture that the model says',
			[{ role: 'assistant', type: 'image' }],
			/^Message 1 has the role assistant and an image$/,
		],
		[
			'a file of the system',
			[{ role: 'system', type: 'file' }],
			/^Message 1 has the role system and a file$/,
		],
		[
			'a picture that is a PDF',
			[{ role: 'user', type: 'image', binaryPropertyNames: 'report' }],
			/^Message 1: Input Binary Field "report" is not an image but application\/pdf$/,
		],
		[
			'no field',
			[{ role: 'user', type: 'image', binaryPropertyNames: '' }],
			/^Message 1: Input Binary Field names no binary field$/,
		],
		[
			'a field that is not there',
			[
				{ role: 'user', type: 'text', text: 'Hi' },
				{ role: 'user', type: 'file', fileBinaryPropertyNames: 'nope' },
			],
			/^Message 2: Input Binary Field "nope" is not a binary field of the item$/,
		],
		[
			'one field of two that is not there',
			[{ role: 'user', type: 'image', binaryPropertyNames: 'data, nope' }],
			/^Message 1: Input Binary Field "nope" is not a binary field of the item$/,
		],
		[
			'an object that is no binary data',
			[{ role: 'user', type: 'image', binaryPropertyNames: '={{ { a: 1 } }}' }],
			/^Message 1: Input Binary Field is neither a name nor binary data$/,
		],
		[
			'a number as field',
			[{ role: 'user', type: 'image', binaryPropertyNames: '={{ 7 }}' }],
			/^Message 1: Input Binary Field names no binary field$/,
		],
		[
			'a file without bytes',
			[{ role: 'user', type: 'file', fileBinaryPropertyNames: 'hollow' }],
			/^Message 1: Input Binary Field "hollow" is empty$/,
		],
		[
			'a picture that is words',
			[{ role: 'user', type: 'image', binaryPropertyNames: 'words' }],
			/^Message 1: Input Binary Field "words" is not an image but text\/plain$/,
		],
		[
			'nothing where an image is',
			[{ role: 'user', type: 'image', binaryPropertyNames: ' , ' }],
			/^Message 1: Input Binary Field names no binary field$/,
		],
		[
			'the address of a file',
			[{ role: 'user', type: 'image', imageSource: 'url', imageUrl: 'file:///etc/boat.png' }],
			/^Message 1: Image URL is no address of an image$/,
		],
		[
			'no address',
			[{ role: 'user', type: 'image', imageSource: 'url', imageUrl: '' }],
			/^Message 1: Image URL is empty$/,
		],
		[
			'a word as address',
			[{ role: 'user', type: 'image', imageSource: 'url', imageUrl: 'boat' }],
			/^Message 1: Image URL is no address of an image$/,
		],
	])(
		'with %s are refused before anything is sent, naming the row',
		async (_name, rows, message) => {
			const run = await story.textError(messages(...rows), {
				items: [{ json: {}, binary: BINARY }],
			});
			expect(run.error.message).toMatch(message);
			expect(shown(run).context.itemIndex).toBe(0);
			expect(story.gateway.count()).toBe(0);
		},
	);
});

describe('A file of a message', () => {
	/** The content of the one message that reached the gateway. */
	const content = () => (input() as Array<{ content: IDataObject[] }>)[0]?.content;
	const shownAs = (...urls: string[]) =>
		urls.map((image_url) => ({ type: 'input_image', image_url, detail: 'auto' }));
	const image = (binaryPropertyNames: string): IDataObject => ({
		role: 'user',
		type: 'image',
		binaryPropertyNames,
	});
	const SECOND = drawPicture({ prompt: 'other', index: 0, width: 24, height: 16 });
	const SECOND_URL = `data:image/png;base64,${SECOND.toString('base64')}`;
	const TWO = { data: BINARY.data, second: file(SECOND, 'second.png', 'image/png') };

	test.each<[string, string, string[]]>([
		['a name', 'second', [SECOND_URL]],
		['names with commas', 'second, data', [SECOND_URL, BOAT_URL]],
		['a name of the item', '={{ $json.field }}', [SECOND_URL]],
		['names of an expression', '={{ ["data", "second"] }}', [BOAT_URL, SECOND_URL]],
		['the file itself', '={{ $input.item.binary.second }}', [SECOND_URL]],
		['files themselves', '={{ Object.values($input.item.binary) }}', [BOAT_URL, SECOND_URL]],
		['a file of an earlier node', '={{ $("Input").item.binary.data }}', [BOAT_URL]],
	])('is found by %s', async (_name, names, urls) => {
		await story.text(messages(image(names)), {
			items: [{ json: { field: 'second' }, binary: TWO }],
		});
		expect(content()).toEqual(shownAs(...urls));
	});

	test.each<[string, string]>([
		['a path', 'photos.boat'],
		['the file itself', '={{ $json.photos.boat }}'],
	])('is found in the item’s JSON, where n8n keeps it there, by %s', async (_name, names) => {
		await story.text(messages(image(names)), {
			binaryMode: 'combined',
			items: [{ json: { photos: { boat: { ...BINARY.data } } } }],
		});
		expect(content()).toEqual(shownAs(BOAT_URL));
	});

	test('that is not in the item’s JSON is refused, naming the row', async () => {
		const { error } = await story.textError(messages(image('photos.none')), {
			binaryMode: 'combined',
			items: [{ json: { photos: {} } }],
		});
		expect(error.message).toBe(
			'Message 1: Input Binary Field "photos.none" is not a binary field of the item',
		);
	});

	describe('on disk', () => {
		let storage: Awaited<ReturnType<typeof storeBinaryOnDisk>>;
		beforeEach(async () => {
			storage = await storeBinaryOnDisk();
		});
		afterEach(async () => {
			jest.restoreAllMocks();
			await storage.remove();
		});

		/** The picture as an earlier node has stored it. */
		async function stored() {
			const { items } = await story.image(generateImage());
			const binary = items[0]!.binary!.data!;
			expect(binary.id).toMatch(/^filesystem/);
			const bytes = await readBinary(binary);
			return { binary, url: `data:image/png;base64,${bytes.toString('base64')}` };
		}

		test.each<['separate' | 'combined']>([['separate'], ['combined']])(
			'is read once, in pieces (%s)',
			async (binaryMode) => {
				const { binary, url } = await stored();
				const streams = jest.spyOn(BinaryDataService.prototype, 'getAsStream');
				const buffers = jest.spyOn(BinaryDataService.prototype, 'getAsBuffer');
				const item =
					binaryMode === 'combined'
						? { json: { data: { ...binary } } }
						: { json: {}, binary: { data: binary } };
				await story.text(messages(image('data')), { binaryMode, items: [item] });

				expect(content()).toEqual(shownAs(url));
				expect(streams).toHaveBeenCalledTimes(1);
				expect(buffers).not.toHaveBeenCalled();
			},
		);

		test.each(['={{ $("Input").item.binary.data }}', '={{ $binary.data }}'])(
			'is found by %s',
			async (expression) => {
				const { binary, url } = await stored();
				await story.text(messages(image(expression)), {
					items: [{ json: {}, binary: { data: binary } }],
				});
				expect(content()).toEqual(shownAs(url));
			},
		);
	});

	const signature = (...bytes: number[]) => Buffer.concat([Buffer.from(bytes), Buffer.alloc(40)]);
	const JPEG = signature(0xff, 0xd8, 0xff, 0xe0);
	const GIF = Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(40)]);

	test.each<[string, Buffer, string, string]>([
		['a PNG that says nothing', BOAT, '', 'image/png'],
		['a PNG of unknown kind', BOAT, 'application/octet-stream', 'image/png'],
		['a PNG that calls itself JPEG', BOAT, 'image/jpeg', 'image/png'],
		['a JPEG', JPEG, '', 'image/jpeg'],
		['a GIF', GIF, 'text/plain', 'image/gif'],
		['a PDF that says nothing', PDF, '', 'application/pdf'],
		['a PDF of unknown kind', PDF, 'application/octet-stream', 'application/pdf'],
		['a text', Buffer.from('a,b'), 'text/csv', 'text/csv'],
		['bytes that say nothing', Buffer.from('a,b'), '', 'application/octet-stream'],
	])('of %s is sent with the type of its bytes', async (_name, bytes, said, mimeType) => {
		// Only what is sent counts here: the gateway does not look at pictures of all kinds.
		story.gateway.settings.intercept = () => ({
			kind: 'reply',
			status: 200,
			body: { id: 'r1', status: 'completed', output: [] },
		});
		await story.text(messages({ role: 'user', type: 'file' }), {
			items: [{ json: {}, binary: { data: file(bytes, 'thing', said) } }],
		});
		expect(content()).toEqual([
			{
				type: 'input_file',
				filename: 'thing',
				file_data: `data:${mimeType};base64,${bytes.toString('base64')}`,
			},
		]);
	});

	test('without a name gets one by its type', async () => {
		const nameless = { data: BINARY.data.data, mimeType: 'image/png' };
		await story.text(messages({ role: 'user', type: 'file' }), {
			items: [{ json: {}, binary: { data: nameless } }],
		});
		expect(content()?.[0]).toMatchObject({ type: 'input_file', filename: 'file.png' });
	});

	test.each(['auto', 'low', 'high'])('is looked at in detail: %s', async (detail) => {
		const imageUrl = 'data:image/png;base64,' + BOAT.toString('base64');
		await story.text(
			messages(
				{ role: 'user', type: 'image', detail },
				{ role: 'user', type: 'image', imageSource: 'url', imageUrl, detail },
			),
			{ items: [{ json: {}, binary: BINARY }] },
		);
		const part = { type: 'input_image', image_url: BOAT_URL, detail };
		expect(input()).toEqual([
			{ role: 'user', content: [part] },
			{ role: 'user', content: [part] },
		]);
	});

	test('is seen by the model, with what is asked of it', async () => {
		const run = await story.text(
			messages(
				{ role: 'system', type: 'text', text: 'Be brief' },
				{ role: 'user', type: 'image', text: 'What is it?', binaryPropertyNames: 'data' },
			),
			{ items: [{ json: {}, binary: BINARY }] },
		);
		expect(run.items[0]?.json.text).toMatch(/^I see a picture \(image\/png, 24x16.*What is it\?$/s);
	});
});

describe('A field for JSON', () => {
	const tool = { type: 'function', name: 'f', parameters: { type: 'object' } };
	const schema = { type: 'object', properties: { a: { type: 'string' } } };
	const format = (value: unknown) => ({ outputFormat: { format: { schema: value } } });

	const FIELDS: Array<[string, (value: unknown) => IDataObject, unknown, string, unknown]> = [
		['Metadata', (metadata) => ({ metadata }) as IDataObject, { k: 'v' }, 'metadata', { k: 'v' }],
		['Tools', (tools) => ({ tools }) as IDataObject, [tool], 'tools', [tool]],
		[
			'Tool Choice',
			(toolChoice) => ({ tools: JSON.stringify([tool]), toolChoice }) as IDataObject,
			{ type: 'function', name: 'f' },
			'tool_choice',
			{ type: 'function', name: 'f' },
		],
		[
			'Schema',
			(value) => format(value) as IDataObject,
			schema,
			'text',
			{ format: { type: 'json_schema', name: 'answer', schema, strict: true } },
		],
		['Extra Body', (extraBody) => ({ extraBody }) as IDataObject, { user: 'u' }, 'user', 'u'],
	];

	test.each(FIELDS)(
		'(%s) takes text, an object, and text from an expression',
		async (_name, options, value, field, sent) => {
			const text = JSON.stringify(value);
			const spaced = JSON.stringify(value, null, 1);
			const given = [text, `={{ ${spaced} }}`, '={{ $json.text }}', '={{ $json.value }}'];
			for (const one of given) {
				await story.text(createResponse({ options: options(one) }), {
					items: itemsOf({ text, value: value as IDataObject }),
				});
			}
			expect(story.gateway.requests).toHaveLength(given.length);
			for (const { body } of story.gateway.requests) {
				expect((body as IDataObject)[field]).toEqual(sent);
			}
		},
	);

	test.each(FIELDS)('(%s) says where text breaks', async (name, options, value) => {
		const lines = JSON.stringify(value, null, 1).split('\n');
		const broken = [...lines.slice(0, 1), ` , ${lines[1]}`, ...lines.slice(2)].join('\n');
		const run = await story.textError(createResponse({ options: options(broken) }));
		expect(run.error.message).toBe(`${name} is not valid JSON (line 2, column 2)`);
		expect(shown(run).description).toMatch(/quotes, commas and braces/);
		expect(story.gateway.count()).toBe(0);
	});
});

describe('Input (JSON)', () => {
	const items = [{ role: 'user', content: 'Hello' }];

	test.each<[string, unknown, unknown]>([
		['a list', JSON.stringify(items), items],
		['a list from an expression', '={{ [{ role: "user", content: $json.text }] }}', items],
		['one item', '{ "role": "user", "content": "Hello" }', items],
		['a text', 'Just words', 'Just words'],
		['a text in quotes', '"Just words"', 'Just words'],
	])('may be %s', async (_name, given, expected) => {
		await story.text(json(given), { items: itemsOf({ text: 'Hello' }) });
		expect(input()).toEqual(expected);
	});

	test('may hold items of every type, and goes out as it is', async () => {
		const list = [
			{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
			{ type: 'reasoning', summary: [] },
			{ type: 'function_call', call_id: 'c1', name: 'get_weather', arguments: '{}' },
			{ type: 'function_call_output', call_id: 'c1', output: 'Rain' },
		];
		const run = await story.text(json('={{ $json.list }}'), { items: itemsOf({ list }) });
		expect(input()).toEqual(list);
		expect(run.items[0]?.json.text).toBe('get_weather says: Rain');
	});

	test('that belongs to Chat Completions says what Responses uses', async () => {
		const run = await story.textError(json('{ "model": "m", "messages": [{ "role": "user" }] }'));
		expect(run.error.message).toBe('Input (JSON) holds "messages"');
		expect(shown(run).description).toMatch(/Responses uses "input".*Chat Completions/);
	});

	test.each<[string, unknown, RegExp]>([
		['nothing', '', /^Input \(JSON\) is empty$/],
		['an empty list', '[]', /^Input \(JSON\) is empty$/],
		['what the item lacks', '={{ $json.missing }}', /^Input \(JSON\) is empty$/],
		['broken JSON', '[{ "role": ]', /^Input \(JSON\) is not valid JSON \(line 1, column \d+\)$/],
		['a chat body', '{ "messages": [] }', /^Input \(JSON\) holds "messages"$/],
		['a whole body', '{ "input": "Hi" }', /^Input \(JSON\) is a whole request body$/],
		['a number', '={{ 7 }}', /^Input \(JSON\) is no input for a model$/],
	])('of %s is refused before anything is sent', async (_name, given, message) => {
		const { error } = await story.textError(json(given), { items: itemsOf({}) });
		expect(error.message).toMatch(message);
		expect(story.gateway.count()).toBe(0);
	});
});

describe('An option of Response → Create', () => {
	const schema = {
		type: 'object',
		properties: { answer: { type: 'string' } },
		required: ['answer'],
	};

	test.each<[string, IDataObject, object]>([
		['topP', { topP: 0.5 }, { top_p: 0.5 }],
		['topP as text', { topP: '={{ "0.5" }}' }, { top_p: 0.5 }],
		['reasoningEffort', { reasoningEffort: 'low' }, { reasoning: { effort: 'low' } }],
		[
			'reasoningEffort and Summary',
			{ reasoningEffort: 'high', reasoningSummary: 'auto' },
			{ reasoning: { effort: 'high', summary: 'auto' } },
		],
		['parallelToolCalls', { parallelToolCalls: false }, { parallel_tool_calls: false }],
		['metadata', { metadata: '{ "customer": "42" }' }, { metadata: { customer: '42' } }],
		['empty metadata', { metadata: '{}' }, {}],
		[
			'what an expression leaves open',
			{ store: '={{ null }}', truncation: '={{ $json.none }}', topP: '={{ null }}', tools: '' },
			{},
		],
		[
			'include',
			{ include: 'reasoning.encrypted_content, message.output_text.logprobs' },
			{ include: ['reasoning.encrypted_content', 'message.output_text.logprobs'] },
		],
		['empty include', { include: ' ' }, {}],
		['truncation', { truncation: 'auto' }, { truncation: 'auto' }],
		['serviceTier', { serviceTier: 'flex' }, { service_tier: 'flex' }],
		['tools', { tools: '[{ "type": "web_search" }]' }, { tools: [{ type: 'web_search' }] }],
		['no tools', { tools: '[]' }, {}],
		[
			'toolChoice',
			{ tools: '[{ "type": "web_search" }]', toolChoice: 'required' },
			{ tools: [{ type: 'web_search' }], tool_choice: 'required' },
		],
		[
			'a function as toolChoice',
			{
				tools: '[{ "type": "function", "name": "f", "parameters": { "type": "object" } }]',
				toolChoice: 'f',
			},
			{
				tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
				tool_choice: { type: 'function', name: 'f' },
			},
		],
		[
			'toolChoice as JSON',
			{ tools: '[{ "type": "web_search" }]', toolChoice: '{ "type": "web_search" }' },
			{ tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } },
		],
		[
			'outputFormat JSON',
			{ outputFormat: { format: { type: 'json_object' } } },
			{ text: { format: { type: 'json_object' } } },
		],
		[
			'outputFormat text',
			{ outputFormat: { format: { type: 'text' } } },
			{ text: { format: { type: 'text' } } },
		],
		[
			'outputFormat of a schema',
			{
				outputFormat: {
					format: {
						type: 'json_schema',
						name: 'reply',
						schema: JSON.stringify(schema),
						strict: false,
					},
				},
			},
			{ text: { format: { type: 'json_schema', name: 'reply', schema, strict: false } } },
		],
		[
			'outputFormat of a schema, as the editor starts it',
			{ outputFormat: { format: { schema: JSON.stringify(schema) } } },
			{ text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } } },
		],
		[
			'an extra body over it',
			{ topP: 0.5, extraBody: '{ "top_p": 0.1, "user": "42" }' },
			{ top_p: 0.1, user: '42' },
		],
	])('%s reaches the gateway, and nothing else does', async (_name, options, expected) => {
		await story.text(createResponse({ options }));
		expect(story.gateway.requests[0]?.body).toEqual({
			model: 'aurora-text-1',
			input: 'Hello there',
			...expected,
		});
	});

	test('all of them together reach the gateway', async () => {
		const { items } = await story.text(createResponse({ options: { store: true } }));
		const previous = String(items[0]?.json.id as string);
		await story.text(
			createResponse({
				options: {
					instructions: 'Be brief',
					maxOutputTokens: 50,
					temperature: 0.5,
					topP: 0.9,
					reasoningEffort: 'low',
					reasoningSummary: 'concise',
					store: false,
					previousResponseId: previous,
					outputFormat: { format: { type: 'text' } },
					tools: '[{ "type": "web_search" }]',
					toolChoice: 'auto',
					parallelToolCalls: true,
					metadata: '{ "a": "b" }',
					include: 'reasoning.encrypted_content',
					truncation: 'disabled',
					serviceTier: 'priority',
					extraBody: '{ "user": "42" }',
					binaryPropertyName: 'data',
					concurrency: 1,
					timeout: 100,
					idleTimeout: 20,
					maxRetries: 1,
				},
			}),
		);
		expect(story.gateway.requests[1]?.body).toEqual({
			model: 'aurora-text-1',
			input: 'Hello there',
			instructions: 'Be brief',
			max_output_tokens: 50,
			temperature: 0.5,
			top_p: 0.9,
			reasoning: { effort: 'low', summary: 'concise' },
			store: false,
			previous_response_id: previous,
			text: { format: { type: 'text' } },
			tools: [{ type: 'web_search' }],
			tool_choice: 'auto',
			parallel_tool_calls: true,
			metadata: { a: 'b' },
			include: ['reasoning.encrypted_content'],
			truncation: 'disabled',
			service_tier: 'priority',
			user: '42',
		});
	});

	test.each(['auto', 'none', 'required'])('toolChoice %s is sent as a word', async (toolChoice) => {
		await story.text(
			createResponse({ options: { tools: '[{ "type": "web_search" }]', toolChoice } }),
		);
		expect(story.gateway.requests[0]?.body).toMatchObject({ tool_choice: toolChoice });
	});

	test('previousResponseId goes on from a stored response', async () => {
		const first = await story.text(createResponse({ options: { store: true } }));
		const previousResponseId = String(first.items[0]?.json.id as string);
		const next = await story.text(
			createResponse({ prompt: 'And now?', options: { previousResponseId } }),
		);
		expect(next.items[0]?.json.text).toBe('You said: And now?\nBefore that you said: Hello there');
		expect(story.gateway.requests[1]?.body).toMatchObject({
			previous_response_id: previousResponseId,
		});
	});

	test.each<[string, IDataObject, RegExp]>([
		['topP in words', { topP: '={{ "x" }}' }, /^Top P is not a number$/],
		['topP below 0', { topP: '={{ -1 }}' }, /^Top P is below 0$/],
		[
			'tokens of a fraction',
			{ maxOutputTokens: '={{ 1.5 }}' },
			/^Max Output Tokens is not a whole number$/,
		],
		['metadata that is a list', { metadata: '[]' }, /^Metadata is not a JSON object$/],
		['tools that are an object', { tools: '{}' }, /^Tools is not a JSON list$/],
		['broken tools', { tools: '[{]' }, /^Tools is not valid JSON/],
		['a broken toolChoice', { toolChoice: '{ "type"' }, /^Tool Choice is not valid JSON/],
		[
			'a schema without name',
			{ outputFormat: { format: { name: 'no name', schema: '{ "type": "object" }' } } },
			/^Schema Name is not a name$/,
		],
		['an empty schema', { outputFormat: { format: { schema: '{}' } } }, /^Schema is empty$/],
		[
			'a broken schema',
			{ outputFormat: { format: { schema: '{ "type": }' } } },
			/^Schema is not valid JSON/,
		],
		['an idle time-out in words', { idleTimeout: '={{ "x" }}' }, /^Idle Timeout is not a number$/],
	])('%s is refused before anything is sent, naming the field', async (_name, options, message) => {
		const { error } = await story.textError(createResponse({ options }));
		expect(error.message).toMatch(message);
		expect(story.gateway.count()).toBe(0);
	});

	test('JSON that the model gets wrong is an error that keeps the text', async () => {
		const run = await story.textError(
			createResponse({
				prompt: '[[bad-json]] Hello',
				options: { outputFormat: { format: { type: 'json_object' } } },
			}),
		);
		expect(run.error.message).toMatch(/^The model’s answer is not JSON: /);
		expect(shown(run).context.details?.partial_text).toEqual(expect.stringMatching(/./));
		expect(story.gateway.count()).toBe(1);
	});

	test('a cut-off answer is pointed out to the user', async () => {
		const run = await story.text(createResponse({ options: { maxOutputTokens: 1 } }));
		expect(run.hints).toEqual([
			expect.objectContaining({
				message: expect.stringMatching(/^Item 0: .*Max Output Tokens/) as string,
			}),
		]);
	});
});

describe('A picture that the model draws while it answers', () => {
	const options = { tools: '[{ "type": "image_generation", "size": "32x24" }]' };

	test.each([true, false])('is a file of the item (simplify: %p)', async (simplify) => {
		const run = await story.text(createResponse({ prompt: 'A red boat', simplify, options }));

		expect(Object.keys(run.items[0]?.binary ?? {})).toEqual(['data']);
		const png = await readBinary(run.items[0]?.binary?.data);
		expect(sizeOf(png)).toEqual({ width: 32, height: 24 });
		expect(pictureBelongsTo('A red boat', png)).toBe(true);
		expect(run.items[0]?.binary?.data).toMatchObject({ mimeType: 'image/png' });
	});

	test('goes into the field that was asked for', async () => {
		const run = await story.text(
			createResponse({ options: { ...options, binaryPropertyName: '={{ $json.field }}' } }),
			{ items: itemsOf({ field: 'drawing' }) },
		);
		expect(Object.keys(run.items[0]?.binary ?? {})).toEqual(['drawing']);
	});

	test('is not there where none was drawn', async () => {
		const run = await story.text(createResponse());
		expect(run.items[0]?.binary).toBeUndefined();
	});
});
