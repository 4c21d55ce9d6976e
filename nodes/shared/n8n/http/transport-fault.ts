import { RequestAborted } from '../../api/http/abort';
import { faultKind, TransportFault } from '../../api/http/transport';

/**
 * Reads a helper's error as a fault of the connection. Only its code goes on: what n8n wraps holds
 * the request with its headers, and so the key.
 * @returns the error itself where it is none of the network's
 */
export function toTransportFault(error: unknown): unknown {
	const chain = getCauses(error);
	if (chain.some(isSsrfProtection)) return new TransportFault('blocked');
	const innermost = (field: 'code' | 'syscall') =>
		chain.map((cause) => cause[field]).findLast((found) => typeof found === 'string');
	const code = getAlert(chain) ?? innermost('code');
	if (code === 'ERR_CANCELED') return new RequestAborted();
	const known = code !== undefined || chain.some((cause) => cause.isAxiosError === true);
	if (!known) return error;
	const kind = chain.some(isNeverConnected) ? 'unreached' : faultKind(code, innermost('syscall'));
	return new TransportFault(kind, code);
}

interface Cause {
	name?: unknown;
	message?: unknown;
	code?: unknown;
	syscall?: unknown;
	isAxiosError?: unknown;
	cause?: unknown;
	/** Of an `AggregateError`. */
	errors?: unknown;
}

function getCauses(error: unknown): Cause[] {
	const chain: Cause[] = [];
	for (let next = error; isErrorLike(next) && !chain.includes(next); next = next.cause) {
		chain.push(next);
	}
	return chain;
}

/** Errors of Node's own have another `Error` than code that runs in a context of its own. */
function isErrorLike(value: unknown): value is Cause {
	return typeof value === 'object' && value !== null && 'message' in value;
}

/** Whether n8n's own protection refused the address: by the error's class, as hosts have any name. */
function isSsrfProtection(cause: Cause): boolean {
	return [cause.name, cause.constructor.name].some((name) => /^Ssrf\w*Error$/i.test(String(name)));
}

/**
 * Whether a host has several addresses, and none of them took the connection: Node then throws one
 * error that holds that of each.
 */
function isNeverConnected({ errors }: Cause): boolean {
	const each = Array.isArray(errors) ? (errors as unknown[]) : [];
	return each.length > 0 && each.every((error) => isErrorLike(error) && isUnreached(error));
}

const isUnreached = ({ code, syscall }: Cause) =>
	faultKind(getText(code), getText(syscall)) === 'unreached';

const getText = (value: unknown) => (typeof value === 'string' ? value : undefined);

/**
 * The code of the alert that OpenSSL names in its message. Node puts it into `code` only where it
 * was reading; where it was writing, `code` is `EPROTO`.
 */
function getAlert(chain: Cause[]): string | undefined {
	const reasons = chain.map(
		({ code, message }) =>
			code === 'EPROTO' && /:SSL routines:[^:]*:([^:]*\balert [^:]+):/.exec(String(message))?.[1],
	);
	const reason = reasons.find(Boolean);
	return reason ? `ERR_SSL_${reason.toUpperCase().replaceAll(' ', '_')}` : undefined;
}
