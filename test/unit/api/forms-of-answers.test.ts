import { fromResponse } from '../../../nodes/LmChatModelAccess/from-response';
import { getAnswerHints } from '../../../nodes/shared/api/responses/answer-hints';
import { simplifyResponse } from '../../../nodes/shared/api/responses/response-output';
import { expectError, fail, reply, succeed } from './arrange';
import recorded from './recorded-answers.json';
import { added, BODY, bytes, completed, creating } from './recorded-streams';
import { delta, event, message, streaming } from './recorded-streams';

/** What comes of a body, plain and streamed. */
async function answers(body: unknown) {
	const { value } = await succeed([reply(200, body)], creating);
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	return [value, await streaming([bytes(text)]).run()];
}

/** Events without a name. */
const data = (...all: object[]) => all.map((json) => `data: ${JSON.stringify(json)}\n\n`).join('');

const OK = { id: 'r1', status: 'completed', output: [message('Hi')] };
const CUT_OFF = { incomplete_details: { reason: 'max_output_tokens' } };
const says = (...output: unknown[]) => ({ ...OK, output });
const content = (given: unknown, more: object = {}) =>
	says({ type: 'message', content: given, ...more });
const [PART] = message('Hi').content;
const SAID = { role: 'assistant', content: 'Hi' };

/** A stream of one event, then its end. */
const ended = (type: string, fields: object) => event(`response.${type}`, fields) + completed();

const WITHOUT_BLANK_LINES = (delta('Hi') + completed()).replace(/^event.*\n|\n(?=\n)/gm, '');

test.each<[string, unknown]>([
	['whose content is a text', content('Hi')],
	['whose content is one part', content(PART)],
	['whose content holds parts', content({ parts: [{ text: 'Hi' }] })],
	['whose parts are texts', content(['Hi'])],
	['whose parts are called text', content([{ type: 'text', text: 'Hi' }])],
	['whose text is in an object', content([{ text: { value: 'Hi' } }])],
	['whose message has parts', says({ type: 'message', role: 'model', parts: [{ text: 'Hi' }] })],
	['whose message has a text', says({ type: 'message', text: 'Hi' })],
	['whose item has no type', says(SAID)],
	['whose parts have no type', says({ role: 'model', parts: [{ text: 'Hi' }] })],
	['whose items are texts', says('Hi')],
	['whose items are parts', says({ type: 'output_text', text: 'Hi' })],
	['with items that are none', says(null, 7, { foo: 1 }, message('Hi'))],
	['whose output is a text', { ...OK, output: 'Hi' }],
	['whose output is one item', { ...OK, output: message('Hi') }],
	['whose text stands in output_text alone', { ...OK, output: [], output_text: 'Hi' }],
	['whose output_text is a list', { ...OK, output: [], output_text: ['H', 'i'] }],
	['without output', { ...OK, output: undefined, output_text: 'Hi' }],
	['whose message is empty', { ...OK, output: [message()], output_text: 'Hi' }],
	['that has another text beside it', { ...OK, output_text: 'No' }],
	['in a wrapper of data', { code: 0, message: 'ok', data: OK }],
	['in a wrapper of a response', { type: 'response.completed', response: OK }],
	['in a wrapper of a list of a result', [{ result: OK }]],
	['in a text', JSON.stringify(JSON.stringify(OK))],
	['in an event', data(OK)],
	['in an event with a chat completion', data({ choices: [{ message: { content: 'Hi' } }] })],
	['behind pings', `: ping\n: ping\n\n : ping\r${JSON.stringify(OK)}`],
	['in an event behind a byte order mark', `\ufeff\n${completed(OK)}`],
	['in events without blank lines', WITHOUT_BLANK_LINES],
	['in events of parts alone', ended('content_part.done', { part: PART })],
	['in events of the Realtime interface', ended('text.delta', { delta: 'Hi' })],
	['in deltas that are objects', ended('output_text.delta', { delta: { text: 'Hi' } })],
	['in a delta that is called text', ended('output_text.delta', { text: 'Hi' })],
	['in the event of an item without a type', ended('output_item.done', { item: SAID })],
	['in an end that is the response itself', delta('Hi') + event('response.done', OK)],
	['in two responses, of which the first counts', completed(OK) + delta('No') + completed()],
])('an answer %s is read', async (_what, body) => {
	for (const answer of await answers(body)) {
		expect(simplifyResponse(answer, BODY)).toMatchObject({ text: 'Hi', status: 'completed' });
		expect(fromResponse(answer)).toMatchObject({ text: 'Hi', finishReason: 'stop' });
		expect(getAnswerHints(answer)).toEqual([]);
	}
});

