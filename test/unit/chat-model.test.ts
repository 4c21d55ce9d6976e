import { AsyncQueue } from '../../nodes/LmChatModelAccess/async-queue';
import { fromResponse } from '../../nodes/LmChatModelAccess/from-response';
import { toInputItems } from '../../nodes/LmChatModelAccess/to-input-items';
import type { Message, MessageContent } from '../../nodes/LmChatModelAccess/sdk';
import { expectError, refusalOf } from './api/arrange';
import { message } from './api/recorded-streams';

const text = (words: string): MessageContent => ({ type: 'text', text: words });
const PNG = 'iVBORw0KGgo=';
const thought = { type: 'reasoning', id: 'rs_1', summary: [] };
const sealed = { ...thought, id: 'rs_2', encrypted_content: 'c2VhbGVk' };

describe('a conversation becomes input items', () => {
	const said = (role: Message['role'], ...content: MessageContent[]) => ({ role, content });
	const itemsOf = (...messages: Message[]) => toInputItems(messages, true);
	const lines = ['One', 'Two'].map((words) => ({ type: 'input_text', text: words }));

	test('a text alone is a text; parts stay in order, unknown ones as they are; empty ones are left out', () => {
		const value = { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } };
		const items = itemsOf(
			said('system', text('Be kind')),
			said('user', text('One'), text(''), text('Two'), { type: 'provider', value }),
			said('user', text('')),
			said('assistant', text('')),
		);
		const system = { role: 'system', content: 'Be kind' };
		expect(items).toEqual([system, { role: 'user', content: [...lines, value] }]);
	});

	type File = Omit<Extract<MessageContent, { type: 'file' }>, 'type'>;
	const file_data = expect.any(String) as string;
	const at = (providerMetadata: Record<string, string>) => ({ data: '', providerMetadata });
	const png = { mediaType: 'image/png', data: PNG };
	const dataUrl = `data:image/png;base64,${PNG}`;
	const csv = { mediaType: 'text/csv', data: 'YQ==' };
	const csvData = { file_data: 'data:text/csv;base64,YQ==' };
	const unknownData = { file_data: 'data:application/octet-stream;base64,YQ==' };
	const url = 'https://files.example.com/a';
	const bytes = new Uint8Array([1, 2, 3]);
	const detailed = { mediaType: 'image/*', ...at({ url, detail: 'low' }) };
	const PDF = Buffer.from('%PDF-1.7 and more').toString('base64');
	const asText = { data: `data:text/plain;base64,${PDF}`, providerMetadata: { filename: 'a.txt' } };
	const JPEG = new Uint8Array([0xff, 0xd8, 0xff]);

	test.each<[string, File, object]>([
		['an image', png, { image_url: dataUrl }],
		['an image in bytes', { ...png, data: bytes }, { image_url: 'data:image/png;base64,AQID' }],
		['an image as a data address', { ...png, data: dataUrl }, { image_url: dataUrl }],
		['an image at an address', detailed, { image_url: url, detail: 'low' }],
		['an image at the gateway', { ...png, ...at({ fileId: 'f_1' }) }, { file_id: 'f_1' }],
		['a file by its name', { ...at({ name: 'a.csv' }), ...csv }, { filename: 'a.csv', ...csvData }],
		['a file without a name', csv, { filename: 'file.csv', ...csvData }],
		['a file of no known type', { data: 'YQ==' }, { filename: 'file.bin', ...unknownData }],
		['a file at an address', at({ url }), { file_url: url }],
		['a file at the gateway', at({ fileId: 'f_2' }), { file_id: 'f_2' }],
		// What an agent hands to the model is named by its bytes.
		['a PDF', { ...csv, data: PDF }, { filename: 'file.pdf', file_data }],
		['a PDF that calls itself a text', asText, { filename: 'a.pdf', file_data }],
		['a JPEG', { mediaType: 'application/pdf', data: JPEG }, { filename: 'file.jpg', file_data }],
	])('%s', (name, file, sent) => {
		const type = name.startsWith('an image') ? 'input_image' : 'input_file';
		const items = itemsOf(said('user', { type: 'file', ...file }));
		expect(items).toEqual([{ role: 'user', content: [{ type, ...sent }] }]);
	});

	test('a turn of the model is its text, each thought once, and its calls, also unreadable ones', () => {
		const turn = said(
			'assistant',
			text('Let me see'),
			{ type: 'reasoning', text: 'Hm' },
			...[thought, sealed, sealed].map((value) => ({ type: 'provider' as const, value })),
			{ type: 'citation', url: 'https://example.com' },
			{ type: 'tool-call', toolCallId: 'call_1', toolName: 'weather', input: '{"city":"Bergen"}' },
			{ type: 'invalid-tool-call', toolCallId: 'call_2', name: 'time', args: '{"zone":' },
		);
		const type = 'function_call';
		const words = { role: 'assistant', content: [{ type: 'output_text', text: 'Let me see' }] };
		const calls = [
			{ type, call_id: 'call_1', name: 'weather', arguments: '{"city":"Bergen"}' },
			{ type, call_id: 'call_2', name: 'time', arguments: '{"zone":' },
		];
		expect(itemsOf(turn)).toEqual([words, thought, sealed, ...calls]);
		// A gateway that stores nothing does not know a thought that is not sealed.
		expect(toInputItems([turn], false)).toEqual([words, sealed, ...calls]);
	});

	const image = { type: 'input_image', image_url: dataUrl };
	const shown = [{ type: 'input_text', text: 'Here' }, image];

	test.each([
		['a text', '9 degrees', '9 degrees'],
		['an object', { degrees: 9 }, '{"degrees":9}'],
		['a list', [1, 2], '[1,2]'],
		['nothing', undefined, ''],
		['content with an image', [text('Here'), { type: 'file', ...png }], shown],
		['several texts', [text('One'), text('Two')], lines],
	])('the result of a tool that is %s goes out with the ID of its call', (_name, value, output) => {
		const result = said('tool', { type: 'tool-result', toolCallId: 'call_1', result: value });
		expect(itemsOf(result)).toEqual([{ type: 'function_call_output', call_id: 'call_1', output }]);
	});
});

