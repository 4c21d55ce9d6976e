import fc from '../../support/fast-check';
import { normalizeBaseUrl } from '../../../nodes/shared/api/credential/base-url';
import { InputError } from '../../../nodes/shared/api/errors/errors';
import { refusalOf } from './arrange';

const HOST = 'https://api.example.com';
const V1 = `${HOST}/v1`;
const PREFIXED = 'https://example.com/ai/v1';

describe('the base URL is forgiving in form', () => {
	test.each([
		['as the gateway shows it', V1, V1],
		['spaces around', '  https://api.example.com/v1 \t', V1],
		['a line break behind', 'https://api.example.com/v1\r\n', V1],
		['a slash at the end', `${HOST}/v1/`, V1],
		['many slashes at the end', `${HOST}/v1///`, V1],
		['doubled slashes inside', `${HOST}//v1`, V1],
		['no /v1', HOST, V1],
		['no /v1, a slash', `${HOST}/`, V1],
		['a doubled /v1', `${HOST}/v1/v1`, V1],
		['a trebled /v1', `${HOST}/v1/v1//v1/`, V1],
		['no scheme', 'api.example.com/v1', V1],
		['a host alone', 'api.example.com', V1],
		['a host and a port', 'api.example.com:8443', 'https://api.example.com:8443/v1'],
		['localhost without a scheme', 'localhost:3000/v1', 'https://localhost:3000/v1'],
		['upper case', 'HTTPS://API.Example.COM/V1', V1],
		['a port', 'https://api.example.com:8443/v1', 'https://api.example.com:8443/v1'],
		['the scheme’s own port', 'https://api.example.com:443/v1', V1],
		['a host without dots', 'https://gateway/v1', 'https://gateway/v1'],
		['a prefix', 'https://example.com/ai/gateway/v1', 'https://example.com/ai/gateway/v1'],
		['a prefix without /v1', 'https://example.com/ai', PREFIXED],
		['a prefix with a doubled /v1', 'https://example.com/ai/v1/v1', PREFIXED],
		['a prefix in mixed case', 'https://example.com/Ai/v1', 'https://example.com/Ai/v1'],
		['a prefix that looks like v1', 'https://example.com/v10', 'https://example.com/v10/v1'],
		['…/v1/models', `${HOST}/v1/models`, V1],
		['…/v1/responses/', `${HOST}/v1/responses/`, V1],
		['…/v1/images/generations/async', `${HOST}/v1/images/generations/async`, V1],
		['…/v1/images/tasks/<id>', `${HOST}/v1/images/tasks/task_1`, V1],
		['…/v1/chat/completions', `${HOST}/v1/chat/completions`, V1],
		['…/v1/embeddings', `${HOST}/v1/embeddings`, V1],
		['LOCALHOST without a scheme', 'LOCALHOST:3000', 'https://localhost:3000/v1'],
		['an endpoint in upper case', `${HOST}/Models`, V1],
		['an endpoint without /v1', `${HOST}/models`, V1],
		['an endpoint behind a prefix', 'https://example.com/ai/v1/responses', PREFIXED],
		['an endpoint behind a prefix without /v1', 'https://example.com/ai/responses', PREFIXED],
		['an endpoint behind a doubled /v1', 'api.example.com/v1/v1/models', V1],
		['digits in the path', `${HOST}/v1x/xv1`, `${HOST}/v1x/xv1/v1`],
		['an endpoint’s name in the path', `${HOST}/mymodels/modelsx`, `${HOST}/mymodels/modelsx/v1`],
		['an address in numbers', 'https://10.20.30.40:8443', 'https://10.20.30.40:8443/v1'],
		['a name that begins with numbers', 'https://1.2.3.4.example', 'https://1.2.3.4.example/v1'],
		['http on localhost', 'http://localhost:3000', 'http://localhost:3000/v1'],
		['http on a name below localhost', 'http://gw.localhost', 'http://gw.localhost/v1'],
		['http on 127.0.0.1', 'http://127.0.0.1:8080/v1', 'http://127.0.0.1:8080/v1'],
		['http on all of 127/8', 'http://127.8.9.10/v1', 'http://127.8.9.10/v1'],
		['http on IPv6 loopback', 'http://[::1]:8080/v1', 'http://[::1]:8080/v1'],
		['http on IPv6 loopback, long', 'http://[0:0:0:0:0:0:0:1]', 'http://[::1]/v1'],
		['IPv6 loopback without a scheme', '[::1]:8080', 'https://[::1]:8080/v1'],
		['https on IPv6', 'https://[2001:db8::7]/v1', 'https://[2001:db8::7]/v1'],
		['a host in Unicode', 'https://bücher.example', 'https://xn--bcher-kva.example/v1'],
		['a host in full width', 'https://ａｐｉ.example.com', V1],
		['dots in the path', `${HOST}/x/../v1/.`, V1],
		['an at sign in the path', `${HOST}/@me/v1`, `${HOST}/@me/v1`],
	])('%s: %j becomes %s', (_, typed, base) => {
		expect(normalizeBaseUrl(typed)).toBe(base);
	});
});

