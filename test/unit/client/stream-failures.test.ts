import {
	AnswerError,
	CancelledError,
	NetworkError,
	StatusError,
	StreamError,
} from '../../../nodes/shared/api/errors/errors';
import { aborted, fault, KEY, shown } from './arrange';
import {
	bytes,
	completed,
	delta,
	event,
	message,
	oneByOne,
	outcome,
	streaming,
	type Chunks,
	type StreamArrangement,
} from './recorded-streams';

const CHARGED = /^The request may have been executed and charged\. Check the usage/;
const ENDED = 'The answer ended before it was complete';
const HOUR = 3_600_000;

type Clock = ReturnType<typeof streaming>['time'];

/** What a user gets of a stream that fails; it is asked for once. */
async function failureOf(
	chunks: Chunks | ((time: Clock) => Chunks),
	{ sends = 1, ...options }: StreamArrangement & { sends?: number } = {},
) {
	async function* made() {
		yield* typeof chunks === 'function' ? chunks(arranged.time) : chunks;
	}
	const arranged = streaming(made(), options);
	const start = arranged.time.now();
	const error = await arranged.failure();
	expect(arranged.seen.sent).toHaveLength(sends);
	return { ...arranged, error, tookMs: arranged.time.now() - start };
}

describe('A stream that the gateway ends by an error', () => {
	const failed = (fields: object) => event('response.failed', fields);
	const BROKE = { message: 'Broke', code: 'C' };

	test.each<[string, string, object]>([
		['response.failed', failed({ response: { id: 'r1', error: BROKE } }), { code: 'C' }],
		[
			'response.failed with a type',
			failed({ response: { error: { type: 'T', message: 'Broke' } } }),
			{ type: 'T' },
		],
		['response.failed without a response', failed({ error: BROKE }), { code: 'C' }],
		['a flat error', event('error', { ...BROKE, param: null }), { code: 'C', type: undefined }],
		[
			'an error object',
			event('error', { error: { ...BROKE, type: 'T' } }),
			{ type: 'T', code: 'C' },
		],
		['an error that is a text', event('error', { error: 'Broke' }), {}],
		['a code alone', event('error', { code: 'Broke' }), { code: 'Broke' }],
		['an empty message', event('error', { message: '', code: 'Broke' }), { code: 'Broke' }],
		[
			'an error by its name',
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
			charged: true,
			advice: expect.stringMatching(CHARGED) as string,
		});
		expect(seen.closed).toBeGreaterThan(0);
	});

	test.each([
		['response.failed', failed({ response: { error: null } })],
		['error', event('error', {})],
	])('(%s) without a reason says so', async (_name, end) => {
		const { error } = await failureOf([bytes(end)]);
		expect(error.message).toBe('The model’s response failed: the gateway gave no reason');
		expect(error.facts).not.toHaveProperty('partialText');
	});

	test('shows no key, and one line', async () => {
		const nasty = `key ${KEY}\n${'x'.repeat(5000)}`;
		const end = event('error', { error: { message: nasty, type: nasty, code: nasty } });
		const { error } = await failureOf([bytes(end)]);
		expect(shown(error)).not.toContain(KEY);
		expect(error.message).not.toContain('\n');
		expect(error.message.length).toBeLessThan(600);
	});
});

