import type { IHttpRequestOptions, IRequestOptions } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { startGateway, type Gateway } from '../../gateway';
import { newRecord, requestAs, runCredentialTest } from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import type { Access } from './arrange';

let gateway: Gateway;
let access: Access;
beforeEach(async () => {
	gateway = await startGateway();
	access = { baseUrl: gateway.baseUrl, apiKey: gateway.keys.active };
});
afterEach(async () => {
	await gateway.close();
	expect(gateway.crashes).toEqual([]);
});

const credentialType = new ModelAccessApi();

/** Presses "Test" on a credential with these fields. */
async function pressTest(given: Partial<Access> = {}) {
	const record = newRecord();
	const data = { ...access, ...given };
	const result = await runCredentialTest({ credentialType, data, record });
	if (data.apiKey.trim().length >= 8) expectNoSecret(data.apiKey.trim(), result, record);
	return result;
}

describe('The credential’s test', () => {
	test('is OK with a good key, having asked for the models once', async () => {
		expect(await pressTest()).toEqual({ status: 'OK', message: 'Connection successful!' });
		expect(gateway.requests).toEqual([
			expect.objectContaining({ method: 'GET', path: '/v1/models', key: 'active', status: 200 }),
		]);
	});

	test.each<[string, (typed: string) => string]>([
		['without /v1', (typed) => typed.replace('/v1', '')],
		['with a slash at the end', (typed) => `${typed}/`],
		['with spaces around', (typed) => `  ${typed} `],
		['of an endpoint', (typed) => `${typed}/chat/completions`],
		['with a doubled /v1', (typed) => `${typed}/v1`],
		['in capitals', (typed) => typed.replace('/v1', '/V1')],
	])('is OK with an address %s', async (_name, typed) => {
		expect((await pressTest({ baseUrl: typed(access.baseUrl) })).status).toBe('OK');
		expect(gateway.requests.map(({ path }) => path)).toEqual(['/v1/models']);
	});

	test.each<[string, (key: string) => string]>([
		['with spaces and a line break around', (key) => ` ${key}\n`],
		['in quotes', (key) => `"${key}"`],
		['with Bearer before it', (key) => `Bearer ${key}`],
	])('is OK with a key %s', async (_name, typed) => {
		expect((await pressTest({ apiKey: typed(access.apiKey) })).status).toBe('OK');
	});

	test('is OK where the key may use no model', async () => {
		gateway.settings.models = {};
		expect((await pressTest()).status).toBe('OK');
	});

	test.each(['revoked', 'expired', 'disabled'] as const)(
		'says that a key which is %s is not accepted',
		async (name) => {
			const result = await pressTest({ apiKey: gateway.keys[name] });
			expect(result.status).toBe('Error');
			expect(result.message).toMatch(/did not accept the API key.*revoked, expired or disabled/);
		},
	);

	test('says that a wrong key is not accepted', async () => {
		const result = await pressTest({ apiKey: 'mak-wrong-key-0000' });
		expect(result.status).toBe('Error');
		expect(result.message).toMatch(/did not accept the API key/);
	});

	test('says that a key is not permitted from here', async () => {
		const result = await pressTest({ apiKey: gateway.keys.fenced });
		expect(result.status).toBe('Error');
		expect(result.message).toMatch(/does not permit this.*account/);
	});

	test('says that nothing is at an address', async () => {
		gateway.settings.intercept = () => ({ kind: 'reply', status: 404, body: {} });
		const result = await pressTest();
		expect(result.status).toBe('Error');
		expect(result.message).toMatch(/does not know this address.*Base URL/);
	});

	test('says that the gateway cannot be reached', async () => {
		const result = await pressTest({ baseUrl: 'http://127.0.0.1:9/v1' });
		expect(result.status).toBe('Error');
		expect(result.message).toMatch(/ECONNREFUSED|cannot be reached/);
	});

	test('says that a login page is no gateway', async () => {
		const result = await pressTest({ baseUrl: `${gateway.origin}/portal` });
		expect(result.status).toBe('Error');
		expect(result.message).toMatch(/Base URL|login page|web page/);
	});

	test('says that an answer which is no model list comes from no gateway', async () => {
		gateway.settings.intercept = () => ({ kind: 'reply', status: 200, body: { hello: 'world' } });
		const result = await pressTest();
		expect(result.status).toBe('Error');
		expect(result.message).toMatch(/Base URL/);
	});

	test('says that a redirect is not followed, and does not follow it', async () => {
		const other = await startGateway();
		try {
			gateway.settings.intercept = () => ({
				kind: 'reply',
				status: 302,
				headers: { Location: other.baseUrl },
			});
			const result = await pressTest();
			expect(result.status).toBe('Error');
			expect(result.message).not.toBe('');
			expect(other.count()).toBe(0);
		} finally {
			await other.close();
		}
	});

	test.each<[string, Partial<Access>, RegExp]>([
		['plain http', { baseUrl: 'http://gateway.example.com/v1' }, /Base URL uses http/],
		['no address', { baseUrl: '' }, /Base URL is empty/],
		[
			'a query in the address',
			{ baseUrl: 'https://gateway.example.com/v1?k=1' },
			/Base URL contains a query/,
		],
		[
			'a user name in the address',
			{ baseUrl: 'https://u:p@gateway.example.com' },
			/Base URL contains a user name/,
		],
		['no key', { apiKey: '' }, /API Key is empty/],
		['a key with a space', { apiKey: 'mak-two words-0000' }, /API Key contains a space/],
	])('names the fault of %s, and sends nothing', async (_name, given, message) => {
		const result = await pressTest(given);
		expect(result.status).toBe('Error');
		expect(result.message).toMatch(message);
		expect(gateway.count()).toBe(0);
	});
});

