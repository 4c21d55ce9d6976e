import recorded from './recorded-answers.json';
import { getIncompleteReason } from '../../../nodes/shared/api/responses/incomplete';
import { expectError, fault, START } from './arrange';
import { added, BODY, bytes, completed, delta, done } from './recorded-streams';
import { event, message, outcome, streaming } from './recorded-streams';

const END = completed({ output: [] });

test('a streamed response is asked for by one request that says so', async () => {
	const headers = { 'x-request-id': 'req_1' };
	const { run, sent, transport, time } = streaming([bytes(END)], { idleMs: 20_000, headers });
	await expect(run()).resolves.toMatchObject({ requestId: 'req_1' });
	const body = { ...BODY, stream: true };
	expect(sent).toMatchObject([{ method: 'POST', path: '/responses', body, timeoutMs: 60_000 }]);
	expect(BODY).not.toHaveProperty('stream');
	expect(transport.closed).toBeGreaterThan(0);
	// It leaves no wait behind.
	const before = time.now();
	await time.advance(3_600_000);
	expect(time.now() - before).toBe(3_600_000);
	expect(time.waits).toEqual([20_000]);
});

test('a streamed response is complete at its final event: nothing after it is waited for', async () => {
	async function* endless() {
		yield bytes(delta('Hi') + END);
		await new Promise(() => {});
	}
	const { run, time } = streaming(endless());
	// Nobody need be told of its text.
	await expect(run({})).resolves.toMatchObject({ json: { status: 'completed' } });
	expect(time.now()).toBe(START);
});

const words = Array.from({ length: 33 }, (_, n) => `${n} `);
const refused = [{ type: 'message', content: [{ type: 'refusal', refusal: 'No' }] }];
const mixed = [
	delta('One') + delta(' two', 1),
	event('response.refusal.delta', { output_index: 2, delta: ' no' }),
	event('response.function_call_arguments.delta', { output_index: 3, delta: '{}' }),
	event('response.output_text.delta', { output_index: 0, delta: 7 }) + END,
].join('');
const deltas = (pieces: string[]) => pieces.map((piece) => delta(piece)).join('');
const whole = completed({ output: [message('Whole')] });
const textDone = event('response.output_text.done', { text: 'Whole' });

test.each([
	['piece by piece, texts and refusals alike', [mixed], ['One', ' two', ' no']],
	['piece by piece, up to 32 at once', [deltas(words.slice(1)) + END], words.slice(1)],
	['as one if more arrive together', [deltas(words), delta('x'), END], [words.join(''), 'x']],
	['at the end if it came in one piece', [textDone, whole], ['Whole']],
	['at the end after nothing but an empty piece', [delta(''), whole], ['', 'Whole']],
	['at the end if only the final event came', [whole], ['Whole']],
	['at the end, a refusal too', [completed({ output: refused })], ['No']],
])('The text of a streamed response is passed on %s', async (_, chunks, pieces) => {
	await expect(outcome(chunks.map(bytes))).resolves.toMatchObject({ pieces });
});

const thought = { type: 'reasoning', summary: [] };
const CALLED = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' };
const end = (type: string, response: object = { id: 'r1', status: 'in_progress' }) =>
	event(`response.${type}`, { response });
const created = (response?: object) => end('created', response);
const BEGUN = created();
const DONE = 'data: [DONE]\n\n';