const THOUGHT = { type: 'reasoning', summary: [] };
const UNSAID = { output: [THOUGHT, message()], output_text: 'Hi' };

test.each<[string, object, object]>([
	['an ID that is a number', { id: 7 }, { id: '7' }],
	['an ID that is an object', { id: {} }, { id: '' }],
	['no ID', { id: undefined }, { id: '' }],
	['no status', { status: null }, { status: 'completed' }],
	['a status that is a number', { status: 200 }, { status: 'completed' }],
	['a usage that is a text', { usage: 'free' }, { usage: undefined }],
	['a thought alone', { output: [THOUGHT] }, { output: [THOUGHT] }],
	['a thought beside an empty message', UNSAID, { output: [THOUGHT, message('Hi')] }],
])('an answer with %s has the form of the contract', async (_, more, expected) => {
	for (const { response } of await answers({ ...OK, ...more }))
		expect(response).toMatchObject(expected);
});

const UNFINISHED = { status: 'incomplete', text: 'word0 word1 word2 word3 word4', ...CUT_OFF };
const tool_calls = [{ name: 'look', arguments: { ok: true } }];
test.each([
	['openai by subscription, plain: unfinished', UNFINISHED],
	['chat-only, streamed: function call', { tool_calls }],
] as const)('a plain request that is answered by a recorded stream gets it: %s', async (...row) => {
	const [name, expected] = row;
	const answer = reply(200, recorded[name], { 'x-request-id': 'req_1' });
	const { value, sent } = await succeed([answer], creating);
	expect(simplifyResponse(value, BODY)).toMatchObject({ request_id: 'req_1', ...expected });
	expect(sent).toHaveLength(1);
});

test('a plain request that is answered by a stream which is cut gets what is here', async () => {
	const body = recorded['openai by subscription, plain: cut after the first word'];
	const { error } = await fail([reply(200, body, { 'x-request-id': 'req_1' })], creating);
	const partial = { partialText: 'word0 ', partialOutput: [{ type: 'reasoning' }] };
	const details = { requestId: 'req_1', ...partial, maybeExecuted: true };
	expectError(error, 'StreamError', 'The answer ended before it was complete', details);
});

const A1 = { a: 1 };
const ARGUMENTS = '{"a":1}';
const CALL = { type: 'function_call', call_id: 'c', name: 'f' };
const calls = (given: unknown) => says({ ...CALL, arguments: given });
const begun = added(0, { ...CALL, arguments: '' });
const chunk = (more: object, finish_reason: string | null = null) =>
	data({ object: 'chat.completion.chunk', choices: [{ index: 0, delta: more, finish_reason }] });

/** The call of other interfaces: of Chat Completions, of Claude, of Gemini. */
const chatCalls = (given: unknown) => ({
	tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: given } }],
});
const toolUse = (input: object) => ({ type: 'tool_use', id: 'c', name: 'f', input });
const candidate = (parts: object[], more: object = {}) => ({
	candidates: [{ content: { role: 'model', parts }, ...more }],
});
const functionCall = { functionCall: { id: 'c', name: 'f', args: A1 } };

/** The events of one block of Claude's, between the first and the last ones. */
const claudeStream = (stop_reason: string, ...blocks: object[]) =>
	data(
		{ type: 'message_start', message: { id: 'm', role: 'assistant', usage: { input_tokens: 3 } } },
		...blocks,
		{ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 4 } },
		{ type: 'message_stop' },
	);
const block = (index: number, fields: { content_block: object } | { delta: object }) => {
	const kind = 'delta' in fields ? 'delta' : 'start';
	return { type: `content_block_${kind}`, index, ...fields };
};
const input = (partial_json: string) =>
	block(0, { delta: { type: 'input_json_delta', partial_json } });
