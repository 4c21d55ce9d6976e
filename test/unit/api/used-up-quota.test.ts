import { RateLimitQueue } from '../../../nodes/shared/api/http/rate-limit-queue';
import type { RequestKind } from '../../../nodes/shared/api/http/retry';
import { arrange, fail, quotedError, reply, sending, START, succeed } from './arrange';

const KINDS: RequestKind[] = ['read', 'response', 'image'];

/** As recorded, word for word. */
const said = {
	code: 'insufficient_quota',
	message: 'API key 额度已用完',
	type: 'insufficient_quota',
};
const USED_UP = { error: { ...said, param: null } };

/** As gateways say it. */
const QUOTAS: Array<[name: string, body: object]> = [
	['insufficient_quota', USED_UP],
	['API_KEY_QUOTA_EXHAUSTED', { code: 'API_KEY_QUOTA_EXHAUSTED', message: said.message }],
	['USAGE_LIMIT_EXCEEDED', { code: 'USAGE_LIMIT_EXCEEDED', message: 'limit' }],
	['insufficient_quota', quotedError(said, '429', 'throttling_error')],
	['billing_hard_limit_reached', { error: { code: 'billing_hard_limit_reached', message: 'x' } }],
];

describe.each(KINDS)('For a %s', (kind) => {
	test.each(QUOTAS)('a used-up quota (%s) is refused, not slowed down', async (code, body) => {
		const { error, sent } = await fail(reply(429, body), sending(kind));
		expect(sent).toHaveLength(1);
		expect(error.message).toContain(`A quota or budget is used up (HTTP 429, ${code}): `);
		expect(error.details).toMatchObject({ code, retryable: false });
		expect(error.details.advice).toMatch(/^Raise or reset the quota.*another key\.$/);
		expect(error.details.refusal).toBeUndefined();
	});

	test('a used-up quota with a Retry-After that fits is waited out', async () => {
		const script = [reply(429, USED_UP, { 'retry-after': '40' }), reply(200, { id: 'r' })];
		const { value, sent } = await succeed(script, sending(kind));
		expect(value.json).toEqual({ id: 'r' });
		expect(sent.map(({ at }) => at - START)).toEqual([0, 40_000]);
	});

	test('a used-up quota with a Retry-After beyond the time left ends at once', async () => {
		const later = reply(429, USED_UP, { 'retry-after': '86400' });
		const { error, sent } = await fail(later, sending(kind));
		expect(sent).toHaveLength(1);
		expect(error.details.advice).toMatch(
			/^It asked to wait 86400 s, which is longer than the time left\. Raise or reset the quota/,
		);
	});
});

test('a used-up quota holds no other request back', async () => {
	const told: string[] = [];
	const slot = new RateLimitQueue(arrange().time, 1).slot(0);
	const watched = { ...slot, onRateLimited: () => told.push('rate limited') };
	for (const kind of ['image', 'response'] as const)
		await fail(reply(429, USED_UP), sending(kind), { slot: watched });
	expect(told).toEqual([]);
	await fail(reply(429, 'slow down'), sending('response'), { slot: watched, maxRetries: 0 });
	expect(told).toEqual(['rate limited']);
});
