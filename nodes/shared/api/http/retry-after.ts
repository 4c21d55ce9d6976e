import { parseHttpDate } from './http-date';
import { header, type Headers } from './transport';

/** Characters of the longest value that can mean something; an HTTP date has 29 or a few more. */
const LONGEST = 64;

/** As LiteLLM passes on what its provider said. */
const PROVIDERS = 'llm_provider-retry-after';

/**
 * Reads `Retry-After`: seconds in digits, or an HTTP date in one of its three forms. A date counts
 * from the reply's own `Date` header if it has one. A wrong clock on either side then does no harm.
 *
 * @param now milliseconds since the epoch, by the local clock
 * @returns seconds, 0 or more; undefined where the header is absent, negative or makes no sense
 * @see contract, "Errors" (429) and "Limits"
 */
export function parseRetryAfter(headers: Headers, now: number): number | undefined {
	const value = (header(headers, 'retry-after') ?? header(headers, PROVIDERS))?.trim();
	if (value === undefined || value === '' || value.length > LONGEST) return undefined;
	if (/^\d+(\.\d+)?$/.test(value)) {
		const seconds = Number(value);
		return Number.isFinite(seconds) ? seconds : undefined;
	}
	const date = parseHttpDate(value, now);
	if (date === undefined) return undefined;
	return Math.max(0, Math.ceil((date - readGatewayTime(headers, now)) / 1000));
}

/**
 * The gateway's idea of the present, from the reply's `Date` header.
 * @returns milliseconds since the epoch; `now` where the header is absent or makes no sense
 */
export function readGatewayTime(headers: Headers, now: number): number {
	const date = (header(headers, 'date') ?? '').slice(0, LONGEST).trim();
	return parseHttpDate(date, now) ?? now;
}
