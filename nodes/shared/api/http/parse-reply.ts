import { isErrorBody } from '../errors/error-body';
import { InvalidResponseError, type ErrorDetails } from '../errors/errors';
import { HTML_ADVICE } from '../errors/evidence';
import { isHtml, unusableReply } from '../errors/from-reply';
import { getReplyIds } from '../errors/reply-ids';
import { sanitizeField } from '../errors/sanitize';
import type { Client, ParsedReply } from './client';
import { parseJson } from './json';
import type { RequestKind } from './retry';
import type { GatewayReply } from './transport';

/** What the body of a success reply is, whatever its headers say. */
export type Body =
	/** JSON that holds an answer, or at least no error. */
	| { kind: 'json'; json: unknown }
	/** JSON that is an error and nothing else. */
	| { kind: 'error'; json: unknown; text: string }
	/** The text of an event stream. */
	| { kind: 'events' }
	| { kind: 'html' | 'nothing' | 'text' };

/** How the lines of an event stream begin: a comment, or a field. */
const EVENTS = /^\s*(:|(event|data|id|retry):)/;

/**
 * Whether a text begins like an event stream.
 * @param text from its beginning; a byte order mark is white space
 */
export const beginsLikeEvents = (text: string) => EVENTS.test(text);

/** A text without the comments of an event stream in front, which keep a connection alive. */
export const withoutComments = (text: string) =>
	text.replace(/^\s*:[^\r\n]*(?:[\r\n]\s*:[^\r\n]*)*/, '').trimStart();

/**
 * Recognizes what arrived with 2xx: the one place that does, for every request.
 * @see contract, "Errors" 5
 */
export function recognizeBody(reply: GatewayReply): Body {
	const text = withoutComments(reply.body);
	const json = parseJson(text);
	if (json !== undefined) {
		return isErrorBody(json) ? { kind: 'error', json, text } : { kind: 'json', json };
	}
	const isPage = isHtml({ ...reply, headers: {}, body: text });
	if (!isPage && beginsLikeEvents(reply.body)) return { kind: 'events' };
	if (isPage || isHtml(reply)) return { kind: 'html' };
	return { kind: reply.body.trim() === '' ? 'nothing' : 'text' };
}

/**
 * Parses a success reply. What parses as JSON is JSON, whatever its content type says.
 * @throws {InvalidResponseError} it is no JSON
 * @see contract, "Errors" 5
 */
export function parseReply(client: Client, kind: RequestKind, reply: GatewayReply): ParsedReply {
	const ids = getReplyIds(client.redact, reply);
	const body = recognizeBody(reply);
	if (body.kind === 'json' || body.kind === 'error') return { json: body.json, reply, ...ids };
	const mayTell = kind !== 'read' && ['text', 'events'].includes(body.kind);
	throw new InvalidResponseError(describeBody(client, reply, body), {
		...notJsonFacts(kind, body.kind === 'html'),
		httpStatus: reply.status,
		...ids,
		// It may be what a model wrote, or name a task, which was paid for.
		...(mayTell && { partialText: client.redact(reply.body) }),
	});
}

function describeBody({ redact }: Client, reply: GatewayReply, { kind }: Body): string {
	switch (kind) {
		case 'html':
			return 'The gateway answered with a web page (HTML) instead of JSON';
		case 'nothing':
			return 'The gateway answered with an empty body instead of JSON';
		case 'events':
			return 'The gateway answered with an event stream instead of JSON';
		default:
			return `The gateway’s answer is not JSON: ${sanitizeField(redact, reply.body, 100)}`;
	}
}

function notJsonFacts(kind: RequestKind, html: boolean): ErrorDetails {
	const { advice, retryable, ...doubt } = unusableReply(kind);
	return html
		? { ...doubt, advice: `${HTML_ADVICE} ${advice}`, retryable: false }
		: { ...doubt, advice, retryable };
}
