import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/**
 * A certificate and its key, as `tls` takes them. Both are made anew each time and never stored.
 */
export interface Certificate {
	key: string;
	cert: string;
}

/** An authority that signs certificates. */
export interface Authority extends Certificate {
	name: string;
	privateKey: KeyObject;
}

const DAY = 86_400_000;

/** Makes an authority that no client trusts. */
export function newAuthority(name = 'Authority of a test'): Authority {
	const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const cert = certificate({ subject: name, issuer: name, ...pair, signer: pair.privateKey });
	return { name, privateKey: pair.privateKey, key: pem(pair.privateKey), cert };
}

/**
 * A server's certificate.
 * @param hosts the names it is for
 * @param options.authority the authority that signs it; without one it is self-signed
 * @param options.days days for which it is valid, from a day ago; if negative, it expired that many
 * days ago
 */
export function newCertificate(
	hosts: string[],
	{ authority, days = 30 }: { authority?: Authority; days?: number } = {},
): Certificate {
	const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const subject = hosts[0] ?? 'nobody';
	const end = Date.now() + days * DAY;
	const cert = certificate({
		subject,
		issuer: authority?.name ?? subject,
		publicKey: pair.publicKey,
		signer: authority?.privateKey ?? pair.privateKey,
		hosts,
		from: Math.min(Date.now() - DAY, end - DAY),
		end,
	});
	return { key: pem(pair.privateKey), cert };
}

const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();

interface Contents {
	subject: string;
	issuer: string;
	publicKey: KeyObject;
	signer: KeyObject;
	/** Absent for the certificate of an authority. */
	hosts?: string[];
	from?: number;
	end?: number;
}

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
const BASIC_CONSTRAINTS = '2.5.29.19';
const SUBJECT_ALT_NAME = '2.5.29.17';

/** An X.509 certificate (RFC 5280, section 4.1), signed, as PEM. */
function certificate({
	subject,
	issuer,
	publicKey,
	signer,
	hosts,
	from = Date.now() - DAY,
	end = Date.now() + 30 * DAY,
}: Contents): string {
	const algorithm = sequence(objectId(ECDSA_WITH_SHA256));
	const constraints = sequence(...(hosts ? [] : [element(0x01, Buffer.from([0xff]))]));
	const names = (hosts ?? []).map((host) => element(0x82, Buffer.from(host, 'latin1')));
	const extensions = [
		sequence(objectId(BASIC_CONSTRAINTS), element(0x04, constraints)),
		...(names.length > 0
			? [sequence(objectId(SUBJECT_ALT_NAME), element(0x04, sequence(...names)))]
			: []),
	];
	const body = sequence(
		element(0xa0, element(0x02, Buffer.from([2]))),
		element(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
		algorithm,
		nameOf(issuer),
		sequence(time(from), time(end)),
		nameOf(subject),
		publicKey.export({ type: 'spki', format: 'der' }),
		element(0xa3, sequence(...extensions)),
	);
	const signature = sign('sha256', body, signer);
	const der = sequence(
		body,
		algorithm,
		element(0x03, Buffer.concat([Buffer.from([0]), signature])),
	);
	const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
	return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** A DER element: tag, length, content (ITU-T X.690). */
function element(tag: number, content: Buffer): Buffer {
	const { length } = content;
	const size =
		length < 0x80
			? [length]
			: length < 0x100
				? [0x81, length]
				: [0x82, Math.floor(length / 256), length % 256];
	return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Buffer[]) => element(0x30, Buffer.concat(parts));

const nameOf = (name: string) =>
	sequence(element(0x31, sequence(objectId(COMMON_NAME), element(0x0c, Buffer.from(name)))));

function objectId(dotted: string): Buffer {
	const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
	const bytes = rest.flatMap((arc) => {
		const digits = [arc % 128];
		for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) {
			digits.unshift((left % 128) + 128);
		}
		return digits;
	});
	return element(0x06, Buffer.from([first * 40 + second, ...bytes]));
}

const time = (ms: number) =>
	element(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));
