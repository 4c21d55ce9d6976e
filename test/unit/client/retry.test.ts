import fc from '../../support/fast-check';
import {
	AnswerError,
	CancelledError,
	NetworkError,
	StatusError,
} from '../../../nodes/shared/client/errors';
import { request } from '../../../nodes/shared/client/request';
import { backoffMs, type RequestKind } from '../../../nodes/shared/client/retry';
import type { FaultKind } from '../../../nodes/shared/client/transport';
import { arrange, failureOf, fault, reply, START, type Exchange } from './arrange';

const KINDS: RequestKind[] = ['read', 'response', 'image'];

/** How often a request is sent whose outcome stays the same, with three retries allowed. */
const BOUNDED = 4;
const ONCE_MORE = 2;
const NEVER_AGAIN = 1;

const BOUNDED_FOR_ALL = { read: BOUNDED, response: BOUNDED, image: BOUNDED };
const ONCE_BUT_IMAGES = { read: ONCE_MORE, response: ONCE_MORE, image: NEVER_AGAIN };
const READS_ONLY = { read: BOUNDED, response: NEVER_AGAIN, image: NEVER_AGAIN };
const NEVER = { read: NEVER_AGAIN, response: NEVER_AGAIN, image: NEVER_AGAIN };

const CHECK_USAGE = /may have been executed and charged\. Check the usage/;
const TASK_MAY_EXIST = /image task may exist .* Check the usage/;

function message(kind: RequestKind) {
	const path = { read: '/models', response: '/responses', image: '/images/generations/async' }[
		kind
	];
	return kind === 'read'
		? ({ method: 'GET', path } as const)
		: ({ method: 'POST', path, body: { model: 'm' } } as const);
}

interface Row {
	sends: Record<RequestKind, number>;
	/** Whether the gateway may have executed the request. */
	doubt: boolean;
	title: RegExp;
	advice: RegExp;
}

