import { fromResponse } from '../../nodes/LmChatModelAccess/from-response';
import { toInputItems } from '../../nodes/LmChatModelAccess/to-input-items';
import { withExtension } from '../../nodes/shared/api/file-name';
import { prepareRequest } from '../../nodes/shared/api/responses/prepare-request';

describe('The result of a tool', () => {
	const output = (result: unknown) => {
		const content = [{ type: 'tool-result', toolCallId: 'call_1', result }] as never;
		const input = toInputItems([{ role: 'tool', content }], true);
		return (prepareRequest({ input }).input as Array<{ output: unknown }>)[0]?.output;
	};

	test.each([
		[
			'two texts',
			[
				{ type: 'text', text: 'One' },
				{ type: 'text', text: 'Two' },
			],
			'One\nTwo',
		],
		['one text', [{ type: 'text', text: 'One' }], 'One'],
	])('goes out as one text, if it is a list of %s', (_name, result, sent) => {
		expect(output(result)).toBe(sent);
	});

	test('goes out in parts, if it has a file', () => {
		const file = { type: 'file', mediaType: 'text/csv', data: 'YQ==' };
		expect(output([{ type: 'text', text: 'One' }, file])).toMatchObject([
			{ type: 'input_text', text: 'One' },
			{ type: 'input_file', filename: 'file.csv' },
		]);
	});
});

test.each([
	['file', 'pdf', 'file.pdf'],
	['scan.PNG', 'jpg', 'scan.jpg'],
	['scan.jpeg', 'jpg', 'scan.jpeg'],
	['scan.JPG', 'jpg', 'scan.JPG'],
	['report.final', 'pdf', 'report.final.pdf'],
	['v1.2', 'png', 'v1.2.png'],
	['download.bin', 'pdf', 'download.pdf'],
])('the file %s with the bytes of a %s is sent as %s', (name, extension, sent) => {
	expect(withExtension(name, extension)).toBe(sent);
});

const PDF = Buffer.from('%PDF-1.7 and more').toString('base64');
test.each([
	[{ mediaType: 'application/octet-stream', data: PDF }, 'file.pdf'],
	[{ data: `data:text/plain;base64,${PDF}`, providerMetadata: { filename: 'a.txt' } }, 'a.pdf'],
	[{ mediaType: 'application/pdf', data: new Uint8Array([0xff, 0xd8, 0xff]) }, 'file.jpg'],
])('a file that an agent hands to the model is named by its bytes: %j', (file, filename) => {
	const content = [{ type: 'file', ...file }] as never;
	expect(toInputItems([{ role: 'user', content }], true)).toMatchObject([
		{ content: [{ filename }] },
	]);
});

test.each(['null', '""', ' ', '" "'])('a call with the arguments %j has none', (given) => {
	const output = [{ type: 'function_call', name: 'now', call_id: 'c', arguments: given }];
	const response = { id: 'resp_1', status: 'completed', output };
	expect(fromResponse({ response, json: {} }).calls).toMatchObject([{ input: '{}' }]);
});
