import type { VirtualTime } from '../../../scripts/engine/virtual-time';
import { aborted, expectError, fault, START, type Chunks } from './arrange';
import { bytes, completed, delta, event, message, oneByOne } from './recorded-streams';
import { streaming, type StreamOptions } from './recorded-streams';

const CHARGED = /^The request may have been executed and charged\. Check the usage/;
const DOUBT = { retryable: false, maybeExecuted: true, advice: CHARGED };
const ENDED = 'The answer ended before it was complete';
const HOUR = 3_600_000;

/** What a user gets of a stream that fails; it is asked for once. */
async function failureOf(chunks: Chunks, options?: StreamOptions) {
	const arranged = streaming(chunks, options);
	const error = await arranged.failure();
	expect(arranged.sent).toHaveLength(1);
	return { ...arranged, error, tookMs: arranged.time.now() - START };
}

const failed = (fields: object) => event('response.failed', fields);
const BROKE = { message: 'Broke', code: 'C' };

const [T, C] = [{ type: 'T' }, { code: 'C' }];
const NONE = 'the gateway gave no reason';

test.each<[string, string, { code?: string; type?: string }, string?]>([
	['response.failed', failed({ response: { id: 'r1', error: BROKE } }), C],
	['response.failed without a response', failed({ error: BROKE }), C],
	['a flat error', event('error', { ...BROKE, param: null }), { ...C, type: undefined }],
	['an error object', event('error', { error: { ...BROKE, ...T } }), { ...T, ...C }],
	['an error that is a text', event('error', { error: 'Broke' }), {}],
	['a code alone', event('error', { code: 'Broke' }), { code: 'Broke' }],
	['an empty message', event('error', { message: '', code: 'Broke' }), { code: 'Broke' }],
	['a name', 'event: error\ndata: {"code":"C","message":"Broke"}\n\n', C],
	['a name and another type', 'event: error\ndata: {"type":"T","message":"Broke"}\n\n', T],
	['response.failed without a reason', failed({ response: { error: null } }), {}, NONE],
	['an error without a reason', event('error', {}), {}, NONE],
])(
	'A stream that ends by an error (%s) tells why and keeps the text',
	async (_, end, facts, reason = 'Broke') => {
		const headers = { 'x-request-id': 'req_1' };
		const { error, transport } = await failureOf([bytes(delta('Hello') + end)], { headers });
		const code = facts.code === undefined || facts.code === reason ? '' : ` (${facts.code})`;
		const details = { requestId: 'req_1', partialText: 'Hello', retryable: false, charged: true };
		const says = `The model’s response failed${code}: ${reason}`;
		expectError(error, 'StreamError', says, { ...details, ...facts, advice: CHARGED });
		expect(transport.closed).toBeGreaterThan(0);
	},
);

