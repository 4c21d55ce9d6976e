import { ValidationError } from '../errors/errors';
import { asRecord, parseJson } from '../http/json';

/** Who speaks in a message. */
export type Role = 'user' | 'assistant' | 'system' | 'developer';

/** One content part of a message. */
export type ContentPart =
	| { type: 'input_text' | 'output_text'; text: string }
	| { type: 'input_image'; image_url: string; detail?: string }
	| { type: 'input_file'; filename: string; file_data: string };

export interface Message {
	role: Role;
	content: string | ContentPart[];
}

/** A text as a content part: what an assistant said is output. */
export function textPart(role: Role, text: string): ContentPart {
	return { type: role === 'assistant' ? 'output_text' : 'input_text', text };
}

/** Bytes in base64, as the address of an image or a file. */
export const toDataUrl = (base64: string, mimeType: string) => `data:${mimeType};base64,${base64}`;

/** The contract's hint for a Chat Completions body. Contract, "Errors" (400). */
export const MESSAGES_HINT =
	'Responses uses "input"; "messages" belongs to the Chat Completions interface. Give the items of "messages" alone, as the input.';

/**
 * Reads `input` as JSON: a list of input items, one item, or a text.
 * @param value a list or text from an expression, or JSON text. Text that does not begin like JSON
 * is taken as it is
 * @param parseField parses JSON text, and says where it breaks
 * @throws {ValidationError} nothing there, a whole request body, or something that is no input
 * @see contract, "Response request" (`input`)
 */
export function inputFromJson(
	value: unknown,
	field: string,
	parseField: (text: string) => unknown,
): string | unknown[] {
	const parsed = typeof value === 'string' ? parsedInput(value, parseField) : value;
	if (isInput(parsed)) return parsed;
	const fields = asRecord(parsed);
	refuseRequestBody(fields, field);
	if ('role' in fields || 'type' in fields) return [parsed];
	throw new ValidationError(
		field,
		isEmpty(parsed) ? 'is empty' : 'is not an input for a model',
		'Enter a list of input items, such as [{ "role": "user", "content": "Hello" }], or a text.',
	);
}

function isInput(value: unknown): value is string | unknown[] {
	return typeof value === 'string' ? value.trim() !== '' : Array.isArray(value) && !isEmpty(value);
}

/** @throws {ValidationError} the fields are those of a request, not of an input item */
function refuseRequestBody(fields: Record<string, unknown>, field: string) {
	if ('messages' in fields) throw new ValidationError(field, 'holds "messages"', MESSAGES_HINT);
	if (!('input' in fields)) return;
	throw new ValidationError(
		field,
		'is a whole request body',
		'Enter the value of "input" alone; other fields belong in the options or in Extra Body.',
	);
}

function isEmpty(value: unknown): boolean {
	if (Array.isArray(value)) return value.length === 0;
	return (
		value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
	);
}

function parsedInput(text: string, parseField: (text: string) => unknown): unknown {
	const trimmed = text.trim();
	if (/^[[{]/.test(trimmed)) return parseField(text);
	const quoted = trimmed.startsWith('"') ? parseJson(text) : undefined;
	return typeof quoted === 'string' ? quoted : trimmed;
}
