import type { GatewayOptions } from '../../gateway';
import { pictureBelongsTo, sizeOf } from '../../gateway';
import { PICTURE, setTheScene, type Answer } from './support/client';
import { BLUE, dataUrl, opaquePng, pixel, pngOf, RED } from './support/pictures';

const NOW = Date.UTC(2026, 0, 1) / 1000;

/** A task that has run for as long as it takes. */
async function finished(options: GatewayOptions = {}, fields: Record<string, unknown> = {}) {
	const scene = await setTheScene({ taskSeconds: 6, taskLifetime: 3600, ...options });
	const submit = await scene.client.generate(fields);
	const taskId = submit.string('task_id');
	await scene.time.advance(6_000);
	return { ...scene, submit, taskId, poll: await scene.client.poll(taskId) };
}

describe('Endpoints › POST /v1/images/generations/async', () => {
	it('202: image task with status processing; headers Location and Retry-After: 3', async () => {
		const { client } = await setTheScene({ taskLifetime: 3600 });
		const answer = await client.generate();
		const taskId = answer.string('task_id');
		expect(answer.status).toBe(202);
		expect(answer.headers).toMatchObject({
			location: `/v1/images/tasks/${taskId}`,
			'retry-after': '3',
		});
		expect(answer.json).toEqual({
			id: taskId,
			task_id: taskId,
			object: 'image.generation.task',
			status: 'processing',
			created_at: NOW,
			expires_at: NOW + 3600,
			poll_url: `/v1/images/tasks/${taskId}`,
		});
	});

	it.each([
		['model', {}],
		['model', { model: '' }],
		['prompt', { prompt: ' ' }],
		['size', { size: 'large' }],
		['size', { size: '0x10' }],
		['size', { size: '64 x 48' }],
		['size', { size: '64x48x2' }],
		['size', { size: '9000x10' }],
		['n', { n: 0 }],
		['n', { n: 11 }],
		['n', { n: 1.5 }],
	])('%s — refused with 400: %j', async (field, fields) => {
		const { client, gateway } = await setTheScene();
		const base = Object.keys(fields).length > 0 ? PICTURE : { prompt: 'x' };
		const answer = await client.post('/v1/images/generations/async', { ...base, ...fields });
		expect(answer.status).toBe(400);
		expect(answer.at('error.param')).toBe(field);
		expect(gateway.tasks).toEqual([]);
	});

	it('other body fields are taken, and kept in the books', async () => {
		const { client, gateway } = await setTheScene();
		const fields = { quality: 'high', background: 'opaque', output_format: 'png', seed: 7 };
		expect((await client.generate(fields)).status).toBe(202);
		expect(gateway.tasks[0]?.request.fields).toMatchObject(fields);
	});
});