describe('A reply that is no stream', () => {
	const document = { id: 'r1', status: 'completed', output: [message('Whole ü')] };
	const json = JSON.stringify(document);

	test.each<[string, string]>([
		['a JSON document', json],
		['a JSON document behind white space', ` \n\n${JSON.stringify(document, null, 1)}`],
		['a JSON document behind a byte order mark', `\ufeff${json}`],
	])('%s is the answer, in any pieces', async (_name, body) => {
		for (const chunks of [[bytes(body)], oneByOne(body)]) {
			await expect(outcome(chunks)).resolves.toEqual({ json: document, pieces: ['Whole ü'] });
		}
	});

	const NOTHING = 'The gateway answered with nothing in place of JSON';
	const NO_JSON = 'The gateway’s answer is not JSON:';
	const UNEXPECTED = 'The gateway’s response is not as expected:';

	test.each<[string, string, message: string]>([
		['nothing', '', NOTHING],
		['white space', '\n \n', NOTHING],
		['words', 'upstream is busy', `${NO_JSON} upstream is busy`],
		['half a JSON document', json.slice(0, 30), `${NO_JSON} ${json.slice(0, 30)}`],
		['null', 'null', `${UNEXPECTED} Expected object, received null`],
		['a list', '[]', `${UNEXPECTED} Expected object, received array`],
		['a number', '42', `${UNEXPECTED} Expected object, received number`],
		['a text', '"done"', `${UNEXPECTED} Expected object, received string`],
		[
			'a document without output',
			'{"id":"r","status":"x"}',
			`${UNEXPECTED} field "output": Required`,
		],
		[
			'a web page',
			'\n<!DOCTYPE html><html><body>Log in</body></html>',
			'The gateway answered with a web page (HTML) in place of JSON',
		],
		[
			'a document that failed',
			JSON.stringify({ ...document, status: 'failed', error: { message: 'Broke' } }),
			'The model’s response failed: Broke',
		],
	])('%s is named, in any pieces', async (_name, text, says) => {
		for (const chunks of [[bytes(text)], oneByOne(text)]) {
			const { error } = await failureOf(chunks);
			expect(error).toBeInstanceOf(AnswerError);
			expect(error.message).toBe(says);
			const { advice, retryable, inDoubt, charged } = error.facts;
			expect({ retryable, known: inDoubt ?? charged }).toEqual({ retryable: false, known: true });
			expect(advice).toMatch(/executed and (may have been )?charged/);
			expect(/Base URL/.test(advice)).toBe(says.includes('HTML'));
		}
	});

	const AS_STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };

	test.each<[string, string[], StreamArrangement['headers']]>([
		['comments', [': hello\n\n: bye\n\n'], {}],
		['[DONE] alone', ['data: [DONE]\n\n'], {}],
		['nothing that is said to be a stream', [], AS_STREAM],
	])('%s is an end before it was complete', async (_name, chunks, headers) => {
		const { error } = await failureOf(chunks.map(bytes), { headers });
		expect(error).toBeInstanceOf(StreamError);
		expect(error.message).toBe(ENDED);
		expect(error.facts).not.toHaveProperty('partialText');
		expect(error.facts).toMatchObject({ retryable: false, inDoubt: true });
		expect(error.facts.advice).toMatch(CHARGED);
	});

	test('an error status is an error as any other, with its reason', async () => {
		const body = JSON.stringify({ error: { type: 'T', code: 'C', message: 'No streams here' } });
		const { error } = await failureOf(oneByOne(body), { status: 403 });
		expect(error).toBeInstanceOf(StatusError);
		expect(error.message).toMatch(/\(HTTP 403\): No streams here$/);
		expect(error.facts).toMatchObject({ httpStatus: 403, type: 'T', code: 'C' });
		expect(error.facts).not.toHaveProperty('partialText');
	});

	test('429 is asked again, as the retry table says', async () => {
		const headers = { 'retry-after': '7' };
		const { error, time } = await failureOf([], { status: 429, headers, maxRetries: 2, sends: 3 });
		expect(error.facts.httpStatus).toBe(429);
		expect(time.waits).toEqual([7000, 7000]);
	});
});