const claudeCall = [block(0, { content_block: toolUse({}) }), ...['{"a"', ':1}'].map(input)];

test.each<[string, unknown]>([
	['whose arguments are an object', calls(A1)],
	['whose arguments are a text of a text', calls(JSON.stringify(ARGUMENTS))],
	['in a message', says({ ...message(), ...chatCalls(ARGUMENTS) })],
	['in a content', content([toolUse(A1)])],
	['as an item', says(toolUse(A1))],
	['of Gemini', candidate([functionCall])],
	['of Gemini, streamed', data(candidate([functionCall], { finishReason: 'STOP' }))],
	['in deltas that are objects', begun + ended('function_call_arguments.delta', { delta: A1 })],
	['in an end that is an object', begun + ended('function_call_arguments.done', { arguments: A1 })],
	['in chunks, whose arguments are an object', chunk(chatCalls(A1)) + chunk({}, 'tool_calls')],
	['in events of Claude', claudeStream('tool_use', ...claudeCall)],
])('the call of a function is read %s', async (_what, body) => {
	for (const answer of await answers(body)) {
		const tool_calls = [{ id: 'c', name: 'f', arguments: A1 }];
		expect(simplifyResponse(answer, BODY)).toMatchObject({ text: '', tool_calls });
		const call = { toolCallId: 'c', toolName: 'f', input: ARGUMENTS };
		expect(fromResponse(answer).calls).toMatchObject([call]);
	}
});

const UNREADABLE = ['{"a":1}{"b":2}', '{}{"ok":', 'x{}{"a":1}', '[{}{"a":1}]'];
test.each<[string, unknown[], unknown]>([
	['are none if they are empty or absent', ['', ' \n', null, 'null', '""', '" "', undefined], {}],
	['do not begin with empty objects', ['{}{"a":1}', '{} { }\n{"a":1}'], A1],
	['are one empty object of two', ['{}{}'], {}],
	['stay as they are if they can’t be read', UNREADABLE, undefined],
])('the arguments of a call %s', async (_, all, expected) => {
	for (const given of all) {
		const [answer] = await answers(calls(given));
		const [call] = simplifyResponse(answer!, BODY).tool_calls as Array<{ arguments: unknown }>;
		expect([given, call!.arguments]).toEqual([given, expected ?? given]);
	}
});

