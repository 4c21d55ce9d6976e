import fc from '../../support/fast-check';
import { request } from '../../../nodes/shared/api/http/request';
import { backoffMs, type RequestKind } from '../../../nodes/shared/api/http/retry';
import { fail, fault, reply, START, succeed, type Arrangement, type Exchange } from './arrange';

const DONE = reply(200, {});
const busy = (retryAfter: string) => reply(503, '', { 'retry-after': retryAfter });

const sending = (kind: RequestKind) => async (client: Parameters<typeof request>[0]) =>
	await request(client, kind, { method: 'POST', path: '/responses', body: {} });
const [read, ask] = [sending('read'), sending('response')];

describe('The wait is', () => {
	const IN_90_S = 'Thu, 01 Jan 2026 00:01:30 GMT';
	const IN_60_S = 'Thu, 01 Jan 2026 00:01:00 GMT';
	const IN_2028 = 'Sat, 01 Jan 2028 00:00:00 GMT';
	const BACKOFF = 1000;

	test.each<[string, Array<string | string[] | undefined>, waitMs: number, date?: string]>([
		['seconds', ['7', ' 7 ', ['7', '9'], '7'.padStart(64, '0')], 7000],
		['seconds, whatever Date says', ['7'], 7000, IN_90_S],
		['fractions of seconds', ['1.25', '01.250'], 1250],
		['0', ['0'], 0],
		['an HTTP date', [IN_90_S], 90_000],
		['an HTTP date that has passed', ['Wed, 31 Dec 2025 23:59:00 GMT'], 0],
		['an HTTP date, by the gateway’s clock, which is late', [IN_90_S], 30_000, IN_60_S],
		['the same, by one that is years ahead', ['Sat, 01 Jan 2028 00:00:20 GMT'], 20_000, IN_2028],
		['the same, though Date is too long', [IN_90_S], 30_000, `${IN_60_S.padEnd(64)}and more`],
		['an HTTP date beside a Date that is none', [IN_90_S], 90_000, 'now'],
		['absent or empty: a backoff', [undefined, ''], BACKOFF],
		['longer: a backoff', ['7'.padStart(65, '0')], BACKOFF],
		['a number with a sign: a backoff', ['-5', '+5'], BACKOFF],
		['a number of another form: a backoff', ['1e3', '0x10', '10s', '5, 10'], BACKOFF],
		['a word: a backoff', ['later', 'Monday', 'soon 5', 'not before 2027'], BACKOFF],
		['a word before a date: a backoff', [`after ${IN_90_S}`], BACKOFF],
		['a number beyond all numbers: a backoff', ['9'.repeat(400)], BACKOFF],
	])('as Retry-After says, if it is %s', async (_, values, waitMs, date = '') => {
		for (const value of values) {
			const headers = {
				...(value !== undefined && { 'retry-after': value }),
				...(date && { date }),
			};
			const { time, sent } = await succeed([reply(503, '', headers), DONE], ask);
			expect([value, time.waits]).toEqual([value, [waitMs]]);
			expect(sent.map(({ at }) => at - START)).toEqual([0, waitMs]);
		}
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
		fc.assert(
			fc.property(fc.nat(5000), fc.double({ min: 0, max: 1, noNaN: true }), (retries, random) => {
				expect(Math.abs(backoffMs(retries, random) - 15_000)).toBeLessThanOrEqual(15_000);
			}),
		);
	});
});

test('each wait is reported with its reason', async () => {
	const retries: unknown[] = [];
	const onRetry = (retry: unknown) => retries.push(retry);
	const limited = reply(429, '', { 'retry-after': '3' });
	await succeed([limited, fault('unreached', 'ENOTFOUND'), DONE], read, { onRetry });
	expect(retries).toEqual([
		{ reason: expect.stringContaining('HTTP 429') as string, waitMs: 3000, attempt: 1 },
		{ reason: expect.stringContaining('ENOTFOUND') as string, waitMs: 2000, attempt: 2 },
	]);
});

describe('No wait ends after the deadline:', () => {
	const before = (ms: number) => ({ deadline: START + ms - 1 });
	const AFTER_60_S = { 'retry-after': '60' };
	const LONGER = /^It asked to wait \S+ s, which is longer than the time left\. Wait a while/;

	const AT_60_S = { ...before(60_001), maxRetries: 1 };
	const LATE = { outOfTime: true, retryable: true };

	test.each<[string, Exchange, Arrangement, waits: number[], facts: object, RegExp]>([
		['a longer one is not begun', busy('60'), before(60_000), [], LATE, /^It asked to wait 60 s,/],
		['a huge one neither', busy('9'.repeat(20)), {}, [], LATE, LONGER],
		['nor a backoff', reply(503), before(3000), [1000], LATE, /^No time .* try again\. Wait/],
		['one that ends at it is begun', busy('60'), AT_60_S, [60_000], {}, /^Wait a while/],
		['a refusal says nothing of it', reply(400, '', AFTER_60_S), before(1), [], {}, /^Fix/],
	])('%s', async (_, always, bounds, waits, facts, advice) => {
		const limits = { maxRetries: 1 + waits.length, ...bounds };
		const { error, time, sent } = await fail(always, ask, limits);
		expect(time.waits).toEqual(waits);
		expect(sent).toHaveLength(waits.length + 1);
		expect(error.details).toMatchObject(facts);
		expect('outOfTime' in error.details).toBe('outOfTime' in facts);
		expect(error.details.advice).toMatch(advice);
	});

	test('the last error tells how long the gateway asks to wait', async () => {
		const { error, sent } = await fail(busy('5'), read, { maxRetries: 1 });
		expect(error.details.retryAfter).toBe(5);
		expect(sent).toHaveLength(2);
	});
});
