import { isErrorBody } from '../errors/error-body';
import { asRecord, parseJson } from '../http/json';
import { isChatChunk } from './chat-completion';
import type { StreamEvent } from './event-stream';
import { isResponse } from './response-forms';

/** How a stream of a response ended. */
export type StreamEnd =
	/** `response.completed`, `.done`, `.incomplete`, or `.cancelled`: here is the response. */
	| { kind: 'response'; response: Fields }
	/** `response.failed` or `error`: here is what the gateway says, and whether it made something. */
	| { kind: 'error'; error: Fields; hasOutput?: boolean };

type Fields = Record<string, unknown>;

/**
 * The JSON objects in an event. Some gateways leave out the blank lines between events: then each
 * line is one. An error may be a text alone.
 */
export function readData({ name, data }: StreamEvent): Fields[] {
	const json = parseJson(data);
	if (json === undefined && data.includes('\n')) {
		const lines = data.split('\n').filter((line) => line.trim() !== '');
		return lines.flatMap((line) => readData({ data: line }));
	}
	if (typeof json === 'object' && json !== null) return [json as Fields];
	const isNothing = data.trim() === '' || json === null;
	return name === 'error' ? [isNothing ? {} : { message: json ?? data }] : [];
}

/** Names that say nothing of what an event is. */
const NAMELESS: unknown[] = [undefined, 'message', 'response'];

/**
 * By the JSON's `type`, or the event's name; an error also where only the name or a field says so.
 * @returns `document` for a whole answer, or an error, instead of an event
 */
export function getKind({ name }: StreamEvent, fields: Fields): string | undefined {
	if (name === 'error') return name;
	const { type } = fields;
	if (typeof type === 'string' && !NAMELESS.includes(type)) return type;
	const kind = kindByFields(fields);
	return kind === undefined && !NAMELESS.includes(name) ? name : (kind ?? kindOfDocument(fields));
}

/** The kind of an event of another interface, or of an error, whatever its name is. */
function kindByFields(fields: Fields): string | undefined {
	const isChunk = isChatChunk(fields);
	if (fields.error && (isChunk || !isResponse(fields))) return 'error';
	if (isChunk) return 'chat.completion.chunk';
	return Array.isArray(fields.candidates) ? 'generateContent' : undefined;
}

function kindOfDocument(fields: Fields): string | undefined {
	if (isErrorBody(fields)) return 'error';
	return isResponse(fields) ? 'document' : undefined;
}

/** The error in an event, which may be a text alone. */
export function toError({ error, ...fields }: Fields): StreamEnd {
	const beside = { ...fields };
	if (beside.type === 'response.error') delete beside.type;
	return { kind: 'error', error: { ...beside, ...readError(error) } };
}

/** A response that failed, and whether the gateway made something of it. */
export function toFailure(fields: Fields): StreamEnd {
	const response = asRecord(fields.response);
	const { output, usage, status_details: details } = response;
	const hasOutput =
		(Array.isArray(output) && output.length > 0) || Number(asRecord(usage).output_tokens) > 0;
	const error = response.error ?? fields.error ?? asRecord(details).error;
	return { kind: 'error', error: readError(error), hasOutput };
}

const readError = (error: unknown): Fields =>
	typeof error === 'string' ? { message: error } : asRecord(error);

/** The response of an event that ends a stream, which may stand in the event itself. */
export function readFinal({ response, ...fields }: Fields): Fields {
	const beside = { ...fields };
	delete beside.type;
	delete beside.sequence_number;
	if (typeof response !== 'object' || response === null) return beside;
	const final = response as Fields;
	return { ...final, usage: final.usage ?? beside.usage };
}
