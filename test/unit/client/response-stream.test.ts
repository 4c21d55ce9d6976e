import {
	AnswerError,
	CancelledError,
	NetworkError,
	StatusError,
	StreamError,
} from '../../../nodes/shared/client/errors';
import { simplifyResponse } from '../../../nodes/shared/client/response-output';
import { fault, KEY, shown } from './arrange';
import {
	BODY,
	bytes,
	completed,
	delta,
	event,
	outcome,
	streaming,
	type Chunks,
	type StreamArrangement,
} from './recorded-streams';

/** The output of a response whose stream has these events and an end without output. */
async function outputOf(...events: string[]) {
	const { json } = await outcome([bytes([...events, completed({ output: [] })].join(''))]);
	return json.output;
}

async function failureOf(chunks: Chunks, options?: StreamArrangement) {
	const arranged = streaming(chunks, options);
	return { ...arranged, error: await arranged.failure() };
}

const added = (output_index: number, item: object) =>
	event('response.output_item.added', { output_index, item });
const done = (output_index: number, item: object) =>
	event('response.output_item.done', { output_index, item });
const message = (...texts: string[]) => ({
	type: 'message',
	role: 'assistant',
	content: texts.map((text) => ({ type: 'output_text', text })),
});

describe('A streamed response', () => {
	test('is asked for by one request that says so', async () => {
		const { run, seen } = streaming([bytes(completed({ output: [] }))], { idleMs: 20_000 });
		await run();
		expect(seen.sent).toEqual([
			{
				method: 'POST',
				path: '/responses',
				body: { ...BODY, stream: true },
				timeoutMs: 20_000,
			},
		]);
		expect(BODY).not.toHaveProperty('stream');
	});

	test('has the request’s ID, and its connection is closed', async () => {
		const { run, seen } = streaming([bytes(completed({ output: [] }))], {
			headers: { 'x-request-id': 'req_1' },
		});
		await expect(run()).resolves.toMatchObject({ requestId: 'req_1' });
		expect(seen.closed).toBeGreaterThan(0);
	});

	test('is complete at its final event: nothing that follows is waited for', async () => {
		const started = streaming(
			(async function* () {
				yield bytes(delta('Hi') + completed({ output: [] }));
				await new Promise(() => {});
			})(),
		);
		await expect(started.run()).resolves.toMatchObject({ json: { status: 'completed' } });
		expect(started.time.now()).toBe(started.client.deadline - 3_600_000);
	});

	test('is told piece by piece, in order, texts and refusals alike', async () => {
		const { pieces } = await outcome([
			bytes(
				delta('One') +
					delta('') +
					delta(' two', 1) +
					event('response.refusal.delta', { output_index: 2, delta: ' no' }) +
					event('response.function_call_arguments.delta', { output_index: 3, delta: '{}' }) +
					event('response.output_text.delta', { output_index: 0, delta: 7 }) +
					completed({ output: [] }),
			),
		]);
		expect(pieces.filter((piece) => piece !== '')).toEqual(['One', ' two', ' no']);
	});

	test('is told as one where more pieces arrive together than anybody can follow', async () => {
		const words = Array.from({ length: 1000 }, (_word, n) => `${n} `);
		const { pieces } = await outcome([
			bytes(words.map((word) => delta(word)).join('')),
			bytes(delta('the end') + completed({ output: [] })),
		]);
		expect(pieces).toEqual([words.join(''), 'the end']);
	});

	test.each<[string, string]>([
		['its text came in one piece', event('response.output_text.done', { text: 'Whole' })],
		['only its final event came', ''],
	])('is told at the end where %s', async (_name, before) => {
		const { pieces } = await outcome([bytes(before + completed({ output: [message('Whole')] }))]);
		expect(pieces).toEqual(['Whole']);
	});

	test('is told a refusal at the end where nothing else came', async () => {
		const output = [{ type: 'message', content: [{ type: 'refusal', refusal: 'No' }] }];
		const { pieces } = await outcome([bytes(completed({ output }))]);
		expect(pieces).toEqual(['No']);
	});
});

