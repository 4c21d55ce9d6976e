import { RateLimitQueue } from '../../../nodes/shared/api/http/rate-limit-queue';
import { request } from '../../../nodes/shared/api/http/request';
import type { Client } from '../../../nodes/shared/api/http/client';
import type { RequestKind } from '../../../nodes/shared/api/http/retry';
import { arrange, fail, reply, START, succeed } from './arrange';

const KINDS: RequestKind[] = ['read', 'response', 'image'];

const sending = (kind: RequestKind) => async (client: Client) =>
	await request(client, kind, { method: 'POST', path: '/responses', body: {} });

/** As gateways say it; the first is recorded word for word. */
const QUOTAS: Array<[name: string, body: object]> = [
	[
		'insufficient_quota',
		{
			error: {
				code: 'insufficient_quota',
				message: 'API key 额度已用完',
				param: null,
				type: 'insufficient_quota',
			},
		},
	],
	['API_KEY_QUOTA_EXHAUSTED', { code: 'API_KEY_QUOTA_EXHAUSTED', message: 'API key 额度已用完' }],
	['USAGE_LIMIT_EXCEEDED', { code: 'USAGE_LIMIT_EXCEEDED', message: 'limit' }],
	['billing_hard_limit_reached', { error: { code: 'billing_hard_limit_reached', message: 'x' } }],
];

describe.each(KINDS)('For a %s', (kind) => {
	test.each(QUOTAS)('a used-up quota (%s) is refused, not slowed down', async (code, body) => {
		const { error, sent } = await fail(reply(429, body), sending(kind));
		expect(sent).toHaveLength(1);
		expect(error.message).toContain(`A quota or budget is used up (HTTP 429, ${code}): `);
		expect(error.details).toMatchObject({ code, retryable: false });
		expect(error.details.advice).toMatch(/^Raise or reset the quota.*another key\.$/);
	});

	test('a used-up quota with a Retry-After that fits is waited out', async () => {
		const [[, body]] = QUOTAS as [[string, object]];
		const script = [reply(429, body, { 'retry-after': '40' }), reply(200, { id: 'r' })];
		const { value, sent } = await succeed(script, sending(kind));
		expect(value.json).toEqual({ id: 'r' });
		expect(sent.map(({ at }) => at - START)).toEqual([0, 40_000]);
	});

	test('a used-up quota with a Retry-After beyond the time left ends at once', async () => {
		const [[, body]] = QUOTAS as [[string, object]];
		const { error, sent } = await fail(reply(429, body, { 'retry-after': '86400' }), sending(kind));
		expect(sent).toHaveLength(1);
		expect(error.details.advice).toMatch(
			/^It asked to wait 86400 s, which is longer than the time left\. Raise or reset the quota/,
		);
	});

	test('a limit of requests a minute is slowed down as before', async () => {
		const body = {
			error: { message: 'group requests-per-minute limit exceeded', type: 'rate_limit_exceeded' },
		};
		const { error, sent } = await fail(reply(429, body), sending(kind));
		expect(sent).toHaveLength(kind === 'image' ? 1 : 4);
		expect(error.message).toMatch(/^The gateway asks to slow down \(HTTP 429\): group requests/);
		expect(error.details.refusal).toBe(kind === 'image' ? 'rateLimited' : undefined);
	});
});

test('a used-up quota holds no other request back', async () => {
	const told: string[] = [];
	const arranged = arrange();
	const slot = new RateLimitQueue(arranged.time, 1).slot(0);
	const watched = { ...slot, onRateLimited: () => told.push('rate limited') };
	const [[, body]] = QUOTAS as [[string, object]];
	for (const kind of ['image', 'response'] as const) {
		const { error } = await fail(reply(429, body), sending(kind), { slot: watched });
		expect(error.details.refusal).toBeUndefined();
	}
	expect(told).toEqual([]);
	await fail(reply(429, 'slow down'), sending('response'), { slot: watched, maxRetries: 0 });
	expect(told).toEqual(['rate limited']);
});

test.each(KINDS)('529 counts as 503 for a %s, and is told as an overload', async (kind) => {
	const body = {
		error: { type: 'overloaded_error', message: 'All available accounts exhausted' },
	};
	const { error, sent } = await fail(reply(529, body), sending(kind));
	expect(sent).toHaveLength(kind === 'image' ? 1 : 4);
	expect(error.details.refusal).toBe(kind === 'image' ? 'unavailable' : undefined);
	expect(error.message).toBe(
		'The gateway is overloaded or a part of it is unavailable (HTTP 529): All available accounts exhausted',
	);
	expect(error.details.retryable).toBe(true);
	expect(error.details).not.toHaveProperty('maybeExecuted');
});
