import { realProfile, type GatewayOptions } from '../../gateway';
import { inFlight, start, type Sending } from './client';

interface Task {
	status: string;
	http_status?: number;
	image_url?: string;
}

const [RUNNING, DONE] = ['processing', 'completed 200'];

/** A gateway with limits in the background, and its tasks: each is polled by its own key. */
async function line(options: GatewayOptions) {
	const harness = await start({ backgroundLimits: true, ...options });
	const { client, time } = harness;
	const tasks: Array<[id: string, sending: Sending]> = [];
	return {
		...harness,
		submit: async (count: number, sending: Sending = {}, change: object = {}) => {
			for (let sent = 0; sent < count; sent++)
				tasks.push([await client.submit({ ...change }, sending), sending]);
		},
		/** Status and outcome of each task after so much time. */
		after: async (ms: number) => {
			await time.advance(ms);
			const polls = tasks.map(async (task) => (await client.poll(...task)).json as Task);
			const all = await Promise.all(polls);
			return all.map(({ status, http_status: outcome = '' }) => `${status} ${outcome}`.trim());
		},
	};
}

describe('Limits in the background', () => {
	test('n tasks of an account are at work, the next one in line starts when a place is free', async () => {
		const { submit, after } = await line({ places: 2, taskSeconds: 20 });
		await submit(2);
		await submit(1, { key: 'second' });
		expect(await after(39_999)).toEqual([DONE, DONE, RUNNING]);
		expect(await after(1)).toEqual([DONE, DONE, DONE]);
	});

	test('who waits 30 s for the places of a key (single) fails, and the line goes on without it', async () => {
		const { submit, after, gateway } = await line({ taskSeconds: 40 });
		await submit(2, { key: 'single' });
		expect(await after(29_999)).toEqual([RUNNING, RUNNING]);
		expect(await after(1)).toEqual([RUNNING, 'failed 429']);
		await submit(1, { key: 'single' });
		expect(await after(50_000)).toEqual([DONE, 'failed 429', DONE]);
		const ends = gateway.outcomes.map(({ charged, refused }) => [charged, refused]);
		expect(ends).toEqual([true, false, true].map((charged) => [charged, !charged]));
	});

	test('a limit a clock minute fails tasks at once, and counts refused ones; responses get 429 and Retry-After', async () => {
		const { submit, after, client } = await line({ requestsPerClockMinute: 2, taskSeconds: 0 });
		await after(50_000);
		await submit(3);
		expect(await after(0)).toEqual([DONE, DONE, 'failed 429']);
		const { status, headers } = await client.ask('responses');
		expect([status, headers['retry-after']]).toEqual([429, '10']);
		await after(10_000);
		expect((await client.ask('responses')).status).toBe(200);
	});

	test('profile real: a group without an account fails tasks with 503, as a parked account does', async () => {
		const settings = { profile: 'real', parkSeconds: 8, taskSeconds: 2 } as const;
		const { submit, after, client, gateway } = await line(settings);
		await submit(1, { key: 'vacant' });
		expect((await client.ask('responses', {}, { key: 'vacant' })).status).toBe(503);
		await submit(1, {}, { prompt: 'x [[end:provider 429]]' });
		await after(9_999);
		await submit(1);
		await after(1);
		await submit(1);
		expect(await after(2_000)).toEqual(['failed 503', 'failed 429', 'failed 503', DONE]);
		expect(gateway.charges).toHaveLength(1);
		expect(gateway.settings).toMatchObject({ ...realProfile(), parkSeconds: 8 });
	});

	test('an empty balance and an unknown model fail in the background as well', async () => {
		const { submit, after, client, gateway } = await line({});
		await submit(1, { key: 'exhausted' });
		await submit(1, {}, { model: 'nope' });
		expect(await after(0)).toEqual(['failed 403', 'failed 404']);
		const message = expect.stringContaining('Model "nope" is not supported') as string;
		const { json } = await client.poll(gateway.tasks[1]!.id);
		expect(json).toMatchObject({ error: { type: 'model_not_found', message } });
	});
});