describe('the base URL is strict in what could send the key to the wrong place', () => {
	const EXAMPLE = 'such as https://api.example.com/v1';
	const KEY_FIELD = 'the key belongs into the API Key field';
	const HTTPS = 'Use https';

	test.each([
		['nothing', '', 'is empty', EXAMPLE],
		['white space', ' \n\t ', 'is empty', EXAMPLE],
		['a whole file', `https://${'a'.repeat(2041)}`, 'is longer than 2048 characters', EXAMPLE],
		['a host with two ports', 'api.example.com:1:2', 'names no host', EXAMPLE],
		['http on a name that ends like loopback', 'http://x127.0.0.1', 'is not a valid', EXAMPLE],
		['http on a name like loopback', 'http://127.0.0.1x', 'uses http', HTTPS],
		['a space inside', 'https://api.example .com/v1', 'contains a space', EXAMPLE],
		['a tab inside', 'https://api.exa\tmple.com/v1', 'contains a space', EXAMPLE],
		['a line break inside', 'https://api.example.com\n/v1', 'line break', EXAMPLE],
		['two addresses', 'https://a.example\nhttps://b.example', 'line break', EXAMPLE],
		['a control character', 'https://api.example.com/\u0000v1', 'contains a space', EXAMPLE],
		['a no-break space', 'https://api.example.com/\u00a0v1', 'contains a space', EXAMPLE],
		['backslashes', 'https:\\\\api.example.com\\v1', 'a backslash', EXAMPLE],
		['a backslash before an at sign', 'https://a.example\\@b.example', 'a backslash', EXAMPLE],
		['a query', 'https://api.example.com/v1?key=abc', 'a query or a fragment', KEY_FIELD],
		['an empty query', 'https://api.example.com/v1?', 'a query or a fragment', KEY_FIELD],
		['a fragment', 'https://api.example.com/v1#top', 'a query or a fragment', KEY_FIELD],
		['a console’s address', 'https://api.example.com/#/keys', 'a query or a fragment', KEY_FIELD],
		['a user name', 'https://me@api.example.com/v1', 'a user name', KEY_FIELD],
		['user name and password', 'https://me:pw@api.example.com/v1', 'a user name', KEY_FIELD],
		['an empty user name', 'https://@api.example.com/v1', 'a user name', KEY_FIELD],
		['an empty user name and password', 'https://:@api.example.com', 'a user name', KEY_FIELD],
		['a user name, no scheme', 'me@api.example.com/v1', 'a user name', KEY_FIELD],
		['an empty user name, no scheme', '@api.example.com/v1', 'a user name', KEY_FIELD],
		['a host as user name', 'https://api.example.com@evil.example', 'a user name', KEY_FIELD],
		['loopback as user name', 'http://localhost@evil.example', 'a user name', KEY_FIELD],
		['a mail address', 'mailto:me@example.com', 'a user name', KEY_FIELD],
		['http', 'http://api.example.com/v1', 'uses http', HTTPS],
		['http, upper case', 'HTTP://API.EXAMPLE.COM', 'uses http', HTTPS],
		['http in a private network', 'http://192.168.1.10:8080/v1', 'uses http', HTTPS],
		['http on all addresses', 'http://0.0.0.0:8080', 'uses http', HTTPS],
		['http on a host without dots', 'http://gateway:8080/v1', 'uses http', HTTPS],
		['http, loopback as a prefix', 'http://localhost.evil.example', 'uses http', HTTPS],
		['http, 127.0.0.1 as a prefix', 'http://127.0.0.1.evil.example', 'uses http', HTTPS],
		['http, loopback as the path', 'http://evil.example/localhost', 'uses http', HTTPS],
		['http, an end like localhost', 'http://evillocalhost', 'uses http', HTTPS],
		['http on IPv6', 'http://[2001:db8::7]/v1', 'uses http', HTTPS],
		['ftp', 'ftp://api.example.com/v1', 'uses ftp', EXAMPLE],
		['ws', 'wss://api.example.com/v1', 'uses wss', EXAMPLE],
		['file', 'file:///etc/passwd', 'uses file', EXAMPLE],
		['javascript', 'javascript:alert(1)', 'names no host', EXAMPLE],
		['a scheme alone', 'https://', 'names no host', EXAMPLE],
		['no host, a path', 'https:///v1', 'names no host', EXAMPLE],
		['no host, a port', 'https://:8443/v1', 'no', EXAMPLE],
		['one slash', 'https:/api.example.com/v1', 'names no host', EXAMPLE],
		['no scheme, two slashes', '//api.example.com/v1', 'names no host', EXAMPLE],
		['a path', '/v1', 'names no host', EXAMPLE],
		['a word', 'gateway', 'names no host', EXAMPLE],
		['an address cut short', 'http://127.1/v1', 'is not a valid address', EXAMPLE],
		['an address in hex', 'https://0x7f000001', 'is not a valid address', EXAMPLE],
		['an address as a number', 'https://2130706433/v1', 'is not a valid address', EXAMPLE],
		['a key', 'sk-live-abcdef', 'names no host', EXAMPLE],
		['a port that is none', 'https://api.example.com:99999', 'not a valid address', EXAMPLE],
		['half an IPv6 address', 'https://[::1', 'not a valid address', EXAMPLE],
		['an encoded slash in the host', 'https://a.example%2fb.example', 'not a valid', EXAMPLE],
		['a full-width slash in the host', 'https://a.example／v1', 'not a valid', EXAMPLE],
	])('%s is refused: %j %s', (_, typed, problem, advice) => {
		const error = refusalOf(() => normalizeBaseUrl(typed));

		expect(error).toBeInstanceOf(InputError);
		expect(error).toMatchObject({ field: 'Base URL' });
		expect(error.message).toMatch(/^Base URL /);
		expect(error.message).toContain(problem);
		expect(error.facts.advice).toContain(advice);
		expect(error.facts.retryable).toBe(false);
	});

	test('a doubled scheme never makes a host named "https"', () => {
		let base = '';
		try {
			base = normalizeBaseUrl('https://https://api.example.com/v1');
		} catch (error) {
			expect(error).toBeInstanceOf(InputError);
			return;
		}
		expect(base).toBe('https://api.example.com/v1');
	});

	test('what was typed is not repeated, since it may hold a key', () => {
		for (const typed of [
			'https://sk-live-abcdef@api.example.com',
			'https://api.example.com/v1?key=sk-live-abcdef',
			'sk-live-abcdef',
		]) {
			const { message, facts } = refusalOf(() => normalizeBaseUrl(typed));
			expect(message + facts.advice).not.toContain('sk-live-abcdef');
		}
	});
});

