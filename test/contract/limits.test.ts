import { errorOf, inFlight, start } from './client';

describe('Limits and time-outs', () => {
	test('408: the body did not arrive in time, and later requests are answered', async () => {
		const harness = await start({ bodyMs: 10_000 });
		const { client, time, gateway } = harness;
		async function* body() {
			yield '{"model":';
			await time.gateway.sleep(60_000);
			yield '"aurora-text-1"}';
		}
		const sending = client.send('POST', '/v1/responses', { body: body() });
		await inFlight(harness, 1);
		await time.advance(9_999);
		expect(gateway.inFlight).toBe(1);
		await time.advance(1);
		expect(errorOf(await sending)).toBe('408 request_timeout');
		expect((await client.ask('models')).status).toBe(200);
	});

	test('413: a large body is read before it is refused, so the client sees the answer', async () => {
		const { client } = await start({ bodyLimit: 1000 });
		expect((await client.ask('responses', 'x'.repeat(8 * 2 ** 20))).status).toBe(413);
	});

	test('429: requests per minute, with the seconds until the next one is accepted', async () => {
		const { client, time } = await start();
		const ask = async () => await client.ask('models', {}, { key: 'limited' });
		expect((await ask()).status).toBe(200);
		await time.advance(10_000);
		expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
		const refused = await ask();
		expect(errorOf(refused)).toBe('429 requests_per_minute');
		expect(refused.headers['retry-after']).toBe('50');
		await time.advance(49_999);
		expect((await ask()).status).toBe(429);
		await time.advance(1);
		expect([(await ask()).status, (await ask()).status]).toEqual([200, 429]);
	});

	test('429: concurrent image tasks of one key, with the seconds until one has ended', async () => {
		const { client, time, gateway } = await start({ taskSeconds: 6 });
		const submit = async () => await client.ask('generations', {}, { key: 'single' });
		expect((await submit()).status).toBe(202);
		await time.advance(1_500);
		const refused = await submit();
		expect(errorOf(refused)).toBe('429 concurrent_tasks');
		expect(refused.headers['retry-after']).toBe('5');
		expect((await client.ask('generations')).status).toBe(202);
		await time.advance(4_500);
		expect((await submit()).status).toBe(202);
		expect(gateway.tasks).toHaveLength(3);
	});

	test('499: the client closed the connection first', async () => {
		const harness = await start({ responseMs: 60_000 });
		const leaving = new AbortController();
		const sending = harness.client.ask('responses', {}, { signal: leaving.signal });
		await inFlight(harness, 1);
		expect(harness.gateway.connections).toBe(1);
		leaving.abort();
		await expect(sending).rejects.toThrow();
		await inFlight(harness, 0);
		expect(harness.gateway.requests[0]?.status).toBe(499);
	});

	test('504: the gateway stops waiting for an answer, but not for a stream', async () => {
		const { client, time } = await start({ responseMs: 200_000, waitMs: 100_000 });
		const from = time.now();
		const answer = await time.drive(time.track(client.ask('responses')));
		expect(errorOf(answer)).toBe('504 gateway_timeout');
		expect(time.now() - from).toBe(100_000);
		const stream = await time.drive(time.track(client.ask('responses', { stream: true })));
		expect(stream.text).toContain('response.completed');
	});

	test('a balance is used up by responses (1 credit) and images (10 credits each)', async () => {
		const { client, gateway } = await start({ accounts: { main: { balance: 21 } } });
		expect((await client.ask('responses')).status).toBe(200);
		expect((await client.ask('generations', { n: 2 })).status).toBe(202);
		expect(errorOf(await client.ask('responses'))).toBe('403 insufficient_balance');
		const paid = gateway.charges.map(({ requestId, credits }) => [requestId, credits]);
		expect(paid).toEqual([
			['req_000001', 1],
			['req_000002', 20],
		]);
	});
});