describe('The final response', () => {
	test('wins over all that came on the way', async () => {
		const final = {
			id: 'r2',
			status: 'completed',
			model: 'text-2',
			output: [message('Final')],
			usage: { total_tokens: 3 },
			unknown: { kept: true },
		};
		const { json } = await outcome([
			bytes(
				event('response.created', { response: { id: 'r1', model: 'text-1', first: true } }) +
					added(0, message()) +
					delta('On the way') +
					done(0, message('On the way')) +
					done(1, message('More')) +
					event('response.completed', { response: final }),
			),
		]);
		expect(json).toEqual({ ...final, first: true });
	});

	test('takes what it lacks from those before it', async () => {
		const { json } = await outcome([
			bytes(
				event('response.created', { response: { id: 'r0', model: 'text-0' } }) +
					event('response.in_progress', {
						response: { id: 'r1', model: 'text-1', status: 'in_progress', output: [] },
					}) +
					delta('Hi') +
					event('response.completed', {}),
			),
		]);
		expect(json).toEqual({
			id: 'r1',
			model: 'text-1',
			status: 'completed',
			output: [message('Hi')],
		});
	});

	test('is incomplete where its event says so', async () => {
		const response = { id: 'r1', incomplete_details: { reason: 'max_output_tokens' } };
		const { json } = await outcome([
			bytes(delta('Hi') + event('response.incomplete', { response })),
		]);
		expect(json).toEqual({ ...response, status: 'incomplete', output: [message('Hi')] });
	});

	test('without an ID anywhere is an error that names it and keeps the text', async () => {
		const { error } = await failureOf([bytes(delta('Hi') + event('response.completed', {}))]);
		expect(error).toBeInstanceOf(AnswerError);
		expect(error.message).toContain('field "id": Required');
		expect(error.facts).toMatchObject({ partialText: 'Hi', retryable: false });
	});

	test('that says it failed is an error, whatever its event is called', async () => {
		const { error } = await failureOf([
			bytes(delta('Hi') + completed({ status: 'failed', error: { message: 'broke', code: 'C' } })),
		]);
		expect(error.message).toBe('The model’s response failed: broke');
		expect(error.facts).toMatchObject({ code: 'C', partialText: 'Hi' });
	});
});

