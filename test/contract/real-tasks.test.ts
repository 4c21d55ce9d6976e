import { realProfile, type GatewayOptions, type TaskEndName } from '../../gateway';
import { endNamed, TASK_ENDS } from '../../gateway/images/ends';
import { inFlight, start, type Answer, type Harness, type Sending } from './client';

interface Task {
	status: string;
	http_status?: number;
	error?: { type: string; code?: string; message: string };
	image_url?: string;
	completed_at?: number;
	created_at?: number;
	result?: Record<string, unknown> & { data: Array<{ url: string }> };
}

const ID = expect.stringMatching(/^imgtask_/) as string;

const taskIn = ({ json }: Answer) => json as Task;

/** Submits several tasks at once, in order. */
async function submitAll({ client }: Harness, count: number, sending?: Sending) {
	const ids: string[] = [];
	for (let sent = 0; sent < count; sent++) {
		ids.push(await client.submit({ prompt: `image ${sent}` }, sending));
	}
	return ids;
}

/** Status and outcome of each task, in a word: `processing`, `completed`, `failed 429`. */
async function states({ client }: Harness, ids: string[], sending?: Sending) {
	const polls = await Promise.all(ids.map(async (id) => await client.poll(id, sending)));
	return polls
		.map(taskIn)
		.map(({ status, http_status }) => (status === 'failed' ? `failed ${http_status}` : status));
}

describe('Limits in the background', () => {
	test('n tasks of an account are at work, the next one in line starts when a place is free', async () => {
		const harness = await start({ backgroundLimits: true, places: 2, taskSeconds: 20 });
		const ids = await submitAll(harness, 2);
		ids.push(...(await submitAll(harness, 1, { key: 'second' })));
		await harness.time.advance(20_000);
		expect(await states(harness, ids.slice(0, 2))).toEqual(['completed', 'completed']);
		await harness.time.advance(19_999);
		expect(await states(harness, ids.slice(2), { key: 'second' })).toEqual(['processing']);
		await harness.time.advance(1);
		expect(await states(harness, ids.slice(2), { key: 'second' })).toEqual(['completed']);
		expect(harness.gateway.charges).toHaveLength(3);
	});

	test('who waits 30 s in line fails with 429 and is not charged; the line goes on without it', async () => {
		const harness = await start({ backgroundLimits: true, places: 1, taskSeconds: 40 });
		const ids = await submitAll(harness, 2);
		await harness.time.advance(29_999);
		expect(await states(harness, ids)).toEqual(['processing', 'processing']);
		await harness.time.advance(1);
		const refused = taskIn(await harness.client.poll(ids[1]!));
		expect(refused).toMatchObject({ http_status: 429, error: { type: 'rate_limit_error' } });
		ids.push(await harness.client.submit());
		await harness.time.advance(50_000);
		expect(await states(harness, ids)).toEqual(['completed', 'failed 429', 'completed']);
		const { outcomes, charges } = harness.gateway;
		expect(outcomes.map(({ charged }) => charged)).toEqual([true, false, true]);
		expect(outcomes.map(({ refused: free }) => free)).toEqual([false, true, false]);
		expect(charges).toHaveLength(2);
	});

	test('the places of a key (single) count as those of an account', async () => {
		const harness = await start({ backgroundLimits: true, taskSeconds: 40 });
		const ids = await submitAll(harness, 2, { key: 'single' });
		await harness.time.advance(40_000);
		expect(await states(harness, ids, { key: 'single' })).toEqual(['completed', 'failed 429']);
	});

	test('a limit a clock minute fails tasks at once, and counts refused ones; responses get 429 and Retry-After', async () => {
		const limits = { backgroundLimits: true, requestsPerClockMinute: 2 };
		const harness = await start({ ...limits, taskSeconds: 0 });
		await harness.time.advance(50_000);
		const ids = await submitAll(harness, 3);
		expect(await states(harness, ids)).toEqual(['completed', 'completed', 'failed 429']);
		const response = await harness.client.ask('responses');
		expect([response.status, response.headers['retry-after']]).toEqual([429, '10']);
		await harness.time.advance(10_000);
		expect((await harness.client.ask('responses')).status).toBe(200);
		const { error } = taskIn(await harness.client.poll(ids[2]!));
		const message = 'group requests-per-minute limit exceeded';
		expect(error).toEqual({ type: 'rate_limit_exceeded', message });
	});

	test('a group without an account fails each task with 503, and so does a parked account', async () => {
		const harness = await start({ backgroundLimits: true, parkSeconds: 5, taskSeconds: 2 });
		const [vacant] = await submitAll(harness, 1, { key: 'vacant' });
		expect(await states(harness, [vacant!], { key: 'vacant' })).toEqual(['failed 503']);
		expect((await harness.client.ask('responses', {}, { key: 'vacant' })).status).toBe(503);
		const ids = [await harness.client.submit({ prompt: 'x [[end:provider 429]]' })];
		await harness.time.advance(2_000);
		ids.push(...(await submitAll(harness, 1)));
		await harness.time.advance(5_000);
		ids.push(...(await submitAll(harness, 1)));
		await harness.time.advance(2_000);
		expect(await states(harness, ids)).toEqual(['failed 429', 'failed 503', 'completed']);
		expect(harness.gateway.charges).toHaveLength(1);
	});

	test('an empty balance and an unknown model fail in the background as well', async () => {
		const harness = await start({ backgroundLimits: true });
		const poor = await harness.client.submit({}, { key: 'exhausted' });
		const unknown = await harness.client.submit({ model: 'nope' });
		expect((await harness.client.poll(poor, { key: 'exhausted' })).json).toMatchObject({
			http_status: 403,
			error: { type: 'billing_error', message: 'insufficient balance' },
		});
		const message = expect.stringContaining('Model "nope" is not supported') as string;
		const error = { type: 'model_not_found', message };
		expect((await harness.client.poll(unknown)).json).toMatchObject({ http_status: 404, error });
	});
});

