import { findAddedInstructions } from '../../../nodes/shared/api/responses/added-instructions';
import { prepareRequest } from '../../../nodes/shared/api/responses/prepare-request';

const system = (content: unknown, role = 'system') => ({ role, content });
const user = { role: 'user', content: 'Hi' };
const part = (text: string) => ({ type: 'input_text', text });
const image = { type: 'input_image', image_url: 'https://pictures.example.com/boat.png' };

const TAKEN = { instructions: 'A', input: [user] };
const typed = { type: 'message', ...system([part('B')], 'developer') };

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
	['one', { input: [system('A'), user] }, TAKEN],
	['several', { input: [system('A'), typed, user] }, { instructions: 'A\n\nB', input: [user] }],
	['instructions that are null', { instructions: null, input: 'Hi' }, { input: 'Hi' }],
	['a message of blanks', { input: [system(' '), user] }, { input: [user] }],
	['blank ones', { instructions: ' \n', input: [system('A'), user] }, TAKEN],
])('System and developer messages at the head become instructions: %s', (_name, body, sent) => {
	expect(prepareRequest(body)).toEqual(sent);
});

test.each<[string, Record<string, unknown>]>([
	['beside instructions', { instructions: 'B', input: [system('A'), user] }],
	['beside a stored prompt', { prompt: { id: 'pmpt_1' }, input: [system('A'), user] }],
	['after another message', { input: [user, system('A')] }],
	['with an image', { input: [system([part('A'), image]), user] }],
	['as the only message', { input: [system('A')] }],
])('System and developer messages stay %s', (_name, body) => {
	expect(prepareRequest(body)).toEqual(body);
});

const file = { type: 'input_file', filename: 'file.csv', file_data: 'data:text/csv;base64,YQ==' };
test.each<[string, unknown, unknown]>([
	['one text of several', [part('One'), part('Two')], 'One\nTwo'],
	['parts, if it has a file', [part('One'), file], [part('One'), file]],
])('The result of a tool goes out as %s', (_name, output, sent) => {
	const result = { type: 'function_call_output', call_id: 'c' };
	const { input } = prepareRequest({ input: [{ ...result, output }] });
	expect(input).toEqual([{ ...result, output: sent }]);
});

describe('Tokens that the request cannot have', () => {
	const body = { model: 'm', input: 'hello' };
	const find = (more: object, input_tokens = 5335) =>
		findAddedInstructions({ ...body, ...more }, { usage: { input_tokens } });

	test('are told with their number and the bytes of the request', () => {
		const COUNTED = 'The gateway counted 5,335 input tokens for a request of 29 bytes';
		expect(find({})).toBe(`${COUNTED}. It may add instructions of its own`);
		expect(findAddedInstructions(body, { usage: null })).toBeUndefined();
		const large = find({ input: 'ü'.repeat(12_000) }, 1_234_567);
		expect(large).toContain('1,234,567 input tokens for a request of 24,024 bytes');
	});

	const returned = { type: 'function_call_output', output: [{ type: 'input_file', file_id: 'f' }] };

	test.each<[string, object]>([
		['with instructions', { instructions: 'Be kind' }],
		['with an image', { input: [{ role: 'user', content: [part('A'), image] }] }],
		['with a file that a tool returned', { input: [returned] }],
		['with a stored response', { previous_response_id: 'resp_1' }],
		['with a stored conversation', { conversation: 'conv_1' }],
		['with a stored prompt', { prompt: { id: 'pmpt_1' } }],
		['with a stored item', { input: [{ type: 'item_reference', id: 'msg_1' }, user] }],
		['with a stored thought', { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }, user] }],
		['with a hosted tool', { tools: [{ type: 'web_search' }] }],
	])('are not looked for in a request %s', (_name, more) => {
		expect(find(more)).toBeUndefined();
	});

	const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
	const output = { type: 'function_call_output', call_id: 'c', output: 'A' };

	test.each<[string, object]>([
		['one token more', {}],
		['blank instructions', { instructions: ' ' }],
		['a function', { tools: [{ type: 'function', name: 'f' }] }],
		['a call and its output', { input: [user, call, output] }],
	])('are found with %s', (_name, more) => {
		const bytes = Buffer.byteLength(JSON.stringify({ ...body, ...more }));
		expect(find(more, bytes + 501)).toBeDefined();
		expect(find(more, bytes + 500)).toBeUndefined();
	});
});