describe('Where the final response is empty, its output is', () => {
	test('the texts that came', async () => {
		await expect(outputOf(delta('Hel'), delta('lo'))).resolves.toEqual([message('Hello')]);
	});

	test('the whole text of its last event, where deltas are missing', async () => {
		const text = event('response.output_text.done', { output_index: 0, text: 'Hello' });
		await expect(outputOf(delta('Hel'), text)).resolves.toEqual([message('Hello')]);
		await expect(outputOf(text)).resolves.toEqual([message('Hello')]);
	});

	test('several content parts, in the order of their index', async () => {
		const parts = [delta('B', 0, 1), delta('A', 0, 0), delta('C', 0, 2), delta('b', 0, 1)];
		await expect(outputOf(...parts)).resolves.toEqual([message('A', 'Bb', 'C')]);
	});

	test('more than ten items and parts, in the order of their numbers', async () => {
		const numbers = [10, 2, 0, 11, 1, 9, 3, 8, 4, 7, 5, 6];
		const output = await outputOf(...numbers.map((n) => delta(String(n), n, 0)));
		expect(output).toEqual([...numbers.keys()].map((n) => message(String(n))));
		const parts = await outputOf(...numbers.map((n) => delta(String(n), 0, n)));
		expect(parts).toEqual([message(...[...numbers.keys()].map(String))]);
	});

	test('items in the order of their index, whichever came first', async () => {
		const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' };
		const output = await outputOf(
			delta('Second', 1),
			done(2, call),
			done(0, { type: 'reasoning' }),
		);
		expect(output).toEqual([{ type: 'reasoning' }, message('Second'), call]);
	});

	test('a refusal, beside a text', async () => {
		const refusal = (kind: string, fields: object) =>
			event(`response.refusal.${kind}`, { output_index: 0, content_index: 1, ...fields });
		const content = async (...events: string[]) => await outputOf(delta('Well.'), ...events);
		const expected = [
			{
				type: 'message',
				role: 'assistant',
				content: [
					{ type: 'output_text', text: 'Well.' },
					{ type: 'refusal', refusal: 'I cannot.' },
				],
			},
		];
		const pieces = [refusal('delta', { delta: 'I ' }), refusal('delta', { delta: 'cannot.' })];
		await expect(content(...pieces)).resolves.toEqual(expected);
		await expect(content(refusal('done', { refusal: 'I cannot.' }))).resolves.toEqual(expected);
	});

	test('calls of functions, their arguments joined', async () => {
		const item = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '' };
		const argument = (piece: string) =>
			event('response.function_call_arguments.delta', { output_index: 0, delta: piece });
		const expected = [{ ...item, arguments: '{"a":1}' }];
		await expect(outputOf(added(0, item), argument('{"a"'), argument(':1}'))).resolves.toEqual(
			expected,
		);
		const whole = event('response.function_call_arguments.done', {
			output_index: 0,
			arguments: '{"a":1}',
		});
		await expect(outputOf(added(0, item), argument('{"a'), whole)).resolves.toEqual(expected);
		await expect(outputOf(added(0, item), done(0, expected[0]!))).resolves.toEqual(expected);
	});

	test('an item that is only begun, filled by its text', async () => {
		const begun = { id: 'm1', type: 'message', role: 'assistant', status: 'in_progress' };
		for (const content of [[], [{ type: 'output_text', text: '' }]]) {
			await expect(outputOf(added(0, { ...begun, content }), delta('Hi'))).resolves.toEqual([
				{ ...begun, content: [{ type: 'output_text', text: 'Hi' }] },
			]);
		}
	});

	test('an item as it is done, with all its fields', async () => {
		const item = { ...message('Hi'), id: 'm1', annotations: ['x'], future: 1 };
		await expect(outputOf(added(0, message()), delta('Hi'), done(0, item))).resolves.toEqual([
			item,
		]);
	});

	test('an item that is done and empty, filled by its text', async () => {
		await expect(outputOf(delta('Hi'), done(0, { ...message(), id: 'm1' }))).resolves.toEqual([
			{ ...message('Hi'), id: 'm1' },
		]);
	});

	test('items of types that nobody knows', async () => {
		const item = { type: 'hologram', light: [1] };
		await expect(outputOf(done(0, item), delta('Hi', 1))).resolves.toEqual([item, message('Hi')]);
	});

	test('none of what is no item', async () => {
		const events = [
			added(0, {}),
			event('response.output_item.done', { output_index: 1, item: null }),
		];
		await expect(outputOf(...events, delta('Hi', 2))).resolves.toEqual([message('Hi')]);
	});

	test('empty where nothing came', async () => {
		await expect(outputOf()).resolves.toEqual([]);
	});

	test('read by the simplified form like any other', async () => {
		const { run } = streaming([
			bytes(
				delta('Hi') +
					done(1, { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' }) +
					completed({ output: [] }),
			),
		]);
		expect(simplifyResponse(await run(), BODY)).toMatchObject({
			text: 'Hi',
			tool_calls: [{ id: 'c', name: 'f', arguments: { a: 1 } }],
		});
	});
});

describe('A stream that the gateway ends by an error', () => {
	test.each<[string, string, object]>([
		[
			'response.failed',
			event('response.failed', { response: { id: 'r1', error: { message: 'Broke', code: 'C' } } }),
			{ code: 'C' },
		],
		[
			'response.failed with a type',
			event('response.failed', { response: { error: { type: 'T', message: 'Broke' } } }),
			{ type: 'T' },
		],
		[
			'response.failed without a response',
			event('response.failed', { error: { message: 'Broke', code: 'C' } }),
			{ code: 'C' },
		],
		['a flat error', event('error', { code: 'C', message: 'Broke', param: null }), { code: 'C' }],
		[
			'an error object',
			event('error', { error: { type: 'T', code: 'C', message: 'Broke' } }),
			{ type: 'T', code: 'C' },
		],
		['an error that is a text', event('error', { error: 'Broke' }), {}],
		[
			'an error by its name alone',
			'event: error\ndata: {"code":"C","message":"Broke"}\n\n',
			{ code: 'C' },
		],
		[
			'an error by its name, of a type of its own',
			'event: error\ndata: {"type":"T","message":"Broke"}\n\n',
			{ type: 'T' },
		],
		[
			'an error object without name and type',
			'data: {"error":{"message":"Broke","type":"T"}}\n\n',
			{ type: 'T' },
		],
	])('(%s) tells its reason and keeps the text', async (_name, end, facts) => {
		const { error, seen } = await failureOf([bytes(delta('Hel') + delta('lo') + end)], {
			headers: { 'x-request-id': 'req_1' },
		});
		expect(error).toBeInstanceOf(StreamError);
		expect(error.message).toBe('The model’s response failed: Broke');
		expect(error.facts).toMatchObject({
			...facts,
			partialText: 'Hello',
			requestId: 'req_1',
			retryable: false,
			advice: expect.stringMatching(/may have been executed and charged/) as string,
		});
		expect(seen.sent).toHaveLength(1);
		expect(seen.closed).toBeGreaterThan(0);
	});

	test.each<[string, string]>([
		['response.failed', event('response.failed', { response: { error: null } })],
		['error', event('error', {})],
	])('(%s) without a reason says so', async (_name, end) => {
		const { error } = await failureOf([bytes(end)]);
		expect(error.message).toBe('The model’s response failed: the gateway gave no reason');
		expect(error.facts).not.toHaveProperty('partialText');
	});

	test('shows no key, and one line', async () => {
		const nasty = `key ${KEY}\n${'x'.repeat(5000)}`;
		const { error } = await failureOf([
			bytes(event('error', { error: { message: nasty, type: nasty, code: nasty } })),
		]);
		expect(shown(error)).not.toContain(KEY);
		expect(error.message).not.toContain('\n');
		expect(error.message.length).toBeLessThan(600);
	});
});

describe('A reply that is no stream', () => {
	const document = { id: 'r1', status: 'completed', output: [message('Whole ü')] };

	test.each<[string, string]>([
		['a JSON document', JSON.stringify(document)],
		['a JSON document behind white space', ` \n\n${JSON.stringify(document, null, 1)}`],
		['a JSON document behind a byte order mark', `\ufeff${JSON.stringify(document)}`],
	])('%s is the answer, in any pieces', async (_name, body) => {
		const whole = bytes(body);
		for (const chunks of [[whole], Array.from(whole, (byte) => Uint8Array.of(byte))]) {
			await expect(outcome(chunks)).resolves.toEqual({ json: document, pieces: ['Whole ü'] });
		}
	});

	test('a JSON document that says it failed is an error', async () => {
		const { error } = await failureOf([
			bytes(JSON.stringify({ ...document, status: 'failed', error: { message: 'Broke' } })),
		]);
		expect(error.message).toBe('The model’s response failed: Broke');
	});

	test('a JSON document that breaks off is an error', async () => {
		const { error } = await failureOf([bytes(JSON.stringify(document).slice(0, 30))]);
		expect(error).toBeInstanceOf(AnswerError);
		expect(error.message).toMatch(/^The gateway’s answer is not JSON: \{"id":"r1"/);
	});

	test('a JSON document without what the contract asks for names it', async () => {
		const { error } = await failureOf([bytes('{"id":"r1","status":"completed"}')]);
		expect(error.message).toContain('field "output": Required');
	});

	test('a web page says so', async () => {
		const { error } = await failureOf([bytes('\n<!DOCTYPE html><html><body>Log in</body></html>')]);
		expect(error).toBeInstanceOf(AnswerError);
		expect(error.message).toBe('The gateway answered with a web page (HTML) in place of JSON');
		expect(error.facts.advice).toContain('Base URL');
	});

	test.each<[string, Chunks]>([
		['comments', [bytes(': hello\n\n: bye\n\n')]],
		['[DONE] alone', [bytes('data: [DONE]\n\n')]],
	])('%s is an end before it was complete', async (_name, chunks) => {
		const { error, seen } = await failureOf(chunks);
		expect(error).toBeInstanceOf(StreamError);
		expect(error.message).toBe('The answer ended before it was complete');
		expect(error.facts).not.toHaveProperty('partialText');
		expect(error.facts.advice).toContain('may have been executed and charged');
		expect(seen.sent).toHaveLength(1);
	});

	test('nothing is an end before it was complete, where it is said to be a stream', async () => {
		const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
		const { error } = await failureOf([], { headers });
		expect(error.message).toBe('The answer ended before it was complete');
	});

	test.each<[string, string, RegExp]>([
		['nothing', '', /^The gateway answered with nothing in place of JSON$/],
		['white space', '\n \n', /^The gateway answered with nothing in place of JSON$/],
		['words', 'upstream is busy', /^The gateway’s answer is not JSON: upstream is busy$/],
		['null', 'null', /is not as expected: Expected object, received null$/],
		['a list', '[]', /is not as expected: Expected object, received array$/],
		['a number', '42', /is not as expected: Expected object, received number$/],
		['a text', '"done"', /is not as expected: Expected object, received string$/],
	])('%s is named, in any pieces', async (_name, text, message) => {
		const whole = bytes(text);
		for (const chunks of [[whole], Array.from(whole, (byte) => Uint8Array.of(byte))]) {
			const { error, seen } = await failureOf(chunks);
			expect(error).toBeInstanceOf(AnswerError);
			expect(error.message).toMatch(message);
			expect(error.facts).toMatchObject({ retryable: false, inDoubt: true });
			expect(error.facts.advice).toContain('may have been executed and charged');
			expect(seen.sent).toHaveLength(1);
		}
	});

	test('an error status is an error as any other, with its reason', async () => {
		const body = JSON.stringify({ error: { type: 'T', code: 'C', message: 'No streams here' } });
		const { error, seen } = await failureOf([bytes(body.slice(0, 9)), bytes(body.slice(9))], {
			status: 403,
		});
		expect(error).toBeInstanceOf(StatusError);
		expect(error.message).toMatch(/\(HTTP 403\): No streams here$/);
		expect(error.facts).toMatchObject({ httpStatus: 403, type: 'T', code: 'C' });
		expect(error.facts).not.toHaveProperty('partialText');
		expect(seen.sent).toHaveLength(1);
	});

	test('429 is asked again, as the retry table says', async () => {
		const { error, seen, time } = await failureOf([], {
			status: 429,
			headers: { 'retry-after': '7' },
			maxRetries: 2,
		});
		expect(error.facts.httpStatus).toBe(429);
		expect(seen.sent).toHaveLength(3);
		expect(time.waits).toEqual([7000, 7000]);
	});
});

describe('A stream that breaks off', () => {
	const HOUR = 3_600_000;

	test('by an end without a final event keeps the text', async () => {
		const { error } = await failureOf([bytes(`${delta('Once ')}${delta('upon')}data: [DONE]\n\n`)]);
		expect(error.message).toBe('The answer ended before it was complete');
		expect(error.facts.partialText).toBe('Once upon');
	});

	test('in the middle of an event keeps the text before it', async () => {
		const { error } = await failureOf([bytes(delta('Once') + delta(' upon').slice(0, -9))]);
		expect(error.facts.partialText).toBe('Once');
	});

	test.each<[string, Error, RegExp]>([
		['a lost connection', fault('lost', 'ECONNRESET'), /lost in the middle.*\(ECONNRESET\)$/],
		['a lost connection without a code', fault('lost'), /lost in the middle of the answer$/],
		['unreadable bytes', fault('lost', 'Z_DATA_ERROR'), /lost in the middle.*\(Z_DATA_ERROR\)$/],
	])('by %s keeps the text', async (_name, cause, says) => {
		const { error, seen } = await failureOf(
			(async function* () {
				yield bytes(delta('Once') + delta(' upon', 1));
				throw cause;
			})(),
		);
		expect(error).toBeInstanceOf(StreamError);
		expect(error.message).toMatch(says);
		expect(error.facts).toMatchObject({ partialText: 'Once upon', retryable: false });
		expect(error.facts.advice).toMatch(/charged.*network/);
		expect(seen.sent).toHaveLength(1);
	});

	/** Sends a word every `everyMs`, for ever. */
	async function* words(time: { gateway: { sleep(ms: number): Promise<void> } }, everyMs: number) {
		for (let n = 1; ; n++) {
			yield bytes(delta(`w${n} `));
			await time.gateway.sleep(everyMs);
		}
	}

	/** A stream that is made with the clock of its client. */
	async function timed(
		stream: (time: ReturnType<typeof streaming>['time']) => Chunks,
		options: StreamArrangement,
	) {
		async function* made() {
			yield* stream(arranged.time);
		}
		const arranged = streaming(made(), options);
		const start = arranged.time.now();
		const error = await arranged.failure();
		return { ...arranged, error, tookMs: arranged.time.now() - start };
	}

	let cancel: () => void;
	function cancellable() {
		const controller = new AbortController();
		cancel = () => controller.abort();
		return { signal: controller.signal };
	}

	test('by silence ends after the idle time, not sooner', async () => {
		const { error, tookMs, seen } = await timed(
			async function* (time) {
				yield bytes(delta('Once'));
				await time.gateway.sleep(19_000);
				yield bytes(': still here\n\n');
				await time.gateway.sleep(19_000);
				yield bytes(delta(' upon'));
				await time.gateway.sleep(HOUR);
			},
			{ idleMs: 20_000, timeoutMs: HOUR },
		);
		expect(error.message).toBe('Nothing arrived for 20 s in the middle of the answer');
		expect(error.facts).toMatchObject({ partialText: 'Once upon', retryable: false });
		expect(error.facts.advice).toMatch(/charged.*Idle Timeout/);
		expect(tookMs).toBe(58_000);
		expect(seen.closed).toBeGreaterThan(0);
	});

	test('by silence says so also where the connection’s own timer ends it', async () => {
		const { error } = await timed(
			async function* (time) {
				yield bytes(delta('Once'));
				await time.gateway.sleep(19_800);
				throw fault('lost', 'ECONNRESET');
			},
			{ idleMs: 20_000 },
		);
		expect(error.message).toBe('Nothing arrived for 20 s in the middle of the answer');
		expect(error.facts.partialText).toBe('Once');
	});

	test('by a lost connection after a short silence is no idle time-out', async () => {
		const { error } = await timed(
			async function* (time) {
				yield bytes(delta('Once'));
				await time.gateway.sleep(15_000);
				throw fault('lost', 'ECONNRESET');
			},
			{ idleMs: 20_000 },
		);
		expect(error.message).toMatch(/^The connection was lost/);
	});

	test('by taking too long ends after the whole time, though it is never silent', async () => {
		const { error, tookMs } = await timed((time) => words(time, 10_000), {
			idleMs: 20_000,
			timeoutMs: 45_000,
		});
		expect(error.message).toBe('The answer was not complete within 45 s');
		expect(error.facts.partialText).toBe('w1 w2 w3 w4 w5 ');
		expect(error.facts.advice).toMatch(/charged.*Timeout option/);
		expect(error.facts.advice).not.toContain('Idle');
		expect(tookMs).toBe(45_000);
	});

	test('by silence before its first byte has no text', async () => {
		const { error, tookMs } = await timed(
			async function* (time) {
				await time.gateway.sleep(HOUR);
				yield bytes('');
			},
			{ idleMs: 20_000 },
		);
		expect(error.message).toMatch(/^Nothing arrived for 20 s/);
		expect(error.facts).not.toHaveProperty('partialText');
		expect(tookMs).toBe(20_000);
	});

	test('by a cancel ends at once and keeps the text', async () => {
		const { error, tookMs, seen } = await timed((time) => {
			void time.gateway.sleep(12_000).then(() => cancel());
			return words(time, 5_000);
		}, cancellable());
		expect(error).toBeInstanceOf(CancelledError);
		expect(error.facts.partialText).toBe('w1 w2 w3 ');
		expect(tookMs).toBe(12_000);
		expect(seen.closed).toBeGreaterThan(0);
		expect(seen.sent).toHaveLength(1);
	});

	test('by a cancel while it is silent ends at once', async () => {
		const { error, tookMs } = await timed(async function* (time) {
			void time.gateway.sleep(3_000).then(() => cancel());
			yield bytes(delta('Once'));
			await new Promise(() => {});
		}, cancellable());
		expect(error).toBeInstanceOf(CancelledError);
		expect(error.facts.partialText).toBe('Once');
		expect(tookMs).toBe(3_000);
	});

	test('is not begun after a cancel', async () => {
		const { cancel: stop, failure, seen } = streaming([]);
		stop();
		await expect(failure()).resolves.toBeInstanceOf(CancelledError);
		expect(seen.sent).toHaveLength(0);
	});

	test('leaves no wait behind', async () => {
		const { run, time } = streaming([bytes(completed({ output: [] }))]);
		await run();
		const before = time.now();
		await time.advance(HOUR);
		expect(time.now() - before).toBe(HOUR);
		expect(time.waits).toEqual([60_000]);
	});

	test('that was never opened is a network error, without text', async () => {
		const { failure, client } = streaming([]);
		client.transport.open = async () => await Promise.reject(fault('timeout', 'ECONNABORTED'));
		const error = await failure();
		expect(error).toBeInstanceOf(NetworkError);
		expect(error.facts).not.toHaveProperty('partialText');
	});
});