describe('Tasks that a gateway loses', () => {
	test('a restart leaves tasks at work and in line for ever; nothing is charged for them', async () => {
		const { submit, after, gateway, client } = await line({ places: 1 });
		await submit(2);
		await after(3_000);
		gateway.restart();
		await submit(1);
		expect(await after(3_600_000)).toEqual([RUNNING, RUNNING, DONE]);
		expect(gateway.charges).toHaveLength(1);
		await after(24 * 3_600_000);
		expect((await client.poll(gateway.tasks[0]!.id)).status).toBe(404);
	});

	test('a restart cuts the requests under way', async () => {
		const harness = await start({ responseMs: 60_000 });
		const cut = expect(harness.client.ask('responses')).rejects.toThrow();
		await inFlight(harness, 1);
		harness.gateway.restart();
		await cut;
		expect((await harness.client.ask('models')).status).toBe(200);
	});

	test('a cleared memory, and the end "lost": 404 of an unknown task, charged all the same', async () => {
		const { client, time, gateway } = await start();
		const ids = [await client.submit(), await client.submit({ prompt: 'x [[end:lost]]' })];
		const statuses = async () =>
			await Promise.all(ids.map(async (id) => (await client.poll(id)).status));
		await time.advance(6_000);
		expect(await statuses()).toEqual([200, 404]);
		gateway.clearMemory();
		expect(await statuses()).toEqual([404, 404]);
		expect(gateway.outcomes).toMatchObject(Array(2).fill({ status: 'gone', charged: true }));
	});
});

const ID = expect.stringMatching(/^imgtask_/) as string;
const completed = { status: 'completed' };

test.each<[GatewayOptions, submitted: object, polled: object]>([
	[{ envelope: 'data' }, { code: 200, data: { task_id: ID } }, { code: 200, data: completed }],
	[{ envelope: 'list' }, { data: [{ task_id: ID }] }, { data: [completed] }],
	[{ statusWords: { processing: 'at', completed: 'OK' } }, { status: 'at' }, { status: 'OK' }],
	[{ fullTasks: true, maxImages: 1 }, {}, { result: { background: 'opaque' } }],
	[{ taskEnd: 'too slow' }, {}, { status: 'processing' }],
	[{ fullTasks: true, taskEnd: 'not stored' }, {}, { completed_at: expect.any(Number) as number }],
])('%j: a submit and a poll show it', async (options, submitted, polled) => {
	const { client, time, gateway } = await start(options);
	expect((await client.ask('generations', { n: 3 })).json).toMatchObject(submitted);
	expect(gateway.charges).toMatchObject([{ credits: 10 * (options.maxImages ?? 3) }]);
	await time.advance(6_000);
	expect((await client.poll(gateway.tasks[0]!.id)).json).toMatchObject(polled);
});

test('each second poll is a web page or an error in a 200, by turns', async () => {
	const { client } = await start({ strayPollEvery: 2 });
	const id = await client.submit();
	const seen: string[] = [];
	for (let poll = 0; poll < 4; poll++) seen.push((await client.poll(id)).text.slice(0, 9));
	expect(seen).toEqual(['{"id":"im', '<!doctype', '{"id":"im', '{"error":']);
});

test('a cache repeats a poll until its time ends, unless a fresh one is asked for', async () => {
	const { submit, after, client, gateway } = await line({ pollCacheSeconds: 10, taskSeconds: 2 });
	await submit(1);
	expect([await after(0), await after(9_999)]).toEqual([[RUNNING], [RUNNING]]);
	const fresh = { headers: { 'cache-control': 'no-cache' } };
	const { json } = await client.poll(gateway.tasks[0]!.id, fresh);
	expect(json).toMatchObject({ status: 'completed' });
});
