import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { expectError, failureOf, shown } from './api/arrange';

const KEY = 'sk-live-0123456789abcdef';
const ORIGIN = 'https://gw.example:8443';
const BASE = `${ORIGIN}/ai/v1`;
const MODELS = `${BASE}/models`;
const CREDENTIALS = { apiKey: KEY, baseUrl: BASE };
const EVIL = 'https://evil.example';

const credential = new ModelAccessApi();

/** What n8n's two request helpers pass on: the newer one `url`, the older one `uri`. */
type Options = Partial<IHttpRequestOptions> & { uri?: unknown };

async function authenticate(
	options: Options,
	credentials: ICredentialDataDecryptedObject = CREDENTIALS,
): Promise<IHttpRequestOptions & Options> {
	if (typeof credential.authenticate !== 'function') throw new Error('no function');
	return await credential.authenticate(credentials, options as IHttpRequestOptions);
}

/** The error by which nothing is sent; it never shows the key. */
async function refusal(...given: Parameters<typeof authenticate>) {
	const error = await failureOf(authenticate(...given));
	expect(shown(error) + JSON.stringify(error)).not.toContain(KEY);
	return error;
}

const WITH_KEY = { authorization: `Bearer ${KEY}` };

describe('the key goes to the gateway', () => {
	test.each<[string, Options, string]>([
		['a uri beside an empty url', { url: '', uri: MODELS }, MODELS],
		['a uri that is an object', { uri: new URL(MODELS) }, MODELS],
		['a uri of another host beside a url', { url: MODELS, uri: EVIL }, MODELS],
		['its origin in upper case', { url: 'HTTPS://GW.EXAMPLE:8443/x' }, `${ORIGIN}/x`],
		['a relative url with a query', { url: 'models?n=1&x=a%2Fb' }, `${MODELS}?n=1&x=a%2Fb`],
		['a relative uri', { uri: '/models' }, MODELS],
		['a baseURL with a slash', { baseURL: `${BASE}/`, url: '/models' }, MODELS],
		['a baseURL of its origin', { baseURL: ORIGIN, url: 'x' }, `${ORIGIN}/x`],
		['another baseURL, its own url', { baseURL: EVIL, url: MODELS }, MODELS],
	])('%s', async (_, options, address) => {
		const sent = await authenticate(options);
		expect(sent.url).toBe(address);
		expect(sent).not.toHaveProperty('baseURL');
		if ('uri' in options) expect(sent.uri).toBe(address);
		expect(sent.headers).toEqual(WITH_KEY);
	});

	test('whose base URL and key were pasted otherwise, as n8n’s test of the credential uses them', async () => {
		const baseUrl = '  API.example.com/V1/responses/ \n';
		const pasted = { apiKey: ` "Bearer ${KEY}"\n`, baseUrl };
		for (const options of [{ baseURL: baseUrl, url: '/models' }, { url: '/models' }]) {
			const sent = await authenticate(options, pasted);
			expect(sent.url).toBe('https://api.example.com/v1/models');
			expect(sent.headers).toEqual(WITH_KEY);
		}
	});

	test('although a path looks like another address; white space before one may be refused', async () => {
		for (const url of ['@evil.example', '.evil.example', ':443@evil.example/', '../../..//x'])
			expect(new URL((await authenticate({ url })).url).origin).toBe(ORIGIN);
		for (const url of [` ${EVIL}`, `\t${EVIL}`, '\n//evil.example']) {
			const sent = await authenticate({ url }).catch(() => ({ url: ORIGIN }));
			expect(new URL(sent.url).origin).toBe(ORIGIN);
		}
	});
});

const urls = (...all: string[]): Options[] => all.map((url) => ({ url }));
const bases = (...all: string[]): Options[] => all.map((baseURL) => ({ baseURL, url: '/x' }));