/** Design, section 4, and the contract's table "Errors". */
const STATUSES: Array<Row & { status: number }> = [
	{
		status: 400,
		sends: NEVER,
		doubt: false,
		title: /refused the request as invalid/,
		advice: /^Fix the request/,
	},
	{
		status: 401,
		sends: NEVER,
		doubt: false,
		title: /did not accept the API key/,
		advice: /^Fix the credential.*incomplete, revoked, expired or disabled/,
	},
	{
		status: 403,
		sends: NEVER,
		doubt: false,
		title: /does not permit this/,
		advice: /group.*balance.*console/,
	},
	{
		status: 404,
		sends: NEVER,
		doubt: false,
		title: /does not know this address or model/,
		advice: /Base URL.*\/v1.*model.*switched off/,
	},
	{
		status: 408,
		sends: READS_ONLY,
		doubt: true,
		title: /did not complete in time/,
		advice: /time-outs/,
	},
	{
		status: 413,
		sends: NEVER,
		doubt: false,
		title: /too large/,
		advice: /^Shrink or split/,
	},
	{
		status: 429,
		sends: BOUNDED_FOR_ALL,
		doubt: false,
		title: /asks to slow down/,
		advice: /Concurrency/,
	},
	{
		status: 499,
		sends: NEVER,
		doubt: false,
		title: /closed before the gateway answered/,
		advice: /time-outs of proxies/,
	},
	{
		status: 500,
		sends: ONCE_BUT_IMAGES,
		doubt: true,
		title: /internal error/,
		advice: /Report it/,
	},
	{
		status: 502,
		sends: READS_ONLY,
		doubt: true,
		title: /abnormal reply/,
		advice: /minimal request/,
	},
	{
		status: 503,
		sends: BOUNDED_FOR_ALL,
		doubt: false,
		title: /overloaded or a part of it is unavailable/,
		advice: /Wait a while/,
	},
	{
		status: 504,
		sends: READS_ONLY,
		doubt: true,
		title: /waited too long/,
		advice: /Shorten the task/,
	},
	...[300, 301, 302, 303, 304, 307, 308].map((status) => ({
		status,
		sends: NEVER,
		doubt: false,
		title: /redirects to another/,
		advice: /not followed, since the key would go/,
	})),
	...[402, 405, 409, 418, 422, 451].map((status) => ({
		status,
		sends: NEVER,
		doubt: false,
		title: /^The gateway refused the request \(/,
		advice: /^Check the request and the credential/,
	})),
	// Not in the contract: nobody says that nothing was done, so nothing that costs is repeated.
	...[501, 505, 520, 524].map((status) => ({
		status,
		sends: READS_ONLY,
		doubt: true,
		title: /^The gateway failed/,
		advice: /Report it/,
	})),
];

const FAULTS: Array<Row & { kind: FaultKind; code: string }> = [
	{
		kind: 'unreached',
		code: 'ECONNREFUSED',
		sends: BOUNDED_FOR_ALL,
		doubt: false,
		title: /cannot be reached/,
		advice: /Check the Base URL.*running/,
	},
	{
		kind: 'unreached',
		code: 'ENOTFOUND',
		sends: BOUNDED_FOR_ALL,
		doubt: false,
		title: /cannot be reached/,
		advice: /Check the Base URL/,
	},
	{
		kind: 'timeout',
		code: 'ETIMEDOUT',
		sends: READS_ONLY,
		doubt: true,
		title: /did not answer in time/,
		advice: /Raise the Timeout option/,
	},
	{
		kind: 'lost',
		code: 'ECONNRESET',
		sends: READS_ONLY,
		doubt: true,
		title: /connection to the gateway was lost/,
		advice: /Check the network/,
	},
	{
		kind: 'certificate',
		code: 'CERT_HAS_EXPIRED',
		sends: NEVER,
		doubt: false,
		title: /certificate is not accepted/,
		advice: /verification is not switched off/,
	},
	{
		kind: 'blocked',
		code: 'SSRF',
		sends: NEVER,
		doubt: false,
		title: /own protection refuses/,
		advice: /SSRF protection/,
	},
];

function doubtIn(advice: string) {
	return { checkUsage: CHECK_USAGE.test(advice), taskMayExist: TASK_MAY_EXIST.test(advice) };
}

describe.each(STATUSES)('HTTP $status', ({ status, sends, doubt, title, advice }) => {
	const always = reply(
		status,
		{ error: { type: 'SOME_TYPE', code: 'some_code', message: 'said so' } },
		{ 'x-request-id': 'req_7' },
	);

	test.each(KINDS)('%s: is sent as often as the table says, and no more', async (kind) => {
		const { client, sent, failure } = arrange([], { then: always });

		const error = await failure(request(client, kind, message(kind)));

		expect(sent).toHaveLength(sends[kind]);
		expect(error).toBeInstanceOf(StatusError);
	});

	test.each(KINDS)('%s: says what happened, and what to do', async (kind) => {
		const { client, failure } = arrange([], { then: always });

		const { message: text, facts } = await failure(request(client, kind, message(kind)));

		expect(text).toMatch(title);
		expect(text).toContain(`(HTTP ${status}): said so`);
		expect(facts.advice).toMatch(
			doubt && kind !== 'read' ? new RegExp(advice.source.replace(/^\^/, '')) : advice,
		);
		expect(doubtIn(facts.advice)).toEqual({
			checkUsage: doubt && kind === 'response',
			taskMayExist: doubt && kind === 'image',
		});
		expect(facts).toMatchObject({
			httpStatus: status,
			type: 'SOME_TYPE',
			code: 'some_code',
			requestId: 'req_7',
			retryable: sends[kind] > 1 && !(doubt && kind !== 'read'),
		});
		expect(facts.retryAfter).toBeUndefined();
		expect(facts.taskId).toBeUndefined();
	});

	test.each(KINDS)('%s: is sent once where no retries are wanted', async (kind) => {
		const { client, sent, time, failure } = arrange([], { then: always, maxRetries: 0 });

		await failure(request(client, kind, message(kind)));

		expect(sent).toHaveLength(1);
		expect(time.waits).toEqual([]);
	});
});

describe.each(FAULTS)(
	'no reply: $kind ($code)',
	({ kind: fails, code, sends, doubt, title, advice }) => {
		test.each(KINDS)('%s: is sent as often as the table says, and no more', async (kind) => {
			const { client, sent, failure } = arrange([], { then: fault(fails, code) });

			const error = await failure(request(client, kind, message(kind)));

			expect(sent).toHaveLength(sends[kind]);
			expect(error).toBeInstanceOf(NetworkError);
			expect(error.message).toMatch(title);
			expect(error.message).toContain(`(${code})`);
			expect(error.facts.advice).toMatch(advice);
			expect(doubtIn(error.facts.advice)).toEqual({
				checkUsage: doubt && kind === 'response',
				taskMayExist: doubt && kind === 'image',
			});
			expect(error.facts.retryable).toBe(sends[kind] > 1);
			expect(error.facts.httpStatus).toBeUndefined();
		});
	},
);

test('a fault without a code or detail is named without empty brackets', async () => {
	const { client, failure } = arrange([fault('lost')]);
	const { message: text } = await failure(request(client, 'image', message('image')));
	expect(text).toBe('The connection to the gateway was lost before its answer was here');
});

test('a fault’s detail goes before its code', async () => {
	const { client, failure } = arrange([fault('certificate', 'CERT_HAS_EXPIRED', 'it has expired')]);
	const { message: text } = await failure(request(client, 'read', message('read')));
	expect(text).toContain('(it has expired)');
});

test('an error that is none of the network passes as it is', async () => {
	const { client, transport } = arrange();
	const bug = new TypeError('a bug');
	transport.send = async () => await Promise.reject(bug);
	await expect(request(client, 'read', message('read'))).rejects.toBe(bug);
});

describe('what cost money is never paid twice', () => {
	test('a lost connection after sending never submits twice', async () => {
		const { client, sent, failure } = arrange([fault('lost', 'ECONNRESET')]);
		const error = await failure(request(client, 'image', message('image')));
		expect(sent).toHaveLength(1);
		expect(error.facts.retryable).toBe(false);
	});

	test('a time-out never asks for a second response', async () => {
		const { client, sent, failure } = arrange([fault('timeout', 'ECONNABORTED')]);
		const error = await failure(request(client, 'response', message('response')));
		expect(sent).toHaveLength(1);
		expect(error.facts.retryable).toBe(false);
	});

	test.each(KINDS)('%s: 429, then lost: the doubt decides, not the retries left', async (kind) => {
		const { client, sent, failure } = arrange([reply(429), fault('lost')], {
			then: fault('lost'),
			maxRetries: 5,
		});
		await failure(request(client, kind, message(kind)));
		expect(sent).toHaveLength(kind === 'read' ? 6 : 2);
	});

	test('whatever happens before, nothing that may have been executed is sent again', async () => {
		/** By design, section 4: what may follow on each outcome. */
		const outcomes: Array<[Exchange, Record<RequestKind, 'again' | 'once' | 'end'>]> = [
			[reply(429), { read: 'again', response: 'again', image: 'again' }],
			[reply(503), { read: 'again', response: 'again', image: 'again' }],
			[fault('unreached'), { read: 'again', response: 'again', image: 'again' }],
			[reply(500), { read: 'once', response: 'once', image: 'end' }],
			[reply(408), { read: 'again', response: 'end', image: 'end' }],
			[reply(502), { read: 'again', response: 'end', image: 'end' }],
			[reply(504), { read: 'again', response: 'end', image: 'end' }],
			[fault('timeout'), { read: 'again', response: 'end', image: 'end' }],
			[fault('lost'), { read: 'again', response: 'end', image: 'end' }],
			[reply(400), { read: 'end', response: 'end', image: 'end' }],
			[fault('certificate'), { read: 'end', response: 'end', image: 'end' }],
			[reply(200, {}), { read: 'end', response: 'end', image: 'end' }],
		];
		await fc.assert(
			fc.asyncProperty(
				fc.constantFrom(...KINDS),
				fc.array(fc.constantFrom(...outcomes), { minLength: 1, maxLength: 8 }),
				fc.nat(6),
				async (kind, story, maxRetries) => {
					const { client, sent } = arrange(
						story.map(([exchange]) => exchange),
						{ then: reply(400), maxRetries, chance: () => 0 },
					);
					// Time need not be driven: without chance no wait takes time.
					client.time = { now: () => START, random: () => 0, sleep: async () => {} };
					await request(client, kind, message(kind)).catch(() => {});

					let expected = 0;
					let internalErrors = 0;
					for (const [exchange, rules] of [...story, ...outcomes.slice(9, 10)]) {
						expected++;
						const rule = rules[kind];
						if ('status' in exchange && exchange.status === 500) internalErrors++;
						if (rule === 'end' || (rule === 'once' && internalErrors > 1)) break;
						if (expected > maxRetries) break;
					}
					expect(sent).toHaveLength(expected);
				},
			),
			{ numRuns: 300 },
		);
	});
});

describe('an internal error (500)', () => {
	test('is followed by one more try, which may succeed', async () => {
		const { client, sent, drive } = arrange([reply(500), reply(200, { id: 'r' })]);
		const { json } = await drive(request(client, 'response', message('response')));
		expect(json).toEqual({ id: 'r' });
		expect(sent).toHaveLength(2);
	});

	test.each([
		['503, 500, 503, 500', [503, 500, 503, 500], 4],
		['500, 503, 429, 500', [500, 503, 429, 500], 4],
		['500, 500', [500, 500], 2],
		['503, 500, 500', [503, 500, 500], 3],
	])('is not forgiven a second time: %s', async (_, statuses, sends) => {
		const { client, sent, failure } = arrange(
			statuses.map((status) => reply(status)),
			{ maxRetries: 9 },
		);
		const error = await failure(request(client, 'response', message('response')));
		expect(error.facts.httpStatus).toBe(500);
		expect(sent).toHaveLength(sends);
	});

	test('counts among the retries that are allowed', async () => {
		const { client, sent, failure } = arrange([reply(503), reply(500)], { maxRetries: 1 });
		await failure(request(client, 'read', message('read')));
		expect(sent).toHaveLength(2);
	});
});

describe('before it sends again, it waits', () => {
	const IN_90_S = 'Thu, 01 Jan 2026 00:01:30 GMT';
	const PAST = 'Wed, 31 Dec 2025 23:59:00 GMT';
	const BACKOFF = 1000;

	test.each([
		['seconds', { 'retry-after': '7' }, 7000],
		['seconds with spaces', { 'retry-after': ' 7 ' }, 7000],
		['fractions of seconds', { 'retry-after': '1.5' }, 1500],
		['0', { 'retry-after': '0' }, 0],
		['a list', { 'retry-after': ['4', '9'] }, 4000],
		['an HTTP date', { 'retry-after': IN_90_S }, 90_000],
		['an HTTP date that has passed', { 'retry-after': PAST }, 0],
		[
			'an HTTP date, by the gateway’s clock, which is late',
			{ 'retry-after': IN_90_S, date: 'Thu, 01 Jan 2026 00:01:00 GMT' },
			30_000,
		],
		[
			'an HTTP date, by the gateway’s clock, which is years ahead',
			{ 'retry-after': 'Sat, 01 Jan 2028 00:00:20 GMT', date: 'Sat, 01 Jan 2028 00:00:00 GMT' },
			20_000,
		],
		['an HTTP date beside a Date that is none', { 'retry-after': IN_90_S, date: 'now' }, 90_000],
		['seconds, whatever Date says', { 'retry-after': '7', date: IN_90_S }, 7000],
		['nothing', {}, BACKOFF],
		['an empty text', { 'retry-after': '' }, BACKOFF],
		['a negative number', { 'retry-after': '-5' }, BACKOFF],
		['a signed number', { 'retry-after': '+5' }, BACKOFF],
		['a word', { 'retry-after': 'later' }, BACKOFF],
		['a number with a unit', { 'retry-after': '10s' }, BACKOFF],
		['a word and a number', { 'retry-after': 'soon 5' }, BACKOFF],
		['a word and a year', { 'retry-after': 'not before 2027' }, BACKOFF],
		['two numbers', { 'retry-after': '5, 10' }, BACKOFF],
		['a number beyond all numbers', { 'retry-after': '9'.repeat(400) }, BACKOFF],
	])('Retry-After is %s', async (_, headers, waitMs) => {
		const { client, time, sent, drive } = arrange([reply(503, '', headers), reply(200, {})]);

		await drive(request(client, 'image', message('image')));

		expect(time.waits).toEqual([waitMs]);
		expect(sent.map(({ at }) => at - START)).toEqual([0, waitMs]);
	});

	test('429 is obeyed like 503', async () => {
		const { client, time, drive } = arrange([
			reply(429, '', { 'retry-after': '2' }),
			reply(503, '', { 'retry-after': '11' }),
			reply(200, {}),
		]);
		await drive(request(client, 'response', message('response')));
		expect(time.waits).toEqual([2000, 11_000]);
	});

	test('without Retry-After twice as long each time, from one second up to 30', async () => {
		const { client, time, failure } = arrange([], { then: reply(503), maxRetries: 8 });
		await failure(request(client, 'read', message('read')));
		expect(time.waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
	});

	test('with full jitter: anything from nothing to the whole of it', async () => {
		const chances = [0, 0.5, 0.25, 0.1];
		const { client, time, failure } = arrange([], {
			then: fault('unreached'),
			maxRetries: 4,
			chance: () => chances.shift() ?? 1,
		});
		await failure(request(client, 'read', message('read')));
		expect(time.waits).toEqual([0, 1000, 1000, 800]);
	});

	test('the backoff is never longer than 30 s, nor negative', () => {
		fc.assert(
			fc.property(fc.nat(5000), fc.double({ min: 0, max: 1, noNaN: true }), (retries, chance) => {
				const ms = backoffMs(retries, chance);
				expect(ms).toBeGreaterThanOrEqual(0);
				expect(ms).toBeLessThanOrEqual(30_000);
			}),
		);
	});

	test('each wait is reported with its reason', async () => {
		const retries: unknown[] = [];
		const { client, drive } = arrange(
			[reply(429, '', { 'retry-after': '2' }), fault('unreached', 'ENOTFOUND'), reply(200, {})],
			{ onRetry: (retry) => retries.push(retry) },
		);
		await drive(request(client, 'read', message('read')));
		expect(retries).toEqual([
			{ reason: expect.stringContaining('HTTP 429') as string, waitMs: 2000, attempt: 1 },
			{ reason: expect.stringContaining('ENOTFOUND') as string, waitMs: 2000, attempt: 2 },
		]);
	});

	test('the last error tells how long the gateway wants to be left alone', async () => {
		const { client, failure } = arrange([], {
			then: reply(503, '', { 'retry-after': '5' }),
			maxRetries: 1,
		});
		const { facts } = await failure(request(client, 'read', message('read')));
		expect(facts.retryAfter).toBe(5);
	});
});

describe('every loop is bounded', () => {
	test.each([0, 1, 2, 7])('by %i retries', async (maxRetries) => {
		const { client, sent, failure } = arrange([], { then: reply(503), maxRetries });
		await failure(request(client, 'image', message('image')));
		expect(sent).toHaveLength(maxRetries + 1);
	});

	test('by the deadline: a wait that would pass it is not begun, and the error says its length', async () => {
		const { client, sent, time, failure } = arrange([reply(503, '', { 'retry-after': '60' })], {
			deadline: START + 59_999,
		});

		const { message: text, facts } = await failure(request(client, 'image', message('image')));

		expect(sent).toHaveLength(1);
		expect(time.waits).toEqual([]);
		expect(time.now()).toBe(START);
		expect(text).toContain('HTTP 503');
		expect(facts.advice).toContain('asked to wait 60 s');
		expect(facts.advice).toContain('Wait a while');
		expect(facts).toMatchObject({ retryAfter: 60, retryable: true });
	});

	test('a wait that ends at the deadline is begun', async () => {
		const { client, sent, drive } = arrange(
			[reply(503, '', { 'retry-after': '60' }), reply(200, {})],
			{ deadline: START + 60_000 },
		);
		await drive(request(client, 'image', message('image')));
		expect(sent).toHaveLength(2);
	});

	test('a huge Retry-After ends at once', async () => {
		const { client, time, failure } = arrange([
			reply(429, '', { 'retry-after': '99999999999999999999' }),
		]);
		const { facts } = await failure(request(client, 'read', message('read')));
		expect(time.waits).toEqual([]);
		expect(facts.advice).toMatch(/asked to wait \S+ s/);
	});

	test('a backoff that would pass the deadline is not begun either', async () => {
		const { client, time, failure } = arrange([], {
			then: reply(503),
			deadline: START + 2999,
			maxRetries: 9,
		});
		const { facts } = await failure(request(client, 'read', message('read')));
		expect(time.waits).toEqual([1000]);
		expect(facts.advice).toContain('No time was left to try again');
		expect(facts.advice).not.toContain('asked to wait');
	});

	test('an error that would not be sent again says nothing of the deadline', async () => {
		const { client, failure } = arrange([reply(400, '', { 'retry-after': '60' })], {
			deadline: START,
		});
		const { facts } = await failure(request(client, 'read', message('read')));
		expect(facts.advice).not.toMatch(/asked to wait|No time/);
	});
});

describe('cancel', () => {
	test('before sending: nothing is sent', async () => {
		const { client, sent, cancel, failure } = arrange();
		cancel();
		await expect(failure(request(client, 'read', message('read')))).resolves.toBeInstanceOf(
			CancelledError,
		);
		expect(sent).toHaveLength(0);
	});

	test('during a wait: it ends there, and nothing is sent after', async () => {
		const { client, sent, time, cancel } = arrange([reply(503, '', { 'retry-after': '60' })]);
		const failing = failureOf(request(client, 'image', message('image')));
		await time.advance(10_000);
		cancel();

		const error = await failing;

		expect(error).toBeInstanceOf(CancelledError);
		expect(error.facts).toMatchObject({ retryable: false });
		expect(time.now() - START).toBe(10_000);
		await time.advance(600_000);
		expect(sent).toHaveLength(1);
	});

	test.each([
		['lost', fault('lost')],
		['cancelled', fault('cancelled', 'ERR_CANCELED')],
		['timed out', fault('timeout')],
		['refused', fault('unreached')],
	])('while a request is under way, which is %s then: it counts as cancelled', async (_, then) => {
		const { client, sent, transport, cancel, failure } = arrange([], { then });
		transport.during = cancel;
		const error = await failure(request(client, 'read', message('read')));
		expect(error).toBeInstanceOf(CancelledError);
		expect(sent).toHaveLength(1);
	});

	test('a transport that says cancelled is believed without the signal', async () => {
		const { client, sent, failure } = arrange([fault('cancelled')]);
		const error = await failure(request(client, 'read', message('read')));
		expect(error).toBeInstanceOf(CancelledError);
		expect(sent).toHaveLength(1);
	});

	test('an answer that came all the same is not thrown away', async () => {
		const { client, transport, cancel, drive } = arrange([reply(202, { task_id: 't' })]);
		transport.during = cancel;
		const { json } = await drive(request(client, 'image', message('image')));
		expect(json).toEqual({ task_id: 't' });
	});

	test('an error that came meanwhile is not followed by a wait', async () => {
		const { client, sent, transport, cancel, failure } = arrange([reply(503)]);
		transport.during = cancel;
		const error = await failure(request(client, 'read', message('read')));
		expect(error).toBeInstanceOf(CancelledError);
		expect(sent).toHaveLength(1);
	});
});

describe('what is sent', () => {
	test('is the same each time, with the client’s time limit', async () => {
		const { client, sent, drive } = arrange([reply(503), reply(200, {})], { timeoutMs: 1234 });
		await drive(request(client, 'response', message('response')));
		const expected = { ...message('response'), timeoutMs: 1234 };
		expect(sent).toEqual([
			{ ...expected, at: START },
			{ ...expected, at: START + 1000 },
		]);
	});
});

test('a success that is no JSON is not asked for again', async () => {
	const { client, sent, failure } = arrange([reply(200, 'OK')]);
	await expect(failure(request(client, 'read', message('read')))).resolves.toBeInstanceOf(
		AnswerError,
	);
	expect(sent).toHaveLength(1);
});
