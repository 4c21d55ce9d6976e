/** A range of IPv4 addresses: those whose first `bits` bits are those of `start`. */
type Range = readonly [start: readonly number[], bits: number];

/** RFC 1918 and RFC 6598. Link-local addresses, by which clouds hand out secrets, are not among them. */
const PRIVATE_IPV4: Range[] = [
	[[10, 0, 0, 0], 8],
	[[172, 16, 0, 0], 12],
	[[192, 168, 0, 0], 16],
	[[100, 64, 0, 0], 10],
];

/** `fc00::/7`. Its first group has four digits, so that `[fc::1]` is another address. */
const PRIVATE_IPV6 = /^\[f[cd][0-9a-f]{2}:/;

/** An IPv4 address in IPv6's form, as `URL` writes it. */
const MAPPED_IPV4 = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/;

/** Ends that no public name has. */
const PRIVATE_ENDS = ['internal', 'local', 'lan', 'home.arpa'];

/** Names of clouds' metadata services, which look private and lead to link-local addresses. */
const METADATA = [
	'metadata',
	'metadata.google.internal',
	'instance-data',
	'instance-data.ec2.internal',
];

/** One part of a name, in ASCII. */
const LABEL = /^[a-z0-9_-]{1,63}$/;

/**
 * Whether a host can only be in a private network, by its name or address alone: nothing is looked
 * up.
 * @param hostname of a parsed `URL`, which writes each notation of an address in one way
 */
export function isPrivateHost(hostname: string): boolean {
	if (hostname.startsWith('[')) {
		const mapped = parseMapped(hostname);
		return mapped ? isPrivateIpv4(mapped) : PRIVATE_IPV6.test(hostname);
	}
	const octets = parseIpv4(hostname);
	return octets ? isPrivateIpv4(octets) : isPrivateName(hostname.replace(/\.$/, ''));
}

function parseIpv4(hostname: string): number[] | undefined {
	return /^\d+(\.\d+){3}$/.test(hostname) ? hostname.split('.').map(Number) : undefined;
}

function parseMapped(hostname: string): number[] | undefined {
	const groups = MAPPED_IPV4.exec(hostname)?.slice(1);
	return groups
		?.map((group) => parseInt(group, 16))
		.flatMap((group) => [Math.floor(group / 256), group % 256]);
}

function isPrivateIpv4(octets: number[]): boolean {
	const address = toNumber(octets);
	return PRIVATE_IPV4.some(([start, bits]) => {
		const size = 2 ** (32 - bits);
		return Math.floor(address / size) === Math.floor(toNumber(start) / size);
	});
}

const toNumber = (octets: readonly number[]) => octets.reduce((sum, octet) => sum * 256 + octet, 0);

function isPrivateName(name: string): boolean {
	const labels = name.split('.');
	// A label with letters of other scripts may look like another name.
	const isPlain = labels.every((label) => LABEL.test(label) && !label.startsWith('xn--'));
	if (!isPlain || METADATA.includes(name)) return false;
	return labels.length === 1 || PRIVATE_ENDS.some((end) => name.endsWith(`.${end}`));
}