describe('An answer in the form of another interface', () => {
	const usage = { input_tokens: 3, output_tokens: 4 };
	const counted = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
	const chat = (said: object, finish_reason = 'stop') => ({
		...{ id: 'chatcmpl-1', object: 'chat.completion', model: 'text-1', usage: counted },
		choices: [{ index: 0, message: { role: 'assistant', ...said }, finish_reason }],
	});
	const chatCall = (index: number, id: string, name: string, given = '') => ({
		...{ index, id, type: 'function', function: { name, arguments: given } },
	});
	const [tool_calls, begunCalls] = [ARGUMENTS, ''].map((given) => [
		...['f', 'g'].map((name, n) => chatCall(n, `c${n}`, name, given)),
		chatCall(2, 'c2', 'h'),
	]);
	const threeCalls = [
		...['f', 'g'].map((name, n) => ({ id: `c${n}`, name, arguments: A1 })),
		{ id: 'c2', name: 'h', arguments: {} },
	];
	const more = ['{"a"', ':1}'].flatMap((given) =>
		[0, 1].map((index) => ({ index, function: { arguments: given } })),
	);
	const words = ['', 'H', 'i'].map((said) => ({ role: 'assistant', content: said }));
	const deltas = [...words, ...[...begunCalls!, ...more].map((call) => ({ tool_calls: [call] }))];
	// Azure begins by a chunk without a choice.
	const empty = { object: 'chat.completion.chunk', choices: [] };
	const CHUNKS = data(empty) + deltas.map((one) => chunk(one)).join('');
	const counts = data({ ...empty, id: 'chatcmpl-1', usage });
	const STREAM = `${CHUNKS}${chunk({}, 'tool_calls')}${counts}data: [DONE]\n\n`;
	// A chunk need not say what it is.
	const bare = data({ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] });
	const thought = chat({ content: 'Hi', reasoning_content: 'Hm' });
	const early = { content: null, function_call: { name: 'f', arguments: ARGUMENTS } };
	const chunks = (...all: object[]) =>
		all.map((one) => chunk(one)).join('') + chunk({}, 'stop') + counts;
	const i = [{ type: 'text', text: 'i' }];
	const thoughts = [{ reasoning: 'H' }, { content: 'H' }, { reasoning: 'm' }, { content: i }];
	const no = [{ refusal: 'N' }, { refusal: 'o' }];
	const finish_reason = 'stop';
	const choices = [{ text: 'Hi', finish_reason }];
	const completion = { ...chat({}), object: 'text_completion', choices };
	const EARLY = { tool_calls: [{ name: 'f', arguments: A1 }] };

	const texts = [
		{ type: 'thinking', thinking: 'Hm' },
		{ type: 'text', text: 'Hi' },
	];
	const claude = (stop_reason: string) => ({
		...{ id: 'm', type: 'message', role: 'assistant', content: texts, stop_reason, usage },
	});
	const claudeEvents = (stop_reason: string) =>
		claudeStream(
			stop_reason,
			block(0, { delta: { type: 'thinking_delta', thinking: 'Hm' } }),
			block(1, { content_block: { type: 'text', text: '' } }),
			...['H', 'i'].map((text) => block(1, { delta: { type: 'text_delta', text } })),
		);
	const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 4 };
	const gemini = (finishReason: string | undefined, ...parts: object[]) => {
		return { ...candidate(parts, { finishReason }), usageMetadata };
	};
	const [hm, hi] = [{ text: 'Hm', thought: true }, { text: 'Hi' }];
	const geminiEvents = data(gemini(undefined, { text: 'H' }), gemini('STOP', { text: 'i' }, hm));
	const SAYS = { text: 'Hi', status: 'completed' };
	const WHOLE = { ...SAYS, reasoning: ['Hm'] };
	const CALLS = { id: 'chatcmpl-1', ...SAYS, tool_calls: threeCalls };
	const CUT = { text: 'Hi', status: 'incomplete', ...CUT_OFF };
	const FILTERED = { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };

	test.each<[string, unknown, Record<string, unknown>, RegExp]>([
		['of a chat completion', chat({ content: 'Hi' }), SAYS, /Chat Completions/],
		['of a chat completion, streamed', STREAM, CALLS, /Chat Completions/],
		['of a bare chunk', bare, { ...SAYS, usage: null }, /Chat Completions/],
		['whose content is parts', chat({ content: [texts[1]] }), SAYS, /./],
		['with calls', chat({ content: null, tool_calls }), { text: '', tool_calls: threeCalls }, /./],
		['with a call of early ones', chat(early), EARLY, /./],
		['with a call of early ones, streamed', chunks(early), EARLY, /./],
		['with a refusal, streamed', chunks(...no), { refusal: 'No' }, /./],
		['with a thought, streamed', chunks(...thoughts), WHOLE, /./],
		['of a text completion', completion, SAYS, /Chat Completions/],
		['with a refusal', chat({ refusal: 'No' }), { refusal: 'No' }, /Chat Completions/],
		['with a thought', thought, WHOLE, /Chat Completions/],
		['that is cut off', chat({ content: 'Hi' }, 'length'), CUT, /Chat Completions/],
		['that does not say so', { ...chat({ content: 'Hi' }), object: undefined }, SAYS, /./],
		['that is filtered', chat({}, 'content_filter'), FILTERED, /./],
		['of Claude', claude('end_turn'), WHOLE, /in the form of Claude’s Messages interface\./],
		['of Claude, streamed', claudeEvents('end_turn'), WHOLE, /Claude’s/],
		['of Claude, cut off', claude('max_tokens'), CUT, /Claude’s/],
		['of Claude, streamed, cut off', claudeEvents('max_tokens'), CUT, /Claude’s/],
		['of Gemini', gemini('STOP', hm, hi), WHOLE, /in the form of Gemini’s own interface\./],
		['of Gemini, streamed', geminiEvents, WHOLE, /Gemini’s/],
		['of Gemini, cut off', gemini('MAX_TOKENS', hi), CUT, /Gemini’s/],
	])('%s is read, with a hint', async (_of, body, expected, hint) => {
		for (const answer of await answers(body)) {
			const simple = simplifyResponse(answer, BODY);
			expect(simple).toMatchObject({ usage, ...expected });
			expect(simple.tool_calls).toEqual(expected.tool_calls);
			const told = getAnswerHints(answer).find(({ key }) => key === 'another interface');
			expect(told?.message).toMatch(hint);
		}
	});

	test('of a chat completion is told piece by piece, and is kept if it breaks off', async () => {
		const { run, pieces } = streaming([bytes(STREAM)]);
		await run();
		expect(pieces).toEqual(['H', 'i']);
		const error = await streaming([bytes(CHUNKS)]).failure();
		expectError(error, 'StreamError', /./, { partialText: 'Hi', maybeExecuted: true });
	});
});