describe('How tasks end', () => {
	const failures = (Object.keys(TASK_ENDS) as TaskEndName[]).filter(
		(name) => endNamed(name).failure,
	);

	test.each(failures)('%s: by the setting and by the word in the prompt', async (name) => {
		const { failure, charged, seconds = 6 } = endNamed(name);
		const harness = await start({ taskEnd: ({ prompt }) => (prompt === 'one' ? name : undefined) });
		const ids = [
			await harness.client.submit({ prompt: 'one' }),
			await harness.client.submit({ prompt: `two [[end:${name}]]` }),
		];
		await harness.time.advance(seconds * 1000 - 1);
		if (seconds > 0) expect(await states(harness, ids)).toEqual(['processing', 'processing']);
		await harness.time.advance(1);
		const { httpStatus: http_status, ...error } = failure!;
		for (const id of ids) {
			const task = taskIn(await harness.client.poll(id));
			expect(task).toMatchObject({ status: 'failed', error });
			expect(task.http_status).toBe(http_status);
		}
		expect(harness.gateway.charges).toHaveLength(charged ? 2 : 0);
	});

	test('completed with an error as result: no image, nothing charged', async () => {
		const { client, time, gateway } = await start({ taskEnd: 'error in the result' });
		const id = await client.submit();
		await time.advance(6_000);
		const { status, http_status, result, image_url } = taskIn(await client.poll(id));
		const answer = { error: endNamed('error in the result').errorInResult };
		expect([status, http_status, result, image_url]).toEqual(['completed', 200, answer, undefined]);
		expect(gateway.charges).toEqual([]);
	});

	test('a restart leaves tasks at work and in line for ever; nothing is charged for them', async () => {
		const harness = await start({ backgroundLimits: true, places: 1 });
		const ids = await submitAll(harness, 2);
		await harness.time.advance(3_000);
		harness.gateway.restart();
		ids.push(await harness.client.submit());
		await harness.time.advance(3_600_000);
		expect(await states(harness, ids)).toEqual(['processing', 'processing', 'completed']);
		expect(harness.gateway.charges).toHaveLength(1);
		await harness.time.advance(24 * 3_600_000);
		expect((await harness.client.poll(ids[0]!)).status).toBe(404);
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
		expect((await client.poll(ids[1]!)).status).toBe(200);
		await time.advance(6_000);
		expect((await client.poll(ids[1]!)).status).toBe(404);
		gateway.clearMemory();
		const error = { code: 'IMAGE_TASK_NOT_FOUND' };
		expect((await client.poll(ids[0]!)).json).toMatchObject({ error });
		expect(gateway.charges).toHaveLength(2);
		expect(gateway.outcomes.map(({ status }) => status)).toEqual(['gone', 'gone']);
	});
});

