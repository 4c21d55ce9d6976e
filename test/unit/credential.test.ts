import type {
	ICredentialDataDecryptedObject,
	IHttpRequestMethods,
	IHttpRequestOptions,
} from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { InputError } from '../../nodes/shared/client/errors';

const KEY = 'sk-live-0123456789abcdef';
const BASE = 'https://gw.example:8443/ai/v1';
const CREDENTIALS = { apiKey: KEY, baseUrl: BASE };

const credential = new ModelAccessApi();

/** What n8n's two request helpers pass on: the newer one `url`, the older one `uri`. */
interface Options extends Partial<IHttpRequestOptions> {
	uri?: unknown;
	method?: IHttpRequestMethods;
	followRedirect?: boolean;
	followAllRedirects?: boolean;
	rejectUnauthorized?: boolean;
}

async function authenticate(
	options: Options,
	credentials: ICredentialDataDecryptedObject = CREDENTIALS,
): Promise<IHttpRequestOptions & Options> {
	if (typeof credential.authenticate !== 'function') throw new Error('no function');
	return await credential.authenticate(credentials, options as IHttpRequestOptions);
}

async function refusal(
	options: Options,
	credentials?: ICredentialDataDecryptedObject,
): Promise<InputError> {
	const outcome = await authenticate(options, credentials).then(
		({ url }) => `sent to ${url}`,
		(error: unknown) => error,
	);
	if (outcome instanceof InputError) return outcome;
	throw new Error(`not refused: ${String(outcome)}`);
}

/** The only header that carries the key, by any spelling. */
function authorization({ headers = {} }: IHttpRequestOptions): unknown {
	const found = Object.entries(headers).filter(([name]) => name.toLowerCase() === 'authorization');
	expect(found).toHaveLength(1);
	return found[0]?.[1];
}

describe('the key goes to the gateway', () => {
	test.each<[string, Options, string]>([
		['an absolute url', { url: `${BASE}/models` }, `${BASE}/models`],
		['an absolute uri (older helper)', { uri: `${BASE}/models` }, `${BASE}/models`],
		['a uri beside an empty url', { url: '', uri: `${BASE}/models` }, `${BASE}/models`],
		['a uri that is an object', { uri: new URL(`${BASE}/models`) }, `${BASE}/models`],
		[
			'another path of its origin',
			{ url: 'https://gw.example:8443/health' },
			'https://gw.example:8443/health',
		],
		['its origin in upper case', { url: 'HTTPS://GW.EXAMPLE:8443/x' }, 'https://gw.example:8443/x'],
		['a relative url', { url: '/models' }, `${BASE}/models`],
		['a relative url without a slash', { url: 'models' }, `${BASE}/models`],
		[
			'a relative url with a query',
			{ url: '/models?limit=1&x=a%2Fb' },
			`${BASE}/models?limit=1&x=a%2Fb`,
		],
		['a relative uri', { uri: '/models' }, `${BASE}/models`],
		['a baseURL and a path', { baseURL: BASE, url: '/models' }, `${BASE}/models`],
		['a baseURL with a slash', { baseURL: `${BASE}/`, url: '/models' }, `${BASE}/models`],
		[
			'a baseURL of its origin',
			{ baseURL: 'https://gw.example:8443', url: 'x' },
			'https://gw.example:8443/x',
		],
		['a baseURL and an absolute url', { baseURL: BASE, url: `${BASE}/models` }, `${BASE}/models`],
		[
			'another baseURL and an absolute url of the gateway',
			{ baseURL: 'https://evil.example', url: `${BASE}/models` },
			`${BASE}/models`,
		],
	])('%s', async (_, options, address) => {
		const sent = await authenticate(options);
		expect(sent.url).toBe(address);
		expect(sent).not.toHaveProperty('baseURL');
		if ('uri' in options) expect(sent.uri).toBe(address);
		expect(authorization(sent)).toBe(`Bearer ${KEY}`);
	});

	test.each([
		'https://api.example.com/v1',
		'https://api.example.com/v1/',
		'  https://api.example.com/v1 \n',
		'https://api.example.com',
		'https://api.example.com/v1/v1',
		'https://api.example.com/v1/models',
		'api.example.com',
		'API.example.com/V1/responses/',
	])('whose base URL was typed as %j, as n8n’s test of the credential uses it', async (typed) => {
		const credentials = { ...CREDENTIALS, baseUrl: typed };
		for (const options of [{ baseURL: typed, url: '/models' }, { url: '/models' }]) {
			const sent = await authenticate(options, credentials);
			expect(sent.url).toBe('https://api.example.com/v1/models');
		}
	});

	test('on this machine without encryption', async () => {
		const credentials = { ...CREDENTIALS, baseUrl: 'http://127.0.0.1:3000' };
		const sent = await authenticate({ url: '/models' }, credentials);
		expect(sent.url).toBe('http://127.0.0.1:3000/v1/models');
	});

	test('where a relative address looks like another one, but is a path', async () => {
		for (const url of ['@evil.example', '.evil.example', ':443@evil.example/', '../../..//x']) {
			const sent = await authenticate({ url });
			expect(new URL(sent.url).origin).toBe('https://gw.example:8443');
		}
	});
});