describe('Endpoints › POST /v1/images/edits/async', () => {
	const path = '/v1/images/edits/async';
	const texts: Array<[string, string]> = [
		['model', 'aurora-image-1'],
		['prompt', 'a tree'],
		['size', '64x48'],
	];
	const file = (bytes: Buffer, name = 'a.png', type = 'image/png') => ({ name, type, bytes });
	const json = (fields: Record<string, unknown>) => ({ ...PICTURE, ...fields });

	it('202: same as generation submit (form with image)', async () => {
		const { client, gateway } = await setTheScene();
		const image = file(pngOf(8, 6, RED), 'Sonnenblume ü.png');
		const answer = await client.form(path, [...texts, ['n', '2'], ['image', image]]);
		expect(answer.status).toBe(202);
		expect(answer.headers['retry-after']).toBe('3');
		expect(answer.at('status')).toBe('processing');
		expect(gateway.tasks[0]?.request).toMatchObject({ kind: 'edit', prompt: 'a tree', n: 2 });
		expect(gateway.requests[0]?.body).toEqual({
			fields: { model: 'aurora-image-1', prompt: 'a tree', size: '64x48', n: '2' },
			files: [
				{
					field: 'image',
					fileName: 'Sonnenblume ü.png',
					mimeType: 'image/png',
					size: image.bytes.length,
					sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
				},
			],
		});
	});

	it('takes several images as image[], and a mask', async () => {
		const { client, gateway } = await setTheScene();
		const answer = await client.form(path, [
			...texts,
			['image[]', file(pngOf(8, 6, RED))],
			['image[]', file(pngOf(4, 4, BLUE), 'b.png')],
			['mask', file(pngOf(8, 6, [0, 0, 0, 0]), 'mask.png')],
		]);
		expect(answer.status).toBe(202);
		expect(gateway.tasks[0]?.sources).toHaveLength(2);
		expect(gateway.tasks[0]?.mask).toMatchObject({ width: 8, height: 6 });
	});

	it('takes JSON with images[].image_url and mask.image_url, as data URLs', async () => {
		const { client, gateway } = await setTheScene();
		const answer = await client.post(
			path,
			json({
				images: [
					{ image_url: dataUrl(pngOf(8, 6, RED)) },
					{ image_url: dataUrl(pngOf(2, 2, RED)) },
				],
				mask: { image_url: dataUrl(pngOf(8, 6, [0, 0, 0, 0])) },
			}),
		);
		expect(answer.status).toBe(202);
		expect(gateway.tasks[0]?.sources).toHaveLength(2);
		expect(gateway.tasks[0]?.mask).toBeDefined();
	});

	it('takes http URLs without fetching them', async () => {
		const { client, gateway } = await setTheScene();
		const image_url = `${gateway.storageUrl}/images/any/0.png`;
		const answer = await client.post(path, json({ images: [{ image_url }] }));
		expect(answer.status).toBe(202);
		expect(gateway.storageRequests).toEqual([]);
	});

	it.each([
		['JPEG', 'image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16])],
		['WebP', 'image/webp', Buffer.from('RIFF\x10\0\0\0WEBPVP8 ', 'latin1')],
		['GIF', 'image/gif', Buffer.from('GIF89a\x01\0\x01\0', 'latin1')],
	])('takes %s by its signature', async (_name, type, bytes) => {
		const { client } = await setTheScene();
		const answer = await client.form(path, [...texts, ['image', file(bytes, 'a', type)]]);
		expect(answer.status).toBe(202);
	});

	it.each<[string, string, Parameters<typeof pngOf> | Buffer]>([
		['an empty file', 'is an empty file', Buffer.alloc(0)],
		['a text', 'is not an image', Buffer.from('hello')],
		['half a PNG', 'is a damaged PNG', pngOf(64, 64, RED, BLUE).subarray(0, 90)],
	])('400 for %s as image', async (_name, problem, bytes) => {
		const { client, gateway } = await setTheScene();
		const image = file(bytes as Buffer, 'bad.png');
		const answer = await client.form(path, [...texts, ['image', image]]);
		expect(answer.status).toBe(400);
		expect(answer.string('error.message')).toBe(
			`image (bad.png) ${problem}${problem.endsWith('an image') ? ' (PNG, JPEG, WebP or GIF)' : ''}`,
		);
		expect(gateway.tasks).toEqual([]);
	});

	it.each([
		['no image at all', [], 'image is required'],
		['an image as text', [['image', 'hello']], 'image is required'],
	] as Array<[string, Array<[string, string]>, string]>)(
		'400 for a form with %s',
		async (_name, parts, message) => {
			const { client } = await setTheScene();
			const answer = await client.form(path, [...texts, ...parts]);
			expect(answer.status).toBe(400);
			expect(answer.string('error.message')).toContain(message);
		},
	);

	it.each([
		['images[0].image_url', { images: [{}] }],
		['images[1]', { images: [{ image_url: 'https://example.com/a.png' }, 'b'] }],
		['images[0].image_url', { images: [{ image_url: 'data:image/png;base64,%%%' }] }],
		['images[0].image_url', { images: [{ image_url: dataUrl(Buffer.from('text')) }] }],
		['images[0].image_url', { images: [{ image_url: 'file:///etc/hosts' }] }],
		['images', { images: [] }],
		['images', { images: 'https://example.com/a.png' }],
	])('400 names %s: %j', async (field, fields) => {
		const { client } = await setTheScene();
		const answer = await client.post(path, json(fields));
		expect(answer.status).toBe(400);
		expect(answer.at('error.param')).toBe(field);
	});

	it.each([
		['without alpha channel', opaquePng(8, 6), 'must be a PNG with an alpha channel'],
		['of another width', pngOf(6, 6, [0, 0, 0, 0]), 'must have the size of the image (8x6)'],
		['of another height', pngOf(8, 8, [0, 0, 0, 0]), 'must have the size of the image (8x6)'],
		['that is no image', Buffer.from('hello'), 'is not an image'],
	])('400 for a mask %s', async (_name, bytes, message) => {
		const { client } = await setTheScene();
		const image = file(pngOf(8, 6, RED));
		const form = await client.form(path, [...texts, ['image', image], ['mask', file(bytes)]]);
		const body = await client.post(
			path,
			json({
				images: [{ image_url: dataUrl(image.bytes) }],
				mask: { image_url: dataUrl(bytes) },
			}),
		);
		for (const answer of [form, body]) {
			expect(answer.status).toBe(400);
			expect(answer.string('error.message')).toMatch(/^mask/);
			expect(answer.string('error.message')).toContain(message);
		}
	});

	it('400 for a form that breaks off, and for stream as text', async () => {
		const { client } = await setTheScene();
		const broken = await client.send('POST', path, {
			body: '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\naur',
			headers: { 'content-type': 'multipart/form-data; boundary=b' },
		});
		expect(broken.status).toBe(400);
		expect(broken.at('error.code')).toBe('invalid_form');
		const image = file(pngOf(8, 6, RED));
		const stream = await client.form(path, [...texts, ['stream', 'true'], ['image', image]]);
		expect(stream.at('error.code')).toBe('stream_not_supported');
	});

	it('takes an upload of 20 MB', async () => {
		const { client, gateway } = await setTheScene();
		const bytes = Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(20 * 2 ** 20, 7)]);
		const image = file(bytes, 'large.gif', 'image/gif');
		expect((await client.form(path, [...texts, ['image', image]])).status).toBe(202);
		expect(gateway.requests[0]?.rawLength).toBeGreaterThan(bytes.length);
	});

	describe('the picture of an edit', () => {
		async function edited(parts: Parameters<typeof PICTURE_FORM>[0]): Promise<Buffer> {
			const { client, time } = await setTheScene({ taskSeconds: 1 });
			const submit = await client.form(path, PICTURE_FORM(parts));
			await time.advance(1_000);
			const poll = await client.poll(submit.string('task_id'));
			return (await client.download(poll.string('image_url'))).bytes;
		}
		const PICTURE_FORM = (parts: Array<[string, ReturnType<typeof file>]>) => [...texts, ...parts];

		it('shows the upload inside a frame of the new scene', async () => {
			const png = await edited([['image', file(pngOf(8, 8, RED, BLUE))]]);
			expect(pixel(png, 20, 24)).toEqual(RED);
			expect(pixel(png, 44, 24)).toEqual(BLUE);
			expect(pixel(png, 0, 0)).not.toEqual(RED);
			expect(pictureBelongsTo('a tree', png)).toBe(true);
		});

		it('shows several uploads side by side', async () => {
			const png = await edited([
				['image[]', file(pngOf(8, 8, BLUE))],
				['image[]', file(pngOf(8, 8, RED))],
			]);
			expect([pixel(png, 20, 24), pixel(png, 44, 24)]).toEqual([BLUE, RED]);
		});

		it('changes only what the mask leaves transparent', async () => {
			const png = await edited([
				['image', file(pngOf(8, 8, RED))],
				['mask', file(pngOf(8, 8, [0, 0, 0, 255], [0, 0, 0, 0]))],
			]);
			expect(pixel(png, 0, 0)).toEqual(RED);
			expect(pixel(png, 60, 0)).not.toEqual(RED);
		});
	});
});

