import type { Client } from '../../../nodes/shared/api/http/request';
import { inputFromJson, textPart } from '../../../nodes/shared/api/responses/response-input';
import { checkResponseRequest, createResponse } from '../../../nodes/shared/api/responses/response';
import { expectError, fail, refusalOf, reply, START, succeed } from './arrange';

const BODY = { model: 'text-1', input: 'Hello' };

const said = { type: 'message', content: [{ type: 'output_text', text: 'Hello to you' }] };
const OK = { id: 'resp_1', status: 'completed', model: 'text-1', output: [said] };

const creating = async (client: Client) => await createResponse(client, BODY);

test.each([
	['with model and text', BODY],
	['with input items', { ...BODY, input: [{ role: 'user', content: 'Hi' }] }],
	['with stream switched off', { ...BODY, stream: false }],
	['with fields that are not known here', { ...BODY, store: false, tools: [], x: { y: 1 } }],
])('a request for a response goes through %s, unchanged', (_, body) => {
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
			const body = { ...OK, ...more };
			const { value } = await succeed([reply(200, body)], creating);
			expect(value.response.id).toBe('resp_1');
			expect(value.json).toEqual(JSON.parse(JSON.stringify(body)));
		}
	});

	test('without output is an error that names it', async () => {
		const { error } = await fail([reply(200, { ...OK, output: undefined })], creating);
		const says = 'The gateway’s response is not as expected: field "output": missing';
		expectError(error, 'InvalidResponseError', says, { advice: /executed and charged/ });
	});

	const NO_REASON = 'the gateway gave no reason';

	test.each<[string, string, { type?: string; message?: unknown } | null | undefined, string]>([
		['failed', 'failed', { message: 'too long', type: 'T' }, 'failed: too long'],
		['failed without a reason', 'failed', null, `failed: ${NO_REASON}`],
		['failed with an empty reason', 'failed', { message: '' }, `failed: ${NO_REASON}`],
		['failed for a reason that is none', 'failed', { message: {} }, `failed: ${NO_REASON}`],
		['cancelled', 'cancelled', undefined, `was cancelled: ${NO_REASON}`],
		['canceled', 'canceled', null, `was cancelled: ${NO_REASON}`],
	])('that %s is an error', async (_, status, said, says) => {
		const body = { ...OK, status, error: said && { ...said, code: 'C' }, output: undefined };
		const { error } = await fail([reply(200, body, { 'x-request-id': 'req_1' })], creating);
		const told = said ? says.replace(':', ' (C):') : says;
		const details = { retryable: false, charged: true, requestId: 'req_1' };
		const advice = /may have been charged/;
		expectError(error, 'InvalidResponseError', `The model’s response ${told}`, {
			...details,
			advice,
		});
		expect([error.details.type, error.details.code]).toEqual([said?.type, said ? 'C' : undefined]);
	});

	test.each<[string, object]>([
		['as a text', { error: 'too long' }],
		['as a detail', { error: { detail: 'too long' } }],
		['in the details of its status', { status_details: { error: { message: 'too long' } } }],
	])('that failed tells the reason that stands %s', async (_, said) => {
		const { error } = await fail([reply(200, { ...OK, status: 'failed', ...said })], creating);
		expect(error.message).toBe('The model’s response failed: too long');
	});
});

const read = (value: unknown) =>
	inputFromJson(value, 'Input', (json) => {
		try {
			return JSON.parse(json) as unknown;
		} catch {
			return undefined;
		}
	});

const items = [{ role: 'user', content: 'Hi' }];

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
	for (const role of ['user', 'system', 'developer'] as const)
		expect(textPart(role, 'Hi')).toEqual({ type: 'input_text', text: 'Hi' });
});
