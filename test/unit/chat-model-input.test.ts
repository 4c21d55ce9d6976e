import type { Message, MessageContent } from '../../nodes/LmChatModelAccess/sdk';
import { inputItemsOf } from '../../nodes/LmChatModelAccess/input-items';

const said = (role: Message['role'], ...content: MessageContent[]): Message => ({ role, content });
const text = (words: string): MessageContent => ({ type: 'text', text: words });
const itemsOf = (...messages: Message[]) => inputItemsOf(messages, true);

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

	const FILES: Array<[string, Extract<MessageContent, { type: 'file' }>, object]> = [
		[
			'a picture',
			{ type: 'file', mediaType: 'image/png', data: PNG },
			{ type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
		],
		[
			'a picture in bytes',
			{ type: 'file', mediaType: 'image/png', data: new Uint8Array([1, 2, 3]) },
			{ type: 'input_image', image_url: 'data:image/png;base64,AQID' },
		],
		[
			'a picture as a data address',
			{ type: 'file', mediaType: 'image/png', data: `data:image/png;base64,${PNG}` },
			{ type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
		],
		[
			'a picture at an address, with its detail',
			{
				type: 'file',
				mediaType: 'image/*',
				data: '',
				providerMetadata: { url: 'https://pictures.example.com/a.png', detail: 'low' },
			},
			{ type: 'input_image', image_url: 'https://pictures.example.com/a.png', detail: 'low' },
		],
		[
			'a picture that the gateway has',
			{ type: 'file', mediaType: 'image/png', data: '', providerMetadata: { fileId: 'file_1' } },
			{ type: 'input_image', file_id: 'file_1' },
		],
		[
			'a file with its name',
			{
				type: 'file',
				mediaType: 'application/pdf',
				data: 'JVBERi0=',
				providerMetadata: { filename: 'invoice.pdf' },
			},
			{
				type: 'input_file',
				filename: 'invoice.pdf',
				file_data: 'data:application/pdf;base64,JVBERi0=',
			},
		],
		[
			'a file without a name',
			{ type: 'file', mediaType: 'text/csv', data: 'YQ==' },
			{ type: 'input_file', filename: 'file.csv', file_data: 'data:text/csv;base64,YQ==' },
		],
		[
			'a file of no known type',
			{ type: 'file', data: 'YQ==' },
			{
				type: 'input_file',
				filename: 'file.bin',
				file_data: 'data:application/octet-stream;base64,YQ==',
			},
		],
		[
			'a file at an address',
			{ type: 'file', data: '', providerMetadata: { url: 'https://files.example.com/a.pdf' } },
			{ type: 'input_file', file_url: 'https://files.example.com/a.pdf' },
		],
		[
			'a file that the gateway has',
			{ type: 'file', data: '', providerMetadata: { fileId: 'file_2' } },
			{ type: 'input_file', file_id: 'file_2' },
		],
	];
	test.each(FILES)('may be %s', (_name, file, part) => {
		expect(itemsOf(said('user', file))).toEqual([{ role: 'user', content: [part] }]);
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
		expect(inputItemsOf([turn], false)).toEqual([sealed]);
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
			'content with a picture',
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