describe('an answer', () => {
	type Response = Parameters<typeof fromResponse>[0]['response'];
	const answer = (output: Response['output'], more: Partial<Response> = {}) =>
		fromResponse({
			response: { id: 'resp_1', status: 'completed', output, ...more },
			...{ json: {}, requestId: 'req_1' },
		});
	const call = (given: object) => ({ type: 'function_call', name: 'weather', ...given });
	const cutOff = (reason?: string) => ({ status: 'incomplete', incomplete_details: { reason } });

	test('has the text of all its messages, beside other items and the summaries among them', () => {
		const summary = ['First', 'Then', ''].map((words) => ({ type: 'summary_text', text: words }));
		const search = { type: 'web_search_call', id: 'ws_1' };
		const output = [{ ...thought, summary }, message('One. '), search, message('Two.')];
		expect(answer(output)).toEqual({
			text: 'One. Two.',
			calls: [],
			items: [{ ...thought, summary }, search],
			reasoning: 'First\n\nThen',
			finishReason: 'stop',
			usage: undefined,
		});
	});

	test('has several calls, each with its ID and its arguments', () => {
		const { calls, items, finishReason } = answer([
			call({ id: 'fc_1', call_id: 'call_1', arguments: '{"city": "Bergen"}' }),
			call({ id: 'fc_2', arguments: { city: 'Oslo' } }),
			...['', undefined, 'null'].map((given) => call({ arguments: given })),
		]);
		expect(calls.map(({ toolCallId, input }) => [toolCallId, input])).toEqual([
			['call_1', '{"city":"Bergen"}'],
			['fc_2', '{"city":"Oslo"}'],
			...[2, 3, 4].map((n) => [`call_${n}`, '{}']),
		]);
		expect(calls[0]).toMatchObject({ type: 'tool-call', toolName: 'weather' });
		expect([items, finishReason]).toEqual([[], 'tool-calls']);
	});

	test.each([
		['max_output_tokens', 'length'],
		['content_filter', 'content-filter'],
		[undefined, 'other'],
	])('that is cut off because of %s ended by "%s"', (reason, finishReason) => {
		expect(answer([message('Yes')], cutOff(reason))).toMatchObject({ finishReason });
	});

	test('counts its tokens, those from a cache and those of thoughts too', () => {
		const usage = { input_tokens: 10, output_tokens: 5 };
		const input_tokens_details = { cached_tokens: 4 };
		const output_tokens_details = { reasoning_tokens: 2 };
		const details = { total_tokens: 16, input_tokens_details, output_tokens_details };
		const told = [usage, { ...usage, ...details }, null].map((one) => answer([], { usage: one }));
		const counts = { promptTokens: 10, completionTokens: 5 };
		const parts = { inputTokenDetails: { cacheRead: 4 }, outputTokenDetails: { reasoning: 2 } };
		const more = { ...counts, totalTokens: 16, ...parts };
		expect(told.map((one) => one.usage)).toEqual([{ ...counts, totalTokens: 15 }, more, undefined]);
	});

	const NO_OBJECTS = ['{"city":', '[1]', '"Bergen"'];
	test.each(NO_OBJECTS)('calls nothing by arguments that are no object: %s', (given) => {
		const output = [message('Wait'), call({ arguments: given })];
		const says = `The model called weather with arguments that are not a JSON object: ${given}`;
		const details = { charged: true, requestId: 'req_1', partialText: 'Wait' };
		expectError(
			refusalOf(() => answer(output)),
			'InvalidResponseError',
			says,
			details,
		);
		const cut = refusalOf(() => answer(output, cutOff('max_output_tokens')));
		expectError(cut, 'InvalidResponseError', says, { ...details, advice: /Raise that option/ });
	});
});

test('pieces come in order, before, while and after they are waited for', async () => {
	const pieces = new AsyncQueue<number>();
	pieces.push(1);
	setImmediate(() => pieces.push(2));
	const taken: number[] = [];
	for await (const piece of pieces) {
		taken.push(piece);
		if (piece === 2) pieces.push(3);
		if (piece === 3) setImmediate(() => (pieces.push(4), pieces.end()));
	}
	expect(taken).toEqual([1, 2, 3, 4]);
});
