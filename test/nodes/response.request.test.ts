import { drawImage } from '../../gateway';
import { ANSWER_OPTIONS, byId, createResponse, file, itemsOf, useHarness } from './arrange';
import type { RunOptions, IDataObject } from './arrange';

const harness = useHarness();

/** Runs the node, item after item, and returns the bodies that it sent. */
async function sent({ options, ...given }: IDataObject, run?: RunOptions) {
	const inOrder = { concurrency: 1, ...(options as IDataObject) };
	await harness.text(createResponse({ ...given, options: inOrder }), run);
	return harness.bodies('responses');
}

const BARE = { model: 'aurora-text-1', input: 'Hello there' };

describe('What Response → Create sends', () => {
	test('is model and input alone where nothing else is set', async () => {
		await harness.text(createResponse());
		const type = expect.stringMatching(/^application\/json/) as string;
		const headers = { accept: 'application/json', 'content-type': type };
		const request = { method: 'POST', path: '/v1/responses', headers };
		expect(harness.gateway.requests).toMatchObject([request]);
		expect(harness.bodies()).toEqual([BARE]);
	});

	test('is the prompt to the letter, for the model that was picked from the list', async () => {
		const prompt = '  Grüße,\n\t"quoted" \\ 😀 {{ not an expression }} ';
		const model = { __rl: true, mode: 'list', value: 'aurora-omni-1', cachedResultName: 'Omni' };
		expect(await sent({ model, prompt })).toEqual([{ model: 'aurora-omni-1', input: prompt }]);
	});

	test('follows expressions for each item', async () => {
		const texts = { prompt: '=Say {{ $json.word }}', instructions: '={{ $json.how }}' };
		const given = { model: byId('={{ $json.model }}'), ...texts };
		const [one, other] = ['aurora-text-1', 'Aurora-Text-2.5-Preview'];
		const first = { model: one, word: 'yes', how: 'loud' };
		const items = itemsOf(first, { model: other, word: 'no', how: '' });
		expect(await sent(given, { items })).toEqual([
			{ model: one, input: 'Say yes', instructions: 'loud' },
			{ model: other, input: 'Say no' },
		]);
	});

	test('may come from the extra body alone', async () => {
		const body = { model: 'aurora-omni-1', input: [{ role: 'user', content: 'Hi' }] };
		const options = { extraBody: JSON.stringify(body) };
		expect(await sent({ model: byId(''), prompt: '', options })).toEqual([body]);
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
		const promptOptions = { promptId: 'p', version: '2', variables: '{"a":"b"}' };
		const prompt = { id: 'p', version: '2', variables: { a: 'b' } };
		const format = { type: 'text' };
		const rows: typeof ANSWER_OPTIONS = [
			...ANSWER_OPTIONS,
			['previousResponseId', previous, { previous_response_id: previous }],
			['outputFormat', { format }, { text: { format, verbosity: 'low' } }],
			['tools', JSON.stringify(SEARCH), { tools: SEARCH }],
			['toolChoice', 'auto', { tool_choice: 'auto' }],
			['parallelToolCalls', true, { parallel_tool_calls: true }],
			['truncation', 'disabled', { truncation: 'disabled' }],
			['maxToolCalls', 3, { max_tool_calls: 3 }],
			['topLogprobs', 2, { top_logprobs: 2 }],
			['conversationId', 'conv_1', { conversation: 'conv_1' }],
			['promptConfig', { promptOptions }, { prompt }],
			['extraBody', '{ "user": "42" }', { user: '42' }],
			...['binaryPropertyName', 'concurrency'].map((name): [string, unknown] => [name, 1]),
		];
		const options = Object.fromEntries(rows.map(([name, value]) => [name, value])) as IDataObject;
		const expected = Object.assign({}, BARE, ...rows.map(([, , body]) => body)) as object;
		expect(await sent({ options })).toEqual([{ ...BARE, store: true }, expected]);
	});

	const json = format({ type: 'json_object' }).outputFormat;
	const schema = JSON.stringify(SCHEMA);
	const extraBody = '{ "top_p": 0.1, "text": { "a": 1 } }';
	const over = { topP: 0.5, ...format({ type: 'text' }), extraBody };
	test.each<[string, IDataObject, object]>([
		['a 0', { temperature: 0 }, { temperature: 0 }],
		['a number as text', { topP: '={{ "0.5" }}' }, { top_p: 0.5 }],
		['what is switched off', { parallelToolCalls: false }, { parallel_tool_calls: false }],
		['a part of Reasoning', { reasoningEffort: 'low' }, { reasoning: { effort: 'low' } }],
		['a list of an expression', { include: '={{ ["a.b"] }}' }, { include: ['a.b'] }],
		['nothing', { metadata: '{}', tools: ' [] ', include: ' , ', toolChoice: ' ' }, {}],
		['any JSON as output', { outputFormat: json }, { text: json }],
		['a schema', format({ name: 'reply', schema, strict: false }), sentSchema('reply', false)],
		['an extra body over it', over, { top_p: 0.1, text: { format: { type: 'text' }, a: 1 } }],
	])('sends %s, and nothing else', async (_name, options, expected) => {
		expect(await sent({ options })).toEqual([{ ...BARE, ...expected }]);
	});

	test('is left out where it is empty, or where an expression leaves it open', async () => {
		const names = ['include', 'metadata', 'tools', 'toolChoice', 'extraBody', 'store', 'topP'];
		names.push('truncation', 'reasoningEffort', 'previousResponseId', 'parallelToolCalls');
		const options = Object.fromEntries(names.map((name) => [name, '={{ $json.value }}']));
		const items = itemsOf({ value: '' }, { value: null }, {});
		expect(await sent({ options }, { items })).toEqual([BARE, BARE, BARE]);
	});

	test('for JSON takes text and an object alike', async () => {
		const values = { metadata: { k: 'v' }, tools: [TOOL], schema: SCHEMA, extra: { user: 'u' } };
		const texts = Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]);
		const options = {
			...{ metadata: '={{ $json.metadata }}', tools: '={{ $json.tools }}' },
			...{ extraBody: '={{ $json.extra }}', ...format({ schema: '={{ $json.schema }}' }) },
		};
		const { metadata, tools } = values;
		const expected = { ...BARE, metadata, tools, ...sentSchema('answer', true), user: 'u' };
		const items = itemsOf(values, Object.fromEntries(texts) as IDataObject);
		expect(await sent({ options }, { items })).toEqual([expected, expected]);
	});

	test('names a tool by a word, by its function or as JSON', async () => {
		const tools = JSON.stringify([...SEARCH, TOOL]);
		const [tool] = SEARCH;
		const choices = ['none', ' required ', 'f', JSON.stringify(tool), tool];
		const items = itemsOf(...choices.map((choice) => ({ choice })));
		const bodies = await sent({ options: { tools, toolChoice: '={{ $json.choice }}' } }, { items });
		const chosen = bodies.map(({ tool_choice }) => tool_choice);
		expect(chosen).toEqual(['none', 'required', { type: 'function', name: 'f' }, tool, tool]);
	});
});

