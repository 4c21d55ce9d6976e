import { PNG } from 'pngjs';
import { FormData } from 'undici';
import type { DefaultKeyName, GatewayOptions } from '../../gateway';
import { ENDPOINTS, errorOf, inFlight, start, type Change, type Endpoint } from './client';

const pngOf = (width: number, height: number) => PNG.sync.write(new PNG({ width, height }));

const dataUrl = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;

/** The form of an edit with these further texts and files. */
function formOf(parts: Record<string, string | Buffer>): FormData {
	const form = new FormData();
	const all = { model: 'aurora-image-1', prompt: 'a lighthouse', size: '64x48', ...parts };
	for (const [name, value] of Object.entries(all)) {
		if (typeof value === 'string') form.append(name, value);
		else form.append(name, new Blob([value]), `${name}.png`);
	}
	return form;
}

const message = (part: object) => ({ input: [{ role: 'user', content: [part] }] });
const smallPng = pngOf(8, 6);
const jsonEdit = (image_url: string) => ({ images: [{ image_url }] });

type Row = { error: string; endpoints: string; change: Change };
type More = { key?: DefaultKeyName; options?: GatewayOptions };

/** Sends a request that must be refused, and that must neither cost anything nor show a key. */
async function expectRefusal({ error, endpoints, change, key, options }: Row & More) {
	const { client, gateway } = await start(options);
	const some = expect.stringMatching(/./) as string;
	for (const endpoint of endpoints.split(' ') as Endpoint[]) {
		const answer = await client.ask(endpoint, change, { key });
		expect(`${errorOf(answer)} at ${endpoint}`).toBe(`${error} at ${endpoint}`);
		expect(answer.json).toMatchObject({ error: { type: some, message: some } });
		for (const secret of Object.values(gateway.keys)) expect(answer.text).not.toContain(secret);
	}
	expect([gateway.tasks, gateway.charges]).toEqual([[], []]);
}

