import type { IHttpRequestOptions, IRequestOptions } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { newRecord, requestAs, runCredentialTest } from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import { reply, useHarness, type Access } from './arrange';

const harness = useHarness();
const credentialType = new ModelAccessApi();

/** Another gateway, to which the key must not go. */
const other = useHarness();
afterEach(() => {
	const { requests } = other.gateway;
	expect(requests.filter(({ headers }) => headers.authorization)).toEqual([]);
});

describe('The credential’s test', () => {
	/** Presses "Test" on a credential with these fields. */
	async function pressTest(given: Partial<Access> = {}) {
		const record = newRecord();
		const data = { ...harness.access, ...given };
		const result = await runCredentialTest({ credentialType, data, record });
		if (data.apiKey.trim().length >= 8) expectNoSecret(data.apiKey.trim(), result, record);
		return result;
	}

	test.each<[string, () => Partial<Access>]>([
		['as they are shown', () => ({})],
		['of an endpoint', () => ({ baseUrl: ` ${harness.access.baseUrl}/chat/completions/ ` })],
		['behind Bearer', () => ({ apiKey: `"Bearer ${harness.access.apiKey}"\n` })],
	])('is OK with address and key %s, having asked for the models once', async (_name, given) => {
		const message = 'Connection successful!';
		expect(await pressTest(given())).toEqual({ status: 'OK', message });
		const asked = { method: 'GET', path: '/v1/models', key: 'active', status: 200 };
		expect(harness.gateway.requests).toMatchObject([asked]);
	});

	test('is OK where the key may use no model', async () => {
		harness.gateway.settings.models = {};
		expect((await pressTest()).status).toBe('OK');
	});

	const answered = (status: number, body: unknown, location = ''): Partial<Access> => {
		harness.answer(reply(status, body, { Location: location }));
		return {};
	};
	const redirected = () => answered(302, '', other.gateway.baseUrl);
	const revoked = () => ({ apiKey: harness.gateway.keys.revoked });
	const fenced = () => ({ apiKey: harness.gateway.keys.fenced });
	const NO_LIST =
		/^The address answers, but not with a list of models\. The Base URL may be wrong, or a login page or a firewall answered\. Open the Base URL of the credential in a browser to see the page\.$/;
	const portal = () => ({ baseUrl: `${harness.gateway.origin}/portal` });
	/** A status, a code in a success reply, or whatever the credential brings. */
	test.each<[number | string, RegExp, given?: () => Partial<Access>]>([
		['a key that is revoked', /API key.*copy the key again/, revoked],
		['another place', /does not permit this.*group/, fenced],
		['nothing there', /ECONNREFUSED|be reached/, () => ({ baseUrl: 'http://127.0.0.1:9/v1' })],
		['a login page', /login page/, portal],
		['other JSON', NO_LIST, () => answered(200, { object: 'list' })],
		['no data', NO_LIST, () => answered(200, { data: null, success: false })],
		['http', /^Base URL uses http.*\. Use https/, () => ({ baseUrl: 'http://x.example.com/v1' })],
		['no key', /^API Key is empty\. Copy the key/, () => ({ apiKey: '' })],
		[302, /redirects to another one\. Check the Base URL/, redirected],
		[400, /refused.*Check the Base URL and the API key of the credential/],
		[402, /^The balance is used up\. Top up/],
		[403, /lacks this permission.*console/],
		[404, /does not know this address.*Base URL/],
		[407, /proxy.*login.*administrator/],
		[410, /Check the Base URL of the credential: it ends in \/v1/],
		[426, /https/],
		[429, /Wait a minute.*quota is used up\. Raise it/],
		[502, /Check that the gateway is running/],
		[503, /Try again later/],
		[522, /^Cloudflare cannot reach the gateway behind it\. Check/],
		[529, /overloaded.*Try again later/],
		['API_KEY_EXPIRED', /^The gateway did not accept the API key\. .*has expired.*new key/],
		['key_disabled', /is disabled\. Enable it/],
		['USER_INACTIVE', /is disabled\. Enable it/],
		['API_KEY_QUOTA_EXHAUSTED', /^A quota or budget is used up\. Raise or reset/],
		['insufficient_quota', /^A quota or budget is used up\. Raise or reset/],
		['INSUFFICIENT_BALANCE', /^The balance is used up\. Top up/],
		['invalid_api_key', /does not know this API key/],
		['ACCESS_DENIED', /may not be used from the address of this n8n/],
	])('says what is wrong, or what to do: %s', async (...row) => {
		const [what, said, given] = row;
		const error = { code: what, message: 'No' };
		const bodies = [error, { error }, { error: { type: what } }];
		const coded = bodies.map((body) => () => answered(200, body));
		const ways = typeof what === 'number' ? [() => answered(what, {})] : coded;
		for (const way of given ? [given] : ways) {
			const message = expect.stringMatching(said) as string;
			expect(await pressTest(way())).toEqual({ status: 'Error', message });
		}
		// A redirect is not followed.
		expect(other.gateway.count()).toBe(0);
	});
});

