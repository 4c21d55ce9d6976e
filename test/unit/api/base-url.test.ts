import fc from '../../support/fast-check';
import { normalizeBaseUrl } from '../../../nodes/shared/api/credential/base-url';
import { ValidationError } from '../../../nodes/shared/api/errors/errors';
import { expectError, refusalOf } from './arrange';

const HOST = 'https://api.example.com';
const V1 = `${HOST}/v1`;

const AI = 'https://example.com/ai';
const LOOPBACK = 'http://[::1]';

/** What is typed: several addresses in one text, or each for itself. */
type Typed = string | string[];
const each = (typed: Typed) => (typeof typed === 'string' ? typed.split(' ') : typed);

test.each<[base: string, typed: Typed]>([
	[V1, [` ${V1} \t`, `${V1}\r\n`, V1]],
	[V1, `${V1}/ ${V1}/// ${HOST}//v1 ${HOST} ${HOST}/ ${V1}/v1 ${V1}/v1//v1/ ${HOST}/x/../v1/.`],
	[V1, `api.example.com https://${V1} HTTPS://API.Example.COM/V1 ${HOST}:443/v1`],
	[V1, `${V1}/responses/ ${V1}/embeddings ${V1}/images/tasks/t1 ${V1}/chat/completions`],
	[V1, `${HOST}/models ${HOST}/Models ${HOST}/messages ${HOST}/chat/x ${HOST}/images/x`],
	[V1, `api.example.com/v1/v1/models ${HOST}/completions ${V1}/models api.example.com/v1`],
	[`${HOST}:8443/v1`, `api.example.com:8443 ${HOST}:8443/v1`],
	['https://localhost:3000/v1', 'localhost:3000/v1 LOCALHOST:3000'],
	[`${AI}/gateway/v1`, `${AI}/gateway/v1`],
	[`${AI}/v1`, `${AI} ${AI}/v1/v1 ${AI}/v1/responses ${AI}/responses`],
	['https://x.example/Ai/v1', 'https://x.example/Ai/v1'],
	[`${HOST}/v10/v1x/xv1/v1`, `${HOST}/v10/v1x/xv1`],
	[`${HOST}/mymodels/modelsx/v1`, `${HOST}/mymodels/modelsx`],
	['https://10.20.30.40/v1', 'https://10.20.30.40 https://10.20.30.40.'],
	['https://1.2.3.4.ex/v1', 'https://1.2.3.4.ex https://1.2.3.4.EX'],
	['http://localhost:3000/v1', 'http://localhost:3000'],
	['http://gw.localhost/v1', 'http://gw.localhost'],
	['http://127.0.0.1:8080/v1', 'http://127.0.0.1:8080/v1'],
	['http://127.8.19.100/v1', 'http://127.8.19.100/v1'],
	[`${LOOPBACK}/v1`, `${LOOPBACK}/v1 http://[0:0:0:0:0:0:0:1]`],
	['https://[::1]:8080/v1', '[::1]:8080'],
	['https://xn--bcher-kva.example/v1', 'https://bücher.example'],
	[`${HOST}/@me/v1`, `${HOST}/@me/v1`],
])('the base URL is forgiving in form, it is %s: %j', (base, typed) => {
	for (const text of each(typed)) expect([text, normalizeBaseUrl(text)]).toEqual([text, base]);
});

test('the longest base URL has 2048 characters', () => {
	const longest = `${HOST}/`.padEnd(2048, 'a');
	expect(normalizeBaseUrl(longest)).toBe(`${longest}/v1`);
	const error = refusalOf(() => normalizeBaseUrl(`${longest}a`));
	expectError(error, 'ValidationError', 'Base URL is longer than 2048 characters');
});

const EXAMPLE = 'Enter the address as the gateway shows it, such as https://api.example.com/v1';
const KEY_FIELD = 'the key belongs in the API Key field.';
const BEFORE_AT = `Remove the part before the @; ${KEY_FIELD}`;
const FROM_MARK = `Remove everything from the ? or # on; ${KEY_FIELD}`;
const HTTPS =
	'Use https. Plain http is allowed for a gateway on this machine (localhost). For one in a private network, turn on Allow HTTP in a Private Network in the credential.';
const NO_HOST = 'has no host';
const INVALID = 'is not a valid address';
const USER = 'contains a user name';
const QUERY = 'contains a query or a fragment (? or #)';
const SPACE = 'contains a space, a backslash or a line break';
const PLAIN = 'uses http, which would send the key unencrypted';