test.each`
	error                                                | endpoints                        | change
	${'400 invalid_json'}                                | ${'responses'}                   | ${'{"model": "aurora'}
	${'400 missing_field model'}                         | ${'responses generations edits'} | ${{ model: undefined }}
	${'400 missing_field input'}                         | ${'responses'}                   | ${{ input: undefined }}
	${'400 missing_field prompt'}                        | ${'generations'}                 | ${{ prompt: undefined }}
	${'400 missing_field images'}                        | ${'edits'}                       | ${{ images: [] }}
	${'400 missing_field image'}                         | ${'edits'}                       | ${formOf({})}
	${'400 invalid_type model'}                          | ${'responses'}                   | ${{ model: 7 }}
	${'400 invalid_type input'}                          | ${'responses'}                   | ${{ input: 7 }}
	${'400 invalid_type store'}                          | ${'responses'}                   | ${{ store: 'no' }}
	${'400 invalid_type stream'}                         | ${'responses'}                   | ${{ stream: 'yes' }}
	${'400 invalid_type tools'}                          | ${'responses'}                   | ${{ tools: {} }}
	${'400 invalid_type size'}                           | ${'generations'}                 | ${{ size: 512 }}
	${'400 invalid_value size'}                          | ${'generations'}                 | ${{ size: '64 x 48' }}
	${'400 invalid_type n'}                              | ${'generations'}                 | ${{ n: '2' }}
	${'400 endpoint_mismatch messages'}                  | ${'responses'}                   | ${{ input: undefined, messages: [{ role: 'user', content: 'Hi' }] }}
	${'400 unsupported_content_type'}                    | ${'responses'}                   | ${formOf({})}
	${'400 stream_not_supported stream'}                 | ${'generations edits'}           | ${{ stream: true }}
	${'400 stream_not_supported stream'}                 | ${'edits'}                       | ${formOf({ stream: 'true', image: smallPng })}
	${'400 empty_body'}                                  | ${'generations edits'}           | ${''}
	${'400 model_not_suitable model'}                    | ${'generations'}                 | ${{ model: 'aurora-text-1' }}
	${'404 model_not_found model'}                       | ${'responses'}                   | ${{ model: 'Aurora-Text-1', stream: true }}
	${'404 model_not_found model'}                       | ${'generations'}                 | ${{ model: 'aurora_image_1' }}
	${'400 invalid_type temperature'}                    | ${'responses'}                   | ${{ temperature: '1' }}
	${'400 invalid_type max_output_tokens'}              | ${'responses'}                   | ${{ max_output_tokens: 1.5 }}
	${'400 missing_field text.format.schema'}            | ${'responses'}                   | ${{ text: { format: { type: 'json_schema', name: 'a' } } }}
	${'400 missing_field tools[0].name'}                 | ${'responses'}                   | ${{ tools: [{ type: 'function' }] }}
	${'400 invalid_value tool_choice.name'}              | ${'responses'}                   | ${{ tool_choice: { type: 'function', name: 'none' } }}
	${'400 invalid_value input[0].role'}                 | ${'responses'}                   | ${{ input: [{ role: 'tool', content: 'x' }] }}
	${'400 invalid_value input[0].type'}                 | ${'responses'}                   | ${{ input: [{ type: 'mystery' }] }}
	${'400 invalid_value input[0].content[0].type'}      | ${'responses'}                   | ${message({ type: 'text', text: 'x' })}
	${'400 invalid_image input[0].content[0].image_url'} | ${'responses'}                   | ${message({ type: 'input_image', image_url: dataUrl(Buffer.from('text')) })}
	${'400 missing_field input[0].content[0].filename'}  | ${'responses'}                   | ${message({ type: 'input_file', file_data: 'eA==' })}
	${'400 unknown_call input'}                          | ${'responses'}                   | ${{ input: [{ type: 'function_call_output', call_id: 'never', output: 'x' }] }}
	${'400 invalid_image image (image.png)'}             | ${'edits'}                       | ${formOf({ image: pngOf(64, 64).subarray(0, 90) })}
	${'400 invalid_image images[0].image_url'}           | ${'edits'}                       | ${jsonEdit(dataUrl(Buffer.from('text')))}
	${'400 invalid_value images[0].image_url'}           | ${'edits'}                       | ${jsonEdit('file:///etc/hosts')}
	${'400 invalid_mask mask (mask.png)'}                | ${'edits'}                       | ${formOf({ image: smallPng, mask: pngOf(6, 6) })}
`('A body is refused: $error: $endpoints with $change', expectRefusal);

test.each`
	error                                      | endpoints                  | key             | change                                 | options
	${'400 image_too_large image (image.png)'} | ${'edits'}                 | ${'active'}     | ${formOf({ image: smallPng })}         | ${{ pixelLimit: 47 }}
	${'403 capability_not_allowed'}            | ${'generations edits'}     | ${'textOnly'}   | ${{ model: 'aurora-text-1' }}          | ${{}}
	${'403 capability_not_allowed'}            | ${'edits'}                 | ${'active'}     | ${{}}                                  | ${{ groups: { default: { edits: false } } }}
	${'403 capability_not_allowed'}            | ${'responses'}             | ${'imagesOnly'} | ${{ model: 'aurora-image-1' }}         | ${{}}
	${'403 capability_not_allowed'}            | ${'responses'}             | ${'plain'}      | ${{ stream: true }}                    | ${{}}
	${'403 capability_not_allowed'}            | ${'responses'}             | ${'plain'}      | ${{ tools: [{ type: 'web_search' }] }} | ${{}}
	${'403 insufficient_balance'}              | ${'responses generations'} | ${'exhausted'}  | ${{}}                                  | ${{}}
	${'403 ip_not_allowed'}                    | ${'models'}                | ${'fenced'}     | ${{}}                                  | ${{}}
	${'404 model_not_found model'}             | ${'responses'}             | ${'textOnly'}   | ${{ model: 'aurora-omni-1' }}          | ${{}}
	${'404 async_images_disabled'}             | ${'generations edits'}     | ${'active'}     | ${{}}                                  | ${{ asyncImages: false }}
	${'404 IMAGE_TASK_NOT_FOUND'}              | ${'task'}                  | ${'active'}     | ${{}}                                  | ${{}}
	${'413 request_too_large'}                 | ${'edits'}                 | ${'active'}     | ${formOf({ image: smallPng })}         | ${{ fileLimit: 60 }}
`('Refused: $error: $endpoints by $key with $change and $options', expectRefusal);

