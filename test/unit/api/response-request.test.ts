import { parseJson } from '../../../nodes/shared/api/http/json';
import { inputFromJson, textPart } from '../../../nodes/shared/api/responses/response-input';
import { checkResponseRequest } from '../../../nodes/shared/api/responses/response';
import { expectError, fail, refusalOf, reply, START, succeed } from './arrange';
import { BODY, creating, message } from './recorded-streams';

const OK = { id: 'resp_1', status: 'completed', model: 'text-1', output: [message('Hi')] };

const items = [{ role: 'user', content: 'Hi' }];

test('a request for a response goes through unchanged, with stream switched off and unknown fields', () => {
	const body = { ...BODY, input: items, stream: false, store: false, tools: [], x: { y: 1 } };
	const before = structuredClone(body);
	expect(checkResponseRequest(body)).toBe(body);
	expect(body).toEqual(before);
});

const streams = (stream: unknown) => ({ ...BODY, stream });

test.each<[string, object[], field: string, problem: string, advice: string]>([
	['no model', [{ input: 'x' }, { ...BODY, model: ' ' }], 'Model', 'is empty', 'exact ID'],
	['a model of another type', [{ ...BODY, model: {} }], 'Model', 'is not a text', 'exact ID'],
	['no input', [{ model: 'm' }, { ...BODY, input: '\n ' }], 'Prompt', 'is empty', 'answer to'],
	['an input of another type', [{ ...BODY, input: 5 }], 'Prompt', 'is not a text', 'answer to'],
	['no input item', [{ ...BODY, input: [] }], 'Prompt', 'is', 'answer to'],
	['messages', [{ ...BODY, messages: [] }], 'Extra Body', 'holds "messages"', 'Chat Compl'],
	['messages alone', [{ model: 'm', messages: [] }], 'Extra Body', 'holds "messages"', '"input"'],
	['stream', [true, 'no'].map(streams), 'Extra Body', 'asks to stream', 'Remove "stream"'],
])('a request for a response is refused before it is sent: %s', (...row) => {
	const [, bodies, field, problem, advice] = row;
	for (const body of bodies as Array<Record<string, unknown>>) {
		const error = refusalOf(() => checkResponseRequest(body));
		expectError(error, 'ValidationError', new RegExp(`${field} ${problem}`));
		expect(error).toMatchObject({ field });
		expect(error.details.advice).toContain(advice);
	}
});

describe('a response', () => {
	test('comes checked, as it was sent, and with the request’s ID', async () => {
		const body = { ...OK, service_tier: 'default', output: [...OK.output, { type: 'new', x: 1 }] };
		const answer = reply(200, body, { 'x-request-id': 'req_1' });
		const { value, sent } = await succeed([answer], creating);
		expect(value).toEqual({ response: body, json: body, requestId: 'req_1' });
		const request = { method: 'POST', path: '/responses', body: BODY, timeoutMs: 60_000 };
		expect(sent).toEqual([{ ...request, at: START }]);
	});

	test('that is paid for is not lost by fields that are absent, null or malformed', async () => {
		const usages = [undefined, null, 'free', { input_tokens: null }].map((usage) => ({ usage }));
		const others = [{ model: null }, { model: undefined }, { output: [] }, { error: null }];
		const statuses = [{ status: 'queued' }, { status: 'incomplete', incomplete_details: {} }];
		for (const more of [...usages, ...others, ...statuses]) {
			const answer = reply(200, { ...OK, ...more });
			const { json, response } = (await succeed([answer], creating)).value;
			expect([response.id, json]).toEqual(['resp_1', JSON.parse(answer.body)]);
		}
	});

	test('without output is an error that names it', async () => {
		const { error } = await fail([reply(200, { ...OK, output: undefined })], creating);
		const says = 'The gateway’s response is not as expected: field "output": missing';
		const partialText = '{"id":"resp_1","status":"completed","model":"text-1"}';
		const details = { advice: /executed and charged/, partialText };
		expectError(error, 'InvalidResponseError', says, details);
	});

	const failed = (error?: unknown, more: object = {}) => ({ status: 'failed', error, ...more });
	const T_C = { type: 'T', code: 'C' };
	const [TOO_LONG, NO_REASON] = ['failed: too long', 'failed: the gateway gave no reason'];

	test.each<[string, object, says: string, facts?: object]>([
		['failed', failed({ message: 'too long', ...T_C }), 'failed (C): too long', T_C],
		['failed without a reason', failed(null), NO_REASON],
		['failed with an empty reason', failed({ message: '' }), NO_REASON],
		['failed for a reason that is none', failed({ message: {} }), NO_REASON],
		['failed for a text', failed('too long'), TOO_LONG],
		['failed for a detail', failed({ detail: 'too long' }), TOO_LONG],
		['failed by its status', failed(null, { status_details: { error: 'too long' } }), TOO_LONG],
		['cancelled', { status: 'cancelled' }, 'was cancelled: the gateway gave no reason'],
		['canceled', { status: 'canceled', error: { message: 'x' } }, 'was cancelled: x'],
	])('that %s is an error', async (...row) => {
		const [, said, says, facts] = row;
		const body = { ...OK, output: undefined, ...said };
		const { error } = await fail([reply(200, body, { 'x-request-id': 'req_1' })], creating);
		const details = { retryable: false, charged: true, requestId: 'req_1', ...facts };
		const message = `The model’s response ${says}`;
		const advice = /may have been charged/;
		expectError(error, 'InvalidResponseError', message, { ...details, advice });
	});
});

const read = (value: unknown) => inputFromJson(value, 'Input', parseJson);

test.each<[string, unknown, unknown]>([
	['a list', items, items],
	['a list as text', JSON.stringify(items), items],
	['a list as text behind white space', `\n ${JSON.stringify(items)}`, items],
	['a message alone', items[0], items],
	['an item of another type alone', { type: 'reasoning' }, [{ type: 'reasoning' }]],
	['a text', 'Hi', 'Hi'],
	['a text with white space around it', '  Hi\n', 'Hi'],
	['a quoted text', '"Hi \\u00fc"', 'Hi ü'],
	['a text that begins by a quote', '"Hi" she said', '"Hi" she said'],
	['a text of digits', '7', '7'],
])('Input as JSON is %s', (_name, value, expected) => {
	expect(read(value)).toEqual(expected);
});

test.each<[problem: string, unknown[]]>([
	['is empty', [undefined, null, '', ' \n', '""', []]],
	['is not an input for a model', [7, { a: 1 }]],
	['holds "messages"', [{ messages: items }]],
	['is a whole request body', [{ model: 'm', input: 'Hi' }]],
])('Input as JSON is refused where it %s: %j', (problem, values) => {
	for (const value of values) {
		const error = refusalOf(() => read(value));
		expectError(error, 'ValidationError', `Input ${problem}`, { advice: /\.$/ });
	}
});

test('a text of the assistant is one of the output, others are of the input', () => {
	expect(textPart('assistant', 'Hi')).toEqual({ type: 'output_text', text: 'Hi' });
	expect(textPart('system', 'Hi')).toEqual({ type: 'input_text', text: 'Hi' });
});
