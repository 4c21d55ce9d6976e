import { normalizeBaseUrl } from '../../../nodes/shared/api/credential/base-url';
import { refusalOf } from './arrange';

const allowed = (text: string) => normalizeBaseUrl(text, { allowPrivateHttp: true });

test.each([
	['10/8', '10.0.0.0 10.1.2.3 10.255.255.255'],
	['172.16/12', '172.16.0.0 172.20.1.2 172.31.255.255'],
	['192.168/16', '192.168.0.0 192.168.1.10 192.168.255.255'],
	['100.64/10', '100.64.0.0 100.100.1.1 100.127.255.255'],
	['fc00::/7', '[fc00::] [fc00::1] [fd12:3456:789a::1] [fd00:0:0:0:0:0:0:1]=[fd00::1]'],
	['fc00::/7 in capitals', '[FDFF:ffff::ffff]=[fdff:ffff::ffff]'],
	['IPv4-mapped IPv6', '[::ffff:10.0.0.1]=[::ffff:a00:1] [::FFFF:c0a8:10a]=[::ffff:c0a8:10a]'],
	['IPv4-mapped IPv6 at length', '[0:0:0:0:0:ffff:172.16.0.1]=[::ffff:ac10:1]'],
	['IPv4-mapped 100.64/10', '[::ffff:100.64.0.1]=[::ffff:6440:1]'],
	['decimal', '167772161=10.0.0.1 3232235777=192.168.1.1 2886729729=172.16.0.1'],
	['hexadecimal', '0x0a000001=10.0.0.1 0xA.0x0.0x0.0x1=10.0.0.1 0xc0.168.1.1=192.168.1.1'],
	['octal', '012.0.0.1=10.0.0.1 0300.0250.1.1=192.168.1.1 0144.0100.0.1=100.64.0.1'],
	['short forms', '10.1=10.0.0.1 192.168.257=192.168.1.1 172.16.1=172.16.0.1'],
	['an address with a dot behind', '10.0.0.1.=10.0.0.1 0xa000001.=10.0.0.1'],
	['full-width digits', '１０.０.０.１=10.0.0.1'],
	['a name of one label', 'gateway GATEWAY=gateway my-gateway_1 gateway. n8n'],
	['*.internal', 'host.docker.internal host.docker.internal. gw.internal GW.Internal=gw.internal'],
	['*.local', 'nas.local gw.nas.local nas.local.'],
	['*.lan', 'gw.lan gw.lan.'],
	['*.home.arpa', 'gw.home.arpa a.b.home.arpa.'],
])('with the switch, http is accepted for a host of a private network: %s', (_, hosts) => {
	for (const pair of hosts.split(' ')) {
		const [host = '', written = host] = pair.split('=');
		expect([host, allowed(`http://${host}:8080`)]).toEqual([host, `http://${written}:8080/v1`]);
		expect(allowed(allowed(`http://${host}/ai/v1/models`))).toBe(`http://${written}/ai/v1`);
	}
});

const PLAIN = /^Base URL uses http/;
const INVALID = /^Base URL is not a valid address$/;
const EITHER = /^Base URL (uses http|is not a valid)/;

test.each<[string, hosts: string, problem: RegExp]>([
	['beside 10/8', '9.255.255.255 11.0.0.0', PLAIN],
	['beside 172.16/12', '172.15.255.255 172.32.0.0', PLAIN],
	['beside 192.168/16', '192.167.255.255 192.169.0.0 191.168.0.0 193.168.0.0', PLAIN],
	['beside 100.64/10', '100.63.255.255 100.128.0.0 99.64.0.0 101.64.0.0', PLAIN],
	['public addresses', '8.8.8.8 203.0.113.7 0.0.0.0 255.255.255.255 224.0.0.1', PLAIN],
	['link-local addresses', '169.254.169.254 169.254.0.1 [fe80::1] [febf::1]', PLAIN],
	['link-local addresses, mapped', '[::ffff:169.254.169.254] [::ffff:a9fe:a9fe]', PLAIN],
	['public addresses, mapped', '[::ffff:8.8.8.8] [::ffff:172.32.0.1]', PLAIN],
	['others that hold a private one', '[::10.0.0.1] [64:ff9b::10.0.0.1] [2002:a00:1::]', PLAIN],
	['public IPv6', '[2001:db8::7] [fbff::1] [fe00::1] [fc::1] [fd::1] [::] [ff02::1]', PLAIN],
	['loopback, mapped', '[::ffff:127.0.0.1]', PLAIN],
	['the metadata services of clouds', 'metadata.google.internal metadata.google.internal.', PLAIN],
	['metadata services by short names', 'metadata instance-data.ec2.internal', PLAIN],
	['public names', 'api.example.com gateway.example gw.internal.example.com local.example', PLAIN],
	['names that only look private', 'gw.notinternal gwlocal.example gw.lan.com gw.arpa', PLAIN],
	['a private name inside another', 'home.arpa.example', PLAIN],
	['a private address as a part of a name', '10.0.0.1.example.com 192.168.1.10.nip.io', PLAIN],
	['look-alikes in other scripts', 'gаteway gw.lаn gw.lосal büro.local xn--bro-hoa.local', EITHER],
	['the ends alone, and empty labels', 'gw..local .local gateway.. gw..', EITHER],
	['other signs', "gate!way gw'.local gw$.lan *.lan", EITHER],
	['link-local in decimal or hexadecimal', '2852039166 0xa9fea9fe 0xa9.0xfe.0xa9.0xfe', INVALID],
	['link-local in other notations', '0251.0376.0251.0376 169.254.43518', INVALID],
	['public in other notations', '134744072 0x08080808 010.010.010.010 010.0.0.1 8.8', INVALID],
	['loopback in other notations', '2130706433 0x7f000001 127.1 0177.0.0.1', INVALID],
])('also with the switch http is refused for anything else: %s', (_, hosts, problem) => {
	for (const host of hosts.split(' ')) {
		const { message } = refusalOf(() => allowed(`http://${host}`));
		expect([host, message]).toEqual([host, expect.stringMatching(problem)]);
	}
});

test('https, loopback and everything else are with the switch as without it', () => {
	const LOOPBACK = 'http://localhost:1 http://127.0.0.1 http://[::1]';
	for (const text of `https://api.example.com ${LOOPBACK} gw.lan https://10.0.0.1`.split(' '))
		expect(allowed(text)).toBe(normalizeBaseUrl(text));
	const bad = 'https://10.1 http://me@gateway http://gateway?key=1 ftp://gateway gateway:8080';
	for (const text of bad.split(' ')) {
		const { message } = refusalOf(() => normalizeBaseUrl(text));
		expect(refusalOf(() => allowed(text)).message).toBe(message);
	}
});