describe('A reply that is no stream', () => {
	const document = { id: 'r1', status: 'completed', output: [message('Whole ü')] };
	const json = JSON.stringify(document);

	const AS_STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };

	test.each([
		['a JSON document', json],
		['a JSON document behind white space', ` \n\n${JSON.stringify(document, null, 1)}`],
		['a JSON document behind a byte order mark', `\ufeff${json}`],
	])('%s is the answer, in any pieces, also if it is said to be a stream', async (_name, body) => {
		for (const chunks of [[bytes(body)], oneByOne(body)]) {
			const { run, pieces } = streaming(chunks, { headers: AS_STREAM });
			await expect(run()).resolves.toMatchObject({ json: document });
			expect(pieces).toEqual(['Whole ü']);
		}
	});

	const NO_JSON = 'The gateway’s answer is not JSON:';
	const UNEXPECTED = 'The gateway’s response is not as expected:';
	const HTML = 'The gateway answered with a web page (HTML) instead of JSON';
	const broken = { ...document, status: 'failed', error: { message: 'Broke' } };

	test.each<[string, string, message: string]>([
		['nothing', '', 'The gateway answered with an empty body instead of JSON'],
		['words', 'upstream is busy', `${NO_JSON} upstream is busy`],
		['half a JSON document', json.slice(0, 30), `${NO_JSON} ${json.slice(0, 30)}`],
		['a text', '"done"', `${UNEXPECTED} expected object, received string`],
		['one without output', '{"id":"r","status":"x"}', `${UNEXPECTED} field "output": missing`],
		['a web page', '\n<!DOCTYPE html><html><body>Log in</body></html>', HTML],
		['a document that failed', JSON.stringify(broken), 'The model’s response failed: Broke'],
	])('%s is named, in any pieces', async (_name, text, says) => {
		for (const chunks of [[bytes(text)], oneByOne(text)]) {
			const { error } = await failureOf(chunks);
			const advice = /executed and (may have been )?charged/;
			expectError(error, 'InvalidResponseError', says, { retryable: false, advice });
			expect(error.details.maybeExecuted ?? error.details.charged).toBe(true);
			expect(/Base URL/.test(error.details.advice)).toBe(says === HTML);
		}
	});

	test.each<[string, string[], StreamOptions['headers']]>([
		['comments', [': hello\n\n: bye\n\n'], {}],
		['[DONE] alone', ['data: [DONE]\n\n'], {}],
		['nothing that is said to be a stream', [], AS_STREAM],
	])('%s is an end before it was complete', async (_name, chunks, headers) => {
		const { error } = await failureOf(chunks.map(bytes), { headers });
		expectError(error, 'StreamError', ENDED, DOUBT);
		expect(error.details).not.toHaveProperty('partialText');
	});

	test('an error status is an error as any other, with its reason, asked again where that helps', async () => {
		const body = JSON.stringify({ error: { type: 'T', code: 'C', message: 'No streams here' } });
		const options = { status: 429, headers: { 'retry-after': '7' }, maxRetries: 2 };
		const { failure, time } = streaming(oneByOne(body), options);
		const error = await failure();
		const details = { httpStatus: 429, type: 'T', code: 'C' };
		expectError(error, 'ApiError', /\(HTTP 429, C\): No streams here$/, details);
		expect(error.details).not.toHaveProperty('partialText');
		expect(time.waits).toEqual([7000, 7000]);
	});
});

