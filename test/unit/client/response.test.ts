import { AnswerError, CancelledError, InputError } from '../../../nodes/shared/client/errors';
import {
	checkResponseRequest,
	createResponse,
	type CreatedResponse,
} from '../../../nodes/shared/client/response';
import { simplifyResponse } from '../../../nodes/shared/client/response-output';
import { arrange, fault, KEY, refusalOf, reply, shown, START } from './arrange';

const BODY = { model: 'text-1', input: 'Hello' };

const OK = {
	id: 'resp_1',
	object: 'response',
	status: 'completed',
	model: 'text-1',
	output: [message('Hello to you')],
	usage: { input_tokens: 1, output_tokens: 3, total_tokens: 4 },
};

function message(...texts: string[]) {
	const content = texts.map((text) => ({ type: 'output_text', text, annotations: [] }));
	return { type: 'message', role: 'assistant', content };
}

describe('a request for a response goes through', () => {
	test.each([
		['with model and text', BODY],
		['with input items', { ...BODY, input: [{ role: 'user', content: 'Hi' }] }],
		['with stream switched off', { ...BODY, stream: false }],
		['with fields that are not known here', { ...BODY, store: false, tools: [], x: { y: 1 } }],
	])('%s, unchanged', (_, body) => {
		const before = structuredClone(body);
		expect(checkResponseRequest(body)).toBe(body);
		expect(body).toEqual(before);
	});
});

describe('a request for a response is refused before anything is sent', () => {
	test.each([
		['no model', { input: 'x' }, 'Model', 'is empty', 'exact ID'],
		['an empty model', { ...BODY, model: '' }, 'Model', 'is empty', 'exact ID'],
		['a blank model', { ...BODY, model: '  ' }, 'Model', 'is empty', 'exact ID'],
		['a model of another type', { ...BODY, model: {} }, 'Model', 'is not a text', 'exact ID'],
		['no input', { model: 'm' }, 'Prompt', 'is empty', 'answer to'],
		['an empty input', { ...BODY, input: '' }, 'Prompt', 'is empty', 'answer to'],
		['a blank input', { ...BODY, input: '\n ' }, 'Prompt', 'is empty', 'answer to'],
		['an input of another type', { ...BODY, input: 5 }, 'Prompt', 'is not a text', 'answer to'],
		['no input item', { ...BODY, input: [] }, 'Prompt', 'is', 'answer to'],
		['messages', { ...BODY, messages: [] }, 'Extra Body', 'holds "messages"', 'Chat Completions'],
		['messages alone', { model: 'm', messages: [] }, 'Extra Body', 'holds "messages"', '"input"'],
		['stream: true', { ...BODY, stream: true }, 'Extra Body', 'asks to stream', 'Remove "stream"'],
		['stream: "no"', { ...BODY, stream: 'no' }, 'Extra Body', 'asks to stream', 'Remove "stream"'],
	])('%s', (_, body, field, problem, advice) => {
		const error = refusalOf(() => checkResponseRequest(body));
		expect(error).toBeInstanceOf(InputError);
		expect(error).toMatchObject({ field });
		expect(error.message).toContain(`${field} ${problem}`);
		expect(error.facts.advice).toContain(advice);
	});
});

