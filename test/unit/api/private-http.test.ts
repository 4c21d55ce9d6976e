import fc from '../../support/fast-check';
import { normalizeBaseUrl } from '../../../nodes/shared/api/credential/base-url';
import { refusalOf } from './arrange';

const SWITCH = 'Allow HTTP in a Private Network';
const allowed = (text: string) => normalizeBaseUrl(text, { allowPrivateHttp: true });

describe('With the switch, http is accepted for a host of a private network:', () => {
	test.each<[string, Array<[host: string, written?: string]>]>([
		['10/8', [['10.0.0.0'], ['10.1.2.3'], ['10.255.255.255']]],
		['172.16/12', [['172.16.0.0'], ['172.20.1.2'], ['172.31.255.255']]],
		['192.168/16', [['192.168.0.0'], ['192.168.1.10'], ['192.168.255.255']]],
		['100.64/10', [['100.64.0.0'], ['100.100.1.1'], ['100.127.255.255']]],
		[
			'fc00::/7',
			[
				['[fc00::]'],
				['[fc00::1]'],
				['[fd12:3456:789a::1]'],
				['[FDFF:ffff:ffff:ffff:ffff:ffff:ffff:ffff]', '[fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]'],
				['[fd00:0:0:0:0:0:0:1]', '[fd00::1]'],
			],
		],
		[
			'IPv4-mapped IPv6',
			[
				['[::ffff:10.0.0.1]', '[::ffff:a00:1]'],
				['[::FFFF:c0a8:10a]', '[::ffff:c0a8:10a]'],
				['[0:0:0:0:0:ffff:172.16.0.1]', '[::ffff:ac10:1]'],
				['[::ffff:100.64.0.1]', '[::ffff:6440:1]'],
			],
		],
		[
			'decimal',
			[
				['167772161', '10.0.0.1'],
				['3232235777', '192.168.1.1'],
				['2886729729', '172.16.0.1'],
			],
		],
		[
			'hexadecimal',
			[
				['0x0a000001', '10.0.0.1'],
				['0xA.0x0.0x0.0x1', '10.0.0.1'],
				['0xc0.168.1.1', '192.168.1.1'],
			],
		],
		[
			'octal',
			[
				['012.0.0.1', '10.0.0.1'],
				['0300.0250.1.1', '192.168.1.1'],
				['0144.0100.0.1', '100.64.0.1'],
			],
		],
		[
			'short forms',
			[
				['10.1', '10.0.0.1'],
				['192.168.257', '192.168.1.1'],
				['172.16.1', '172.16.0.1'],
			],
		],
		[
			'an address with a dot behind',
			[
				['10.0.0.1.', '10.0.0.1'],
				['0xa000001.', '10.0.0.1'],
			],
		],
		['full-width digits', [['１０.０.０.１', '10.0.0.1']]],
		[
			'a name of one label',
			[['gateway'], ['GATEWAY', 'gateway'], ['my-gateway_1'], ['gateway.'], ['n8n']],
		],
		[
			'*.internal',
			[
				['host.docker.internal'],
				['host.docker.internal.'],
				['gw.internal'],
				['HOST.Docker.Internal', 'host.docker.internal'],
			],
		],
		['*.local', [['nas.local'], ['gw.nas.local'], ['nas.local.']]],
		['*.lan', [['gw.lan'], ['gw.lan.']]],
		['*.home.arpa', [['gw.home.arpa'], ['a.b.home.arpa.']]],
	])('%s', (_, hosts) => {
		for (const [host, written = host] of hosts) {
			expect([host, allowed(`http://${host}:8080`)]).toEqual([host, `http://${written}:8080/v1`]);
			expect(allowed(allowed(`http://${host}/ai/v1/models`))).toBe(`http://${written}/ai/v1`);
		}
	});

	test('without the switch it is refused, and the refusal names the switch', () => {
		for (const host of [
			'10.0.0.1',
			'192.168.1.10',
			'[fd00::1]',
			'[::ffff:10.0.0.1]',
			'gateway',
			'a.lan',
		]) {
			for (const rules of [undefined, {}, { allowPrivateHttp: false }]) {
				const error = refusalOf(() => normalizeBaseUrl(`http://${host}:8080`, rules));
				expect(error.message).toBe('Base URL uses http, which would send the key unencrypted');
				expect(error.details.advice).toContain(SWITCH);
			}
		}
	});
});

