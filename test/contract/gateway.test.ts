import { createServer } from 'node:net';
import { errorReply, startGateway, statusOf, type Exchange } from '../../gateway';
import { setTheScene } from './support/client';

const aTick = async () => await new Promise(setImmediate);

describe('The gateway › time', () => {
	it('comes from outside: Date header, created_at, books', async () => {
		const { client, time, gateway } = await setTheScene();
		await time.advance(86_400_000);
		const answer = await client.respond();
		expect(answer.headers.date).toBe('Fri, 02 Jan 2026 00:00:00 GMT');
		expect(answer.at('created_at')).toBe(Date.UTC(2026, 0, 2) / 1000);
		expect(gateway.requests[0]).toMatchObject({ startedAt: time.now(), endedAt: time.now() });
	});

	it('delays answers and submits by it', async () => {
		const { client, time, gateway } = await setTheScene({ responseMs: 2_000, submitMs: 3_000 });
		await time.drive(time.track(client.respond()));
		await time.drive(time.track(client.generate()));
		expect(gateway.requests.map(({ startedAt, endedAt = 0 }) => endedAt - startedAt)).toEqual([
			2_000, 3_000,
		]);
	});

	it('the run time of a task may depend on the request', async () => {
		const { client, time, gateway } = await setTheScene({
			taskSeconds: ({ prompt }) => (prompt === 'slow' ? 60 : 1),
		});
		for (const prompt of ['slow', 'quick']) await client.generate({ prompt });
		await time.advance(1_000);
		const states = gateway.tasks.map((task) => statusOf(task, time.now()));
		expect(states).toEqual(['processing', 'completed']);
	});

	it('may be a clock that cannot be interrupted: a client that leaves still ends its exchange', async () => {
		const time = { now: () => 0, sleep: async () => await new Promise<void>(() => {}) };
		const { client, gateway } = await setTheScene({ time, responseMs: 1 });
		const leaving = new AbortController();
		const sending = client.respond({}, { signal: leaving.signal });
		while (gateway.inFlight === 0) await aTick();
		leaving.abort();
		await expect(sending).rejects.toThrow();
		while (gateway.inFlight > 0) await aTick();
		expect(gateway.requests[0]).toMatchObject({ status: 499, endedAt: 0 });
	});

	it('is real where none is given', async () => {
		const { client } = await setTheScene({ time: undefined });
		const { created_at } = (await client.respond()).json as { created_at: number };
		expect(Math.abs(created_at - Date.now() / 1000)).toBeLessThan(5);
	});
});

describe('The gateway › books', () => {
	it('hold every request: who, what, and how it was answered', async () => {
		const { client, gateway } = await setTheScene();
		await client.respond({ input: 'Hi' });
		await client.get('/v1/models?x=1', { key: 'revoked' });
		await client.send('POST', '/v1/responses', { key: null, body: 'no json' });
		expect(gateway.requests).toMatchObject([
			{
				method: 'POST',
				path: '/v1/responses',
				route: 'responses',
				key: 'active',
				body: { model: 'aurora-text-1', input: 'Hi' },
				rawLength: 38,
				status: 200,
				attempt: 1,
			},
			{ method: 'GET', path: '/v1/models?x=1', route: 'models', key: 'revoked', status: 401 },
			{ key: undefined, body: 'no json', status: 401 },
		]);
	});

	it('count', async () => {
		const { client, gateway } = await setTheScene();
		for (let time = 0; time < 2; time++) await client.generate();
		await client.get('/v1/models', { key: 'second' });
		expect(gateway.count()).toBe(3);
		expect(gateway.count({ method: 'POST', path: '/v1/images/generations/async' })).toBe(2);
		expect(gateway.count({ path: /images/, key: 'active', status: 202 })).toBe(2);
		expect(gateway.count({ route: 'models', key: 'active' })).toBe(0);
	});

	it('number the attempts of the same request', async () => {
		const { client, gateway } = await setTheScene();
		await client.respond({ input: 'a' });
		await client.respond({ input: 'b' });
		await client.respond({ input: 'a' });
		await client.respond({ input: 'a' }, { key: 'second' });
		expect(gateway.requests.map(({ attempt }) => attempt)).toEqual([1, 1, 2, 1]);
	});

	it('tell the caller of each request that has ended', async () => {
		const ended: unknown[] = [];
		const { client } = await setTheScene({
			onRequest: ({ path, status }) => ended.push([path, status]),
		});
		await client.get('/v1/models');
		await client.get('/v1/nothing');
		await aTick();
		expect(ended).toEqual([
			['/v1/models', 200],
			['/v1/nothing', 404],
		]);
	});
});