type Helper = 'httpRequestWithAuthentication' | 'requestWithAuthentication';

/** Sends a request with the credential by one of the two helpers that n8n's nodes use. */
async function send(
	helper: Helper,
	url: string,
	options: Partial<IHttpRequestOptions & IRequestOptions> = {},
): Promise<unknown> {
	const data = { ...access };
	return helper === 'httpRequestWithAuthentication'
		? await requestAs({
				credentialType,
				data,
				helper,
				options: { url, method: 'GET', ...(options as Partial<IHttpRequestOptions>) },
			})
		: await requestAs({
				credentialType,
				data,
				helper,
				options: { uri: url, method: 'GET', json: true, ...(options as Partial<IRequestOptions>) },
			});
}

async function failToSend(...args: Parameters<typeof send>): Promise<Error> {
	const error = await send(...args).then(
		() => {
			throw new Error('The request was sent where a refusal was expected');
		},
		(failure: unknown) => failure as Error,
	);
	return error;
}

describe.each<Helper>(['httpRequestWithAuthentication', 'requestWithAuthentication'])(
	'The HTTP Request node with this credential, by %s',
	(helper) => {
		test('reaches the gateway’s other addresses with the key', async () => {
			const list = await send(helper, `${gateway.baseUrl}/models`);
			expect(list).toMatchObject({ object: 'list' });
			const answer = await send(helper, `${gateway.baseUrl}/responses`, {
				method: 'POST',
				body: { model: 'aurora-text-1', input: 'Hello' },
			});
			expect(answer).toMatchObject({ object: 'response', status: 'completed' });
			expect(gateway.requests.map(({ key, path, status }) => [key, path, status])).toEqual([
				['active', '/v1/models', 200],
				['active', '/v1/responses', 200],
			]);
		});

		test('keeps its own headers and query, and does not lose the key to them', async () => {
			await send(helper, `${gateway.baseUrl}/models`, {
				headers: { 'X-Client-Request-ID': 'mine', AUTHORIZATION: 'Bearer somebody-else' },
				qs: { page: '2' },
			});
			expect(gateway.requests[0]).toMatchObject({
				path: '/v1/models?page=2',
				headers: {
					authorization: `Bearer ${access.apiKey}`,
					'x-client-request-id': 'mine',
				},
				status: 200,
			});
		});

		test.each<[string, (own: URL) => string]>([
			['another host', () => 'https://other.example.com/v1/models'],
			['another port of the host', (own) => `${own.protocol}//${own.hostname}:9/v1/models`],
			['another scheme', (own) => `https://${own.host}/v1/models`],
			['the host as a user name', (own) => `http://${own.host}@other.example.com/v1/models`],
			['the host as a subdomain', (own) => `http://${own.hostname}.example.com:${own.port}/v1`],
			['an address without scheme', () => '//other.example.com/v1/models'],
		])('refuses %s', async (_name, address) => {
			const error = await failToSend(helper, address(new URL(gateway.origin)));

			expect(error.message).toMatch(/URL is not an address of the gateway in the credential/);
			expectNoSecret(access.apiKey, error);
			expect(gateway.count()).toBe(0);
		});

		test.each([301, 302, 303, 307, 308])(
			'carries the key to no other host by a redirect (%i)',
			async (status) => {
				const other = await startGateway();
				try {
					gateway.settings.intercept = () => ({
						kind: 'reply',
						status,
						headers: { Location: `${other.baseUrl}/models` },
					});
					// An older helper returns the redirect's own body, a newer one refuses it.
					await send(helper, `${gateway.baseUrl}/models`).catch((error: unknown) => {
						expectNoSecret(access.apiKey, (error as Error).message);
					});
					expect(other.requests.filter(({ headers }) => headers.authorization)).toEqual([]);
					expect(gateway.count()).toBe(1);
				} finally {
					await other.close();
				}
			},
		);

		test('carries the key to no other host even where the request asks to follow redirects', async () => {
			const other = await startGateway();
			try {
				gateway.settings.intercept = () => ({
					kind: 'reply',
					status: 302,
					headers: { Location: `${other.baseUrl}/models` },
				});
				const wishes = {
					followRedirect: true,
					followAllRedirects: true,
					maxRedirects: 5,
					disableFollowRedirect: false,
					sendCredentialsOnCrossOriginRedirect: true,
				};
				await send(helper, `${gateway.baseUrl}/models`, wishes).catch(() => undefined);
				expect(other.requests.filter(({ headers }) => headers.authorization)).toEqual([]);
			} finally {
				await other.close();
			}
		});

		test('gets a 401 for a key that is revoked', async () => {
			access = { ...access, apiKey: gateway.keys.revoked };
			const error = await failToSend(helper, `${gateway.baseUrl}/models`);
			expect(error).toBeInstanceOf(Error);
			expect(gateway.requests.every(({ status }) => status === 401)).toBe(true);
		});
	},
);