describe('Also with the switch http is refused for anything else:', () => {
	test.each<[string, string[]]>([
		['beside 10/8', ['9.255.255.255', '11.0.0.0']],
		['beside 172.16/12', ['172.15.255.255', '172.32.0.0']],
		['beside 192.168/16', ['192.167.255.255', '192.169.0.0']],
		['beside 100.64/10', ['100.63.255.255', '100.128.0.0']],
		['public addresses', ['8.8.8.8', '203.0.113.7', '0.0.0.0', '255.255.255.255', '224.0.0.1']],
		[
			'link-local addresses',
			['169.254.169.254', '169.254.0.1', '169.254.255.255', '[fe80::1]', '[febf::1]'],
		],
		['link-local addresses, mapped', ['[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]']],
		['public addresses, mapped', ['[::ffff:8.8.8.8]', '[::ffff:172.32.0.1]']],
		[
			'other addresses that hold a private one',
			['[::10.0.0.1]', '[64:ff9b::10.0.0.1]', '[2002:a00:1::]'],
		],
		[
			'public IPv6',
			['[2001:db8::7]', '[fbff::1]', '[fe00::1]', '[fc::1]', '[fd::1]', '[::]', '[ff02::1]'],
		],
		['loopback, mapped', ['[::ffff:127.0.0.1]']],
		[
			'the metadata services of clouds',
			[
				'metadata.google.internal',
				'metadata.google.internal.',
				'metadata',
				'instance-data.ec2.internal',
			],
		],
		[
			'public names',
			['api.example.com', 'gateway.example', 'gw.internal.example.com', 'local.example'],
		],
		[
			'names that only look private',
			['gw.notinternal', 'gwlocal.example', 'gw.lan.com', 'gw.arpa', 'home.arpa.example'],
		],
		[
			'a private address as a part of a name',
			['10.0.0.1.example.com', '192.168.1.10.nip.io', 'x10.0.0.example'],
		],
		[
			'look-alikes in other scripts',
			['gаteway', 'gw.lаn', 'gw.lосal', 'büro.local', 'xn--bro-hoa.local', 'xn--80ak6aa92e'],
		],
		['the ends alone, and empty labels', ['gw..local', '.local', 'gateway..', 'gw..']],
		['other signs', ['gate!way', "gw'.local", 'gw$.lan', '*.lan']],
	])('%s', (_, hosts) => {
		for (const host of hosts) {
			const error = refusalOf(() => allowed(`http://${host}:8080/v1`));
			expect([host, error.message]).toEqual([
				host,
				expect.stringMatching(/^Base URL (uses http|is not a valid)/),
			]);
		}
	});

	test.each<[string, string[]]>([
		[
			'link-local',
			['2852039166', '0xa9fea9fe', '0xa9.0xfe.0xa9.0xfe', '0251.0376.0251.0376', '169.254.43518'],
		],
		['public', ['134744072', '0x08080808', '010.010.010.010', '010.0.0.1', '8.8']],
		[
			'loopback, which is as without the switch',
			['2130706433', '0x7f000001', '127.1', '0177.0.0.1'],
		],
	])('other notations of addresses that are %s', (_, hosts) => {
		for (const host of hosts) {
			expect(refusalOf(() => allowed(`http://${host}`)).message).toBe(
				'Base URL is not a valid address',
			);
		}
	});

	test('https, loopback and everything else are as without the switch', () => {
		for (const text of [
			'https://api.example.com',
			'http://localhost:1',
			'http://127.0.0.1',
			'http://[::1]',
			'gw.lan',
			'https://10.0.0.1',
		]) {
			expect(allowed(text)).toBe(normalizeBaseUrl(text));
		}
		for (const text of [
			'https://10.1',
			'http://me@gateway',
			'http://gateway?key=1',
			'ftp://gateway',
			'gateway:8080',
		]) {
			expect(refusalOf(() => allowed(text)).message).toBe(
				refusalOf(() => normalizeBaseUrl(text)).message,
			);
		}
	});

	test('whatever address is typed: the ranges decide', () => {
		const octet = fc.integer({ min: 0, max: 255 });
		const start = fc.constantFrom(9, 10, 11, 100, 127, 169, 172, 192, 193);
		const second = fc.oneof(
			octet,
			fc.constantFrom(15, 16, 31, 32, 63, 64, 127, 128, 167, 168, 169, 254),
		);
		fc.assert(
			fc.property(start, second, octet, octet, (a, b, c, d) => {
				const isPrivate =
					a === 10 ||
					(a === 172 && b >= 16 && b <= 31) ||
					(a === 192 && b === 168) ||
					(a === 100 && b >= 64 && b <= 127);
				const number = ((a * 256 + b) * 256 + c) * 256 + d;
				const forms = [
					`${a}.${b}.${c}.${d}`,
					`[::ffff:${a}.${b}.${c}.${d}]`,
					String(number),
					`0x${number.toString(16)}`,
				];
				for (const [index, form] of forms.entries()) {
					if (a === 127 && index === 0) continue;
					const read = () => allowed(`http://${form}`);
					if (isPrivate) expect(read()).toMatch(/^http:\/\/.+\/v1$/);
					else expect(() => [form, read()]).toThrow(/^Base URL/);
				}
			}),
			{ numRuns: 500 },
		);
	});
});
