import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { GatewaySwitches } from './switches';

/** The IDs of one request. */
interface RequestIds {
	/** In the log. */
	logged: { id: string; clientId?: string };
	/** In the headers of the reply. */
	headers: Record<string, string>;
	/** The ID that the provider gives to the request. */
	provider?: string;
}

/**
 * The IDs of the request with this number (contract: Headers). `twice` does as the recorded
 * gateway: it keeps the caller's `X-Request-ID`. It makes its own `X-Client-Request-ID`.
 */
export function requestIdsOf(
	headers: IncomingHttpHeaders,
	number: number,
	style: GatewaySwitches['requestIds'],
): RequestIds {
	const own = `req_${String(number).padStart(6, '0')}`;
	if (style === 'twice') return twice(headers['x-request-id'], number);
	if (style) return { logged: { id: own }, headers: { [style]: own } };
	const clientId = headers['x-client-request-id'];
	const echo: Record<string, string> =
		typeof clientId === 'string' ? { 'X-Client-Request-ID': clientId } : {};
	return { logged: { id: own }, headers: { 'X-Request-ID': own, ...echo } };
}

function twice(given: string | string[] | undefined, number: number): RequestIds {
	const id = typeof given === 'string' && given !== '' ? given : uuidOf(`request ${number}`);
	const client = uuidOf(`client ${number}`);
	return {
		logged: { id, clientId: `client:${client}` },
		headers: { 'X-Request-ID': id, 'X-Client-Request-ID': client },
		provider: `req_${uuidOf(`provider ${number}`).replaceAll('-', '').slice(0, 12)}`,
	};
}

/** A UUID, chosen by a text. */
function uuidOf(text: string): string {
	const hex = createHash('sha256').update(text).digest('hex');
	const parts = [
		hex.slice(0, 8),
		hex.slice(8, 12),
		`4${hex.slice(13, 16)}`,
		`a${hex.slice(17, 20)}`,
	];
	return [...parts, hex.slice(20, 32)].join('-');
}