describe('Messages', () => {
	const BOAT = drawImage({ prompt: 'boat', index: 0, width: 24, height: 16 });
	const SHIP = drawImage({ prompt: 'ship', index: 0, width: 24, height: 16 });
	const PDF = Buffer.from('%PDF-1.4 a report');
	const report = file(PDF, 'report.pdf', 'application/octet-stream');
	const binary = { data: file(BOAT, 'boat.png'), ship: file(SHIP, 'ship.png'), report };
	const ITEMS = [{ json: { field: 'ship' }, binary }];

	const rows = (...message: IDataObject[]) => ({ inputType: 'messages', messages: { message } });
	const image = { role: 'user', type: 'image' };
	const dataUrl = (bytes: Buffer, type = 'image/png') =>
		`data:${type};base64,${bytes.toString('base64')}`;
	const [boat, ship] = [dataUrl(BOAT), dataUrl(SHIP)];

	test('of text are sent in their order, each with its role', async () => {
		const text = (role: string, words: string) => ({ role, type: 'text', text: words });
		const head = [text('system', 'Be brief'), text('developer', 'Use metric units')];
		const turn = [text('user', 'How tall is it?'), text('assistant', '300 m')];
		const given = rows(...head, ...turn, { text: '=And {{ $json.field }}?' });
		const instructions = 'Be brief\n\nUse metric units';
		const input = [
			{ role: 'user', content: 'How tall is it?' },
			{ role: 'assistant', content: '300 m' },
			{ role: 'user', content: 'And ship?' },
		];
		expect(await sent(given, { items: ITEMS })).toMatchObject([{ instructions, input }]);
	});

	test('hold images and files of the item, and images at an address, with a text before', async () => {
		const url = 'https://pictures.example.com/boat.png';
		const given = rows(
			{ ...image, text: 'What is this?', detail: 'low' },
			{ ...image, binaryPropertyNames: 'ship, data', text: ' ', detail: 'high' },
			{ ...image, imageSource: 'url', imageUrl: ` ${url} ` },
			{ ...image, imageSource: 'url', imageUrl: boat },
			{ role: 'user', type: 'file', text: 'Sum up', fileBinaryPropertyNames: 'report' },
			{ role: 'user', type: 'file' },
		);
		const asked = (text: string) => ({ type: 'input_text', text });
		const [input_image, input_file] = [{ type: 'input_image' }, { type: 'input_file' }];
		const seen = (image_url: string, detail: string) => ({ ...input_image, image_url, detail });
		const read = (filename: string, file_data: string) => ({ ...input_file, filename, file_data });
		const [body] = await sent(given, { items: ITEMS });
		expect((body!.input as IDataObject[]).map(({ content }) => content)).toEqual([
			[asked('What is this?'), seen(boat, 'low')],
			[seen(ship, 'high'), seen(boat, 'high')],
			[seen(url, 'auto')],
			[seen(boat, 'auto')],
			[asked('Sum up'), read('report.pdf', dataUrl(PDF, 'application/pdf'))],
			[read('boat.png', boat)],
		]);
	});
});