describe('Endpoints › GET /v1/images/tasks/<task_id>', () => {
	it('200 while processing, with Retry-After: 3', async () => {
		const { client, time } = await setTheScene({ taskSeconds: 6 });
		const taskId = (await client.generate()).string('task_id');
		await time.advance(5_999);
		const answer = await client.poll(taskId);
		expect(answer.status).toBe(200);
		expect(answer.at('status')).toBe('processing');
		expect(answer.headers['retry-after']).toBe('3');
	});

	it('200 when completed, and no Retry-After', async () => {
		const { poll } = await finished();
		expect(poll.status).toBe(200);
		expect(poll.at('status')).toBe('completed');
		expect(poll.headers).not.toHaveProperty('retry-after');
	});

	it('200 when failed, and no Retry-After', async () => {
		const { poll } = await finished({}, { prompt: 'a tree [[fail]]' });
		expect(poll.status).toBe(200);
		expect(poll.at('status')).toBe('failed');
		expect(poll.headers).not.toHaveProperty('retry-after');
	});

	it.each(['', '/', 'a/b', '%00', '__proto__', 'constructor'])('404 for the ID %j', async (id) => {
		const { client } = await setTheScene();
		expect((await client.get(`/v1/images/tasks/${id}`)).status).toBe(404);
	});
});

