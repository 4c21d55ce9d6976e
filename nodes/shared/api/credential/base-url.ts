import { ValidationError } from '../errors/errors';
import { isPrivateHost } from './private-host';

const FIELD = 'Base URL';
/** Characters of the longest address that servers and proxies commonly take. */
const LONGEST = 2048;

const EXAMPLE = 'Enter the address as the gateway shows it, such as https://api.example.com/v1';

/** What people paste after the version, or in its place: the contract's endpoints. */
const ENDPOINTS = /^(models|responses|images|chat|messages|completions)$/i;

/** What the credential allows beside https. */
export interface BaseUrlRules {
	/** Whether http is accepted for hosts of private networks. */
	allowPrivateHttp?: boolean;
}

/**
 * The only place of the base URL rule: makes the service's base address of what a user pasted. It
 * mends spaces, slashes, a missing scheme, a missing or doubled `/v1`, and an endpoint path after
 * it. It refuses what could send the key to the wrong place.
 *
 * @param input as typed into the credential
 * @returns the base address: origin, path prefix and `/v1` exactly once, no slash at the end
 * @throws {ValidationError} no host, a query or fragment, a user name, or another scheme than
 * https. Loopback may use http, and so may private networks if the rules allow it
 * @see contract, introduction (`/v1` exactly once) and "Authentication" 7 (TLS)
 */
export function normalizeBaseUrl(
	input: string,
	{ allowPrivateHttp = false }: BaseUrlRules = {},
): string {
	const text = input.trim();
	if (text === '') throw new ValidationError(FIELD, 'is empty', EXAMPLE);
	if (text.length > LONGEST) {
		throw new ValidationError(FIELD, `is longer than ${LONGEST} characters`, EXAMPLE);
	}
	// eslint-disable-next-line no-control-regex
	if (/[\s\u0000-\u001f\u007f\\]/.test(text)) {
		throw new ValidationError(FIELD, 'contains a space, a backslash or a line break', EXAMPLE);
	}
	if (/[?#]/.test(text)) {
		throw new ValidationError(
			FIELD,
			'contains a query or a fragment (? or #)',
			'Remove everything from the ? or # on; the key belongs in the API Key field.',
		);
	}

	const url = parse(text, allowPrivateHttp);
	if (url.protocol === 'http:' && !isHttpAllowed(url, allowPrivateHttp)) {
		throw new ValidationError(
			FIELD,
			'uses http, which would send the key unencrypted',
			'Use https. Plain http is allowed for a gateway on this machine (localhost). For one in a private network, turn on Allow HTTP in a Private Network in the credential.',
		);
	}
	return url.origin + versionedPath(url.pathname);
}

function isHttpAllowed({ hostname }: URL, inPrivateNetworks: boolean): boolean {
	return isLoopback(hostname) || (inPrivateNetworks && isPrivateHost(hostname));
}

/** Whether a host name from a parsed URL can only be this machine. */
function isLoopback(hostname: string): boolean {
	return (
		hostname === 'localhost' ||
		hostname.endsWith('.localhost') ||
		hostname === '[::1]' ||
		/^127(\.\d{1,3}){3}$/.test(hostname)
	);
}

function parse(text: string, allowPrivateHttp: boolean): URL {
	const [, schemes = '', rest = ''] = /^((?:[a-z][a-z0-9+.-]*:\/\/)*)(.*)$/i.exec(text) ?? [];
	const scheme = schemes.split('://').at(-2)?.toLowerCase();
	if (scheme !== undefined && scheme !== 'https' && scheme !== 'http') {
		throw new ValidationError(FIELD, `uses ${scheme}, which is not a web address`, EXAMPLE);
	}
	const authority = rest.split('/')[0] ?? '';
	if (authority.includes('@')) {
		throw new ValidationError(
			FIELD,
			'contains a user name',
			'Remove the part before the @; the key belongs in the API Key field.',
		);
	}
	const isHost =
		scheme === undefined
			? /^(localhost|[^:]+\.[^:]+|\[.+\])(:\d+)?$/i.test(authority)
			: authority.replace(/:\d*$/, '') !== '';
	if (!isHost) throw new ValidationError(FIELD, 'has no host', EXAMPLE);
	const address = `${scheme ?? 'https'}://${rest}`;
	const url = URL.canParse(address) ? new URL(address) : undefined;
	if (!url || (isRewritten(authority, url) && !isMeant(url, allowPrivateHttp))) {
		throw new ValidationError(FIELD, 'is not a valid address', EXAMPLE);
	}
	return url;
}

/** Whether numbers were typed that mean another IPv4 address than they show, such as 127.1. */
function isRewritten(authority: string, { hostname }: URL): boolean {
	const isIpv4 = /^\d+(\.\d+){3}$/.test(hostname);
	return isIpv4 && authority.replace(/:\d*$/, '').replace(/\.$/, '') !== hostname;
}

/** Any notation of a private address is what the switch for them allows. */
function isMeant({ protocol, hostname }: URL, allowPrivateHttp: boolean): boolean {
	return allowPrivateHttp && protocol === 'http:' && isPrivateHost(hostname);
}

/** The path up to and with its last `/v1`; `/v1` is put where there is none. */
function versionedPath(pathname: string): string {
	const segments = pathname.split('/').filter((segment) => segment !== '');
	const isVersion = (segment: string | undefined) => segment?.toLowerCase() === 'v1';

	const end = segments.findLastIndex(isVersion);
	const endpoint = segments.findIndex((segment) => ENDPOINTS.test(segment));
	const prefix = segments.slice(0, end >= 0 ? end : endpoint >= 0 ? endpoint : segments.length);
	while (isVersion(prefix.at(-1))) prefix.pop();
	return ['', ...prefix, 'v1'].join('/');
}
