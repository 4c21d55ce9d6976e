import type { GatewayOptions } from '../../gateway';
import { completed, start, type Endpoint, type Sending } from './client';

const wrong = { headers: { authorization: 'Bearer mak-wrong' } };

interface Row {
	endpoint: Endpoint;
	sending: Sending & { change?: object };
	settings: GatewayOptions;
	status: number;
	body: object;
}

describe('Errors in the words of the recorded gateway', () => {
	const IMAGES = 'generations';
	const TEXT = { model: 'aurora-text-1' };
	const flat = (code: string, message?: string) => ({ code, ...(message && { message }) });
	const typed = (type: string, message: string) => ({ error: { type, code: type, message } });
	const said = (message: string) => ({ error: { message } });
	const REFUSED_IP = expect.stringMatching(/^Access denied\. Your IP is [\w.:]+$/) as string;
	const platformWithoutImages = true;
	const real = { realErrors: true };

	test.each`
		endpoint       | sending                 | settings                              | status | body
		${'responses'} | ${{ key: null }}        | ${real}                               | ${401} | ${flat('API_KEY_REQUIRED')}
		${'responses'} | ${wrong}                | ${real}                               | ${401} | ${flat('INVALID_API_KEY', 'Invalid API key')}
		${'responses'} | ${{ key: 'revoked' }}   | ${real}                               | ${401} | ${flat('INVALID_API_KEY', 'Invalid API key')}
		${'responses'} | ${{ key: 'expired' }}   | ${real}                               | ${403} | ${flat('API_KEY_EXPIRED', 'API key 已过期')}
		${'responses'} | ${{ key: 'disabled' }}  | ${real}                               | ${401} | ${flat('API_KEY_DISABLED', 'API key is disabled')}
		${'models'}    | ${{ key: 'fenced' }}    | ${real}                               | ${403} | ${flat('ACCESS_DENIED', REFUSED_IP)}
		${IMAGES}      | ${{ key: 'textOnly' }}  | ${real}                               | ${403} | ${typed('permission_error', 'Image generation is not enabled for this group')}
		${IMAGES}      | ${{ key: 'exhausted' }} | ${real}                               | ${403} | ${typed('billing_error', 'insufficient balance')}
		${IMAGES}      | ${{}}                   | ${{ ...real, asyncImages: false }}    | ${404} | ${said('async image tasks are not enabled')}
		${IMAGES}      | ${{}}                   | ${{ ...real, platformWithoutImages }} | ${404} | ${said('Images API is not supported for this platform')}
		${IMAGES}      | ${{ change: TEXT }}     | ${real}                               | ${400} | ${said('images endpoint requires an image model, got "aurora-text-1"')}
		${'responses'} | ${{ key: 'spent' }}     | ${{}}                                 | ${429} | ${{ error: { code: 'insufficient_quota', type: 'insufficient_quota' } }}
		${IMAGES}      | ${{ key: 'spent' }}     | ${{}}                                 | ${429} | ${flat('API_KEY_QUOTA_EXHAUSTED', 'API key 额度已用完')}
		${'responses'} | ${{ key: 'capped' }}    | ${{}}                                 | ${429} | ${flat('USAGE_LIMIT_EXCEEDED')}
	`('$endpoint, $sending, $settings: $status', async (row: Row) => {
		const { endpoint, sending, settings, status, body } = row;
		const { client, gateway } = await start(settings);
		const seen = await client.ask(endpoint, { ...sending.change }, sending);
		const wait = seen.headers['retry-after'];
		expect([seen.status, seen.json, wait]).toMatchObject([status, body, undefined]);
		expect([gateway.tasks, gateway.charges]).toEqual([[], []]);
	});

	test.each(['/v1/nope', '/responses', '/console'])('%s: 404 in plain text', async (path) => {
		const { client } = await start({ plainNotFound: true });
		const { status, headers, text } = await client.send('GET', path);
		const seen = [status, headers['content-type'], text];
		expect(seen).toEqual([404, 'text/plain', '404 page not found']);
	});
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

test('requests are named twice: by the gateway, or X-Request-ID of the caller, and by its provider', async () => {
	const { client, gateway } = await start({ requestIds: 'twice' });
	const own = { headers: { 'x-request-id': 'mine', 'x-client-request-id': 'mine too' } };
	const asked = [await client.ask('responses'), await client.ask('responses', {}, own)];
	asked.push(await client.ask('generations', {}, own));
	const [first] = gateway.requests;
	const provider = expect.stringMatching(/^req_\w{12}$/) as string;
	const ids = [[first?.id, provider], ['mine', provider], 'mine'];
	expect(asked.map(({ headers }) => headers['x-request-id'])).toEqual(ids);
	expect(gateway.requests.map(({ id }) => id)).toEqual([first?.id, 'mine', 'mine']);
	expect(gateway.charges.map(({ requestId }) => requestId)).toEqual([first?.id, 'mine', 'mine']);
	const clients = asked.map(({ headers }) => `client:${String(headers['x-client-request-id'])}`);
	expect(gateway.requests.map(({ clientId }) => clientId)).toEqual(clients);
	expect(clients).not.toContain('client:mine too');
});

const NAMES = ['request-id', 'x-litellm-call-id', 'x-oneapi-request-id'] as const;
test.each(NAMES)('requests are named by %s alone', async (requestIds) => {
	const { client, gateway } = await start({ requestIds });
	const { headers } = await client.ask('models');
	const [sent] = gateway.requests;
	expect([headers[requestIds], headers['x-request-id']]).toEqual([sent?.id, undefined]);
});

test('the list of models holds patterns', async () => {
	const { client } = await start({ listedPatterns: ['aurora-*'] });
	expect((await client.ask('models')).text).toContain('"id":"aurora-*"');
});

test('the storage compresses although asked not to, and names the length of what it sends', async () => {
	const harness = await start({ storageCompression: true });
	const { urls } = await completed(harness);
	const identity = { headers: { 'accept-encoding': 'identity' } };
	const { headers, bytes } = await harness.client.download(urls[0], identity);
	const named = [headers['content-encoding'], headers['content-length']];
	expect(named).toEqual(['gzip', `${bytes.length}`]);
	expect([...bytes.subarray(0, 2)]).toEqual([0x1f, 0x8b]);
});

test('a gateway that stores nothing says so, and knows no item and no response by its ID', async () => {
	const { client } = await start({ storesNothing: true });
	const post = async (body: object) => {
		const { status, json } = await client.ask('responses', { ...body });
		return [status, json] as const;
	};
	const [, first] = await post({ store: true });
	expect(first).toMatchObject({ store: false });
	const thought = { type: 'reasoning', id: 'rs_1', summary: [] };
	const message = expect.stringContaining("Item with id 'rs_1' not found") as string;
	expect(await post({ input: [thought] })).toMatchObject([404, { error: { message } }]);
	const sealed = { ...thought, encrypted_content: 'c2VhbGVk' };
	expect(await post({ input: [sealed] })).toMatchObject([200, {}]);
	const { id: previous_response_id } = first as { id: string };
	const error = { code: 'continuation_state_unavailable' };
	expect(await post({ previous_response_id })).toMatchObject([400, { error }]);
});