describe('whatever is typed', () => {
	const host = fc.constantFrom(
		'api.example.com',
		'API.example.com:8443',
		'localhost:3000',
		'127.0.0.1',
		'[::1]:80',
		'bücher.example',
		'gateway',
		'me@api.example.com',
		'',
		'192.168.0.1',
	);
	const scheme = fc.constantFrom('https://', 'http://', 'HTTPS://', 'ftp://', '', '//', 'https:/');
	const segment = fc.oneof(
		fc.constantFrom(
			'v1',
			'V1',
			'models',
			'responses',
			'images',
			'chat',
			'..',
			'.',
			'',
			'ai',
			'%76',
		),
		fc.string({ maxLength: 6 }),
	);
	const addressLike = fc
		.tuple(scheme, host, fc.array(segment, { maxLength: 6 }))
		.map(([start, name, path]) => [start + name, ...path].join('/'));
	const typed = fc.oneof(addressLike, addressLike, fc.webUrl(), fc.string({ unit: 'binary' }));

	function accepted(text: string): string | undefined {
		try {
			return normalizeBaseUrl(text);
		} catch (error) {
			expect(error).toBeInstanceOf(InputError);
			return undefined;
		}
	}

	test('it is either refused as an input, or becomes a base address that stays as it is', () => {
		let bases = 0;
		fc.assert(
			fc.property(typed, (text) => {
				const base = accepted(text);
				if (base === undefined) return;
				bases++;
				expect(normalizeBaseUrl(base)).toBe(base);
			}),
			{ numRuns: 1000 },
		);
		expect(bases).toBeGreaterThan(100);
	});

	test('it becomes https, or http on this machine, and ends in exactly one /v1', () => {
		fc.assert(
			fc.property(typed, (text) => {
				const base = accepted(text);
				if (base === undefined) return;
				const url = new URL(base);
				const loopback = /^(127\.\d+\.\d+\.\d+|\[::1\]|(.+\.)?localhost)$/.test(url.hostname);
				expect(url.protocol === 'https:' || (url.protocol === 'http:' && loopback)).toBe(true);
				expect([url.username, url.password, url.search, url.hash]).toEqual(['', '', '', '']);
				expect(base).toMatch(/\/v1$/);
				expect(url.pathname).not.toMatch(/\/v1\/v1$/i);
				expect(base.replace('://', '')).not.toContain('//');
			}),
			{ numRuns: 1000 },
		);
	});
});