async function finished(options: GatewayOptions, change: Record<string, unknown> = {}) {
	const harness = await start(options);
	const submit = await harness.client.ask('generations', change);
	const [{ id = '' } = {}] = harness.gateway.tasks;
	await harness.time.advance(6_000);
	return { ...harness, submit, id, task: taskIn(await harness.client.poll(id)) };
}

describe('What a task shows', () => {
	test('usage, and the size, quality, format and background that were used', async () => {
		const options = { fullTasks: true, imageSize: '32x16', maxImages: 1 };
		const { task, gateway } = await finished(options, { n: 3, output_format: 'webp' });
		expect(task.result).toMatchObject({
			background: 'opaque',
			output_format: 'png',
			quality: 'high',
			size: '32x16',
			usage: { input_tokens: 2, output_tokens: 4160, total_tokens: 4162 },
		});
		expect([task.result?.data.length, gateway.charges[0]?.credits]).toEqual([1, 10]);
	});

	test('the times of a failed task', async () => {
		const { task } = await finished({ fullTasks: true, taskEnd: 'not stored' });
		expect(task.completed_at! - task.created_at!).toBe(6);
	});

	test.each(['Completed', 'SUCCESS', 'succeeded'])('another word: %s', async (completed) => {
		const words = { processing: 'in_progress', completed };
		const { submit, task } = await finished({ statusWords: words });
		expect([taskIn(submit).status, task.status]).toEqual(['in_progress', completed]);
	});

	const task = { status: 'completed' };
	test.each([
		['data', { code: 200, data: { task_id: ID } }, { code: 200, data: task }],
		['list', { data: [{ task_id: ID, status: 'processing' }] }, { data: [task] }],
	] as const)('wrapped: %s', async (envelope, submitted, polled) => {
		const { submit, task } = await finished({ envelope });
		expect([submit.json, submit.headers.location]).toEqual([submitted, undefined]);
		expect(task).toMatchObject(polled);
	});
});

describe('Links that die before their task', () => {
	const DEATHS = [403, 404, 410] as const;
	test.each(DEATHS)('the storage says %i; a poll hands out the same link', async (linkDeath) => {
		const { client, time, id, task } = await finished({ linkSeconds: 60, linkDeath });
		expect((await client.download(task.image_url!)).status).toBe(200);
		await time.advance(60_000);
		expect((await client.download(task.image_url!)).status).toBe(linkDeath);
		expect(taskIn(await client.poll(id)).image_url).toBe(task.image_url);
	});

	test('or a fresh one', async () => {
		const { client, time, id, task } = await finished({ linkSeconds: 60, linkRenewal: 'fresh' });
		await time.advance(60_000);
		const { image_url } = taskIn(await client.poll(id));
		expect((await client.download(task.image_url!)).status).toBe(403);
		expect((await client.download(image_url!)).status).toBe(200);
	});
});

describe('Between a poll and its task', () => {
	test('each second poll is a web page or an error in a 200, by turns', async () => {
		const { client } = await start({ strayPollEvery: 2 });
		const id = await client.submit();
		const seen: string[] = [];
		for (let poll = 0; poll < 4; poll++) seen.push((await client.poll(id)).text.slice(0, 9));
		expect(seen).toEqual(['{"id":"im', '<!doctype', '{"id":"im', '{"error":']);
	});

	test('a cache repeats a poll until its time ends, unless a fresh one is asked for', async () => {
		const harness = await start({ pollCacheSeconds: 10, taskSeconds: 2 });
		const ids = await submitAll(harness, 1);
		const fresh = { headers: { 'cache-control': 'no-cache' } };
		expect(await states(harness, ids)).toEqual(['processing']);
		await harness.time.advance(9_999);
		expect(await states(harness, ids)).toEqual(['processing']);
		expect(await states(harness, ids, fresh)).toEqual(['completed']);
	});
});

test('the profile is a set of these switches, and what stands beside it has precedence', async () => {
	const { gateway } = await start({ profile: 'real', parkSeconds: 1 });
	expect(gateway.settings).toMatchObject({ ...realProfile(), parkSeconds: 1 });
	expect((await start()).gateway.settings.backgroundLimits).toBeUndefined();
});
