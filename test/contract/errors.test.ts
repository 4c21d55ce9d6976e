import { Readable } from 'node:stream';
import { request } from 'undici';
import { setTheScene } from './support/client';
import { errorReply } from '../../gateway';
import { dataUrl, pngOf, RED } from './support/pictures';

const SMALL = { model: 'aurora-text-1' };

describe('Errors', () => {
	describe('400', () => {
		it.each(['/v1/responses', '/v1/images/generations/async', '/v1/images/edits/async'])(
			'invalid JSON (%s)',
			async (path) => {
				const { client } = await setTheScene();
				const answer = await client.send('POST', path, { body: '{"model": "aurora' });
				expect(answer.status).toBe(400);
				expect(answer.at('error.code')).toBe('invalid_json');
			},
		);

		it.each([
			['/v1/responses', { input: 'x' }, 'model'],
			['/v1/responses', { model: 'aurora-text-1' }, 'input'],
			['/v1/images/generations/async', { model: 'aurora-image-1' }, 'prompt'],
			['/v1/images/edits/async', { model: 'aurora-image-1', prompt: 'x' }, 'images'],
		])('missing required field (%s, %j): names %s', async (path, body, field) => {
			const { client } = await setTheScene();
			const answer = await client.post(path, body);
			expect(answer.status).toBe(400);
			expect(answer.at('error')).toMatchObject({
				type: 'invalid_request_error',
				code: 'missing_field',
				message: expect.stringContaining(`${field} is required`) as string,
				param: field,
			});
		});

		it.each([
			['/v1/responses', { model: 7 }, 'model'],
			['/v1/responses', { input: 7 }, 'input'],
			['/v1/responses', { store: 'no' }, 'store'],
			['/v1/responses', { stream: 'yes' }, 'stream'],
			['/v1/responses', { tools: {} }, 'tools'],
			['/v1/images/generations/async', { prompt: ['x'] }, 'prompt'],
			['/v1/images/generations/async', { size: 512 }, 'size'],
			['/v1/images/generations/async', { n: '2' }, 'n'],
			['/v1/images/generations/async', { stream: 'true' }, 'stream'],
		])('wrong field type (%s, %j): names %s', async (path, fields, field) => {
			const { client } = await setTheScene();
			const base = path.endsWith('responses')
				? { model: 'aurora-text-1', input: 'x' }
				: { model: 'aurora-image-1', prompt: 'x' };
			const answer = await client.post(path, { ...base, ...fields });
			expect(answer.status).toBe(400);
			expect(answer.at('error')).toMatchObject({ code: 'invalid_type', param: field });
			expect(answer.string('error.message')).toMatch(new RegExp(`^${field} must be `));
		});

		it('endpoint and body mismatch: Responses uses input, not messages', async () => {
			const { client } = await setTheScene();
			const answer = await client.post('/v1/responses', {
				model: 'aurora-text-1',
				messages: [{ role: 'user', content: 'Hi' }],
			});
			expect(answer.status).toBe(400);
			expect(answer.at('error')).toMatchObject({ code: 'endpoint_mismatch', param: 'messages' });
			expect(answer.string('error.message')).toContain('input');
		});

		it('endpoint and body mismatch: a body that is not JSON by its Content-Type', async () => {
			const { client } = await setTheScene();
			const answer = await client.post(
				'/v1/responses',
				{ model: 'aurora-text-1', input: 'Hi' },
				{ headers: { 'content-type': 'text/plain' } },
			);
			expect(answer.status).toBe(400);
			expect(answer.string('error.message')).toContain('application/json');
		});

		it('too large an upload: more pixels than allowed', async () => {
			const { client } = await setTheScene({ pixelLimit: 100 });
			const upload = (side: number) =>
				client.post('/v1/images/edits/async', {
					model: 'aurora-image-1',
					prompt: 'x',
					images: [{ image_url: dataUrl(pngOf(side, side, RED)) }],
				});
			expect((await upload(10)).status).toBe(202);
			const answer = await upload(11);
			expect(answer.status).toBe(400);
			expect(answer.at('error.code')).toBe('image_too_large');
		});

		it.each(['/v1/images/generations/async', '/v1/images/edits/async'])(
			'empty image body (%s)',
			async (path) => {
				const { client, gateway } = await setTheScene();
				const answer = await client.send('POST', path, {
					headers: { 'content-type': 'application/json' },
				});
				expect(answer.status).toBe(400);
				expect(answer.at('error.code')).toBe('empty_body');
				expect(gateway.tasks).toEqual([]);
			},
		);

		it.each(['/v1/images/generations/async', '/v1/images/edits/async'])(
			'missing image model (%s)',
			async (path) => {
				const { client } = await setTheScene();
				const answer = await client.post(path, { prompt: 'x' });
				expect(answer.status).toBe(400);
				expect(answer.at('error.param')).toBe('model');
			},
		);

		it.each(['/v1/images/generations/async', '/v1/images/edits/async'])(
			'unsupported stream on image tasks (%s)',
			async (path) => {
				const { client, gateway } = await setTheScene();
				const images = [{ image_url: 'https://pictures.example.com/a.png' }];
				const body = { model: 'aurora-image-1', prompt: 'x', images };
				const answer = await client.post(path, { ...body, stream: true });
				expect(answer.status).toBe(400);
				expect(answer.at('error')).toMatchObject({
					code: 'stream_not_supported',
					param: 'stream',
				});
				expect(gateway.tasks).toEqual([]);
				expect((await client.post(path, { ...body, stream: false })).status).toBe(202);
			},
		);
	});

	it('401 — incomplete key', async () => {
		const { client, gateway } = await setTheScene();
		const authorization = `Bearer ${gateway.keys.active.slice(0, -1)}`;
		const answer = await client.get('/v1/models', { key: null, headers: { authorization } });
		expect(answer.status).toBe(401);
		expect(answer.at('error')).toEqual({
			type: 'authentication_error',
			code: 'invalid_api_key',
			message: 'the API key is not valid',
		});
	});

	it('403 — group without image permission', async () => {
		const { client } = await setTheScene();
		const answer = await client.generate({ model: 'aurora-text-1' }, { key: 'textOnly' });
		expect(answer.status).toBe(403);
		expect(answer.at('error.type')).toBe('permission_error');
	});

	it("404 — model not in the key's list", async () => {
		const { client } = await setTheScene();
		const foreign = await client.respond({ model: 'aurora-omni-1' }, { key: 'textOnly' });
		const unknown = await client.generate({ model: 'aurora-image-9' });
		expect([foreign.status, unknown.status]).toEqual([404, 404]);
		expect(foreign.at('error')).toMatchObject({ code: 'model_not_found', param: 'model' });
		expect((await client.respond({ model: 'aurora-omni-1' })).status).toBe(200);
	});

	it.each(['/v1/images/generations/async', '/v1/images/edits/async'])(
		'404 — async feature disabled (%s): no task is created',
		async (path) => {
			const { client, gateway } = await setTheScene({ asyncImages: false });
			const images = [{ image_url: 'https://pictures.example.com/a.png' }];
			const answer = await client.post(path, { model: 'aurora-image-1', prompt: 'x', images });
			expect(answer.status).toBe(404);
			expect(answer.at('error.code')).toBe('async_images_disabled');
			expect(gateway.tasks).toEqual([]);
		},
	);

	it('408 — request did not complete in time', async () => {
		const { client, time, gateway } = await setTheScene({ bodyMs: 10_000 });
		async function* slowBody() {
			yield '{"model":';
			await time.gateway.sleep(60_000);
			yield '"aurora-text-1"}';
		}
		const sending = request(`${gateway.baseUrl}/responses`, {
			method: 'POST',
			headers: {
				authorization: `Bearer ${gateway.keys.active}`,
				'content-type': 'application/json',
			},
			body: Readable.from(slowBody()),
		});
		while (gateway.inFlight === 0) await new Promise(setImmediate);
		await time.advance(9_999);
		expect(gateway.inFlight).toBe(1);
		await time.advance(1);
		const reply = await sending;
		expect(reply.statusCode).toBe(408);
		expect(await reply.body.json()).toMatchObject({ error: { code: 'request_timeout' } });
		expect((await client.get('/v1/models')).status).toBe(200);
	});

	it('413 — request too large', async () => {
		const { client, gateway } = await setTheScene({ bodyLimit: 1000 });
		const body = (length: number) => JSON.stringify({ ...SMALL, input: 'x'.repeat(length) });
		const fits = 1000 - body(0).length;
		expect((await client.send('POST', '/v1/responses', { body: body(fits) })).status).toBe(200);
		const answer = await client.send('POST', '/v1/responses', { body: body(fits + 1) });
		expect(answer.status).toBe(413);
		expect(answer.at('error')).toMatchObject({ type: 'request_too_large' });
		expect(gateway.requests.map(({ rawLength }) => rawLength)).toEqual([1000, 1001]);
	});

	it('413 — the whole of a large body may be sent before the answer is read', async () => {
		const { client } = await setTheScene({ bodyLimit: 1000 });
		const body = Buffer.alloc(8 * 2 ** 20, 120);
		expect((await client.send('POST', '/v1/responses', { body })).status).toBe(413);
	});

	it('413 — uploaded file too large', async () => {
		const { client, gateway } = await setTheScene({ fileLimit: 100 });
		const answer = await client.form('/v1/images/edits/async', [
			['model', 'aurora-image-1'],
			['prompt', 'x'],
			['image', { name: 'a.png', type: 'image/png', bytes: Buffer.alloc(101) }],
		]);
		expect(answer.status).toBe(413);
		expect(answer.string('error.message')).toMatch(/^image: /);
		expect(gateway.tasks).toEqual([]);
	});

	it('429 — requests per minute, with Retry-After', async () => {
		const { client, time } = await setTheScene();
		const ask = () => client.get('/v1/models', { key: 'limited' });
		expect((await ask()).status).toBe(200);
		await time.advance(10_000);
		expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
		const refused = await ask();
		expect(refused.status).toBe(429);
		expect(refused.headers['retry-after']).toBe('50');
		expect(refused.at('error.type')).toBe('rate_limit_error');
		await time.advance(49_999);
		expect((await ask()).status).toBe(429);
		await time.advance(1);
		expect((await ask()).status).toBe(200);
		expect((await ask()).status).toBe(429);
	});

	it('429 — concurrency, with Retry-After', async () => {
		const { client, time, gateway } = await setTheScene({ taskSeconds: 6 });
		const submit = () => client.generate({}, { key: 'single' });
		expect((await submit()).status).toBe(202);
		await time.advance(1_500);
		const refused = await submit();
		expect(refused.status).toBe(429);
		expect(refused.headers['retry-after']).toBe('5');
		expect(refused.at('error.code')).toBe('concurrent_tasks');
		expect((await client.generate()).status).toBe(202);
		await time.advance(4_500);
		expect((await submit()).status).toBe(202);
		expect(gateway.tasks).toHaveLength(3);
	});

	it('499 — client closed the connection first', async () => {
		const { client, gateway, time } = await setTheScene({ responseMs: 60_000 });
		const leaving = new AbortController();
		const sending = client.respond({}, { signal: leaving.signal });
		while (gateway.inFlight === 0) await new Promise(setImmediate);
		await time.advance(1_000);
		leaving.abort();
		await expect(sending).rejects.toThrow();
		while (gateway.inFlight > 0) await new Promise(setImmediate);
		expect(gateway.requests[0]).toMatchObject({ status: 499 });
	});

	it('504 — gateway wait timed out; a stream or an image task is not bound by it', async () => {
		const { client, time } = await setTheScene({
			responseMs: 200_000,
			waitMs: 100_000,
			taskSeconds: 200,
		});
		const start = time.now();
		const answer = await time.drive(time.track(client.respond()));
		expect(answer.status).toBe(504);
		expect(answer.at('error.code')).toBe('gateway_timeout');
		expect(time.now() - start).toBe(100_000);
		const stream = await time.drive(time.track(client.respond({ stream: true })));
		expect(stream.text).toContain('response.completed');
		expect((await client.generate()).status).toBe(202);
	});

	it.each([
		[408, 'timeout_error'],
		[500, 'server_error'],
		[502, 'upstream_error'],
		[503, 'overloaded_error'],
		[504, 'timeout_error'],
	])(
		'%i — happens where a request asks for it ([[status:…]]), with an error type',
		async (status, type) => {
			const { client, gateway } = await setTheScene();
			const response = await client.respond({ input: `Hello [[status:${status}]]` });
			const picture = await client.generate({ prompt: `a tree [[status:${status}]]` });
			expect([response.status, picture.status]).toEqual([status, status]);
			expect(response.at('error')).toEqual({
				type,
				code: expect.any(String) as string,
				message: expect.any(String) as string,
			});
			expect(gateway.tasks).toEqual([]);
			expect(gateway.charges).toEqual([]);
		},
	);

	it('503 — task storage unavailable: a poll is refused, and works again later', async () => {
		const { client, gateway } = await setTheScene();
		const taskId = (await client.generate()).string('task_id');
		gateway.settings.intercept = ({ route, attempt, stage }) =>
			stage === 'before' && route === 'task' && attempt === 1 ? errorReply(503) : undefined;
		const refused = await client.poll(taskId);
		expect(refused.status).toBe(503);
		expect(refused.headers['retry-after']).toBeUndefined();
		expect((await client.poll(taskId)).status).toBe(200);
	});

	describe('rules', () => {
		it('2 — a lost reply does not prove that the request was not executed', async () => {
			const { client, gateway } = await setTheScene();
			gateway.settings.intercept = ({ stage }) =>
				stage === 'after' ? { kind: 'destroy' } : undefined;
			await expect(client.generate()).rejects.toThrow();
			expect(gateway.tasks).toHaveLength(1);
			expect(gateway.requests[0]).toMatchObject({ fault: 'destroy' });
			expect(gateway.requests[0]?.status).toBeUndefined();
		});

		it('3 — X-Request-ID is on every reply and in the books, X-Client-Request-ID comes back', async () => {
			const { client, gateway } = await setTheScene();
			const headers = { 'x-client-request-id': 'mine-1' };
			const answers = [
				await client.get('/v1/models', { headers }),
				await client.get('/v1/models', { key: 'revoked' }),
				await client.get('/v1/nowhere'),
				await client.get('/login'),
				await client.respond({ stream: true }),
				await client.generate(),
			];
			const ids = answers.map((answer) => answer.headers['x-request-id']);
			expect(ids).toEqual(gateway.requests.map(({ id }) => id));
			expect(new Set(ids).size).toBe(6);
			expect(answers[0]?.headers['x-client-request-id']).toBe('mine-1');
			expect(answers[1]?.headers).not.toHaveProperty('x-client-request-id');
			expect(answers[0]?.headers).not.toHaveProperty('retry-after');
		});

		it('4 — error replies carry a body with an error type', async () => {
			const { client } = await setTheScene();
			for (const answer of [
				await client.send('POST', '/v1/responses', { body: '{' }),
				await client.get('/v1/models', { key: null }),
				await client.respond({}, { key: 'exhausted' }),
				await client.get('/v1/unknown'),
				await client.get('/v1/responses'),
			]) {
				expect(answer.status).toBeGreaterThanOrEqual(400);
				expect(answer.headers['content-type']).toMatch(/^application\/json/);
				expect(answer.string('error.type')).not.toBe('');
				expect(answer.string('error.message')).not.toBe('');
			}
		});

		it.each(['/', '/login', '/login/v1/models', '/api/models', '/v2/models', '/V1/models'])(
			'5 — HTML instead of JSON points to a wrong address: %s',
			async (path) => {
				const { client } = await setTheScene();
				for (const answer of [await client.get(path), await client.post(path, {})]) {
					expect(answer.status).toBe(200);
					expect(answer.headers['content-type']).toMatch(/^text\/html/);
					expect(answer.text).toMatch(/^<!doctype html>/);
				}
			},
		);

		it('6 — the 404 of tasks is identical for unknown, expired and foreign-key tasks', async () => {
			const { client, time } = await setTheScene({ taskLifetime: 60 });
			const taskId = (await client.generate()).string('task_id');
			const foreign = await client.poll(taskId, { key: 'second' });
			const unknown = await client.poll('imgtask_0');
			await time.advance(60_000);
			const expired = await client.poll(taskId);
			for (const answer of [foreign, unknown, expired]) {
				expect(answer.status).toBe(404);
				expect(answer.json).toEqual({
					error: {
						type: 'IMAGE_TASK_NOT_FOUND',
						code: 'IMAGE_TASK_NOT_FOUND',
						message: 'image task not found',
					},
				});
			}
		});

		it('no error shows the key', async () => {
			const { client, gateway } = await setTheScene();
			for (const answer of [
				await client.get('/v1/models', { key: 'revoked' }),
				await client.respond({ model: 'aurora-image-1' }),
				await client.respond({}, { key: 'exhausted' }),
			]) {
				expect(answer.status).toBeGreaterThanOrEqual(400);
				for (const key of Object.values(gateway.keys)) expect(answer.text).not.toContain(key);
			}
		});
	});
});