describe('a response', () => {
	test('is asked for by one POST with the body as it is', async () => {
		const { client, sent, drive } = arrange([reply(200, OK)]);
		await drive(createResponse(client, BODY));
		expect(sent).toEqual([
			{ method: 'POST', path: '/responses', body: BODY, timeoutMs: 60_000, at: START },
		]);
	});

	test('comes checked, as it was sent, and with the request’s ID', async () => {
		const body = { ...OK, service_tier: 'default', output: [...OK.output, { type: 'new', x: 1 }] };
		const { client, drive } = arrange([reply(200, body, { 'x-request-id': 'req_1' })]);
		await expect(drive(createResponse(client, BODY))).resolves.toEqual({
			response: body,
			json: body,
			requestId: 'req_1',
		});
	});

	test.each([
		['no usage', { usage: undefined }],
		['a usage of null', { usage: null }],
		['a usage of another type', { usage: 'free' }],
		['a usage with null in it', { usage: { input_tokens: null } }],
		['a usage of texts', { usage: { input_tokens: '1' } }],
		['a model of null', { model: null }],
		['no model', { model: undefined }],
		['an unknown status', { status: 'queued' }],
		['status incomplete', { status: 'incomplete', incomplete_details: { reason: 'x' } }],
		['no output items', { output: [] }],
		['an error of null', { error: null }],
	])('that is paid for is not lost by %s', async (_, more) => {
		const body = { ...OK, ...more };
		const { client, drive } = arrange([reply(200, body)]);
		const { response, json } = await drive(createResponse(client, BODY));
		expect(response.id).toBe('resp_1');
		expect(json).toEqual(JSON.parse(JSON.stringify(body)));
	});

	test.each([
		['output', { output: undefined }, 'field "output": Required'],
		['an item’s type', { output: [message('a'), { role: 'x' }] }, 'field "output[1].type"'],
		['status', { status: undefined }, 'field "status": Required'],
		['id', { id: undefined }, 'field "id": Required'],
	])('without %s is an error that names it', async (_, more, names) => {
		const { client, failure } = arrange([reply(200, { ...OK, ...more })]);
		const error = await failure(createResponse(client, BODY));
		expect(error).toBeInstanceOf(AnswerError);
		expect(error.message).toContain(`The gateway’s response is not as expected: ${names}`);
		expect(error.facts.advice).toContain('may have been executed and charged');
		expect(error.facts.retryable).toBe(false);
	});

	test.each([
		['failed', 'failed', { message: 'too long', type: 'T', code: 'C' }, 'failed: too long'],
		['failed without a reason', 'failed', null, 'failed: the gateway gave no reason'],
		[
			'failed with an empty reason',
			'failed',
			{ message: '' },
			'failed: the gateway gave no reason',
		],
		['failed for a reason that is none', 'failed', { message: {} }, 'failed: the gateway gave no'],
		['cancelled', 'cancelled', undefined, 'was cancelled: the gateway gave no reason'],
	])('that %s is an error', async (_, status, said, says) => {
		const { client, sent, failure } = arrange([
			reply(200, { ...OK, status, error: said, output: [] }, { 'x-request-id': 'req_1' }),
		]);
		const error = await failure(createResponse(client, BODY));
		expect(error).toBeInstanceOf(AnswerError);
		expect(error.message).toContain(`The model’s response ${says}`);
		expect(error.facts).toMatchObject({ retryable: false, requestId: 'req_1' });
		expect(error.facts.advice).toContain('may have been charged');
		if (said && 'type' in said) expect(error.facts).toMatchObject({ type: 'T', code: 'C' });
		expect(sent).toHaveLength(1);
	});

	test('that failed shows no key, and one line', async () => {
		const nasty = `key ${KEY}\n${'x'.repeat(5000)}`;
		const { client, failure } = arrange([
			reply(200, { ...OK, status: 'failed', error: { message: nasty, type: nasty, code: nasty } }),
		]);
		const error = await failure(createResponse(client, BODY));
		expect(shown(error)).not.toContain(KEY);
		expect(error.message).not.toContain('\n');
		expect(error.message.length).toBeLessThan(600);
	});

	test.each([
		['a lost connection', fault('lost')],
		['a time-out', fault('timeout')],
		['408', reply(408)],
		['502', reply(502)],
		['504', reply(504)],
	])('is not asked for a second time after %s', async (_, outcome) => {
		const { client, sent, failure } = arrange([outcome]);
		const { facts } = await failure(createResponse(client, BODY));
		expect(sent).toHaveLength(1);
		expect(facts.advice).toMatch(
			/^The request may have been executed and charged\. Check the usage/,
		);
	});

	test('is not asked for after a cancel', async () => {
		const { client, sent, cancel, failure } = arrange();
		cancel();
		await expect(failure(createResponse(client, BODY))).resolves.toBeInstanceOf(CancelledError);
		expect(sent).toHaveLength(0);
	});
});

