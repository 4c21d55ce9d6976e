import { createHmac, timingSafeEqual } from 'node:crypto';

/** Signs and checks addresses of the storage: HMAC over path and expiry. */
export class Signer {
	constructor(private readonly secret: string) {}

	/**
	 * Path and query of a signed address.
	 * @param expires Unix seconds from which it is refused
	 */
	sign(path: string, expires: number): string {
		return `${path}?expires=${expires}&signature=${this.signature(path, String(expires))}`;
	}

	/**
	 * Why an address is refused; `undefined` if it is valid.
	 * @param now milliseconds since the Unix epoch
	 */
	fault(url: URL, now: number): 'SignatureDoesNotMatch' | 'AccessDenied' | undefined {
		const expires = url.searchParams.get('expires') ?? '';
		const given = Buffer.from(url.searchParams.get('signature') ?? '');
		const right = Buffer.from(this.signature(url.pathname, expires));
		if (given.length !== right.length || !timingSafeEqual(given, right)) {
			return 'SignatureDoesNotMatch';
		}
		return now >= Number(expires) * 1000 ? 'AccessDenied' : undefined;
	}

	private signature(path: string, expires: string) {
		return createHmac('sha256', this.secret).update(`${path}\n${expires}`).digest('hex');
	}
}
