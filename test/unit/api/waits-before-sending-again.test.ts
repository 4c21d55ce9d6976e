import fc from '../../support/fast-check';
import { parseRetryAfter, readGatewayTime } from '../../../nodes/shared/api/http/retry-after';
import { backoffMs } from '../../../nodes/shared/api/http/retry';
import { expectError, fail, fault, reply, sending, START, succeed, type Exchange } from './arrange';

const DONE = reply(200, {});
const busy = (retryAfter: string) => reply(503, '', { 'retry-after': retryAfter });

const [read, ask] = [sending('read'), sending('response')];

describe('Retry-After means', () => {
	const gmt = (dayAndHour: string) => `Thu, ${dayAndHour}:01:30 GMT`;
	const IN_90_S = gmt('01 Jan 2026 00');
	const IN_60_S = 'Thu, 01 Jan 2026 00:01:00 GMT';
	const IN_2028 = 'Sat, 01 Jan 2028 00:00:00 GMT';

	test.each<[string, Array<string | string[]>, seconds: number | undefined, date?: string]>([
		['seconds', ['7', ' 7 ', ['7', '9'], '7'.padStart(64, '0')], 7],
		['seconds, whatever Date says', ['7'], 7, IN_90_S],
		['fractions of seconds', ['1.25', '01.250'], 1.25],
		['no time', ['0', 'Wed, 31 Dec 2025 23:59:00 GMT'], 0],
		['a date by the gateway’s clock, which is late', [IN_90_S], 30, IN_60_S],
		['a date by a clock that is years ahead', ['Sat, 01 Jan 2028 00:00:20 GMT'], 20, IN_2028],
		['a date, though Date is too long', [IN_90_S], 30, `${IN_60_S.padEnd(64)}and more`],
		['nothing, since it is too long', ['7'.padStart(65, '0'), '9'.repeat(400)], undefined],
		['nothing, with a sign', ['-5', '+5', '-0'], undefined],
		['nothing, in another form', ['1e3', '0x10', '1.', '.5', '1,5', '٣', '10s', 'PT5S'], undefined],
		['nothing, being a list', ['5, 10', '5;10', '5 10', `${IN_90_S}, 5`], undefined],
		['nothing, being a word or a day', ['later', 'soon 5', 'Mon 5', 'NaN', '', ' '], undefined],
		['nothing, with words around a date', [`at ${IN_90_S}`, `${IN_90_S} x`], undefined],
		['nothing, with a date of another form', ['2026-01-01T00:01:30Z', '1/1/2026'], undefined],
		['nothing, in another zone', ['Thu, 01 Jan 2026 00:01:30', `${IN_90_S}+0200`], undefined],
		['nothing, at no such time', ['41 Jan 2026 00', '01 Jan 2026 25'].map(gmt), undefined],
	])('%s: %j', (_, values, seconds, date = '') => {
		for (const value of values) {
			const read = parseRetryAfter({ 'retry-after': value, date }, START);
			expect([value, read]).toEqual([value, seconds]);
		}
	});

	test.each([
		['IMF-fixdate', IN_90_S, '2026-01-01T00:01:30Z'],
		['RFC 850', 'Thursday, 01-Jan-26 00:01:30 GMT', '2026-01-01T00:01:30Z'],
		['RFC 850, 50 years ahead', 'Wednesday, 01-Jan-76 00:00:00 GMT', '2076-01-01T00:00:00Z'],
		['RFC 850, more than that: passed', 'Saturday, 01-Jan-77 00:00:00 GMT', '1977-01-01T00:00:00Z'],
		['asctime', 'Thu Jan  1 00:01:30 2026', '2026-01-01T00:01:30Z'],
	])('a date, as Date does, in the form %s: %s', (_, value, meant) => {
		const ms = Date.parse(meant);
		expect(readGatewayTime({ date: value }, START)).toBe(ms);
		const seconds = Math.max(0, (ms - START) / 1000);
		expect(parseRetryAfter({ 'retry-after': value }, START)).toBe(seconds);
	});

	test('a date by the local clock, where Date is of another form', () => {
		for (const date of ['5', 'Monday 5', '2028-01-01', '', 'now']) {
			expect([date, readGatewayTime({ date }, START)]).toEqual([date, START]);
			expect(parseRetryAfter({ 'retry-after': IN_90_S, date }, START)).toBe(90);
		}
	});

	test('what the provider behind the gateway says, where the gateway says nothing', () => {
		const headers = { 'llm_provider-retry-after': '7' };
		const both = { ...headers, 'retry-after': '3' };
		expect([headers, both].map((given) => parseRetryAfter(given, START))).toEqual([7, 3]);
	});
});

