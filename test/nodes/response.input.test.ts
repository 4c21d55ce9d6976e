import type { IBinaryData, IDataObject } from 'n8n-workflow';
import { drawPicture, pictureBelongsTo, sizeOf } from '../gateway';
import { readBinary, storeBinaryInMemory, storeBinaryOnDisk } from '../support/engine';
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
			[{ role: 'user', type: 'file', fileBinaryPropertyNames: 'nope' }],
			/nope/,
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

	test('previousResponseId goes on from a stored response', async () => {
		const first = await story.text(createResponse({ options: { store: true } }));
		const previousResponseId = String(first.items[0]?.json.id as string);
		await story.text(createResponse({ options: { previousResponseId } }));
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
