import { setTheScene } from './support/client';

describe('Endpoints › GET /v1/models', () => {
	it('200: the list, for the calling key only', async () => {
		const { client } = await setTheScene();
		const answer = await client.get('/v1/models', { key: 'picturesOnly' });
		expect(answer.status).toBe(200);
		expect(answer.headers['content-type']).toMatch(/^application\/json/);
		expect(answer.at('data')).toHaveLength(1);
		expect(answer.at('data.0.id')).toBe('aurora-image-1');
	});

	it('serves as the check of authentication', async () => {
		const { client } = await setTheScene();
		expect((await client.get('/v1/models', { key: 'revoked' })).status).toBe(401);
	});

	it('takes no other method', async () => {
		const { client } = await setTheScene();
		const answer = await client.post('/v1/models', {});
		expect(answer.status).toBe(405);
		expect(answer.headers.allow).toBe('GET');
	});
});

describe('Resources › Model list', () => {
	it('object — list', async () => {
		const { client } = await setTheScene();
		expect((await client.get('/v1/models')).at('object')).toBe('list');
	});

	it('data — may be empty', async () => {
		const { client } = await setTheScene({ groups: { default: { models: [] } } });
		const answer = await client.get('/v1/models');
		expect(answer.status).toBe(200);
		expect(answer.at('data')).toEqual([]);
	});
});

describe('Resources › Model', () => {
	it('id — case, hyphens and version suffix are significant', async () => {
		const { client } = await setTheScene();
		const exact = 'Aurora-Text-2.5-Preview';
		expect((await client.respond({ model: exact })).status).toBe(200);
		for (const model of [exact.toLowerCase(), exact.replaceAll('-', '_'), 'Aurora-Text-2.5']) {
			expect((await client.respond({ model })).status).toBe(404);
		}
	});

	it('object — model; other fields vary', async () => {
		const { client } = await setTheScene();
		const models = (await client.get('/v1/models')).at('data') as Array<Record<string, unknown>>;
		expect(models.length).toBeGreaterThan(1);
		for (const model of models) {
			expect(model).toMatchObject({ id: expect.any(String) as string, object: 'model' });
			expect(Object.keys(model).length).toBeGreaterThan(2);
		}
	});

	it('a model being listed does not mean every capability is supported', async () => {
		const { client } = await setTheScene();
		const text = await client.generate({ model: 'aurora-text-1' });
		const picture = await client.respond({ model: 'aurora-image-1' });
		expect([text.status, picture.status]).toEqual([400, 400]);
		expect(text.at('error')).toMatchObject({ code: 'model_not_suitable', param: 'model' });
	});
});

describe('Versioning', () => {
	it('1 — the version is the path prefix /v1', async () => {
		const { client, gateway } = await setTheScene();
		expect(gateway.baseUrl.endsWith('/v1')).toBe(true);
		expect((await client.get('/v1/models')).status).toBe(200);
	});

	it.each(['/v1/v1/models', '/models', '/v1/models/', '/v1/Models', '/v1', '/v1/unknown'])(
		'1 — %s is 404, in JSON',
		async (path) => {
			const { client } = await setTheScene();
			const answer = await client.get(path);
			expect(answer.status).toBe(404);
			expect(answer.at('error.type')).toBe('not_found_error');
		},
	);

	it.each([
		['/v1/v1/responses', 'doubled'],
		['/responses', 'missing'],
		['/images/generations/async', 'missing'],
		['/v1/v1/images/edits/async', 'doubled'],
	])('1 — POST %s is 404: /v1 is %s', async (path, fault) => {
		const { client, gateway } = await setTheScene();
		const answer = await client.post(path, { model: 'aurora-image-1', prompt: 'x', input: 'x' });
		expect(answer.status).toBe(404);
		expect(answer.string('error.message')).toContain(fault);
		expect(gateway.tasks).toEqual([]);
	});

	it('3 — availability changes over time', async () => {
		const { client, gateway } = await setTheScene();
		expect((await client.respond()).status).toBe(200);
		delete gateway.settings.models['aurora-text-1'];
		expect((await client.respond()).status).toBe(404);
		expect((await client.get('/v1/models')).text).not.toContain('"aurora-text-1"');
	});
});
