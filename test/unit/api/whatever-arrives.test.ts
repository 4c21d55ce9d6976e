import { InvalidResponseError, StreamError } from '../../../nodes/shared/api/errors/errors';
import type { Client } from '../../../nodes/shared/api/http/request';
import { getAnswerHints } from '../../../nodes/shared/api/responses/answer-hints';
import { createResponse } from '../../../nodes/shared/api/responses/response';
import { simplifyResponse } from '../../../nodes/shared/api/responses/response-output';
import { fail, reply, succeed } from './arrange';
import { BODY, bytes, event, message, streaming } from './recorded-streams';
import recorded from './recorded-answers.json';

const creating = async (client: Client) => await createResponse(client, BODY);

/** What a user gets of an answer, with and without streaming. */
async function answers(body: unknown) {
	const plain = await succeed([reply(200, body)], creating);
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	const streamed = await streaming([bytes(text)]).run();
	return [plain.value, streamed];
}

const OK = { id: 'r1', status: 'completed', output: [message('Hi')] };
const CUT_OFF = { incomplete_details: { reason: 'max_output_tokens' } };

describe('A plain request that is answered by the text of a stream', () => {
	const UNFINISHED = recorded['openai by subscription, plain: unfinished'];
	const WORDS = { status: 'incomplete', text: 'word0 word1 word2 word3 word4' };
	const CALLED = { name: 'look', arguments: { ok: true } };
	const marked = `\ufeff\n${event('response.completed', { response: OK })}`;

	test.each<[string, string, object]>([
		['that ends unfinished, as recorded', UNFINISHED, { ...WORDS, ...CUT_OFF }],
		['of a call', recorded['chat-only, streamed: function call'], { tool_calls: [CALLED] }],
		['behind a byte order mark', marked, { text: 'Hi' }],
	])('%s gets the answer', async (_, body, expected) => {
		const headers = { 'x-request-id': 'req_1' };
		const { value, sent } = await succeed([reply(200, body, headers)], creating);
		expect(simplifyResponse(value, BODY)).toMatchObject({ request_id: 'req_1', ...expected });
		expect(sent).toHaveLength(1);
	});

	test('that is cut gets an error with what is here', async () => {
		const body = recorded['openai by subscription, plain: cut after the first word'];
		const { error } = await fail([reply(200, body, { 'x-request-id': 'req_1' })], creating);
		expect(error).toBeInstanceOf(StreamError);
		expect(error.message).toBe('The answer ended before it was complete');
		const partial = { partialText: 'word0 ', partialOutput: [{ type: 'reasoning' }] };
		expect(error.details).toMatchObject({ requestId: 'req_1', ...partial, maybeExecuted: true });
	});
});

describe('An answer is read', () => {
	const text = (type: string) => [{ type: 'message', content: [{ type, text: 'Hi' }] }];

	test.each<[string, object]>([
		['whose content is a text', { ...OK, output: [{ type: 'message', content: 'Hi' }] }],
		['whose parts are texts', { ...OK, output: [{ type: 'message', content: ['Hi'] }] }],
		['whose parts are called text', { ...OK, output: text('text') }],
		['whose item has no type', { ...OK, output: [{ role: 'assistant', content: 'Hi' }] }],
		['whose text stands in output_text alone', { ...OK, output: [], output_text: 'Hi' }],
		['without output', { ...OK, output: undefined, output_text: 'Hi' }],
		['whose message is empty', { ...OK, output: [message()], output_text: 'Hi' }],
		['that has its text twice', { ...OK, output_text: 'Hi' }],
		['without a status', { ...OK, status: null }],
		['without an ID', { ...OK, id: undefined }],
		['whose ID is a number', { ...OK, id: 7 }],
	])('%s', async (_, body) => {
		for (const answer of await answers(body)) {
			expect(simplifyResponse(answer, BODY)).toMatchObject({ text: 'Hi', status: 'completed' });
			expect(getAnswerHints(answer)).toEqual([]);
		}
	});

	test('without a status that is incomplete, or failed', async () => {
		const [cut] = await answers({ ...OK, status: undefined, ...CUT_OFF });
		expect(cut!.response.status).toBe('incomplete');
		const broken = { ...OK, status: undefined, error: { code: 'C', message: 'Broke' } };
		const { error } = await fail([reply(200, broken)], creating);
		expect(error.message).toBe('The model’s response failed (C): Broke');
	});

	const ENDS = ['failed', 'cancelled', 'canceled'];
	test.each(ENDS)('as an error if it is %s, without output', async (status) => {
		const body = { id: 'r1', status, error: { message: 'Broke' } };
		const { error } = await fail([reply(200, body)], creating);
		expect(error).toBeInstanceOf(InvalidResponseError);
		expect(error.message).toMatch(/^The model’s response (failed|was cancelled): Broke$/);
	});
});