test.each<[problem: string, typed: Typed, advice?: string]>([
	['is empty', ['', ' \n\t ']],
	[SPACE, ['https://a.exam ple/v1', 'https://a.exa\tmple', 'https://a.ex/\u00a0v1']],
	[SPACE, ['https://a.example\n/v1', `${HOST}\n${HOST}`, 'https://a.ex/\u0000v1']],
	[SPACE, 'https:\\\\a.example\\v1 https://a.ex\\@b.ex'],
	[QUERY, `${V1}?key=abc ${V1}? ${V1}#top ${HOST}/#/keys`, FROM_MARK],
	[USER, 'https://me@a.ex https://me:pw@a.ex https://@a.ex https://:@a.ex me@a.ex', BEFORE_AT],
	[USER, `@a.ex mailto:me@a.ex ${HOST}@b.ex http://localhost@b.ex`, BEFORE_AT],
	[PLAIN, 'http://a.ex/v1 HTTP://A.EX http://192.168.1.10:80/v1 http://evillocalhost', HTTPS],
	[PLAIN, 'http://0.0.0.0:80 http://gateway:80/v1 http://[fd00::7]/v1 http://127.0.0.1x', HTTPS],
	[PLAIN, 'http://localhost.b.ex http://127.0.0.1.b.ex http://b.ex/localhost', HTTPS],
	['uses ftp, which is not a web address', 'ftp://a.example/v1'],
	['uses file, which is not a web address', 'file:///etc/passwd'],
	[NO_HOST, 'https:// https:///v1 https://:8443/v1 javascript:1 gateway /v1 https:/a.example/v1'],
	[NO_HOST, '//a.example/v1 api.example.com:1:2 a.example:x.y sk-live-abcdef mylocalhost [::1]x'],
	[INVALID, 'http://127.1 https://0x7f000001 https://2130706433 https://10.300 https://[::1'],
	[INVALID, 'https://a.ex:99999 https://a.ex%2fb.ex https://a.ex／v1 http://x127.0.0.1'],
])('what could send the key to the wrong place is refused: %s: %j', (...row) => {
	const [problem, typed, advice = EXAMPLE] = row;
	for (const text of each(typed)) {
		const error = refusalOf(() => normalizeBaseUrl(text));
		expectError(error, 'ValidationError', `Base URL ${problem}`, { advice, retryable: false });
		expect([text, error]).toMatchObject([text, { field: 'Base URL' }]);
	}
});

const allowed = (text: string) => normalizeBaseUrl(text, { allowPrivateHttp: true });

test.each([
	['10/8, 192.168/16', '10.0.0.0 10.1.2.3 10.255.255.255 192.168.0.0 192.168.1.10 192.168.255.255'],
	['172.16/12', '172.16.0.0 172.20.1.2 172.31.255.255'],
	['100.64/10', '100.64.0.0 100.100.1.1 100.127.255.255'],
	['fc00::/7', '[fc00::] [fc00::1] [fd12:3456:789a::1] [fd00:0:0:0:0:0:0:1]=[fd00::1]'],
	['fc00::/7 in capitals', '[FDFF:ffff::ffff]=[fdff:ffff::ffff]'],
	['IPv4-mapped IPv6', '[::ffff:10.0.0.1]=[::ffff:a00:1] [::FFFF:c0a8:10a]=[::ffff:c0a8:10a]'],
	['IPv4-mapped, at length', '[0:0:0:0:0:ffff:100.64.0.1]=[::ffff:6440:1]'],
	['decimal and hexadecimal', '167772161=10.0.0.1 0xA.0x0.0x0.0x1=10.0.0.1 0xa000001.=10.0.0.1'],
	['octal and short forms', '0300.0250.1.1=192.168.1.1 10.1=10.0.0.1 172.16.1=172.16.0.1'],
	['full-width digits', '１０.０.０.１=10.0.0.1'],
	['a name of one label', 'gateway GATEWAY=gateway my-gateway_1 gateway. n8n'],
	['*.internal', 'host.docker.internal host.docker.internal. gw.internal GW.Internal=gw.internal'],
	['*.local, *.lan', 'nas.local gw.nas.local nas.local. gw.lan gw.lan. 10.0.0.1.lan'],
	['*.home.arpa', 'gw.home.arpa a.b.home.arpa.'],
])('with the switch, http is accepted for a host of a private network: %s', (_, hosts) => {
	for (const pair of hosts.split(' ')) {
		const [host = '', written = host] = pair.split('=');
		expect([host, allowed(`http://${host}:8080`)]).toEqual([host, `http://${written}:8080/v1`]);
		expect(allowed(allowed(`http://${host}/ai/v1/models`))).toBe(`http://${written}/ai/v1`);
	}
});

const HTTP = /^Base URL uses http/;
const BAD = /^Base URL is not a valid address$/;
const EITHER = /^Base URL (uses http|is not a valid)/;