describe('A stream ends', () => {
	test.each([
		['by response.done', end('done'), 'completed'],
		['by response.done that is incomplete', end('done', { status: 'incomplete' }), 'incomplete'],
		['by response.completed in progress', end('completed'), 'completed'],
		['by response.incomplete in progress', end('incomplete'), 'incomplete'],
		['by response.incomplete without a status', end('incomplete', { id: 'r1' }), 'incomplete'],
	])('%s', async (_, ending, status) => {
		const { json } = await outcome([bytes(BEGUN + delta('Hi') + ending)]);
		expect(json).toMatchObject({ id: 'r1', status, output: [message('Hi')] });
	});

	test.each([
		['response.cancelled', end('cancelled')],
		['response.canceled', end('canceled', { status: 'completed' })],
		['response.done that was canceled', end('done', { status: 'canceled' })],
	])('by %s: an error with the text so far', async (_, ending) => {
		const error = await streaming([bytes(BEGUN + delta('Hi') + ending)]).failure();
		const details = { charged: true, retryable: false, partialText: 'Hi' };
		expectError(error, 'InvalidResponseError', /^The model’s response was cancelled/, details);
	});

	const whole = [BEGUN, added(0, message()), delta('Hi'), done(0, message('Hi'))].join('');

	test.each<[string, string, string?]>([
		['[DONE] after everything that was begun', whole + DONE],
		['its end', whole],
		['[DONE] after a text and a call', whole + done(1, CALLED) + DONE],
		['[DONE] without an ID', done(0, message('Hi')) + DONE, ''],
	])('in order by %s: an incomplete answer', async (_, stream, id = 'r1') => {
		const { response } = await streaming([bytes(stream)]).run();
		expect(response).toMatchObject({ id, status: 'incomplete' });
		expect(response.output[0]).toEqual(message('Hi'));
		expect(getIncompleteReason(response)).toMatch(/^The gateway’s stream ended without saying/);
	});

	const lost = async function* (text: string) {
		yield bytes(text);
		await Promise.reject(fault('lost'));
	};

	const HI = { text: 'Hi', output: [message('Hi')] };

	test.each<[string, Parameters<typeof streaming>[0], object]>([
		['is lost after a message', lost(whole), HI],
		['is lost after a message without deltas', lost(done(0, message('Hi'))), HI],
		['ends while a call is open', [bytes(whole + added(1, CALLED) + DONE)], HI],
		['ends after a call', [bytes(done(0, CALLED) + DONE)], { output: [CALLED] }],
		['ends after a thought', [bytes(done(0, thought) + DONE)], { output: [thought] }],
		['says that it failed', [bytes(whole + done(1, {}) + event('error', { code: 'C' }))], HI],
	])('too early if it %s: the error has what is finished', async (_, chunks, expected) => {
		const error = await streaming(chunks).failure();
		expectError(error, 'StreamError', /./);
		const { partialText: text, partialOutput: output } = error.details;
		expect({ text, output }).toEqual({ text: undefined, output: undefined, ...expected });
	});
});

describe('The final response', () => {
	test('wins over what came on the way, where it says as much', async () => {
		const response = { id: 'r2', status: 'completed', output: [message('Ho')], x: { y: 1 } };
		const before = [created({ id: 'r1', first: true }), added(0, message())];
		const items = [delta('Hi'), done(0, message('Hi'))];
		const { json } = await outcome([...before, ...items, completed(response)].map(bytes));
		expect(json).toEqual({ ...response, first: true });
	});

	test('takes what it lacks from those before it', async () => {
		const progress = { id: 'r1', model: 'text-1', status: 'in_progress', output: [] };
		const before = created({ id: 'r0', model: 'text-0' }) + end('in_progress', progress);
		const { json } = await outcome([bytes(before + delta('Hi') + event('response.completed'))]);
		expect(json).toEqual({ ...progress, status: 'completed', output: [message('Hi')] });
	});

	test('that says it failed is an error, whatever its event is called, and keeps the text', async () => {
		const failed = completed({ status: 'failed', error: { message: 'broke', code: 'C' } });
		const error = await streaming([bytes(delta('Hi') + failed)]).failure();
		const details = { code: 'C', charged: true, partialText: 'Hi', retryable: false };
		expectError(error, 'InvalidResponseError', 'The model’s response failed (C): broke', details);
	});
});

const call = (n: number, more: object = {}) => ({
	...{ type: 'function_call', id: `fc_${n}`, call_id: `call_${n}`, name: 'look' },
	...{ arguments: `{"n":${n}}`, ...more },
});
const item = (kind: string, fields: object) => event(`response.output_item.${kind}`, fields);
const argument = (kind: string, fields: object) =>
	event(`response.function_call_arguments.${kind}`, { output_index: 0, ...fields });
const ends = (...all: object[]) => all.map((one) => item('done', { item: one }));
const [CALL, CALL_2] = [call(1), call(2)];

