import { pictureBelongsTo, sizeOf, type GatewayOptions } from '../../gateway';
import { errorOf, start, type Answer, type Change } from './client';
import { colorAt, dataUrl, formOf, pngOf } from './uploads';

const NOW = Date.UTC(2026, 0, 1) / 1000;
const COLORS = { red: [220, 20, 20, 255], blue: [20, 20, 220, 255], clear: [0, 0, 0, 0] };

interface Done {
	status: string;
	image_url: string;
	result: { data: Array<{ url: string }> };
}

const done = ({ json }: Answer) => json as Done;

/** Submits a task and polls it after its 6 seconds. */
async function completed(change: Change = {}, options: GatewayOptions = {}) {
	const harness = await start({ taskSeconds: 6, taskLifetime: 3600, ...options });
	const submit = await harness.client.ask(
		change instanceof Object && 'append' in change ? 'edits' : 'generations',
		change,
	);
	const id = (submit.json as { task_id: string }).task_id;
	await harness.time.advance(6_000);
	const poll = await harness.client.poll(id);
	return { ...harness, id, poll, url: done(poll).image_url };
}

describe('Image task: states and fields', () => {
	test.each(['generations', 'edits'] as const)(
		'%s: 202 and a task that is processing',
		async (endpoint) => {
			const { client, gateway } = await start({ taskLifetime: 3600 });
			const { status, headers, json } = await client.ask(endpoint);
			const [{ id = '' } = {}] = gateway.tasks;
			const path = `/v1/images/tasks/${id}`;
			expect([status, headers.location, headers['retry-after']]).toEqual([202, path, '3']);
			const task = { id, task_id: id, object: 'image.generation.task', status: 'processing' };
			const times = { created_at: NOW, expires_at: NOW + 3600 };
			expect(json).toEqual({ ...task, ...times, poll_url: path });
			const poll = await client.send('GET', path);
			expect([poll.status, poll.headers['retry-after']]).toEqual([200, '3']);
			expect(poll.json).toEqual({ ...task, ...times });
		},
	);

	test('completed: http_status 200, image_url, result and completed_at, and no Retry-After', async () => {
		const { id, poll, url, gateway } = await completed({ n: 2, response_format: 'b64_json' });
		expect([poll.status, poll.headers['retry-after']]).toEqual([200, undefined]);
		const image = {
			url: expect.any(String) as string,
			revised_prompt: 'a lighthouse, in soft light',
		};
		expect(poll.json).toEqual({
			id,
			task_id: id,
			object: 'image.generation.task',
			status: 'completed',
			created_at: NOW,
			expires_at: NOW + 3600,
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
			id,
			task_id: id,
			object: 'image.generation.task',
			status: 'failed',
			expires_at: NOW + 3600,
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
		expect([(await client.poll(id)).status, (await client.download(url)).status]).toEqual([
			200, 200,
		]);
		await time.advance(1);
		missing.push(await client.poll(id));
		const error = {
			type: 'IMAGE_TASK_NOT_FOUND',
			code: 'IMAGE_TASK_NOT_FOUND',
			message: 'image task not found',
		};
		for (const { status, json } of missing) expect([status, json]).toEqual([404, { error }]);
		const expired = await client.download(url);
		expect([expired.status, expired.text]).toEqual([
			403,
			expect.stringContaining('Request has expired'),
		]);
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
		expect([headers['content-type'], headers['content-length']]).toEqual([
			'image/png',
			`${bytes.length}`,
		]);
		expect(sizeOf(bytes)).toEqual({ width: 64, height: 48 });
		const belongs = [
			pictureBelongsTo('灯台 🌊', bytes),
			pictureBelongsTo('another', bytes),
			pictureBelongsTo('灯台 🌊', bytes.subarray(0, -20)),
			(await client.download(second!.url)).bytes.equals(bytes),
		];
		expect(belongs).toEqual([true, false, false, false]);
	});

	test('an edit shows its uploads side by side, and keeps what the mask covers', async () => {
		const { red, blue, clear } = COLORS;
		const images = [pngOf(8, 8, blue), pngOf(8, 8, red)];
		const two = await completed(formOf({ 'image[]': images }));
		const both = (await two.client.download(two.url)).bytes;
		expect([colorAt(both, 20, 24), colorAt(both, 44, 24)]).toEqual([blue, red]);
		const mask = pngOf(8, 8, [0, 0, 0, 255], clear);
		const masked = await completed(formOf({ image: images[1]!, mask }));
		const { bytes } = await masked.client.download(masked.url);
		expect([colorAt(bytes, 0, 0), colorAt(bytes, 60, 0)]).toEqual([
			red,
			expect.not.arrayContaining(red),
		]);
	});

	test('an edit takes data URLs, and does not fetch other addresses', async () => {
		const { client, gateway } = await start();
		const urls = [dataUrl(pngOf(8, 6)), `${gateway.storageUrl}/images/any/0.png`];
		const images = urls.map((image_url) => ({ image_url }));
		expect((await client.ask('edits', { images })).status).toBe(202);
		expect([gateway.tasks[0]?.sources.length, gateway.storageRequests.length]).toEqual([2, 0]);
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