describe('The gateway › faults on demand', () => {
	it('an interceptor sees each exchange twice', async () => {
		const seen: Array<Partial<Exchange>> = [];
		const { client } = await setTheScene({
			intercept: ({ stage, route, key, attempt, reply }) => {
				seen.push({ stage, route, key, attempt, reply });
				return undefined;
			},
		});
		await client.get('/v1/models');
		expect(seen).toMatchObject([
			{ stage: 'before', route: 'models', key: 'active', attempt: 1, reply: undefined },
			{ stage: 'after', route: 'models', key: 'active', attempt: 1, reply: { status: 200 } },
		]);
	});

	it('reply: in place of the own one, nothing done', async () => {
		const { client, gateway } = await setTheScene({
			intercept: () => errorReply(429, { retryAfter: 7, message: 'calm down' }),
		});
		const answer = await client.generate();
		expect(answer.status).toBe(429);
		expect(answer.headers).toMatchObject({ 'retry-after': '7', 'x-request-id': 'req_000001' });
		expect(answer.at('error.message')).toBe('calm down');
		expect(gateway.tasks).toEqual([]);
		expect(gateway.requests[0]).toMatchObject({ status: 429, fault: 'reply' });
	});

	it('reply: any headers and any body', async () => {
		const { client } = await setTheScene({
			intercept: () => ({
				kind: 'reply',
				status: 502,
				headers: { 'Content-Type': 'text/html' },
				body: '<h1>Bad gateway</h1>',
			}),
		});
		const answer = await client.respond();
		expect([answer.status, answer.text]).toEqual([502, '<h1>Bad gateway</h1>']);
		expect(answer.headers['content-type']).toBe('text/html');
	});

	it('a reply may be changed before it is written', async () => {
		const { client } = await setTheScene({
			intercept: (exchange) => {
				if (exchange.reply) exchange.reply.body = '{"object":"list"}';
				return undefined;
			},
		});
		expect((await client.get('/v1/models')).json).toEqual({ object: 'list' });
	});

	it.each([
		['before', 0],
		['after', 1],
	] as const)('destroy %s: the connection is cut, %i task exists', async (when, tasks) => {
		const { client, gateway } = await setTheScene({
			intercept: ({ stage }) => (stage === when ? { kind: 'destroy' } : undefined),
		});
		await expect(client.generate()).rejects.toThrow();
		expect(gateway.tasks).toHaveLength(tasks);
	});

	it('hang: never an answer, until the client leaves', async () => {
		const { client, gateway, time } = await setTheScene({ intercept: () => ({ kind: 'hang' }) });
		const leaving = new AbortController();
		const sending = client.respond({}, { signal: leaving.signal });
		while (gateway.inFlight === 0) await aTick();
		await time.advance(10 * 3_600_000);
		expect(gateway.inFlight).toBe(1);
		leaving.abort();
		await expect(sending).rejects.toThrow();
		while (gateway.inFlight > 0) await aTick();
		expect(gateway.requests[0]).toMatchObject({ status: 499, fault: 'hang' });
	});

	it('delay: and then as usual, or another fault', async () => {
		const { client, gateway, time } = await setTheScene();
		const start = time.now();
		gateway.settings.intercept = ({ stage }) =>
			stage === 'after' ? { kind: 'delay', ms: 5_000 } : undefined;
		expect((await time.drive(time.track(client.respond()))).status).toBe(200);
		expect(time.now() - start).toBe(5_000);
		gateway.settings.intercept = () => ({ kind: 'delay', ms: 5_000, then: { kind: 'destroy' } });
		await expect(time.drive(time.track(client.respond()))).rejects.toThrow();
		expect(time.now() - start).toBe(10_000);
	});

	it('take: the caller writes', async () => {
		const { client } = await setTheScene({
			intercept: ({ res }) => ({
				kind: 'take',
				write: () => void res.writeHead(418, { 'x-own': '1' }).end('teapot'),
			}),
		});
		const answer = await client.get('/v1/models');
		expect([answer.status, answer.text, answer.headers['x-own']]).toEqual([418, 'teapot', '1']);
	});

	it('the storage has the same', async () => {
		const { client, gateway, time } = await setTheScene({
			taskSeconds: 1,
			storageIntercept: ({ stage, attempt }) =>
				stage === 'before' && attempt === 1 ? { kind: 'reply', status: 503 } : undefined,
		});
		const taskId = (await client.generate()).string('id');
		await time.advance(1_000);
		const url = (await client.poll(taskId)).string('image_url');
		expect((await client.download(url)).status).toBe(503);
		expect((await client.download(url)).status).toBe(200);
		expect(gateway.storageRequests.map(({ status }) => status)).toEqual([503, 200]);
	});
});

describe('The gateway › start and end', () => {
	it('takes the ports it is given, and says so where one is taken', async () => {
		const holder = createServer().listen(0, '127.0.0.1');
		await new Promise((resolve) => holder.once('listening', resolve));
		const { port } = holder.address() as { port: number };
		await expect(startGateway({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
		await new Promise((resolve) => holder.close(resolve));
		const { gateway } = await setTheScene({ port });
		expect(gateway.baseUrl).toBe(`http://127.0.0.1:${port}/v1`);
	});

	it.each(['close', 'kill'] as const)(
		'%s cuts open connections, also ones that wait',
		async (end) => {
			const { client, gateway } = await setTheScene({ responseMs: 60_000 });
			const sending = client.respond();
			const cut = expect(sending).rejects.toThrow();
			while (gateway.inFlight === 0) await aTick();
			expect(gateway.connections).toBe(1);
			await gateway[end]();
			await cut;
			while (gateway.connections + gateway.inFlight > 0) await aTick();
			await expect(client.get('/v1/models')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
		},
	);
});
