import { ERROR_ANSWER_FAULTS, findFault, scripted } from '../../gateway/faults/catalogue';
import { start, type Endpoint } from './client';

const wrong = { headers: { authorization: 'Bearer mak-wrong' } };

describe('Errors in the words of the recorded gateway', () => {
	const flat = (code: string, message: string) => ({ code, message });
	const YOUR_IP = expect.stringMatching(/^Access denied\. Your IP is [\w.:]+$/) as string;
	const NO_IMAGES = 'Image generation is not enabled for this group';
	const NO_TEXT_MODEL = 'images endpoint requires an image model, got "aurora-text-1"';
	const typed = (type: string, message: string) => ({ error: { type, code: type, message } });

	test.each([
		['responses', { key: null }, 401, flat('API_KEY_REQUIRED', expect.any(String) as string)],
		['responses', wrong, 401, flat('INVALID_API_KEY', 'Invalid API key')],
		['responses', { key: 'revoked' }, 401, flat('INVALID_API_KEY', 'Invalid API key')],
		['responses', { key: 'expired' }, 403, flat('API_KEY_EXPIRED', 'API key 已过期')],
		['responses', { key: 'disabled' }, 401, flat('API_KEY_DISABLED', 'API key is disabled')],
		['models', { key: 'fenced' }, 403, flat('ACCESS_DENIED', YOUR_IP)],
		['generations', { key: 'textOnly' }, 403, typed('permission_error', NO_IMAGES)],
		['generations', { key: 'exhausted' }, 403, typed('billing_error', 'insufficient balance')],
	] as const)('%s %j: %i', async (endpoint, sending, status, body) => {
		const { client } = await start({ realErrors: true });
		const answer = await client.ask(endpoint, {}, { ...sending });
		expect([answer.status, answer.json]).toEqual([status, body]);
	});

	test.each([
		[{ asyncImages: false }, {}, 404, 'async image tasks are not enabled'],
		[{ platformWithoutImages: true }, {}, 404, 'Images API is not supported for this platform'],
		[{}, { model: 'aurora-text-1' }, 400, NO_TEXT_MODEL],
	])('a submit with %j', async (settings, change, status, message) => {
		const { client } = await start({ realErrors: true, ...settings });
		const answer = await client.ask('generations', change);
		expect([answer.status, answer.json]).toMatchObject([status, { error: { message } }]);
	});

	test.each(['/v1/nope', '/responses', '/console'])('%s: 404 in plain text', async (path) => {
		const { client } = await start({ plainNotFound: true });
		const { status, headers, text } = await client.send('GET', path);
		const seen = [status, headers['content-type'], text];
		expect(seen).toEqual([404, 'text/plain', '404 page not found']);
	});
});

describe('Quotas and limits', () => {
	test.each([
		['spent', 'responses', { error: { code: 'insufficient_quota', type: 'insufficient_quota' } }],
		['spent', 'generations', { code: 'API_KEY_QUOTA_EXHAUSTED', message: 'API key 额度已用完' }],
		['capped', 'responses', { code: 'USAGE_LIMIT_EXCEEDED' }],
	] as const)('%s, %s: 429 without Retry-After', async (key, endpoint, body) => {
		const { client, gateway } = await start();
		const { status, headers, json } = await client.ask(endpoint, {}, { key });
		expect([status, headers['retry-after'], json]).toMatchObject([429, undefined, body]);
		expect([gateway.tasks, gateway.charges]).toEqual([[], []]);
	});

	test('after 120 wrong keys in a minute, the address gets 429 with the right key as well', async () => {
		const { client, time } = await start({ wrongKeysPerMinute: 120 });
		const statuses = new Set<number>();
		for (let sent = 0; sent < 120; sent++)
			statuses.add((await client.ask('models', {}, wrong)).status);
		expect([...statuses]).toEqual([401]);
		const { status, headers, json } = await client.ask('models');
		const code = 'INVALID_AUTH_RATE_LIMITED';
		expect([status, headers['retry-after'], json]).toMatchObject([429, '60', { code }]);
		await time.advance(60_000);
		expect((await client.ask('models')).status).toBe(200);
	});

	test('Retry-After has the value of the setting; an overload is 529', async () => {
		const { client } = await start({ retryAfter: 'Monday 5', overload529: true });
		const limited = await client.ask('responses', { input: '[[status:429]]' });
		expect([limited.status, limited.headers['retry-after']]).toEqual([429, 'Monday 5']);
		const overloaded = await client.ask('responses', { input: '[[status:503]]' });
		const error = { type: 'overloaded_error', message: 'All available accounts exhausted' };
		expect([overloaded.status, overloaded.json]).toMatchObject([529, { error }]);
	});

	test.each(ERROR_ANSWER_FAULTS.map(({ name }) => name))('%s: nothing is done', async (name) => {
		const { client, gateway, time } = await start();
		const fault = findFault(name)!;
		gateway.settings.intercept = scripted([{ fault }], { time: time.gateway, elsewhere: '' });
		for (const endpoint of ['models', 'responses', 'generations', 'task'] satisfies Endpoint[]) {
			const { status, text } = await client.ask(endpoint);
			expect([status, text]).toEqual([200, expect.stringContaining('"message":"server is busy"')]);
		}
		expect([gateway.tasks, gateway.charges]).toEqual([[], []]);
	});
});