test.each<[string, hosts: string, problem: RegExp]>([
	['beside 10/8 and 172.16/12', '9.255.255.255 11.0.0.0 172.15.255.255 172.32.0.0', HTTP],
	['beside 192.168/16', '192.167.255.255 192.169.0.0 191.168.0.0 193.168.0.0', HTTP],
	['beside 100.64/10', '100.63.255.255 100.128.0.0 99.64.0.0 101.64.0.0', HTTP],
	['public addresses', '8.8.8.8 203.0.113.7 0.0.0.0 255.255.255.255 224.0.0.1', HTTP],
	['link-local addresses', '169.254.169.254 169.254.0.1 [fe80::1] [febf::1]', HTTP],
	['link-local addresses, mapped', '[::ffff:169.254.169.254] [::ffff:a9fe:a9fe]', HTTP],
	['public addresses, mapped', '[::ffff:8.8.8.8] [::ffff:172.32.0.1]', HTTP],
	['others that hold a private one', '[::10.0.0.1] [64:ff9b::10.0.0.1] [2002:a00:1::]', HTTP],
	['public IPv6', '[2001:db8::7] [fbff::1] [fe00::1] [fc::1] [fd::1] [::] [ff02::1]', HTTP],
	['loopback, mapped', '[::ffff:127.0.0.1]', HTTP],
	['the metadata services of clouds', 'metadata.google.internal metadata.google.internal.', HTTP],
	['metadata services by short names', 'metadata instance-data instance-data.ec2.internal', HTTP],
	['public names', 'api.example.com gateway.example gw.internal.example.com local.example', HTTP],
	['names that only look private', 'gw.notinternal gwlocal.example gw.lan.com gw.arpa', HTTP],
	['a private name inside another', 'home.arpa.example', HTTP],
	['a private address as a part of a name', '10.0.0.1.example.com 192.168.1.10.nip.io', HTTP],
	['look-alikes in other scripts', 'gаteway gw.lаn gw.lосal büro.local xn--bro-hoa.local', EITHER],
	['the ends alone, and empty labels', 'gw..local .local gateway.. gw..', EITHER],
	['other signs', "gate!way gw'.local gw$.lan *.lan", EITHER],
	['link-local in decimal or hexadecimal', '2852039166 0xa9fea9fe 0xa9.0xfe.0xa9.0xfe', BAD],
	['others in other notations', '134744072 010.0.0.1 8.8 2130706433 127.1 0177.0.0.1', BAD],
])('also with the switch http is refused for anything else: %s', (_, hosts, problem) => {
	for (const host of hosts.split(' ')) {
		const { message } = refusalOf(() => allowed(`http://${host}`));
		expect([host, message]).toEqual([host, expect.stringMatching(problem)]);
	}
});

test('https, loopback and everything else are with the switch as without it', () => {
	const loopback = 'http://localhost:1 http://127.0.0.1 http://[::1]';
	for (const text of `https://api.example.com ${loopback} gw.lan https://10.0.0.1`.split(' '))
		expect(allowed(text)).toBe(normalizeBaseUrl(text));
	const bad = 'https://10.1 http://me@gateway http://gateway?key=1 ftp://gateway gateway:8080';
	for (const text of bad.split(' '))
		expect(() => allowed(text)).toThrow(refusalOf(() => normalizeBaseUrl(text)).message);
});

test('whatever is typed is refused, or becomes https (http on this machine) with one /v1', () => {
	const hosts = 'API.example.com:8443 localhost:3000 127.0.0.1 [::1]:80 192.168.0.1 bücher.example';
	const host = fc.constantFrom(...hosts.split(' '), 'gateway', 'me@x.example', '');
	const scheme = fc.constantFrom('https://', 'http://', 'HTTPS://', 'ftp://', '', '//', 'https:/');
	const names = fc.constantFrom(...'v1 V1 models responses images chat .. . ai %76'.split(' '), '');
	const path = fc.array(fc.oneof(names, fc.string({ maxLength: 6 })), { maxLength: 6 });
	const address = fc
		.tuple(scheme, host, path)
		.map(([start, name, segments]) => [start + name, ...segments].join('/'));
	const typed = fc.oneof(address, address, fc.webUrl(), fc.string({ unit: 'binary' }));

	let bases = 0;
	fc.assert(
		fc.property(typed, (text) => {
			let base: string;
			try {
				base = normalizeBaseUrl(text);
			} catch (error) {
				expect(error).toBeInstanceOf(ValidationError);
				return;
			}
			bases++;
			expect(normalizeBaseUrl(base)).toBe(base);
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
	expect(bases).toBeGreaterThan(100);
});
