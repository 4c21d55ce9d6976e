import { header, type GatewayReply } from '../http/transport';
import { sanitizeField, type Redact } from './sanitize';

/** The IDs by which the gateway knows a request. */
export interface ReplyIds {
	/** The gateway's request ID, else the one that was sent. */
	requestId?: string;
	/** `X-Client-Request-ID`: some gateways list requests under it in their console. */
	clientRequestId?: string;
}

/** Headers in which gateways name a request, the contract's first. */
const REQUEST_ID_HEADERS = [
	'x-request-id',
	'request-id',
	'x-litellm-call-id',
	'x-oneapi-request-id',
];

/** Characters of the longest ID that is shown. */
const LONGEST_ID = 200;

/**
 * The IDs that a reply names.
 * @see contract, "Errors" 3
 */
export function getReplyIds(
	redact: Redact,
	{ headers, sentId }: Pick<GatewayReply, 'headers' | 'sentId'>,
): ReplyIds {
	const read = (name: string) => readId(redact, header(headers, name));
	const requestId = REQUEST_ID_HEADERS.map(read).find(Boolean) ?? sentId;
	const clientRequestId = read('x-client-request-id');
	return {
		...(requestId !== undefined && { requestId }),
		...(clientRequestId !== undefined && { clientRequestId }),
	};
}

/** The IDs alone, of anything that has them. */
export function pickIds({ requestId, clientRequestId }: ReplyIds): ReplyIds {
	return { requestId, clientRequestId };
}

/** The gateway's own ID comes first where proxies or providers have added theirs: `a, b`. */
function readId(redact: Redact, value: string | undefined): string | undefined {
	const [first] = redact(value ?? '').split(',');
	return sanitizeField((text) => text, first, LONGEST_ID) || undefined;
}