describe('a simplified response', () => {
	function created(more: object = {}, requestId?: string): CreatedResponse {
		const json = { ...OK, ...more };
		return { response: json, json, requestId };
	}

	test('is what most workflows go on with', () => {
		expect(simplifyResponse(created({}, 'req_1'), BODY)).toEqual({
			id: 'resp_1',
			status: 'completed',
			model: 'text-1',
			text: 'Hello to you',
			usage: { input_tokens: 1, output_tokens: 3, total_tokens: 4 },
			request_id: 'req_1',
		});
	});

	test('leaves out what is not there', () => {
		const simple = simplifyResponse(created({ model: undefined, output: [] }), BODY);
		expect(Object.keys(simple).sort()).toEqual(['id', 'status', 'text', 'usage']);
		expect(simple.text).toBe('');
	});

	test.each([
		['absent', undefined],
		['null', null],
	])('has usage null where it is %s', (_, usage) => {
		expect(simplifyResponse(created({ usage }), BODY).usage).toBeNull();
	});

	test('keeps unknown fields of the usage', () => {
		const usage = { input_tokens: 1, details: { cached: 1 } };
		expect(simplifyResponse(created({ usage }), BODY).usage).toEqual(usage);
	});

	test('has the text of all message items, in order, and of nothing else', () => {
		const output = [
			{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
			message('One, ', 'two, '),
			{ type: 'web_search_call', id: 'ws_1', text: 'no' },
			{ type: 'message', role: 'assistant', content: [{ type: 'hologram', text: 'no' }] },
			message('three'),
		];
		expect(simplifyResponse(created({ output }), BODY).text).toBe('One, two, three');
	});

	test('is not troubled by items it does not know, nor by malformed ones', () => {
		const output = [
			{ type: 'message' },
			{ type: 'message', content: null },
			{ type: 'message', content: 'text' },
			{ type: 'message', content: [null, 5, 'x', {}, { type: 'output_text' }] },
			{ type: 'message', content: [{ type: 'output_text', text: 5 }] },
			{ type: 'from_the_future', content: [{ type: 'output_text', text: 'no' }] },
			message('yes'),
		];
		expect(simplifyResponse(created({ output }), BODY).text).toBe('yes');
	});

	describe('has tool calls', () => {
		const call = (given: unknown) => ({
			type: 'function_call',
			id: 'fc_1',
			call_id: 'call_1',
			name: 'weather',
			arguments: given,
		});

		test.each<[string, unknown, unknown]>([
			['parsed', '{"city":"Rome","days":[1,2]}', { city: 'Rome', days: [1, 2] }],
			['parsed where they are a list', '[1]', [1]],
			['as they are where they can’t be parsed', '{"city":', '{"city":'],
			['as they are where they are empty', '', ''],
			['as they are where they are parsed already', { city: 'Rome' }, { city: 'Rome' }],
			['as they are where they are absent', undefined, undefined],
		])('with arguments %s', (_, given, expected) => {
			const { tool_calls } = simplifyResponse(created({ output: [call(given)] }), BODY);
			expect(tool_calls).toEqual([{ id: 'call_1', name: 'weather', arguments: expected }]);
		});

		test('in order, beside the text', () => {
			const output = [{ ...call('{}'), name: 'a' }, message('Wait'), { ...call('{}'), name: 'b' }];
			const simple = simplifyResponse(created({ output }), BODY);
			expect(simple.tool_calls?.map(({ name }) => name)).toEqual(['a', 'b']);
			expect(simple.text).toBe('Wait');
		});

		test('without what the gateway left out', () => {
			const output = [{ type: 'function_call', arguments: '{}' }];
			expect(simplifyResponse(created({ output }), BODY).tool_calls).toEqual([{ arguments: {} }]);
		});
	});

	describe('where JSON was asked for', () => {
		const asked = (type: string) => ({
			...BODY,
			text: { format: { type, name: 'x', schema: {} } },
		});
		const answering = (text: string) => created({ output: [message(text)] });

		test.each(['json_object', 'json_schema'])('(%s) has it parsed beside the text', (type) => {
			const simple = simplifyResponse(answering('{"a":[1]}'), asked(type));
			expect(simple).toMatchObject({ text: '{"a":[1]}', parsed: { a: [1] } });
		});

		test('has it parsed from all parts together', () => {
			const simple = simplifyResponse(
				created({ output: [message('{"a":', '1}')] }),
				asked('json_object'),
			);
			expect(simple.parsed).toEqual({ a: 1 });
		});

		test('and something else came, is an error that keeps the text which was paid for', () => {
			const error = refusalOf(() => simplifyResponse(answering('Sure!'), asked('json_object')));
			expect(error).toBeInstanceOf(AnswerError);
			expect(error.message).toBe('The model’s answer is not JSON: Sure!');
			expect(error.facts).toMatchObject({ retryable: false, partialText: 'Sure!' });
			expect(error.facts.advice).toContain('paid for');
		});
	});

	test.each([
		['text was asked for', { format: { type: 'text' } }],
		['nothing was asked for', undefined],
		['the format is null', { format: null }],
		['text is null', null],
		['text is a text', 'json_object'],
	])('has nothing parsed where %s', (_, text) => {
		const output = [message('{"a":1}')];
		expect(simplifyResponse(created({ output }), { ...BODY, text })).not.toHaveProperty('parsed');
	});

	test('of an answer that was cut off says why', () => {
		const incomplete_details = { reason: 'max_output_tokens' };
		const simple = simplifyResponse(created({ status: 'incomplete', incomplete_details }), BODY);
		expect(simple).toMatchObject({ status: 'incomplete', incomplete_details });
	});
});