describe('The wait is', () => {
	test('as Retry-After says, or else a backoff', async () => {
		const { sent } = await succeed([busy('7'), busy('0'), busy('later'), DONE], ask);
		expect(sent.map(({ at }) => at - START)).toEqual([0, 7000, 7000, 11_000]);
	});

	test('without Retry-After twice as long each time, from one second up to 30', async () => {
		const { time } = await fail(reply(503), read, { maxRetries: 8 });
		expect(time.waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
	});

	test('jittered: anything from nothing to the whole of it, never above 30 s', async () => {
		const chances = [0, 0.5, 0.25, 0.1];
		const chance = () => chances.shift() ?? 1;
		const { time } = await fail(fault('unreached'), read, { maxRetries: 4, chance });
		expect(time.waits).toEqual([0, 1000, 1000, 800]);
		const random = fc.double({ min: 0, max: 1, noNaN: true });
		const property = fc.property(fc.nat(5000), random, (retries, chance) => {
			expect(Math.abs(backoffMs(retries, chance) - 15_000)).toBeLessThanOrEqual(15_000);
		});
		fc.assert(property);
	});
});

test('each wait is reported with its reason', async () => {
	const told: unknown[] = [];
	const script = [reply(429, '', { 'retry-after': '3' }), fault('unreached', 'ENOTFOUND'), DONE];
	await succeed(script, read, { onRetry: (retry) => told.push(retry) });
	expect(told).toEqual([
		{ reason: expect.stringContaining('HTTP 429') as string, waitMs: 3000, attempt: 1 },
		{ reason: expect.stringContaining('ENOTFOUND') as string, waitMs: 2000, attempt: 2 },
	]);
});

const before = (ms: number) => ({ deadline: START + ms - 1 });
const LONGER = /^It asked to wait \S+ s, which is longer than the time left\. Try again later/;
const AT_60_S = { ...before(60_001), maxRetries: 1 };
const ASKED = { retryAfter: 60 };
const LATE = { outOfTime: true, retryable: true };
const REFUSED = reply(400, '', { 'retry-after': '60' });

test.each<[string, Exchange, { deadline?: number }, waits: number[], facts: object, RegExp]>([
	['a longer one is not begun', busy('60'), before(60_000), [], LATE, /^It asked to wait 60 s,/],
	['a huge one neither', busy('9'.repeat(20)), {}, [], LATE, LONGER],
	['nor a backoff', reply(503), before(3000), [1000], LATE, /^The time limit .* attempt\. Try/],
	['one that ends at it is begun', busy('60'), AT_60_S, [60_000], ASKED, /^Try again later/],
	['a refusal says nothing of it', REFUSED, before(1), [], {}, /^Fix/],
])('No wait ends after the deadline: %s', async (_, always, bounds, waits, facts, advice) => {
	const limits = { maxRetries: 1 + waits.length, ...bounds };
	const { error, time, sent } = await fail(always, ask, limits);
	expect(time.waits).toEqual(waits);
	expect(sent).toHaveLength(waits.length + 1);
	expectError(error, 'ApiError', /./, { ...facts, advice });
	expect('outOfTime' in error.details).toBe('outOfTime' in facts);
});