describe('An answer in the form of Chat Completions', () => {
	const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
	const chat = (message: object, finish_reason = 'stop') => ({
		id: 'chatcmpl-1',
		object: 'chat.completion',
		model: 'text-1',
		choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
		usage,
	});
	const tool_calls = [
		{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
		{ id: 'c2', type: 'function', function: { name: 'g', arguments: '' } },
	];
	const calls = [
		{ id: 'c1', name: 'f', arguments: { a: 1 } },
		{ id: 'c2', name: 'g', arguments: {} },
	];

	test.each<[string, object, object]>([
		['with a text', chat({ content: 'Hi' }), { text: 'Hi', status: 'completed' }],
		['with parts', chat({ content: [{ type: 'text', text: 'Hi' }] }), { text: 'Hi' }],
		['with calls', chat({ content: null, tool_calls }), { text: '', tool_calls: calls }],
		['with a refusal', chat({ refusal: 'No' }), { refusal: 'No' }],
		['with a thought', chat({ content: 'Hi', reasoning_content: 'Hm' }), { reasoning: ['Hm'] }],
		['that is cut off', chat({ content: 'Hi' }, 'length'), { status: 'incomplete', ...CUT_OFF }],
		['that does not say so', { ...chat({ content: 'Hi' }), object: undefined }, { text: 'Hi' }],
	])('%s is read, with a hint', async (_, body, expected) => {
		for (const answer of await answers(body)) {
			expect(simplifyResponse(answer, BODY)).toMatchObject({
				id: 'chatcmpl-1',
				usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
				...expected,
			});
			expect(getAnswerHints(answer).map(({ key }) => key)).toContain('another interface');
		}
	});

	const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => {
		const named = { id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'text-1' };
		const choices = [{ index: 0, delta, finish_reason }];
		return `data: ${JSON.stringify({ ...named, choices, ...more })}\n\n`;
	};
	const begun = (index: number) => {
		const { id, function: called } = tool_calls[index]!;
		return { tool_calls: [{ index, id, function: { name: called.name, arguments: '' } }] };
	};
	const more = (given: string) => ({ tool_calls: [{ index: 0, function: { arguments: given } }] });
	const texts = ['', 'H', 'i'].map((content) => ({ role: 'assistant', content }));
	const deltas = [...texts, begun(0), begun(1), more('{"a"'), more(':1}')];
	const CHUNKS = deltas.map((one) => chunk(one)).join('');

	test('is read as a stream too', async () => {
		const end = chunk({}, 'tool_calls') + chunk({}, null, { choices: [], usage });
		const stream = `${CHUNKS}${end}data: [DONE]\n\n`;
		const { run, seen } = streaming([bytes(stream)]);
		const plain = await succeed([reply(200, stream)], creating);
		for (const answer of [await run(), plain.value]) {
			const counted = { input_tokens: 3, output_tokens: 4 };
			const said = { id: 'chatcmpl-1', text: 'Hi', status: 'completed', tool_calls: calls };
			expect(simplifyResponse(answer, BODY)).toMatchObject({ ...said, usage: counted });
			expect(getAnswerHints(answer)).toMatchObject([{ key: 'another interface' }]);
		}
		expect(seen.pieces).toEqual(['H', 'i']);
	});

	test('that is cut is an error with its text', async () => {
		const error = await streaming([bytes(CHUNKS)]).failure();
		expect(error).toBeInstanceOf(StreamError);
		expect(error.details).toMatchObject({ partialText: 'Hi', maybeExecuted: true });
	});
});

test.each<[string, object, string[]]>([
	['that says nothing', { output: [] }, ['empty answer']],
	['that only thinks', { output: [{ type: 'reasoning' }, message()] }, ['empty answer']],
	['that calls a function', { output: [{ type: 'function_call', call_id: 'c', name: 'f' }] }, []],
	['that says something', {}, []],
	['of no tokens', { output: [], usage: { output_tokens: 0 } }, []],
	['of tokens that were not counted', { output: [], usage: null }, []],
	['that is incomplete', { output: [], status: 'incomplete' }, ['incomplete']],
])('of an answer %s the hints are told', async (_, more, keys) => {
	const [answer] = await answers({ ...OK, usage: { output_tokens: 7 }, ...more });
	const hints = getAnswerHints(answer!);
	expect(hints.map(({ key }) => key)).toEqual(keys);
	const EMPTY = /^The gateway counted 7 output tokens, but its answer is empty/;
	if (keys[0] === 'empty answer') expect(hints[0]!.message).toMatch(EMPTY);
});