test('tokens are counted under the names of other interfaces, and beside the response', async () => {
	const usage = { input_tokens: 3, output_tokens: 4 };
	for (const body of [
		{ ...OK, usage: { prompt_tokens: 3, completion_tokens: 4 } },
		event('response.completed', { response: OK, usage }),
		event('response.created', { response: { usage } }) + completed({ ...OK, usage: null }),
	]) {
		for (const { response } of await answers(body)) expect(response.usage).toEqual(usage);
	}
});

test.each<[string, object, string[]]>([
	['that says nothing', { output: [] }, ['empty answer']],
	['that only thinks', { output: [{ type: 'reasoning' }, message()] }, ['empty answer']],
	['that calls a function', { output: [CALL] }, []],
	['that says something', {}, []],
	['of no tokens', { output: [], usage: { output_tokens: 0 } }, []],
	['of tokens that were not counted', { output: [], usage: null }, []],
	['that is incomplete', { output: [], status: 'incomplete' }, ['incomplete']],
	['that was cut off, without a status', { status: undefined, ...CUT_OFF }, ['incomplete']],
])('of an answer %s the hints are told', async (_, more, keys) => {
	const [answer] = await answers({ ...OK, usage: { output_tokens: 7 }, ...more });
	const hints = getAnswerHints(answer!);
	expect(hints.map(({ key }) => key)).toEqual(keys);
	const EMPTY = /^The gateway counted 7 output tokens, but its answer is empty/;
	if (keys[0] === 'empty answer') expect(hints[0]!.message).toMatch(EMPTY);
});

const DIED = { message: 'It died' };
const choice = { message: { content: 'Hi' }, finish_reason: 'error', error: DIED };
test('other words of a state are read as those of the contract', async () => {
	for (const status of ['complete', 'done', 'finished', 'OK', 'SUCCESS', 'Succeeded']) {
		const [answer] = await answers({ ...OK, status });
		expect([status, answer!.response.status]).toEqual([status, 'completed']);
	}
	for (const status of ['error', 'Fail', 'failure', 'FAILED'])
		expect((await plain({ ...OK, status })()).message).toMatch(/^The model’s response failed/);
});

const streamed = (end: string) => streaming([bytes(delta('Hi') + end)]).failure;
const plain = (body: object) => async () => (await fail([reply(200, body)], creating)).error;

test.each([
	['by a text in a stream', streamed('event: error\ndata: It died\n\n')],
	['by success: false in a stream', streamed(data({ success: false, message: 'It died' }))],
	['by a detail in a stream', streamed(data({ detail: 'It died' }))],
	['without a status', plain({ ...OK, status: undefined, error: DIED })],
	['of a choice', plain({ choices: [choice] })],
])('An error in place of an answer is told with the text, %s', async (what, failure) => {
	const kind = what.endsWith('stream') ? 'StreamError' : 'InvalidResponseError';
	const details = { charged: true, partialText: 'Hi', retryable: false };
	expectError(await failure(), kind, /^The model’s response failed.*: It died$/, details);
});

test('a text that is no JSON stays in the error: a model may have written it', async () => {
	const { error } = await fail([reply(200, 'Hello to you')], creating);
	const details = { maybeExecuted: true, retryable: false, partialText: 'Hello to you' };
	const advice = /^The request may have been executed and charged/;
	expectError(error, 'InvalidResponseError', /: Hello to you$/, { ...details, advice });
});