const FORMS = `Bearer  KEY|Bearer\tKEY|BearerKEY|KEY|bearer KEY|Basic KEY|Bearer KEY more|Bearer|Bearer "KEY"|Bearer 'KEY'`;

describe('Authentication', () => {
	test.each(Object.keys(ENDPOINTS) as Endpoint[])('%s needs a usable key', async (endpoint) => {
		const { client } = await start();
		const keys = [null, 'revoked', 'expired', 'disabled'] as const;
		for (const key of keys) {
			const code = key === null ? 'missing_authorization' : `api_key_${key}`;
			expect(errorOf(await client.ask(endpoint, {}, { key }))).toBe(`401 ${code}`);
		}
	});

	test('the header has one space and no quotes, and it alone carries the whole key', async () => {
		const { client, gateway } = await start();
		const { active } = gateway.keys;
		const ask = async (authorization: string | string[]) =>
			errorOf(await client.ask('models', {}, { key: null, headers: { authorization } }));
		const forms = FORMS.split('|').map((form) => form.replace('KEY', active));
		for (const form of [...forms, [`Bearer ${active}`, `Bearer ${active}`]]) {
			expect([form, await ask(form)]).toEqual([form, '401 invalid_authorization']);
		}
		expect(await ask(`Bearer ${active.slice(0, -1)}`)).toBe('401 invalid_api_key');
		const query = await client.send('GET', `/v1/models?api_key=${active}`, { key: null });
		const field = await client.ask('responses', { api_key: active }, { key: null });
		expect([query.status, field.status]).toEqual([401, 401]);
	});

	test('a key expires while it is in use', async () => {
		const expiresAt = Date.UTC(2026, 0, 1) / 1000 + 60;
		const { client, time } = await start({ keys: { active: { key: 'mak-short', expiresAt } } });
		expect((await client.ask('models')).status).toBe(200);
		await time.advance(60_000);
		expect(errorOf(await client.ask('models'))).toBe('401 api_key_expired');
	});

	test('browser calls are not supported: no preflight and no CORS header', async () => {
		const { client } = await start();
		const headers = { origin: 'https://app.example.com' };
		const preflight = await client.send('OPTIONS', '/v1/responses', { key: null, headers });
		expect(preflight.status).toBe(405);
		const call = await client.ask('models', {}, { headers });
		const names = Object.keys({ ...preflight.headers, ...call.headers });
		expect(names.join()).not.toContain('access-control');
	});
});

describe('Addresses and IDs', () => {
	test.each`
		path                           | status | says
		${'/models'}                   | ${404} | ${'/v1 is missing'}
		${'/images/generations/async'} | ${404} | ${'/v1 is missing'}
		${'/v1/v1/models'}             | ${404} | ${'/v1 is doubled'}
		${'/v1/Models'}                | ${404} | ${'unknown path'}
		${'/v1/images/tasks/a/cancel'} | ${404} | ${'unknown path'}
		${'/'}                         | ${200} | ${'<!doctype html>'}
		${'/api/models'}               | ${200} | ${'<!doctype html>'}
	`('$path: $status, $says', async ({ path, status, says }: Record<string, string>) => {
		const { client } = await start();
		for (const method of ['GET', 'POST']) {
			const answer = await client.send(method, path!);
			expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(says!)]);
			const type = answer.status === 404 ? 'application/json' : 'text/html';
			expect(answer.headers['content-type']).toMatch(type);
		}
	});

	test('each reply has its own X-Request-ID, and repeats X-Client-Request-ID', async () => {
		const { client, gateway } = await start();
		const own = { headers: { 'x-client-request-id': 'mine-1' } };
		const [list, page, stream] = [
			await client.ask('models', {}, own),
			await client.send('GET', '/login'),
			await client.ask('responses', { stream: true }),
		];
		const ids = [list, page, stream].map(({ headers }) => headers['x-request-id']);
		expect(ids).toEqual(['req_000001', 'req_000002', 'req_000003']);
		expect(gateway.requests.map(({ id }) => id)).toEqual(ids);
		const repeated = [list, page].map(({ headers }) => headers['x-client-request-id']);
		expect([...repeated, list.headers['retry-after']]).toEqual(['mine-1', undefined, undefined]);
	});
});

