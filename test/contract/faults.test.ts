import {
	CONNECTION_FAULTS,
	freePort,
	retryAfterFault,
	scripted,
	startSniffer,
	statusFault,
	type FaultRule,
} from '../../gateway/faults/catalogue';
import { setTheScene } from './support/client';

/** A gateway at which things go wrong by rules. */
async function hostile(rules: FaultRule[], seed?: number) {
	const scene = await setTheScene();
	const setting = { time: scene.time.gateway, elsewhere: 'http://127.0.0.1:9' };
	const happens = scripted(rules, setting, seed);
	Object.assign(scene.gateway.settings, { intercept: happens, storageIntercept: happens });
	return scene;
}

describe('Faults by rules', () => {
	it('happen at their route', async () => {
		const { client } = await hostile([{ fault: statusFault(503), route: 'responses' }]);
		expect((await client.respond()).status).toBe(503);
		expect((await client.get('/v1/models')).status).toBe(200);
	});

	it('happen to their key', async () => {
		const { client } = await hostile([{ fault: statusFault(403), key: 'active' }]);
		expect((await client.get('/v1/models')).status).toBe(403);
		expect((await client.get('/v1/models', { key: 'second' })).status).toBe(200);
	});

	it('happen at their attempt', async () => {
		const { client } = await hostile([
			{ fault: statusFault(500), attempt: 2 },
			{ fault: statusFault(502), attempt: (attempt) => attempt > 3 },
		]);
		const statuses: number[] = [];
		for (let sent = 0; sent < 5; sent++) statuses.push((await client.respond()).status);
		expect(statuses).toEqual([200, 500, 200, 502, 502]);
	});

	it('happen as often as they may', async () => {
		const { client } = await hostile([{ fault: statusFault(503), times: 2 }]);
		const statuses: number[] = [];
		for (let sent = 0; sent < 4; sent++) statuses.push((await client.respond()).status);
		expect(statuses).toEqual([503, 503, 200, 200]);
	});

	it('happen by chance, the same for the same seed', async () => {
		const run = async (seed: number) => {
			const { client } = await hostile([{ fault: statusFault(429), probability: 0.3 }], seed);
			const statuses: number[] = [];
			for (let n = 0; n < 30; n++) statuses.push((await client.respond({ input: `${n}` })).status);
			return statuses;
		};
		const first = await run(1);
		const hit = first.filter((status) => status === 429).length;
		expect(hit).toBeGreaterThan(3);
		expect(hit).toBeLessThan(16);
		expect(await run(1)).toEqual(first);
		expect(await run(2)).not.toEqual(first);
	});

	it('happen at the storage, after the reply was made', async () => {
		const broken = CONNECTION_FAULTS.find(({ name }) => name === 'half a body, then closed')!;
		const { client, time } = await hostile([{ fault: broken, route: 'picture', times: 1 }]);
		const task = (await client.generate()).string('task_id');
		await time.advance(60_000);
		const url = (await client.poll(task)).string('image_url');
		await expect(client.download(url)).rejects.toThrow();
		expect((await client.download(url)).status).toBe(200);
	});

	it('name a date by the gateway’s clock', async () => {
		const { client, time } = await hostile([
			{ fault: retryAfterFault(429, 'Retry-After: a date in 12 s') },
		]);
		const { headers } = await client.respond();
		expect(Date.parse(String(headers['retry-after']))).toBe(time.now() + 12_000);
	});
});

describe('Somebody else', () => {
	it('takes down what is sent, key and all', async () => {
		const sniffer = await startSniffer();
		const { client } = await setTheScene();
		await client.post(`${sniffer.origin}/taken`, { a: 1 });
		await sniffer.close();
		expect(sniffer.seen).toMatchObject([{ method: 'POST', path: '/taken', body: '{"a":1}' }]);
		expect(sniffer.seen[0]?.headers.authorization).toMatch(/^Bearer /);
	});

	it('is nobody at a free port', async () => {
		const { client } = await setTheScene();
		await expect(client.get(`http://127.0.0.1:${await freePort()}/`)).rejects.toThrow(
			/ECONNREFUSED/,
		);
	});
});