describe('A stream that breaks off', () => {
	/** One text, its second item first, and then what a connection does. */
	async function* once(then: Error | Promise<never>) {
		yield bytes(delta(' upon', 1) + delta('Once'));
		await (then instanceof Error ? Promise.reject(then) : then);
	}

	const LOST = 'The connection was lost in the middle of the answer';
	const CANCELED = 'The execution was canceled after a request had been sent';
	const PARTS = delta('Once ') + delta('upon');
	const CUT = delta('Once') + delta(' upon').slice(0, -9);
	const NETWORK = /again\. Check the network/;

	test.each<[string, Chunks, says: string, text: string, RegExp]>([
		['by an end', [bytes(`${PARTS}data: [DONE]\n\n`)], ENDED, 'Once upon', /again\.$/],
		['in the middle of an event', [bytes(CUT)], ENDED, 'Once', /again\.$/],
		['by its connection', once(fault('lost')), LOST, 'Once upon', NETWORK],
		['by a code', once(fault('lost', 'E1')), `${LOST} (E1)`, 'Once upon', NETWORK],
		['by a cancel', once(aborted()), CANCELED, 'Once upon', /Nothing more was sent/],
	])('%s keeps the text', async (_name, chunks, says, partialText, advice) => {
		const { error } = await failureOf(chunks);
		const kind = says === CANCELED ? 'CanceledError' : 'StreamError';
		expectError(error, kind, says, { ...DOUBT, partialText });
		expect(error.details.advice).toMatch(advice);
	});

	/** Texts and comments at these seconds; then what a connection does at the last of them. */
	const script = (pieces: Record<number, string | Error>) =>
		async function* (time: VirtualTime) {
			const inOrder = Object.entries(pieces).sort(([one], [other]) => Number(one) - Number(other));
			for (const [second, piece] of inOrder) {
				await time.gateway.sleep(START + Number(second) * 1000 - time.now());
				if (piece instanceof Error) throw piece;
				yield bytes(piece);
			}
		};
	const word = (n: number) => delta(`w${n} `);
	const words = (every: number) =>
		script(Object.fromEntries(Array.from({ length: 20 }, (_, n) => [n * every, word(n + 1)])));

	const IDLE = 'Nothing arrived for 20 s in the middle of the answer';
	const LATE = 'The answer was not complete within 45 s';
	const lost = fault('lost', 'ECONNRESET');
	const ONCE = delta('Once');
	const silent = script({ 0: ONCE, 19: ': still here\n\n', 38: delta(' upon'), [HOUR]: '' });
	const lostAt = (second: number) => script({ 0: ONCE, [second]: lost });

	test.each<[string, Chunks, says: string, text: string | undefined, seconds: number]>([
		['by silence ends after the idle time, not sooner', silent, IDLE, 'Once upon', 58],
		['by silence before its first byte', script({ [HOUR]: '' }), IDLE, undefined, 20],
		['by silence, even if its own timer ends it', lostAt(19.8), IDLE, 'Once', 19.8],
		['by a lost connection is no idle time-out', lostAt(15), `${LOST} (ECONNRESET)`, 'Once', 15],
		['by taking too long, though never silent', words(10), LATE, 'w1 w2 w3 w4 w5 ', 45],
	])('%s', async (_name, stream, says, partialText, seconds) => {
		const limits = { idleMs: 20_000, timeoutMs: says === LATE ? 45_000 : HOUR };
		const { error, tookMs, transport } = await failureOf(stream, limits);
		expectError(error, 'StreamError', says, { ...DOUBT, ...(partialText && { partialText }) });
		expect('partialText' in error.details).toBe(partialText !== undefined);
		const remedies: Record<string, string> = {
			[IDLE]: 'Raise the Idle',
			[LATE]: 'Raise the Timeout',
		};
		expect(error.details.advice).toContain(remedies[says] ?? 'Check the network');
		expect(tookMs).toBe(seconds * 1000);
		expect(transport.closed).toBeGreaterThan(0);
	});

	test.each([
		['ends at once', 'signal', words(5), 'w1 w2 w3 '],
		['of the stream alone ends it too', 'cancel', words(5), 'w1 w2 w3 '],
		['while it is silent ends at once', 'signal', () => once(new Promise(() => {})), 'Once upon'],
	] as const)('by a cancel %s and keeps the text', async (_name, which, stream, partialText) => {
		const controller = new AbortController();
		const canceled = (time: VirtualTime) => {
			void time.gateway.sleep(12_000).then(() => controller.abort());
			return stream(time);
		};
		// Silence that is nearly the idle time-out is a cancel all the same.
		const limits = { idleMs: 13_000, [which]: controller.signal };
		const { error, tookMs, transport } = await failureOf(canceled, limits);
		expectError(error, 'CanceledError', /./, { partialText });
		expect(tookMs).toBe(12_000);
		expect(transport.closed).toBeGreaterThan(0);
	});

	test('before it begins is a network error that names Timeout', async () => {
		const { failure, client } = streaming([], { idleMs: 20_000 });
		client.transport.open = async () => await Promise.reject(fault('timeout', 'ECONNABORTED'));
		const error = await failure();
		expectError(error, 'NetworkError', /./, { advice: /Raise the Timeout option/ });
		expect(error.details).not.toHaveProperty('partialText');
	});

	test('for no reason of the network passes its error on as it is', async () => {
		const bug = new Error('a bug');
		await expect(streaming(once(bug)).run()).rejects.toBe(bug);
		for (const options of [{ signal: undefined }, { idleMs: 0 }])
			await expect(streaming(once(bug), options).run()).rejects.toBe(bug);
		const answered = completed({ output: [] });
		await expect(streaming([bytes(answered)], { signal: undefined }).run()).resolves.toBeDefined();
	});
});