describe('A stream that breaks off', () => {
	/** One text, and then what a connection does. */
	async function* once(then: Error | Promise<never>) {
		yield bytes(delta('Once') + delta(' upon', 1));
		await (then instanceof Error ? Promise.reject(then) : then);
	}

	test.each<[string, () => Chunks, kind: typeof StreamError, says: string, text: string, RegExp]>([
		[
			'by an end without a final event',
			() => [bytes(`${delta('Once ')}${delta('upon')}data: [DONE]\n\n`)],
			StreamError,
			ENDED,
			'Once upon',
			/again\.$/,
		],
		[
			'in the middle of an event',
			() => [bytes(delta('Once') + delta(' upon').slice(0, -9))],
			StreamError,
			ENDED,
			'Once',
			/again\.$/,
		],
		[
			'by a lost connection',
			() => once(fault('lost', 'ECONNRESET')),
			StreamError,
			'The connection was lost in the middle of the answer (ECONNRESET)',
			'Once upon',
			/again\. Check the network/,
		],
		[
			'by a lost connection without a code',
			() => once(fault('lost')),
			StreamError,
			'The connection was lost in the middle of the answer',
			'Once upon',
			/again\. Check the network/,
		],
		[
			'by a cancel that the transport reports',
			() => once(aborted()),
			CancelledError,
			'The execution was canceled after a request had been sent',
			'Once upon',
			/Nothing more was sent/,
		],
	])('%s keeps the text', async (_name, chunks, kind, says, partialText, advice) => {
		const { error } = await failureOf(chunks());
		expect(error).toBeInstanceOf(kind);
		expect(error.message).toBe(says);
		expect(error.facts).toMatchObject({ partialText, retryable: false, inDoubt: true });
		expect(error.facts.advice).toMatch(CHARGED);
		expect(error.facts.advice).toMatch(advice);
	});

	/** Texts and comments at these seconds; then what a connection does at the last of them. */
	const script = (pieces: Array<[second: number, piece: string | Error]>) =>
		async function* (time: Clock) {
			const start = time.now();
			for (const [second, piece] of pieces) {
				await time.gateway.sleep(start + second * 1000 - time.now());
				if (piece instanceof Error) throw piece;
				yield bytes(piece);
			}
		};
	const word = (n: number) => delta(`w${n} `);
	const words = (every: number) =>
		script(Array.from({ length: 20 }, (_, n) => [n * every, word(n + 1)]));

	const IDLE = 'Nothing arrived for 20 s in the middle of the answer';
	const LOST = 'The connection was lost in the middle of the answer (ECONNRESET)';
	const IDLE_ADVICE = /charged.*Raise the Idle Timeout/;

	test.each<
		[
			string,
			ReturnType<typeof script>,
			says: string,
			text: string | undefined,
			seconds: number,
			RegExp,
		]
	>([
		[
			'by silence ends after the idle time, not sooner',
			script([
				[0, delta('Once')],
				[19, ': still here\n\n'],
				[38, delta(' upon')],
				[HOUR, ''],
			]),
			IDLE,
			'Once upon',
			58,
			IDLE_ADVICE,
		],
		['by silence before its first byte', script([[HOUR, '']]), IDLE, undefined, 20, IDLE_ADVICE],
		[
			'by silence, even if the connection’s own timer ends it',
			script([
				[0, delta('Once')],
				[19.8, fault('lost', 'ECONNRESET')],
			]),
			IDLE,
			'Once',
			19.8,
			IDLE_ADVICE,
		],
		[
			'by a lost connection after a short silence is no idle time-out',
			script([
				[0, delta('Once')],
				[15, fault('lost', 'ECONNRESET')],
			]),
			LOST,
			'Once',
			15,
			/Check the network/,
		],
		[
			'by taking too long ends after the whole time, though it is never silent',
			words(10),
			'The answer was not complete within 45 s',
			'w1 w2 w3 w4 w5 ',
			45,
			/charged.*Raise the Timeout option/,
		],
	])('%s', async (_name, stream, says, partialText, seconds, advice) => {
		const { error, tookMs, seen } = await failureOf(stream, {
			idleMs: 20_000,
			timeoutMs: says.includes('45') ? 45_000 : HOUR,
		});
		expect(error).toBeInstanceOf(StreamError);
		expect(error.message).toBe(says);
		expect(error.facts.partialText).toBe(partialText);
		expect('partialText' in error.facts).toBe(partialText !== undefined);
		expect(error.facts).toMatchObject({ retryable: false, inDoubt: true });
		expect(error.facts.advice).toMatch(advice);
		expect(tookMs).toBe(seconds * 1000);
		expect(seen.closed).toBeGreaterThan(0);
	});

	test.each<[string, 'signal' | 'cancel', (time: Clock) => Chunks, text: string]>([
		['ends at once', 'signal', words(5), 'w1 w2 w3 '],
		['of the stream alone ends it too', 'cancel', words(5), 'w1 w2 w3 '],
		['while it is silent ends at once', 'signal', () => once(new Promise(() => {})), 'Once upon'],
	])('by a cancel %s and keeps the text', async (_name, which, stream, partialText) => {
		const controller = new AbortController();
		const canceled = (time: Clock) => {
			void time.gateway.sleep(12_000).then(() => controller.abort());
			return stream(time);
		};
		const { error, tookMs, seen } = await failureOf(canceled, { [which]: controller.signal });
		expect(error).toBeInstanceOf(CancelledError);
		expect(error.facts.partialText).toBe(partialText);
		expect(tookMs).toBe(12_000);
		expect(seen.closed).toBeGreaterThan(0);
	});

	test.each<[string, StreamArrangement, advice: RegExp]>([
		['Idle Timeout', { idleMs: 20_000, timeoutMs: 20_001 }, /Raise the Idle Timeout option/],
		['Timeout', { idleMs: 20_000, timeoutMs: 20_000 }, /Raise the Timeout option/],
	])('before it begins is a network error that names %s', async (_name, limits, advice) => {
		const { failure, client } = streaming([], limits);
		client.transport.open = async () => await Promise.reject(fault('timeout', 'ECONNABORTED'));
		const error = await failure();
		expect(error).toBeInstanceOf(NetworkError);
		expect(error.facts).not.toHaveProperty('partialText');
		expect(error.facts.advice).toMatch(advice);
	});

	test('for no reason of the network passes its error on as it is', async () => {
		const bug = new Error('a bug');
		await expect(streaming(once(bug)).run()).rejects.toBe(bug);
		await expect(streaming(once(bug), { signal: undefined }).run()).rejects.toBe(bug);
		const answered = completed({ output: [] });
		await expect(streaming([bytes(answered)], { signal: undefined }).run()).resolves.toBeDefined();
	});
});
