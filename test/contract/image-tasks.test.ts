import { pictureBelongsTo, sizeOf } from '../../gateway';
import { start, type Answer } from './client';

const NOW = Date.UTC(2026, 0, 1) / 1000;

interface Done {
	status: string;
	image_url: string;
	result: { data: Array<{ url: string }> };
}

const done = ({ json }: Answer) => json as Done;

/** Submits a task and polls it after its 6 seconds. */
async function completed(change: Record<string, unknown> = {}) {
	const harness = await start({ taskSeconds: 6, taskLifetime: 3600 });
	const id = await harness.client.submit(change);
	await harness.time.advance(6_000);
	const poll = await harness.client.poll(id);
	return { ...harness, id, poll, url: done(poll).image_url };
}

/** The fields that a task always has. */
const always = (id: string) => ({
	id,
	task_id: id,
	object: 'image.generation.task',
	expires_at: NOW + 3600,
});

describe('Image task: states and fields', () => {
	test.each(['generations', 'edits'] as const)(
		'%s: 202 and a task that is processing',
		async (endpoint) => {
			const { client, gateway } = await start({ taskLifetime: 3600 });
			const { status, headers, json } = await client.ask(endpoint);
			const [{ id = '' } = {}] = gateway.tasks;
			const path = `/v1/images/tasks/${id}`;
			expect([status, headers.location, headers['retry-after']]).toEqual([202, path, '3']);
			const task = { ...always(id), status: 'processing', created_at: NOW };
			expect(json).toEqual({ ...task, poll_url: path });
			const poll = await client.send('GET', path);
			expect([poll.status, poll.headers['retry-after']]).toEqual([200, '3']);
			expect(poll.json).toEqual(task);
		},
	);

	test('completed: http_status 200, image_url, result and completed_at, and no Retry-After', async () => {
		const { id, poll, url, gateway } = await completed({ n: 2, response_format: 'b64_json' });
		expect([poll.status, poll.headers['retry-after']]).toEqual([200, undefined]);
		const image = {
			url: expect.any(String) as string,
			revised_prompt: expect.anything() as string,
		};
		expect(poll.json).toEqual({
			...always(id),
			status: 'completed',
			created_at: NOW,
			completed_at: NOW + 6,
			http_status: 200,
			image_url: url,
			result: { created: NOW + 6, data: [{ ...image, url }, image] },
		});
		expect([new URL(url).origin, gateway.storageUrl]).not.toContain(gateway.origin);
	});

	test('failed: http_status of the job and an error with type and message', async () => {
		const { id, poll } = await completed({ prompt: 'a tree [[fail:422]]' });
		expect([poll.status, poll.headers['retry-after']]).toEqual([200, undefined]);
		expect(poll.json).toEqual({
			...always(id),
			status: 'failed',
			http_status: 422,
			error: { type: 'image_generation_error', message: 'the picture could not be made' },
		});
	});

	test('a task ends when its time has passed, and changes no more; it cannot be canceled', async () => {
		const { client, time } = await start({ taskSeconds: 6 });
		const [good, bad] = [await client.submit(), await client.submit({ prompt: '[[fail]] x' })];
		expect((await client.send('DELETE', `/v1/images/tasks/${good}`)).status).toBe(405);
		const seen: string[] = [];
		for (const ms of [5_999, 1, 10 ** 6]) {
			await time.advance(ms);
			for (const id of [good, bad]) seen.push(done(await client.poll(id)).status);
		}
		const ended = ['completed', 'failed'];
		expect(seen).toEqual(['processing', 'processing', ...ended, ...ended]);
	});

	test('unknown, expired and foreign tasks get the same 404; the image expires as well', async () => {
		const { client, time, id, url } = await completed();
		const missing = [await client.poll(id, { key: 'second' }), await client.poll('__proto__')];
		await time.advance((3600 - 6) * 1000 - 1);
		for (const last of [client.poll(id), client.download(url)])
			expect((await last).status).toBe(200);
		await time.advance(1);
		missing.push(await client.poll(id));
		const type = 'IMAGE_TASK_NOT_FOUND';
		const error = { type, code: type, message: 'image task not found' };
		for (const { status, json } of missing) expect([status, json]).toEqual([404, { error }]);
		expect((await client.download(url)).status).toBe(403);
	});

	test('the same submit twice makes two tasks', async () => {
		const { client } = await start();
		const own = { headers: { 'idempotency-key': 'one' } };
		expect(await client.submit({}, own)).not.toBe(await client.submit({}, own));
	});
});

describe('Images and their storage', () => {
	test('an image has the requested size and belongs to its prompt alone', async () => {
		const { client, poll } = await completed({ n: 2, prompt: '灯台 🌊' });
		const [first, second] = done(poll).result.data;
		const { bytes, headers } = await client.download(first!.url);
		const facts = [headers['content-type'], headers['content-length'], sizeOf(bytes)];
		expect(facts).toEqual(['image/png', `${bytes.length}`, { width: 64, height: 48 }]);
		const belongs = [
			pictureBelongsTo('灯台 🌊', bytes),
			pictureBelongsTo('another', bytes),
			pictureBelongsTo('灯台 🌊', bytes.subarray(0, -20)),
			(await client.download(second!.url)).bytes.equals(bytes),
		];
		expect(belongs).toEqual([true, false, false, false]);
	});

	test('the storage refuses changed addresses and requests with a key, and records the key', async () => {
		const { client, gateway, url } = await completed({ n: 2 });
		const changed = [
			url.replace(/signature=.*/, `signature=${'0'.repeat(64)}`),
			url.replace(/&signature=.*/, ''),
			url.replace(/expires=\d+/, 'expires=9999999999'),
			url.replace('/0.png', '/1.png'),
		];
		for (const address of changed) expect((await client.download(address)).status).toBe(403);
		expect((await client.download(url, { key: 'active' })).status).toBe(400);
		const { headers } = gateway.storageRequests.at(-1)!;
		expect(headers.authorization).toBe(`Bearer ${gateway.keys.active}`);
	});
});