describe('Resources › Image task', () => {
	const states: Array<[string, () => Promise<Answer>]> = [
		['submit', async () => (await finished()).submit],
		[
			'processing',
			async () => {
				const { client } = await setTheScene({ taskLifetime: 3600 });
				return await client.poll((await client.generate()).string('id'));
			},
		],
		['completed', async () => (await finished()).poll],
		['failed', async () => (await finished({}, { prompt: 'x [[fail]]' })).poll],
	];

	it.each(states)('id, task_id, object, status, expires_at — always (%s)', async (_state, get) => {
		const answer = await get();
		expect(answer.at('id')).toBe(answer.at('task_id'));
		expect(answer.at('object')).toBe('image.generation.task');
		expect(['processing', 'completed', 'failed']).toContain(answer.at('status'));
		expect(answer.at('expires_at')).toBe(NOW + 3600);
	});

	it.each([
		['submit', ['created_at', 'poll_url']],
		['processing', ['created_at']],
		['completed', ['completed_at', 'created_at', 'http_status', 'image_url', 'result']],
		['failed', ['error', 'http_status']],
	])(
		'the other fields — present when the table says so, and only then (%s)',
		async (state, fields) => {
			const answer = await states.find(([name]) => name === state)![1]();
			const always = ['id', 'task_id', 'object', 'status', 'expires_at'];
			const names = Object.keys(answer.json as object).filter((name) => !always.includes(name));
			expect(names.sort()).toEqual(fields);
		},
	);

	it('created_at, completed_at, expires_at — Unix timestamps in seconds', async () => {
		const { poll } = await finished();
		expect(poll.json).toMatchObject({
			created_at: NOW,
			completed_at: NOW + 6,
			expires_at: NOW + 3600,
		});
	});

	it('poll_url — relative path of the form /v1/images/tasks/<task_id>', async () => {
		const { submit, taskId, client } = await finished();
		expect(submit.at('poll_url')).toBe(`/v1/images/tasks/${taskId}`);
		expect((await client.get(submit.string('poll_url'))).status).toBe(200);
	});

	it('http_status — 200 when completed, the outcome of the job when failed', async () => {
		expect((await finished()).poll.at('http_status')).toBe(200);
		const failed = await finished({}, { prompt: 'a tree [[fail:422]]' });
		expect(failed.poll.at('http_status')).toBe(422);
	});

	it('image_url — location of the stored image, on another origin', async () => {
		const { poll, gateway } = await finished();
		const { origin } = new URL(poll.string('image_url'));
		expect(origin).toBe(gateway.storageUrl);
		expect(origin).not.toBe(gateway.origin);
	});

	it('result — created (Unix timestamp) and data (objects with url)', async () => {
		const { poll } = await finished({}, { n: 3, prompt: 'a tree' });
		expect(poll.at('result.created')).toBe(NOW + 6);
		const data = poll.at('result.data') as Array<{ url: string }>;
		expect(data).toHaveLength(3);
		expect(new Set(data.map(({ url }) => url)).size).toBe(3);
		expect(data[0]).toEqual({
			url: poll.at('image_url'),
			revised_prompt: 'a tree, in soft light',
		});
	});

	it('error — carries a type and a message', async () => {
		const failTask = () => ({ type: 'content_policy', message: 'not this one', httpStatus: 400 });
		const { poll } = await finished({ failTask });
		expect(poll.json).toMatchObject({
			status: 'failed',
			http_status: 400,
			error: { type: 'content_policy', message: 'not this one' },
		});
	});

	it('b64_json is never returned, also where it is asked for', async () => {
		const { submit, poll } = await finished({}, { response_format: 'b64_json' });
		expect(submit.status).toBe(202);
		expect(submit.text + poll.text).not.toContain('b64_json');
	});

	it('both the URL and the task record expire', async () => {
		const { client, time, taskId, poll } = await finished();
		const url = poll.string('image_url');
		await time.advance((3600 - 6) * 1000 - 1);
		expect((await client.poll(taskId)).status).toBe(200);
		expect((await client.download(url)).status).toBe(200);
		await time.advance(1);
		expect((await client.poll(taskId)).status).toBe(404);
		expect((await client.download(url)).status).toBe(403);
	});
});

