import type { Message, MessageContent } from '../../nodes/LmChatModelAccess/sdk';
import { toInputItems } from '../../nodes/LmChatModelAccess/to-input-items';

const said = (role: Message['role'], ...content: MessageContent[]): Message => ({ role, content });
const text = (words: string): MessageContent => ({ type: 'text', text: words });
const itemsOf = (...messages: Message[]) => toInputItems(messages, true);

const PNG = 'iVBORw0KGgo=';

describe('what is said to a model', () => {
	test.each(['system', 'user'] as const)('by the %s is a message with a text', (role) => {
		expect(itemsOf(said(role, text('Hello')))).toEqual([{ role, content: 'Hello' }]);
	});

	test('in several parts stays in parts, in order', () => {
		expect(itemsOf(said('user', text('One'), text(''), text('Two')))).toEqual([
			{
				role: 'user',
				content: [
					{ type: 'input_text', text: 'One' },
					{ type: 'input_text', text: 'Two' },
				],
			},
		]);
	});

	test('without a word is left out', () => {
		expect(itemsOf(said('user', text('')), said('assistant', text('')))).toEqual([]);
	});

	type File = Omit<Extract<MessageContent, { type: 'file' }>, 'type'>;
	const PICTURE = { mediaType: 'image/png' };
	const DATA_URL = `data:image/png;base64,${PNG}`;
	const IMAGE_URL = 'https://pictures.example.com/a.png';
	const FILE_URL = 'https://files.example.com/a.pdf';
	const PDF = { mediaType: 'application/pdf', data: 'JVBERi0=' };
	const image = (more: object) => ({ type: 'input_image', ...more });
	const sent = (filename: string, mediaType: string, data: string) => ({
		type: 'input_file',
		filename,
		file_data: `data:${mediaType};base64,${data}`,
	});
	const at = (providerMetadata: Record<string, string>) => ({ data: '', providerMetadata });

	const FILES: Array<[string, File, object]> = [
		['an image', { ...PICTURE, data: PNG }, image({ image_url: DATA_URL })],
		[
			'an image in bytes',
			{ ...PICTURE, data: new Uint8Array([1, 2, 3]) },
			image({ image_url: 'data:image/png;base64,AQID' }),
		],
		['an image as a data address', { ...PICTURE, data: DATA_URL }, image({ image_url: DATA_URL })],
		[
			'an image at an address, with its detail',
			{ mediaType: 'image/*', ...at({ url: IMAGE_URL, detail: 'low' }) },
			image({ image_url: IMAGE_URL, detail: 'low' }),
		],
		[
			'an image that the gateway has',
			{ ...PICTURE, ...at({ fileId: 'file_1' }) },
			image({ file_id: 'file_1' }),
		],
		[
			'a file with its name',
			{ ...PDF, providerMetadata: { filename: 'invoice.pdf' } },
			sent('invoice.pdf', PDF.mediaType, PDF.data),
		],
		[
			'a file without a name',
			{ mediaType: 'text/csv', data: 'YQ==' },
			sent('file.csv', 'text/csv', 'YQ=='),
		],
		[
			'a file of no known type',
			{ data: 'YQ==' },
			sent('file.bin', 'application/octet-stream', 'YQ=='),
		],
		['a file at an address', at({ url: FILE_URL }), { type: 'input_file', file_url: FILE_URL }],
		['a file that the gateway has', at({ fileId: 'f_2' }), { type: 'input_file', file_id: 'f_2' }],
	];
	test.each(FILES)('may be %s', (_name, file, part) => {
		const items = itemsOf(said('user', { type: 'file', ...file }));
		expect(items).toEqual([{ role: 'user', content: [part] }]);
	});

	test('in a form that nobody here knows goes out as it is', () => {
		const value = { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } };
		expect(itemsOf(said('user', { type: 'provider', value }))).toEqual([
			{ role: 'user', content: [value] },
		]);
	});
});

describe('what a model said before', () => {
	test('is its text, and its calls with their IDs, in order', () => {
		const turn = said(
			'assistant',
			text('Let me see'),
			{ type: 'tool-call', toolCallId: 'call_1', toolName: 'weather', input: '{"city":"Bergen"}' },
			{ type: 'tool-call', toolCallId: 'call_2', toolName: 'time', input: '{}' },
		);
		expect(itemsOf(turn)).toEqual([
			{ role: 'assistant', content: [{ type: 'output_text', text: 'Let me see' }] },
			{
				type: 'function_call',
				call_id: 'call_1',
				name: 'weather',
				arguments: '{"city":"Bergen"}',
			},
			{ type: 'function_call', call_id: 'call_2', name: 'time', arguments: '{}' },
		]);
	});

	test('holds a call that could not be read, so that its result has one', () => {
		const call = said('assistant', {
			type: 'invalid-tool-call',
			toolCallId: 'call_1',
			name: 'weather',
			args: '{"city":',
		});
		expect(itemsOf(call)).toEqual([
			{ type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":' },
		]);
	});

	test('has no citations and no summaries of thoughts: the API takes neither', () => {
		const turn = said(
			'assistant',
			{ type: 'reasoning', text: 'Hm' },
			{ type: 'citation', url: 'https://example.com' },
		);
		expect(itemsOf(turn)).toEqual([]);
	});

	const thought = { type: 'reasoning', id: 'rs_1', summary: [] };
	const sealed = { ...thought, id: 'rs_2', encrypted_content: 'c2VhbGVk' };

	test('goes back with what was thought before it, each thought once', () => {
		const turn = (value: Record<string, unknown>): Message =>
			said('assistant', { type: 'provider', value }, text('So'));
		const items = itemsOf(turn(thought), turn(sealed), turn(sealed));
		expect(items.filter(({ type }) => type === 'reasoning')).toEqual([thought, sealed]);
	});

	test('goes back without thoughts that a gateway which stores nothing does not know', () => {
		const turn = said(
			'assistant',
			{ type: 'provider', value: thought },
			{ type: 'provider', value: sealed },
		);
		expect(toInputItems([turn], false)).toEqual([sealed]);
	});
});

describe('the result of a tool', () => {
	const result = (value: unknown) =>
		said('tool', { type: 'tool-result', toolCallId: 'call_1', result: value });
	const RESULTS: Array<[string, unknown, unknown]> = [
		['a text', '9 degrees', '9 degrees'],
		['an object', { degrees: 9 }, '{"degrees":9}'],
		['a list', [1, 2], '[1,2]'],
		['nothing', undefined, ''],
		[
			'content with an image',
			[text('Here'), { type: 'file', mediaType: 'image/png', data: PNG }],
			[
				{ type: 'input_text', text: 'Here' },
				{ type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
			],
		],
	];
	test.each(RESULTS)('that is %s goes out with the ID of its call', (_name, value, output) => {
		expect(itemsOf(result(value))).toEqual([
			{ type: 'function_call_output', call_id: 'call_1', output },
		]);
	});
});