test.each<[string, Options[]]>([
	['another host', urls(`${EVIL}/v1/models`, `${ORIGIN}.evil.example/`)],
	['a host below the gateway’s', urls('https://x.gw.example:8443/')],
	['no scheme, slashes', urls('//evil.example/v1', '////evil.example/v1')],
	['backslashes', urls('\\\\evil.example\\v1', '/\\evil.example/v1', '\\/evil.example/v1')],
	['backslashes behind the scheme', urls('https:\\\\evil.example/v1')],
	['the gateway as a user', urls(`${ORIGIN}@evil.example`, 'https://gw.example:x@b.ex:8443')],
	['the gateway before a backslash', urls('https://evil.example\\@gw.example:8443/v1')],
	['another port', urls('https://gw.example/ai/v1/models', 'https://gw.example:8444/ai/v1')],
	['http in place of https', urls('http://gw.example:8443/ai/v1/models')],
	['another scheme', urls('ftp://gw.example:8443/ai/v1/models', 'file:///etc/passwd')],
	['an address that is none', urls('https://[')],
	['another host, in uri', [{ uri: EVIL }, { uri: '//evil.example' }, { uri: new URL(EVIL) }]],
	['another baseURL', bases(EVIL, `${ORIGIN}@evil.example`, 'evil.example')],
	['another baseURL, a url without a slash', [{ baseURL: EVIL, url: 'x' }]],
])('the key goes nowhere else: %s', async (_, all) => {
	for (const options of all) {
		const error = await refusal(options);
		const says = 'URL is not an address of the gateway in the credential';
		expectError(error, 'ValidationError', says, { advice: /https:\/\/gw\.example:8443 only/ });
		expect(error).toMatchObject({ description: error.details.advice });
	}
});

describe('what is sent', () => {
	test('has the key in one header, whatever that was called, and keeps everything else', async () => {
		const given = { 'Content-Type': 'application/json', 'X-Trace': '1' };
		const others = { authorization: 'Basic a', Authorization: 'Basic b', AUTHORIZATION: 'Basic c' };
		const more = { method: 'POST', body: { model: 'm' }, qs: { a: 1 }, timeout: 5000 } as const;
		const headers = { ...given, ...others };
		const options: Options = { ...more, headers, url: '/responses', encoding: 'stream' };
		const before = structuredClone(options);
		const { headers: found, ...sent } = await authenticate(options);
		expect(sent).toMatchObject({ ...more, encoding: 'stream', url: `${BASE}/responses` });
		expect(found).toEqual({ ...given, ...WITH_KEY });
		expect(JSON.stringify(sent)).not.toContain(KEY);
		expect(options).toEqual(before);
	});

	test('follows no redirect and checks the certificate, whatever was asked for', async () => {
		const strict = {
			disableFollowRedirect: true,
			followRedirect: false,
			followAllRedirects: false,
			sendCredentialsOnCrossOriginRedirect: false,
			skipSslCertificateValidation: false,
			rejectUnauthorized: true,
		};
		const lax = Object.entries(strict).map(([name, value]) => [name, !value]);
		const asked = { ...(Object.fromEntries(lax) as Options), maxRedirects: 10 };
		const sent = await authenticate({ url: '/models', ...asked });
		expect(sent).toMatchObject({ ...strict, maxRedirects: 0 });
	});
});

test.each([
	['no base URL', { apiKey: KEY }, 'Base URL is empty'],
	['a user name', { ...CREDENTIALS, baseUrl: `https://${KEY}@gw` }, 'Base URL contains a user'],
	['a query', { ...CREDENTIALS, baseUrl: `https://gw?key=${KEY}` }, 'Base URL contains a query'],
	['no key', { baseUrl: BASE }, 'API Key is empty'],
	['a header', { ...CREDENTIALS, apiKey: `${KEY}\r\nX: y` }, 'API Key contains a line break'],
])('a credential with %s is refused before anything is sent', async (_, credentials, says) => {
	const { message, details } = await refusal({ url: '/models' }, credentials);
	expect(message).toContain(says);
	expect(message).toContain(`. ${details.advice}`);
});

test('the credential’s form: has the names that workflows save, hides the key, and is tested by the list of models', () => {
	const { name, displayName, properties, test } = credential;
	expect([name, displayName]).toEqual(['modelAccessApi', 'Model Access API']);
	expect(properties).toMatchObject([
		{ name: 'apiKey', typeOptions: { password: true }, default: '', required: true },
		{ name: 'baseUrl', placeholder: 'https://api.example.com/v1' },
		{ name: 'allowPrivateHttp', type: 'boolean', default: false },
	]);
	expect(test.request).toEqual({ baseURL: '={{ $credentials.baseUrl }}', url: '/models' });
});
