import { setTheScene } from './support/client';

const ENDPOINTS: Array<[string, string]> = [
	['GET', '/v1/models'],
	['POST', '/v1/responses'],
	['POST', '/v1/images/generations/async'],
	['POST', '/v1/images/edits/async'],
	['GET', '/v1/images/tasks/imgtask_any'],
];

// Rules 6 (second half) and 7 are about where clients run and about TLS, which a loopback service
// does not have; rule 8 names what the contract leaves out.
describe('Authentication', () => {
	it('1 — every request carries Authorization: Bearer <API_KEY>', async () => {
		const { client } = await setTheScene();
		expect((await client.get('/v1/models')).status).toBe(200);
		for (const [method, path] of ENDPOINTS) {
			const answer = await client.send(method, path, { key: null });
			expect([path, answer.status]).toEqual([path, 401]);
			expect(answer.at('error.code')).toBe('missing_authorization');
		}
	});

	it.each([
		['two spaces', 'Bearer  KEY'],
		['a tab', 'Bearer\tKEY'],
		['no space', 'BearerKEY'],
		['the key alone', 'KEY'],
		['a lower case scheme', 'bearer KEY'],
		['another scheme', 'Basic KEY'],
		['something after the key', 'Bearer KEY more'],
		['no key', 'Bearer'],
		['two headers', ['Bearer KEY', 'Bearer KEY']],
	])('1 — exactly one space after Bearer, and nothing else: %s', async (_name, form) => {
		const { client, gateway } = await setTheScene();
		const fill = (text: string) => text.replace('KEY', gateway.keys.active);
		const authorization = typeof form === 'string' ? fill(form) : form.map(fill);
		const answer = await client.get('/v1/models', { key: null, headers: { authorization } });
		expect(answer.status).toBe(401);
		expect(answer.at('error.code')).toBe('invalid_authorization');
	});

	it.each([
		['double quotes', '"KEY"'],
		['single quotes', "'KEY'"],
		['a quote at its end', 'KEY"'],
	])('2 — the key must contain no %s', async (_name, form) => {
		const { client, gateway } = await setTheScene();
		const authorization = `Bearer ${form.replace('KEY', gateway.keys.active)}`;
		const answer = await client.get('/v1/models', { key: null, headers: { authorization } });
		expect(answer.status).toBe(401);
	});

	it('2 — the key is not accepted in query parameters or JSON fields', async () => {
		const { client, gateway } = await setTheScene();
		const { active } = gateway.keys;
		const query = await client.get(`/v1/models?api_key=${active}&key=${active}`, { key: null });
		const field = await client.respond({ api_key: active, key: active }, { key: null });
		expect([query.status, field.status]).toEqual([401, 401]);
	});

	it.each(['revoked', 'expired', 'disabled'] as const)(
		'3 — a key that is %s gets 401 everywhere, also on GET /v1/models',
		async (key) => {
			const { client } = await setTheScene();
			for (const [method, path] of ENDPOINTS) {
				const answer = await client.send(method, path, { key });
				expect([path, answer.status]).toEqual([path, 401]);
				expect(answer.at('error')).toMatchObject({
					type: 'authentication_error',
					code: `api_key_${key}`,
				});
			}
		},
	);

	it('3 — a key expires while it is in use', async () => {
		const { client, time, gateway } = await setTheScene({
			keys: {
				active: { key: 'mak-test-short-lived', expiresAt: Date.UTC(2026, 0, 1) / 1000 + 60 },
			},
		});
		expect((await client.get('/v1/models')).status).toBe(200);
		await time.advance(60_000);
		expect((await client.get('/v1/models')).status).toBe(401);
		expect(gateway.keys.active).toBe('mak-test-short-lived');
	});

	it('4 — the group decides which models the key may use', async () => {
		const { client } = await setTheScene();
		const models = async (key: 'active' | 'textOnly') =>
			((await client.get('/v1/models', { key })).at('data') as Array<{ id: string }>).map(
				({ id }) => id,
			);
		expect(await models('textOnly')).toEqual(['aurora-text-1', 'aurora-text-1-mini']);
		expect(await models('active')).toEqual(
			expect.arrayContaining(['aurora-text-1', 'aurora-image-1']),
		);
	});

	it.each([
		['images', 'textOnly', '/v1/images/generations/async', {}],
		['images', 'textOnly', '/v1/images/edits/async', {}],
		['responses', 'picturesOnly', '/v1/responses', {}],
		['streaming', 'plain', '/v1/responses', { stream: true }],
		['tools', 'plain', '/v1/responses', { tools: [{ type: 'web_search' }] }],
	] as const)('4 — a group without %s gets 403 (%s, %s)', async (capability, key, path, fields) => {
		const { client, gateway } = await setTheScene();
		const body = { model: 'aurora-text-1', input: 'Hi', prompt: 'a tree', ...fields };
		const answer = await client.post(path, body, { key });
		expect(answer.status).toBe(403);
		expect(answer.at('error')).toEqual({
			type: 'permission_error',
			code: 'capability_not_allowed',
			message: `the API key's group does not permit ${capability}`,
		});
		expect(gateway.tasks).toEqual([]);
	});

	it('4 — a group may have images and no edits', async () => {
		const { client } = await setTheScene({ groups: { default: { edits: false } } });
		const edit = await client.post('/v1/images/edits/async', {});
		expect(edit.status).toBe(403);
		expect((await client.generate()).status).toBe(202);
	});

	it('4 — an account without balance gets 403, and still lists models', async () => {
		const { client, gateway } = await setTheScene();
		const [response, picture] = [
			await client.respond({}, { key: 'exhausted' }),
			await client.generate({}, { key: 'exhausted' }),
		];
		expect([response.status, picture.status]).toEqual([403, 403]);
		expect(response.at('error.type')).toBe('billing_error');
		expect(gateway.tasks).toEqual([]);
		expect((await client.get('/v1/models', { key: 'exhausted' })).status).toBe(200);
	});

	it('4 — a balance is used up by responses (1 credit) and pictures (10 credits each)', async () => {
		const { client, gateway } = await setTheScene({ accounts: { main: { balance: 22 } } });
		expect((await client.respond()).status).toBe(200);
		expect((await client.generate({ n: 2 })).status).toBe(202);
		expect((await client.generate()).status).toBe(403);
		expect((await client.respond()).status).toBe(200);
		expect((await client.respond()).status).toBe(403);
		expect(gateway.charges.map(({ what, credits }) => [what, credits])).toEqual([
			['response', 1],
			['pictures', 20],
			['response', 1],
		]);
	});

	it('4 — an address that the key is not allowed from gets 403', async () => {
		const { client } = await setTheScene();
		const answer = await client.get('/v1/models', { key: 'fenced' });
		expect(answer.status).toBe(403);
		expect(answer.at('error.code')).toBe('ip_not_allowed');
	});

	it('5 — polling with another key behaves as if the task did not exist', async () => {
		const { client } = await setTheScene();
		const taskId = (await client.generate()).string('task_id');
		const foreign = await client.poll(taskId, { key: 'second' });
		const unknown = await client.poll('imgtask_unknown', { key: 'second' });
		expect(foreign.status).toBe(404);
		expect(foreign.text).toBe(unknown.text);
		expect((await client.poll(taskId)).status).toBe(200);
	});

	it('6 — browser calls are not supported: no CORS header, no preflight', async () => {
		const { client } = await setTheScene();
		const headers = { origin: 'https://app.example.com' };
		const preflight = await client.send('OPTIONS', '/v1/responses', { key: null, headers });
		const call = await client.get('/v1/models', { headers });
		expect(preflight.status).toBe(405);
		for (const answer of [preflight, call]) {
			const cors = Object.keys(answer.headers).filter((name) => name.startsWith('access-control'));
			expect(cors).toEqual([]);
		}
	});
});