describe('the key goes nowhere else', () => {
	const evil: Array<[string, Options]> = [
		['another host', { url: 'https://evil.example/v1/models' }],
		['another host, in uri', { uri: 'https://evil.example/v1/models' }],
		['another host in uri, as an object', { uri: new URL('https://evil.example/v1') }],
		['another host behind a slash', { baseURL: 'https://evil.example', url: '/models' }],
		[
			'another host, of which the gateway’s is a part',
			{ url: 'https://gw.example:8443.evil.example/' },
		],
		['a host below the gateway’s', { url: 'https://x.gw.example:8443/' }],
		['no scheme, two slashes', { url: '//evil.example/v1' }],
		['no scheme, two slashes, in uri', { uri: '//evil.example/v1' }],
		['no scheme, many slashes', { url: '////evil.example/v1' }],
		['backslashes', { url: '\\\\evil.example\\v1' }],
		['a slash and a backslash', { url: '/\\evil.example/v1' }],
		['a backslash and a slash', { url: '\\/evil.example/v1' }],
		['backslashes behind the scheme', { url: 'https:\\\\evil.example/v1' }],
		['the gateway as a user name', { url: 'https://gw.example:8443@evil.example/v1' }],
		['the gateway as user name and password', { url: 'https://gw.example:x@evil.example:8443/v1' }],
		['the gateway before a backslash', { url: 'https://evil.example\\@gw.example:8443/v1' }],
		['another port', { url: 'https://gw.example/ai/v1/models' }],
		['another port, named', { url: 'https://gw.example:8444/ai/v1/models' }],
		['http in place of https', { url: 'http://gw.example:8443/ai/v1/models' }],
		['another scheme', { url: 'ftp://gw.example:8443/ai/v1/models' }],
		['a file', { url: 'file:///etc/passwd' }],
		['another baseURL', { baseURL: 'https://evil.example/v1', url: 'models' }],
		[
			'a baseURL with the gateway as user name',
			{ baseURL: 'https://gw.example:8443@evil.example', url: '/x' },
		],
		['a baseURL that is none', { baseURL: 'evil.example', url: '/x' }],
		['an address that is none', { url: 'https://[' }],
	];

	test.each(evil)('%s', async (_, options) => {
		const error = await refusal(options);
		expect(error.message).toBe('URL is not an address of the gateway in the credential');
		expect(error.facts.advice).toContain('https://gw.example:8443 only');
		expect(JSON.stringify(error) + error.message + error.stack).not.toContain(KEY);
	});

	test('an address with white space in front is a path of the gateway or refused', async () => {
		for (const url of [' https://evil.example', '\thttps://evil.example', '\n//evil.example']) {
			const sent = await authenticate({ url }).catch(() => undefined);
			if (sent) expect(new URL(sent.url).origin).toBe('https://gw.example:8443');
		}
	});

	test('when the url is the gateway’s and the uri is not', async () => {
		const sent = await authenticate({ url: `${BASE}/models`, uri: 'https://evil.example/' });
		expect(sent.uri).toBe(`${BASE}/models`);
	});
});

