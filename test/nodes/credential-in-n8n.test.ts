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

/** Another gateway, to which the key must not go. */
async function withOther(work: (other: Gateway) => Promise<void>) {
	const other = await startGateway();
	try {
		await work(other);
		expect(other.requests.filter(({ headers }) => headers.authorization)).toEqual([]);
	} finally {
		await other.close();
	}
}

describe('The credential’s test', () => {
	/** Presses "Test" on a credential with these fields. */
	async function pressTest(given: Partial<Access> = {}) {
		const record = newRecord();
		const data = { ...access, ...given };
		const result = await runCredentialTest({ credentialType, data, record });
		if (data.apiKey.trim().length >= 8) expectNoSecret(data.apiKey.trim(), result, record);
		return result;
	}

	const answer = (status: number, body: unknown): Partial<Access> => {
		gateway.settings.intercept = () => ({ kind: 'reply', status, body });
		return {};
	};

	test.each<[string, () => Partial<Access>]>([
		['as they are shown', () => ({})],
		['of an endpoint', () => ({ baseUrl: ` ${access.baseUrl}/chat/completions/ ` })],
		['behind Bearer', () => ({ apiKey: `"Bearer ${access.apiKey}"\n` })],
	])('is OK with address and key %s, having asked for the models once', async (_name, given) => {
		expect(await pressTest(given())).toEqual({
			status: 'OK',
			message: 'Connection successful!',
		});
		expect(gateway.requests).toEqual([
			expect.objectContaining({ method: 'GET', path: '/v1/models', key: 'active', status: 200 }),
		]);
	});

	test('is OK where the key may use no model', async () => {
		gateway.settings.models = {};
		expect((await pressTest()).status).toBe('OK');
	});

	const NO_LIST =
		'The address answers, but not with a list of models. A web page in place of JSON points to a wrong Base URL, a login page of a proxy, or a firewall in front of the gateway. Open the Base URL of the credential in a browser to see the page.';
	test.each<[string, () => Partial<Access>, string | RegExp]>([
		[
			'a key that is revoked',
			() => ({ apiKey: gateway.keys.revoked }),
			/API key.*revoked, expired/,
		],
		['another place', () => ({ apiKey: gateway.keys.fenced }), /does not permit this.*account/],
		['no such address', () => answer(404, {}), /does not know this address.*Base URL/],
		['nothing there', () => ({ baseUrl: 'http://127.0.0.1:9/v1' }), /ECONNREFUSED|be reached/],
		['a login page', () => ({ baseUrl: `${gateway.origin}/portal` }), /login page/],
		['other JSON', () => answer(200, { object: 'list' }), NO_LIST],
		['http', () => ({ baseUrl: 'http://x.example.com/v1' }), /^Base URL uses http.*\. Use https/],
		['no key', () => ({ apiKey: '' }), /^API Key is empty\. Copy the key/],
	])('says what is wrong: %s', async (_name, given, message) => {
		const { status, message: said } = await pressTest(given());
		expect(status).toBe('Error');
		if (typeof message === 'string') expect(said).toBe(message);
		else expect(said).toMatch(message);
	});

	test('says that a redirect is not followed, and does not follow it', async () => {
		await withOther(async (other) => {
			const headers = { Location: other.baseUrl };
			gateway.settings.intercept = () => ({ kind: 'reply', status: 302, headers });
			expect(await pressTest()).toEqual({
				status: 'Error',
				message: expect.stringMatching(/redirects to another one\. Redirects are not/) as string,
			});
			expect(other.count()).toBe(0);
		});
	});
});

type Helper = 'httpRequestWithAuthentication' | 'requestWithAuthentication';

/** Sends a request with the credential by one of the two helpers that n8n's nodes use. */
async function send(
	helper: Helper,
	url: string,
	more: Partial<IHttpRequestOptions & IRequestOptions> = {},
): Promise<unknown> {
	const shared = { credentialType, data: { ...access } };
	if (helper === 'httpRequestWithAuthentication') {
		const options: IHttpRequestOptions = { url, ...(more as Partial<IHttpRequestOptions>) };
		return await requestAs({ ...shared, helper, options });
	}
	const options: IRequestOptions = { uri: url, json: true, ...(more as Partial<IRequestOptions>) };
	return await requestAs({ ...shared, helper, options });
}

describe.each<Helper>(['httpRequestWithAuthentication', 'requestWithAuthentication'])(
	'The HTTP Request node with this credential, by %s',
	(helper) => {
		test('reaches the gateway’s other addresses with the key, and its own headers and query', async () => {
			const list = await send(helper, `${gateway.baseUrl}/models`, {
				headers: { 'X-Client-Request-ID': 'mine', AUTHORIZATION: 'Bearer somebody-else' },
				qs: { page: '2' },
			});
			expect(list).toMatchObject({ object: 'list' });
			const answer = await send(helper, `${gateway.baseUrl}/responses`, {
				method: 'POST',
				body: { model: 'aurora-text-1', input: 'Hello' },
			});
			expect(answer).toMatchObject({ object: 'response', status: 'completed' });
			expect(gateway.requests.map(({ key, path, status }) => [key, path, status])).toEqual([
				['active', '/v1/models?page=2', 200],
				['active', '/v1/responses', 200],
			]);
			expect(gateway.requests[0]?.headers).toMatchObject({
				authorization: `Bearer ${access.apiKey}`,
				'x-client-request-id': 'mine',
			});
		});

		test.each<[string, (own: URL) => string]>([
			['another host', () => 'https://other.example.com/v1/models'],
			['another port of the host', (own) => `${own.protocol}//${own.hostname}:9/v1/models`],
			['another scheme', (own) => `https://${own.host}/v1/models`],
			['an address without scheme', () => '//other.example.com/v1/models'],
		])('refuses %s', async (_name, address) => {
			const error = await send(helper, address(new URL(gateway.origin))).catch(
				(why: unknown) => why,
			);

			expect(error).toMatchObject({
				message: expect.stringMatching(/URL is not an address of the gateway/) as string,
				description: expect.stringMatching(/^This credential is sent to http/) as string,
			});
			expectNoSecret(access.apiKey, error);
			expect(gateway.count()).toBe(0);
		});

		test.each([301, 302, 303, 307, 308])(
			'carries the key to no other host by a redirect (%i), also where it asks to follow it',
			async (status) => {
				await withOther(async (other) => {
					const headers = { Location: `${other.baseUrl}/models` };
					gateway.settings.intercept = () => ({ kind: 'reply', status, headers });
					const wishes = {
						followRedirect: true,
						followAllRedirects: true,
						maxRedirects: 5,
						disableFollowRedirect: false,
						sendCredentialsOnCrossOriginRedirect: true,
					};
					for (const options of [{}, wishes]) {
						// An older helper returns the redirect's own body, a newer one refuses it.
						await send(helper, `${gateway.baseUrl}/models`, options).catch((error: unknown) => {
							expectNoSecret(access.apiKey, (error as Error).message);
						});
					}
					expect(gateway.count()).toBe(2);
				});
			},
		);
	},
);