describe('States and transitions › Image task', () => {
	it('(none) → processing: by a submit that is valid, permitted and enabled', async () => {
		const { client, gateway } = await setTheScene();
		const taskId = (await client.generate()).string('task_id');
		expect(gateway.tasks.map(({ id, key }) => [id, key])).toEqual([[taskId, 'active']]);
	});

	it('processing → processing → completed: the job runs as long as it runs', async () => {
		const { client, time } = await setTheScene({ taskSeconds: 6 });
		const taskId = (await client.generate()).string('task_id');
		const seen: unknown[] = [];
		for (let poll = 0; poll < 4; poll++) {
			seen.push((await client.poll(taskId)).at('status'));
			await time.advance(3_000);
		}
		expect(seen).toEqual(['processing', 'processing', 'completed', 'completed']);
	});

	it('processing → failed', async () => {
		const { client, time } = await setTheScene({ taskSeconds: 6 });
		const taskId = (await client.generate({ prompt: 'a tree [[fail]]' })).string('task_id');
		expect((await client.poll(taskId)).at('status')).toBe('processing');
		await time.advance(6_000);
		expect((await client.poll(taskId)).at('status')).toBe('failed');
	});

	it.each(['a tree', 'a tree [[fail]]'])('completed, failed — terminal (%s)', async (prompt) => {
		const { client, taskId, time, poll } = await finished({}, { prompt });
		await time.advance(1_000_000);
		expect((await client.poll(taskId)).text).toBe(poll.text);
	});

	it('there is no cancel transition', async () => {
		const { client, time } = await setTheScene({ taskSeconds: 6 });
		const taskId = (await client.generate()).string('task_id');
		const path = `/v1/images/tasks/${taskId}`;
		expect((await client.send('DELETE', path)).status).toBe(405);
		expect((await client.post(`${path}/cancel`, {})).status).toBe(404);
		await time.advance(6_000);
		expect((await client.poll(taskId)).at('status')).toBe('completed');
	});
});

describe('Limits', () => {
	it('no idempotency guarantee: the same submit twice makes two tasks', async () => {
		const { client, gateway } = await setTheScene();
		const headers = { 'idempotency-key': 'one' };
		const ids = [await client.generate({}, { headers }), await client.generate({}, { headers })];
		expect(ids[0]?.at('id')).not.toBe(ids[1]?.at('id'));
		expect(gateway.tasks).toHaveLength(2);
	});
});

