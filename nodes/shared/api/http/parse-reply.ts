import { InvalidResponseError, type ErrorDetails } from '../errors/errors';
import { HTML_ADVICE } from '../errors/evidence';
import { isHtml, unusableReply } from '../errors/from-reply';
import { getReplyIds } from '../errors/reply-ids';
import { sanitizeField } from '../errors/sanitize';
import type { Client, ParsedReply } from './client';
import { parseJson } from './json';
import type { RequestKind } from './retry';
import type { GatewayReply } from './transport';

/**
 * Parses a success reply. What parses as JSON is JSON, whatever its content type says.
 * @throws {InvalidResponseError} it is no JSON
 * @see contract, "Errors" 5
 */
export function parseReply(client: Client, kind: RequestKind, reply: GatewayReply): ParsedReply {
	const ids = getReplyIds(client.redact, reply);
	const json = parseJson(reply.body);
	if (json !== undefined) return { json, reply, ...ids };
	throw new InvalidResponseError(describeBody(client, reply), {
		...notJsonFacts(kind, isHtml(reply)),
		httpStatus: reply.status,
		...ids,
	});
}

function describeBody({ redact }: Client, reply: GatewayReply): string {
	if (isHtml(reply)) return 'The gateway answered with a web page (HTML) in place of JSON';
	if (reply.body.trim() === '') return 'The gateway answered with nothing in place of JSON';
	return `The gateway’s answer is not JSON: ${sanitizeField(redact, reply.body, 100)}`;
}

function notJsonFacts(kind: RequestKind, html: boolean): ErrorDetails {
	const { advice, retryable, ...doubt } = unusableReply(kind);
	return html
		? { ...doubt, advice: `${HTML_ADVICE} ${advice}`, retryable: false }
		: { ...doubt, advice, retryable };
}