describe('Limits and time-outs', () => {
	test('408: the body did not arrive in time, and later requests are answered', async () => {
		const harness = await start({ bodyMs: 10_000 });
		const { client, time, gateway } = harness;
		async function* body() {
			yield '{"model":';
			await time.gateway.sleep(60_000);
			yield '"aurora-text-1"}';
		}
		const sending = client.send('POST', '/v1/responses', { body: body() });
		await inFlight(harness, 1);
		await time.advance(9_999);
		expect(gateway.inFlight).toBe(1);
		await time.advance(1);
		expect(errorOf(await sending)).toBe('408 request_timeout');
		expect((await client.ask('models')).status).toBe(200);
	});

	test('413: a large body is read before it is refused, so the client sees the answer', async () => {
		const { client } = await start({ bodyLimit: 1000 });
		const refused = await client.ask('responses', 'x'.repeat(8 * 2 ** 20));
		expect(errorOf(refused)).toBe('413 request_too_large');
	});

	test('429: requests per minute, with the seconds until the next one is accepted', async () => {
		const { client, time } = await start();
		const ask = async () => await client.ask('models', {}, { key: 'limited' });
		expect((await ask()).status).toBe(200);
		await time.advance(10_000);
		expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
		const refused = await ask();
		expect(errorOf(refused)).toBe('429 requests_per_minute');
		expect(refused.headers['retry-after']).toBe('50');
		await time.advance(49_999);
		expect((await ask()).status).toBe(429);
		await time.advance(1);
		expect([(await ask()).status, (await ask()).status]).toEqual([200, 429]);
	});

	test('429: concurrent image tasks of one key, with the seconds until one has ended', async () => {
		const { client, time, gateway } = await start({ taskSeconds: 6 });
		const submit = async () => await client.ask('generations', {}, { key: 'single' });
		expect((await submit()).status).toBe(202);
		await time.advance(1_500);
		const refused = await submit();
		expect(errorOf(refused)).toBe('429 concurrent_tasks');
		expect(refused.headers['retry-after']).toBe('5');
		expect((await client.ask('generations')).status).toBe(202);
		await time.advance(4_500);
		expect((await submit()).status).toBe(202);
		expect(gateway.tasks).toHaveLength(3);
	});

	test('499: the client closed the connection first', async () => {
		const harness = await start({ responseMs: 60_000 });
		const leaving = new AbortController();
		const sending = harness.client.ask('responses', {}, { signal: leaving.signal });
		await inFlight(harness, 1);
		expect(harness.gateway.connections).toBe(1);
		leaving.abort();
		await expect(sending).rejects.toThrow();
		await inFlight(harness, 0);
		expect(harness.gateway.requests[0]?.status).toBe(499);
	});

	test('504: the gateway stops waiting for an answer, but not for a stream', async () => {
		const { client, time } = await start({ responseMs: 200_000, waitMs: 100_000 });
		const from = time.now();
		const answer = await time.drive(time.track(client.ask('responses')));
		expect(errorOf(answer)).toBe('504 gateway_timeout');
		expect(time.now() - from).toBe(100_000);
		const stream = await time.drive(time.track(client.ask('responses', { stream: true })));
		expect(stream.text).toContain('response.completed');
	});

	test('a balance is used up by responses (1 credit) and images (10 credits each)', async () => {
		const { client, gateway } = await start({ accounts: { main: { balance: 21 } } });
		expect((await client.ask('responses')).status).toBe(200);
		expect((await client.ask('generations', { n: 2 })).status).toBe(202);
		expect(errorOf(await client.ask('responses'))).toBe('403 insufficient_balance');
		const paid = gateway.charges.map(({ requestId, credits }) => `${requestId}: ${credits}`);
		expect(paid).toEqual(['req_000001: 1', 'req_000002: 20']);
	});
});
