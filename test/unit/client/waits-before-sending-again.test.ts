import fc from '../../support/fast-check';
import { request } from '../../../nodes/shared/api/http/request';
import { backoffMs } from '../../../nodes/shared/api/http/retry';
import { fail, fault, reply, START, succeed } from './arrange';

type Client = Parameters<typeof request>[0];

const DONE = reply(200, {});
const busy = (retryAfter: string) => reply(503, '', { 'retry-after': retryAfter });

/** A request that costs nothing, and one that may: how long they wait does not depend on it. */
const read = async (client: Client) =>
	await request(client, 'read', { method: 'GET', path: '/models' });
const ask = async (client: Client) =>
	await request(client, 'response', { method: 'POST', path: '/responses', body: {} });

describe('The wait is', () => {
	const IN_90_S = 'Thu, 01 Jan 2026 00:01:30 GMT';
	const BACKOFF = 1000;

	test.each<[string, Record<string, string | string[]>, waitMs: number]>([
		['seconds', { 'retry-after': '7' }, 7000],
		['seconds with spaces', { 'retry-after': ' 7 ' }, 7000],
		['fractions of seconds', { 'retry-after': '1.25' }, 1250],
		['0', { 'retry-after': '0' }, 0],
		['a list', { 'retry-after': ['4', '9'] }, 4000],
		['an HTTP date', { 'retry-after': IN_90_S }, 90_000],
		['an HTTP date that has passed', { 'retry-after': 'Wed, 31 Dec 2025 23:59:00 GMT' }, 0],
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
		['the longest number that counts', { 'retry-after': '7'.padStart(64, '0') }, 7000],
		['a longer number', { 'retry-after': '7'.padStart(65, '0') }, BACKOFF],
		['nothing', {}, BACKOFF],
		['an empty text', { 'retry-after': '' }, BACKOFF],
		['a negative number', { 'retry-after': '-5' }, BACKOFF],
		['a signed number', { 'retry-after': '+5' }, BACKOFF],
		['a word', { 'retry-after': 'later' }, BACKOFF],
		['a weekday alone', { 'retry-after': 'Monday' }, BACKOFF],
		['a number with a unit', { 'retry-after': '10s' }, BACKOFF],
		['a word and a number', { 'retry-after': 'soon 5' }, BACKOFF],
		['a word before a date', { 'retry-after': `after ${IN_90_S}` }, BACKOFF],
		['a word and a year', { 'retry-after': 'not before 2027' }, BACKOFF],
		['two numbers', { 'retry-after': '5, 10' }, BACKOFF],
		['a number beyond all numbers', { 'retry-after': '9'.repeat(400) }, BACKOFF],
	])('as Retry-After says, if it is %s', async (_, headers, waitMs) => {
		const { time, sent } = await succeed([reply(503, '', headers), DONE], ask);
		expect(time.waits).toEqual([waitMs]);
		expect(sent.map(({ at }) => at - START)).toEqual([0, waitMs]);
	});

	test('as long after 429 as after 503', async () => {
		const { time } = await succeed([reply(429, '', { 'retry-after': '2' }), busy('11'), DONE], ask);
		expect(time.waits).toEqual([2000, 11_000]);
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
	const limited = reply(429, '', { 'retry-after': '2' });
	await succeed([limited, fault('unreached', 'ENOTFOUND'), DONE], read, { onRetry });
	expect(retries).toEqual([
		{ reason: expect.stringContaining('HTTP 429') as string, waitMs: 2000, attempt: 1 },
		{ reason: expect.stringContaining('ENOTFOUND') as string, waitMs: 2000, attempt: 2 },
	]);
});

test('the last error tells how long the gateway asks to wait', async () => {
	const { error } = await fail(busy('5'), read, { maxRetries: 1 });
	expect(error.facts.retryAfter).toBe(5);
});

describe('No wait ends after the deadline', () => {
	test('a longer one is not begun, and the error says how long it would be', async () => {
		const { error, sent, time } = await fail(busy('60'), ask, { deadline: START + 59_999 });
		expect(sent).toHaveLength(1);
		expect(time.waits).toEqual([]);
		expect(error.message).toContain('HTTP 503');
		expect(error.facts.advice).toMatch(/^It asked to wait 60 s, .* Wait a while/);
		expect(error.facts).toMatchObject({ retryAfter: 60, retryable: true, outOfTime: true });
	});

	test('one that ends at the deadline is begun', async () => {
		const { sent } = await succeed([busy('60'), DONE], ask, { deadline: START + 60_000 });
		expect(sent).toHaveLength(2);
	});

	test('a huge Retry-After ends at once', async () => {
		const { error, time } = await fail(busy('99999999999999999999'), read);
		expect(time.waits).toEqual([]);
		expect(error.facts.advice).toMatch(/asked to wait \S+ s/);
	});

	test('a backoff that would pass it is not begun either', async () => {
		const { error, time } = await fail(reply(503), read, { deadline: START + 2999, maxRetries: 9 });
		expect(time.waits).toEqual([1000]);
		expect(error.facts.advice).toContain('No time was left to try again');
		expect(error.facts.advice).not.toContain('asked to wait');
	});

	test('an error that would not be sent again says nothing of the deadline', async () => {
		const refused = reply(400, '', { 'retry-after': '60' });
		const { error } = await fail(refused, read, { deadline: START });
		expect(error.facts.advice).not.toMatch(/asked to wait|No time/);
		expect(error.facts.outOfTime).toBeUndefined();
	});
});