describe('How requests are named', () => {
	test('twice: by the gateway and by its provider; the log knows client:<X-Client-Request-ID>', async () => {
		const { client, gateway } = await start({ requestIds: 'twice' });
		const { headers } = await client.ask('responses');
		const [record] = gateway.requests;
		const provider = expect.stringMatching(/^req_\w{12}$/) as string;
		expect(headers['x-request-id']).toEqual([record?.id, provider]);
		expect(record?.clientId).toBe(`client:${String(headers['x-client-request-id'])}`);
	});

	test('a caller’s X-Request-ID is taken over into the log, and is the first of the two', async () => {
		const { client, gateway } = await start({ requestIds: 'twice' });
		const own = { headers: { 'x-request-id': 'mine', 'x-client-request-id': 'mine too' } };
		const { headers } = await client.ask('responses', {}, own);
		const submit = await client.ask('generations', {}, own);
		const ids = [headers['x-request-id']?.[0], submit.headers['x-request-id']];
		expect(ids).toEqual(['mine', 'mine']);
		expect(headers['x-client-request-id']).not.toBe('mine too');
		expect(gateway.requests.map(({ id }) => id)).toEqual(['mine', 'mine']);
		expect(gateway.charges.map(({ requestId }) => requestId)).toEqual(['mine', 'mine']);
	});

	const NAMES = ['request-id', 'x-litellm-call-id', 'x-oneapi-request-id'] as const;
	test.each(NAMES)('by %s alone', async (requestIds) => {
		const { client, gateway } = await start({ requestIds });
		const { headers } = await client.ask('models');
		const [sent] = gateway.requests;
		expect([headers[requestIds], headers['x-request-id']]).toEqual([sent?.id, undefined]);
	});
});

test('the list of models holds patterns', async () => {
	const { client } = await start({ listedPatterns: ['aurora-*'] });
	const { data } = (await client.ask('models')).json as { data: Array<{ id: string }> };
	expect(data.map(({ id }) => id)).toContain('aurora-*');
});

test('the storage compresses although asked not to, and names the length of what it sends', async () => {
	const { client, time, gateway } = await start({ storageCompression: true });
	const id = await client.submit();
	await time.advance(6_000);
	const { image_url } = (await client.poll(id)).json as { image_url: string };
	const identity = { headers: { 'accept-encoding': 'identity' } };
	const { headers, bytes } = await client.download(image_url, identity);
	const named = [headers['content-encoding'], headers['content-length']];
	expect(named).toEqual(['gzip', `${bytes.length}`]);
	expect([...bytes.subarray(0, 2)]).toEqual([0x1f, 0x8b]);
	expect(gateway.storageRequests).toHaveLength(1);
});

test('a gateway that stores nothing says so, and knows no item and no response by its ID', async () => {
	const { client } = await start({ storesNothing: true });
	const post = async (body: object) => {
		const { status, json } = await client.ask('responses', { ...body });
		return [status, json] as const;
	};
	const [, first] = await post({ store: true });
	expect(first).toMatchObject({ store: false });
	const user = { role: 'user', content: 'Hi' };
	const thought = { type: 'reasoning', id: 'rs_1', summary: [] };
	const message = expect.stringContaining("Item with id 'rs_1' not found") as string;
	expect(await post({ input: [user, thought] })).toMatchObject([404, { error: { message } }]);
	const sealed = { ...thought, encrypted_content: 'c2VhbGVk' };
	expect(await post({ input: [user, sealed] })).toMatchObject([200, {}]);
	const { id: previous_response_id } = first as { id: string };
	const error = { code: 'continuation_state_unavailable' };
	expect(await post({ previous_response_id })).toMatchObject([400, { error }]);
});