describe('Where the final response is empty, its output is', () => {
	const numbers = [10, 2, 0, 11, 1, 9, 3, 8, 4, 7, 5, 6];
	const sorted = [...numbers.keys()].map(String);
	const begins = [CALL, CALL_2].map((one) => added(0, { ...one, arguments: '' }));
	const [begunCall] = begins;
	const refusal = (kind: string, fields: object) =>
		event(`response.refusal.${kind}`, { output_index: 0, content_index: 1, ...fields });
	const [part] = message('Well.').content;
	const refused = { ...message(), content: [part, { type: 'refusal', refusal: 'I cannot.' }] };
	const text = event('response.output_text.done', { output_index: 0, text: 'Hello' });
	const begun = { ...message(), id: 'm1', status: 'in_progress' };
	const full = { ...message('Hi'), id: 'm1', status: 'completed', annotations: [1] };
	const hologram = { type: 'hologram', light: [1] };
	const no = event('response.output_text.delta', { output_index: 1, delta: 7 });
	const noText = event('response.output_text.done', { output_index: 0 });
	const [hel, lo] = [delta('Hel'), delta('lo')];
	const [well, said] = [delta('Well.'), refusal('done', { refusal: 'I cannot.' })];
	const refusedAt0 = refusal('delta', { content_index: 0, delta: 'I cannot.' });
	const [start, rest] = ['{"n"', ':1}'].map((piece) =>
		argument('delta', { delta: piece, item_id: 'fc_1' }),
	);
	const other = argument('delta', { delta: '{"n":2}', call_id: 'call_2' });
	const whole = argument('done', { arguments: '{"n":1}' });
	const made = call(1, { arguments: { n: 1 } });
	const free = { type: 'custom_tool_call', call_id: 'c', name: 'shell', input: '' };
	const noInput = item('added', { item: free });
	const inputDone = event('response.custom_tool_call_input.done', { input: null });
	const nameless = { type: 'function_call', arguments: '{"n":1}' };
	const nothing = argument('delta', { delta: '' });
	const filled = { ...begun, ...message('Hi') };
	const beganWithPart = added(0, { ...begun, ...message('') });
	const [hi, hi1, hi2] = [delta('Hi'), delta('Hi', 1), delta('Hi', 2)];

	const unnumbered = event('response.output_text.delta', { delta: 'Hi' });
	const besideThought = [item('added', { item: thought }), unnumbered];
	const of = (item_id: string, text: string) =>
		event('response.output_text.delta', { item_id, delta: text });
	const beginM1 = item('added', { item: begun });
	const hiThenHo = [hi, delta('Ho', 1), ...ends(message('Ho'), message('Hi'))];
	const otherIds = [of('x', 'H'), of('x', ''), of('y', 'i')];
	const twoTexts = [of('m1', 'Hi'), of('m2', 'Ho')];
	const pieces = ['{"n"', ':1}'].map((piece, n) =>
		argument('delta', { delta: piece, content_index: n }),
	);
	const named = [1, 2].map((n) => call(n, { id: undefined }));
	const begunNamed = named.map((one) => item('added', { item: { ...one, arguments: '' } }));
	const fill = (name: string) =>
		named.map(({ call_id, arguments: whole }) =>
			event('response.function_call_arguments.delta', { [name]: call_id, delta: whole }),
		);
	const emptyIds = Array(2).fill(item('added', { item: { ...message(), id: '' } })) as string[];
	const byTurns = ['H', 'i'].flatMap((piece) =>
		['reasoning_summary_text', 'output_text'].map((kind) =>
			event(`response.${kind}.delta`, { output_index: null, delta: piece }),
		),
	);
	const turned = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hi' }] };
	const shared = ['One', 'Two'].map((words) => ({ ...message(words), id: 'm' }));
	const shares = shared.map((one) => [
		item('added', { item: { ...one, content: [] } }),
		event('response.output_text.delta', { delta: one.content[0]!.text, item_id: 'm' }),
		item('done', { item: one }),
	]);
	const callsOfOneId = [1, 2].map((n) => call(3, { id: 'fc', call_id: `call_${n}` }));
	const saysNothing = done(0, { type: nameless.type });
	const cutOff = { ...CALL, arguments: '{"m"' };
	const bare = { type: 'message', content: message('Hi').content };
	const ownParts = [
		{ type: 'output_text', text: '', annotations: [1] },
		{ type: 'refusal', refusal: '' },
	].map((one) => done(0, { ...message(), content: [one] }));
	const noted = { ...message(), content: [{ ...message('Hi').content[0], annotations: [1] }] };
	const [wor, hel2] = ['Wor', 'Hel'].map((words) => ({ ...message(words), id: words }));
	const byBegin = ['Hello', 'World'].map((words) => ({ ...message(words), id: words.slice(0, 3) }));
	const both = ['Hello', 'World'].map((words) => message(words));
	const oneAfterTwo = [delta('C'), delta('A', 1), delta('B', 1, 1)];
	const ab = { ...message('AB'), id: 'ab' };
	const thinking = event('response.reasoning_text.delta', { delta: 'Hm' });
	const thoughtText = { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm' }] };

	test.each<[string, Array<string | undefined>, object[]]>([
		['the texts that came, nothing that is none', [hel, no, lo], [message('Hello')]],
		['a text as its last event tells it', [delta('Hallo'), text], [message('Hello')]],
		['a text whose last event holds none', [hel, lo, noText], [message('Hello')]],
		['many items', numbers.map((n) => delta(`${n}`, n)), sorted.map((n) => message(n))],
		['many parts', numbers.map((n) => delta(`${n}`, 0, n)), [message(...sorted)]],
		['a refusal with the index of a text, beside it', [well, refusedAt0], [refused]],
		['a refusal from its last event, beside a text', [well, said], [refused]],
		['a call of a function, its arguments joined', [begunCall, start, rest], [CALL]],
		['a call with the arguments of their last event', [begunCall, start, whole], [CALL]],
		['whole arguments, not longer ones', [begunCall, start, rest, start, ...ends(CALL)], [CALL]],
		['arguments that are an object, not a text', [begunCall, start, ...ends(made)], [made]],
		['an input that is null at its end', [noInput, inputDone], [free]],
		['a call whose end says nothing', [begunCall, start, rest, saysNothing], [CALL]],
		['cut arguments as their end has them', [begunCall, start, done(0, cutOff)], [cutOff]],
		[
			'a text in an item of no type',
			[added(0, { id: 'm1' }), hi],
			[{ ...message('Hi'), id: 'm1' }],
		],
		['an item without a role as it is', [done(0, bare)], [bare]],
		['a text in the part that its end has for it', [hi, ownParts[0]], [noted]],
		['a text in place of a refusal that is none', [hi, ownParts[1]], [message('Hi')]],
		[
			'items whose ends say less',
			[delta('Hello'), delta('World', 1), ...ends(wor!, hel2!)],
			byBegin,
		],
		['items whose ends say more', [delta('H'), delta('W', 1), ...ends(both[1]!, both[0]!)], both],
		['an item whose end has one part', [...oneAfterTwo, ...ends(ab)], [message('C'), ab]],
		['a thought that is told whole', [thinking], [thoughtText]],
		['a call whose item never came', [whole], [nameless]],
		['a call of which nothing came', [nothing], [{ type: nameless.type }]],
		['an item that is only begun, filled by its text', [added(0, begun), hi], [filled]],
		['an item that is only begun, though it has a part', [beganWithPart, hi], [filled]],
		['an item as it is done', [added(0, message()), hi, done(0, full)], [full]],
		['an item that is done and empty, filled by its text', [hi, done(0, begun)], [filled]],
		['items of types that nobody knows', [hi1, done(0, hologram)], [hologram, message('Hi')]],
		['nothing of what is no item', [added(0, {}), done(1, null), hi2], [message('Hi')]],
		// Others are in items-of-streams.test.ts: items that all have the number 0, or none.
		['arguments that name their call', [...begins, start, other, rest], [CALL, CALL_2]],
		['a text beside a thought', besideThought, [thought, message('Hi')]],
		['items that share one ID', shares.flat(), shared],
		['calls that share one ID', ends(...callsOfOneId), callsOfOneId],
		['items that share one ID and are only done', ends(...shared), shared],
		['a text that comes before its item', [hi, added(0, begun)], [filled]],
		['a text that names the item after it', [of('m1', 'Hi'), beginM1], [filled]],
		['a text whose events have other IDs', [beginM1, ...otherIds], [filled]],
		['texts of which one has an item', [beginM1, ...twoTexts], [filled, message('Ho')]],
		['an item that ends without its number', [hi, ...ends(full)], [full]],
		['an item that ends with a number', [unnumbered, done(0, full)], [full]],
		['items that end in another order', hiThenHo, [message('Hi'), message('Ho')]],
		['an item without a number last', [hi2, ...ends(CALL)], [message('Hi'), CALL]],
		['arguments whose events have another index', [begunCall, ...pieces], [CALL]],
		['arguments by the ID of their call alone', [...begunNamed, ...fill('call_id')], named],
		['arguments by the ID of their call as their item', [...begunNamed, ...fill('item_id')], named],
		['items of empty IDs that begin together', [...emptyIds, ...ends(...shared)], shared],
		['a thought and a text by turns, both of the number null', byTurns, [turned, message('Hi')]],
	])('%s', async (_, events, output) => {
		const { json } = await outcome([bytes(events.join('') + END)]);
		expect(json.output).toEqual(output);
	});
});

const says = (part: object) => ({ ...message(), content: [part] });
const thinks = (parts: object) => ({ type: 'reasoning', ...parts });
const [SAID] = message('Hi').content;
const REFUSED = { type: 'refusal', refusal: 'Hi' };
const SUMMED = { type: 'summary_text', text: 'Hi' };
const OF_SUMMARY = 'reasoning_summary_part';
const REASONED = { type: 'reasoning_text', text: 'Hi' };

test.each<[string, field: string, item: object, part?: object, ofPart?: string]>([
	['output_text', 'text', message('Hi'), SAID, 'content_part'],
	['text', 'text', message('Hi')],
	['refusal', 'refusal', says(REFUSED), REFUSED, 'content_part'],
	['reasoning_summary_text', 'text', thinks({ summary: [SUMMED] }), SUMMED, OF_SUMMARY],
	['reasoning_text', 'text', thinks({ content: [REASONED] }), REASONED, 'content_part'],
	['function_call_arguments', 'arguments', { type: 'function_call', arguments: 'Hi' }],
	['custom_tool_call_input', 'input', { type: 'custom_tool_call', input: 'Hi' }],
])('%s comes in pieces, whole at its end, and in its part', async (...row) => {
	const [name, field, expected, part, ofPart] = row;
	const [h, i] = ['H', 'i'].map((piece) => event(`response.${name}.delta`, { delta: piece }));
	const end = event(`response.${name}.done`, { [field]: 'Hi' });
	const none = event(`response.${ofPart}.done`, { part: { type: 'unknown', text: 'No' } });
	const parts = part ? [none + event(`response.${ofPart}.done`, { part }) + none] : [];
	for (const events of [h! + i!, end, h! + end, ...parts]) {
		const { json } = await outcome([bytes(events + END)]);
		expect(json.output).toEqual([expected]);
	}
});

describe('What the final response does not carry, its events do', () => {
	const [hello, B, LAST] = [delta('Hello'), done(1, message('B')), done(1, CALL)];
	const three = [done(0, thought), LAST, done(2, message('Hi'))];
	const AB = [message('AB')];
	const A_B = [delta('A'), delta('B', 1)];
	const A_THEN_B = [message('A'), message('B')];
	const asText = { ...message(), content: 'Hello' };
	const summed = event('response.reasoning_summary_text.delta', { delta: 'Hm' });
	const byId = ['Hi', 'Ho'].map((id) => ({ ...message(id), id }));
	const other = byId.toReversed();
	const oneId = byId.map((one) => ({ ...one, id: 'm' }));
	const bareOf = (all: object[]) => all.map((one) => ({ ...one, content: [] }));
	const HM = [{ type: 'summary_text', text: 'Hm' }];
	const longThought = { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hmm' }] };

	test.each<[string, string[], unknown, unknown[]]>([
		['a text', [hello], [message()], [message('Hello')]],
		['a content', [hello], [{ ...message(), content: undefined }], [message('Hello')]],
		['the end of a text', [hello], [message('Hel')], [message('Hello')]],
		['the longer of two', [done(0, message('Hello'))], [message('Hi')], [message('Hello')]],
		['nothing where the content is a text', [delta('Hel')], [asText], [asText]],
		['a summary beside a content', [summed], [longThought], [{ ...longThought, summary: HM }]],
		['arguments', [done(0, CALL)], [call(1, { arguments: '' })], [CALL]],
		['an item between others', three, [thought, message('Hi')], [thought, CALL, message('Hi')]],
		['the last item', [done(0, message('Hi')), LAST], [message('Hi')], [message('Hi'), CALL]],
		['no text that it has in another item', [done(0, message('A')), B], AB, AB],
		['a message before the one that it has', A_B, [message('B')], A_THEN_B],
		['what two items say together', [...A_B, delta('AB', 2)], A_THEN_B, [...A_THEN_B, ...AB]],
		['a text beside what is no item', [hello], [null], [null, message('Hello')]],
		['no call that was only begun', [item('added', { item: CALL })], AB, AB],
		['texts of items in another order, by their IDs', ends(...byId), bareOf(other), other],
		['texts of items that share one ID', ends(...oneId), bareOf(oneId), oneId],
	])('%s', async (_, events, final, output) => {
		const { json } = await outcome([bytes(events.join('') + completed({ output: final }))]);
		expect(json.output).toEqual(output);
	});

	const summary = [{ type: 'summary_text', text: 'let me think' }];
	const THOUGHT = [{ type: 'reasoning', summary }, { type: 'message' }];
	test.each([
		['claude, streamed: cut after the first word', [message('word0 ')]],
		['claude, streamed: thinking', THOUGHT],
		['chat-only, streamed: thinking', THOUGHT],
	] as const)('as recorded: %s', async (name, output) => {
		const { json } = await outcome([bytes(recorded[name])]);
		expect(json).toMatchObject({ status: 'completed', output });
	});
});