describe('Pictures', () => {
	it.each([
		['64x48', 64, 48],
		['1x1', 1, 1],
		['333x7', 333, 7],
		['auto', 90, 60],
		[undefined, 90, 60],
	])('have the size that was asked for: %s', async (size, width, height) => {
		const { client, poll } = await finished({ defaultSize: '90x60' }, { size });
		const { bytes } = await client.download(poll.string('image_url'));
		expect(sizeOf(bytes)).toEqual({ width, height });
	});

	it('are 1024x1024 where nothing else is said', async () => {
		const { client, poll } = await finished({}, { size: 'auto' });
		const { bytes } = await client.download(poll.string('image_url'));
		expect(sizeOf(bytes)).toEqual({ width: 1024, height: 1024 });
	});

	it('belong to their prompt, whatever its script', async () => {
		const prompt = 'Leuchtturm im Nebel — 灯台 🌊';
		const { client, poll } = await finished({}, { prompt });
		const { bytes } = await client.download(poll.string('image_url'));
		expect(pictureBelongsTo(prompt, bytes)).toBe(true);
		expect(pictureBelongsTo('another', bytes)).toBe(false);
		expect(pictureBelongsTo(prompt, bytes.subarray(0, -20))).toBe(false);
	});

	it('differ by prompt and by index, and are the same each time', async () => {
		const { client, poll } = await finished({}, { n: 2 });
		const { client: other, poll: otherPoll } = await finished({}, { prompt: 'a volcano' });
		const urls = (poll.at('result.data') as Array<{ url: string }>).map(({ url }) => url);
		const first = (await client.download(urls[0]!)).bytes;
		expect((await client.download(urls[0]!)).bytes.equals(first)).toBe(true);
		expect((await client.download(urls[1]!)).bytes.equals(first)).toBe(false);
		const volcano = (await other.download(otherPoll.string('image_url'))).bytes;
		expect(pixel(volcano, 32, 2)).not.toEqual(pixel(first, 32, 2));
	});
});

describe('Storage', () => {
	it('serves the picture with type and length', async () => {
		const { client, poll } = await finished();
		const url = poll.string('image_url');
		const answer = await client.download(url);
		expect(answer.status).toBe(200);
		expect(answer.headers).toMatchObject({
			'content-type': 'image/png',
			'content-length': String(answer.bytes.length),
		});
		const head = await client.send('HEAD', url, { key: null });
		expect(head.headers['content-length']).toBe(answer.headers['content-length']);
		expect(head.bytes).toHaveLength(0);
	});

	it.each([
		['the signature', (url: URL) => url.searchParams.set('signature', '0'.repeat(64))],
		['no signature', (url: URL) => url.searchParams.delete('signature')],
		['a later expiry', (url: URL) => url.searchParams.set('expires', '9999999999')],
		['another path', (url: URL) => (url.pathname = url.pathname.replace('/0.png', '/1.png'))],
	])('refuses a changed address with 403: %s', async (_name, change) => {
		const { client, poll } = await finished({}, { n: 2 });
		const url = new URL(poll.string('image_url'));
		change(url);
		const answer = await client.download(url.href);
		expect(answer.status).toBe(403);
		expect(answer.headers['content-type']).toBe('application/xml');
		expect(answer.text).toContain('<Code>SignatureDoesNotMatch</Code>');
	});

	it('refuses an expired address with 403 that says so', async () => {
		const { client, poll, time } = await finished();
		await time.advance(3_600_000);
		const answer = await client.download(poll.string('image_url'));
		expect(answer.status).toBe(403);
		expect(answer.text).toContain('<Message>Request has expired</Message>');
	});

	it('refuses a request that carries a key, and takes it down', async () => {
		const { client, gateway, poll } = await finished();
		const answer = await client.get(poll.string('image_url'), { key: 'active' });
		expect(answer.status).toBe(400);
		expect(gateway.storageRequests).toHaveLength(1);
		expect(gateway.storageRequests[0]).toMatchObject({
			method: 'GET',
			status: 400,
			headers: { authorization: `Bearer ${gateway.keys.active}` },
		});
	});

	it('knows no other objects and no other methods', async () => {
		const { client, gateway, poll } = await finished();
		expect((await client.download(`${gateway.storageUrl}/`)).status).toBe(403);
		const put = await client.send('PUT', poll.string('image_url'), { key: null, body: 'x' });
		expect(put.status).toBe(405);
	});
});