describe('what is sent', () => {
	test('has the key behind Bearer and exactly one space, however it was pasted', async () => {
		for (const apiKey of [KEY, ` ${KEY}\n`, `Bearer ${KEY}`, `"${KEY}"`, `bearer   ${KEY}`]) {
			const sent = await authenticate({ url: '/models' }, { ...CREDENTIALS, apiKey });
			expect(authorization(sent)).toBe(`Bearer ${KEY}`);
		}
	});

	test('keeps the other headers, and everything else', async () => {
		const options: Options = {
			method: 'POST',
			url: '/responses',
			headers: { 'Content-Type': 'application/json', 'X-Trace': '1' },
			body: { model: 'm' },
			qs: { a: 1 },
			timeout: 5000,
			encoding: 'stream',
			returnFullResponse: true,
		};
		const before = structuredClone(options);
		const sent = await authenticate(options);
		expect(sent).toMatchObject({ ...options, url: `${BASE}/responses` });
		expect(sent.headers).toMatchObject({ 'Content-Type': 'application/json', 'X-Trace': '1' });
		expect(options).toEqual(before);
	});

	test.each(['Authorization', 'authorization', 'AUTHORIZATION'])(
		'has one header %s: that of the credential',
		async (name) => {
			const sent = await authenticate({ url: '/models', headers: { [name]: 'Basic abc' } });
			expect(authorization(sent)).toBe(`Bearer ${KEY}`);
		},
	);

	test('does not have the key in its address or body', async () => {
		const { url, body, qs } = await authenticate({ url: '/responses', body: { model: 'm' } });
		expect(JSON.stringify([url, body, qs])).not.toContain(KEY);
	});

	test('follows no redirect and checks the certificate, whatever was asked for', async () => {
		const sent = await authenticate({
			url: '/models',
			disableFollowRedirect: false,
			followRedirect: true,
			followAllRedirects: true,
			maxRedirects: 10,
			sendCredentialsOnCrossOriginRedirect: true,
			skipSslCertificateValidation: true,
			rejectUnauthorized: false,
		});
		expect(sent).toMatchObject({
			disableFollowRedirect: true,
			followRedirect: false,
			followAllRedirects: false,
			maxRedirects: 0,
			sendCredentialsOnCrossOriginRedirect: false,
			skipSslCertificateValidation: false,
			rejectUnauthorized: true,
		});
	});
});

describe('a credential that is not usable', () => {
	test.each([
		['no base URL', { apiKey: KEY }, 'Base URL is empty'],
		['an empty base URL', { ...CREDENTIALS, baseUrl: '' }, 'Base URL is empty'],
		['http', { ...CREDENTIALS, baseUrl: 'http://gw.example' }, 'Base URL uses http'],
		[
			'a user name',
			{ ...CREDENTIALS, baseUrl: `https://${KEY}@gw.example` },
			'Base URL contains a user',
		],
		[
			'the key in the base URL',
			{ ...CREDENTIALS, baseUrl: `https://gw.example?key=${KEY}` },
			'Base URL contains a query',
		],
		['no key', { baseUrl: BASE }, 'API Key is empty'],
		['an empty key', { ...CREDENTIALS, apiKey: ' ' }, 'API Key is empty'],
		['a key with a space', { ...CREDENTIALS, apiKey: `${KEY} x` }, 'API Key contains a space'],
		[
			'a key with a header',
			{ ...CREDENTIALS, apiKey: `${KEY}\r\nX: y` },
			'API Key contains a line break',
		],
		['a key with a quote', { ...CREDENTIALS, apiKey: `"${KEY}` }, 'API Key contains a quote'],
	])(
		'%s: refused before anything is sent, without showing the key',
		async (_, credentials, says) => {
			const error = await refusal({ url: '/models' }, credentials);
			expect(error.message).toContain(says);
			expect(JSON.stringify(error) + error.message + error.stack).not.toContain(KEY);
		},
	);
});

describe('the credential’s form', () => {
	test('has the names that workflows save', () => {
		expect(credential.name).toBe('modelAccessApi');
		expect(credential.displayName).toBe('Model Access API');
		expect(credential.properties.map(({ name }) => name)).toEqual(['apiKey', 'baseUrl']);
	});

	test('hides the key', () => {
		const [apiKey] = credential.properties;
		expect(apiKey).toMatchObject({ typeOptions: { password: true }, default: '', required: true });
	});

	test('shows what a base URL looks like', () => {
		expect(credential.properties[1]).toMatchObject({ placeholder: 'https://api.example.com/v1' });
	});

	test('is tested by listing the models', () => {
		const { request } = credential.test;
		expect(request).toMatchObject({ baseURL: '={{ $credentials.baseUrl }}', url: '/models' });
		expect(request.method ?? 'GET').toBe('GET');
		expect(request).not.toHaveProperty('body');
	});

	test.each([
		[401, /API key.*revoked, expired or disabled/],
		[403, /not permit.*console/],
		[404, /address.*\/v1/],
	])('says in its test what %i means', (status, says) => {
		const messages = (credential.test.rules ?? []).flatMap((rule) =>
			rule.type === 'responseCode' && rule.properties.value === status
				? [rule.properties.message]
				: [],
		);
		expect(messages).toEqual([expect.stringMatching(says)]);
	});
});