const HELPERS = ['httpRequestWithAuthentication', 'requestWithAuthentication'] as const;
type Helper = (typeof HELPERS)[number];
type Sent = Partial<IHttpRequestOptions & IRequestOptions>;

/** Sends a request with the credential by one of the two helpers that n8n's nodes use. */
async function send(helper: Helper, url: string, more: Sent = {}): Promise<unknown> {
	const shared = { credentialType, data: { ...harness.access } };
	if (helper === 'httpRequestWithAuthentication') {
		return await requestAs({ ...shared, helper, options: { url, ...more } });
	}
	return await requestAs({ ...shared, helper, options: { uri: url, json: true, ...more } });
}

describe.each(HELPERS)('The HTTP Request node with this credential, by %s', (helper) => {
	test('reaches the gateway’s other addresses with the key, and its own headers and query', async () => {
		const { gateway, access } = harness;
		const list = await send(helper, `${gateway.baseUrl}/models`, {
			headers: { 'X-Client-Request-ID': 'mine', AUTHORIZATION: 'Bearer somebody-else' },
			qs: { page: '2' },
		});
		expect(list).toMatchObject({ object: 'list' });
		const body = { model: 'aurora-text-1', input: 'Hello' };
		const answer = await send(helper, `${gateway.baseUrl}/responses`, { method: 'POST', body });
		expect(answer).toMatchObject({ object: 'response', status: 'completed' });
		const authorization = `Bearer ${access.apiKey}`;
		const headers = { authorization, 'x-client-request-id': 'mine' };
		expect(gateway.requests).toMatchObject([
			{ key: 'active', path: '/v1/models?page=2', status: 200, headers },
			{ key: 'active', path: '/v1/responses', status: 200 },
		]);
	});

	// All others are in test/unit/credential.test.ts.
	test('refuses another port of the host', async () => {
		const { protocol, hostname } = new URL(harness.gateway.origin);
		const sending = send(helper, `${protocol}//${hostname}:9/v1/models`);
		const error = await sending.catch((why: unknown) => why);
		expect(error).toMatchObject({
			message: expect.stringMatching(/URL is not an address of the gateway/) as string,
			description: expect.stringMatching(/^This credential is sent to http/) as string,
		});
		expectNoSecret(harness.access.apiKey, error);
		expect(harness.gateway.count()).toBe(0);
	});

	test.each([301, 302, 303, 307, 308])(
		'carries the key to no other host by a redirect (%i), also where it asks to follow it',
		async (status) => {
			harness.answer(reply(status, '', { Location: `${other.gateway.baseUrl}/models` }));
			const follow = { followRedirect: true, followAllRedirects: true, maxRedirects: 5 };
			const alsoKey = { sendCredentialsOnCrossOriginRedirect: true };
			for (const options of [{}, { ...follow, ...alsoKey, disableFollowRedirect: false }]) {
				// An older helper returns the redirect's own body, a newer one refuses it.
				await send(helper, `${harness.gateway.baseUrl}/models`, options).catch((why: Error) => {
					expectNoSecret(harness.access.apiKey, why.message);
				});
			}
			expect(harness.gateway.count()).toBe(2);
		},
	);
});
