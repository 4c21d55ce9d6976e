import { asRecord, omitUndefined } from '../http/json';
import { normalizeArguments } from './tool-arguments';

type Fields = Record<string, unknown>;

/**
 * Brings output items into the contract's form. Gateways that translate send contents as texts or
 * objects, or call their parts by other names. Some put function calls into messages, or send parts
 * instead of items.
 * @param output a list of items, one item, or a text
 * @returns the items that have a type; what has none and no text tells nothing
 */
export function normalizeItems(output: unknown): Fields[] {
	const items = Array.isArray(output) ? (output as unknown[]) : [output];
	return items.flatMap(normalizeItem);
}

/** What an item says to a reader: its text and its refusal; nothing if it is no message. */
export function readSpoken(item: Fields): string {
	return normalizeItem(item)
		.filter(({ type }) => type === 'message')
		.flatMap(({ content }) => (Array.isArray(content) ? content.map(asRecord) : []))
		.map(({ type, text, refusal }) => (type === 'output_text' ? text : refusal))
		.filter((text) => typeof text === 'string')
		.join('');
}

function normalizeItem(given: unknown): Fields[] {
	if (typeof given === 'string') return given === '' ? [] : [toMessage(given)];
	const item = asRecord(given);
	const type = readType(item);
	if (type === 'message') return splitMessage({ ...item, type });
	if (type === 'function_call') {
		return [{ ...item, type, arguments: normalizeArguments(item.arguments) }];
	}
	const call = toCall(item);
	if (call) return [call];
	if (isTextPart(item)) return [toMessage([item])];
	return typeof type === 'string' ? [item] : [];
}

/** An item with the type that its fields tell, where it names none. */
export function withType(item: Fields): Fields {
	const type = readType(item);
	return type === item.type ? item : { ...item, type };
}

/** An item without a type is what its fields say. */
function readType({ type, role, content, parts, call_id: callId, name }: Fields): unknown {
	if (type !== undefined && type !== null) return type;
	const isAssistant = role === 'assistant' || role === 'model';
	if (isAssistant && (content ?? parts) !== undefined) return 'message';
	return typeof callId === 'string' && typeof name === 'string' ? 'function_call' : type;
}

/**
 * A message with the text of an answer.
 * @param content a text, or parts
 */
export function toMessage(content: unknown): Fields {
	const parts = toParts(content).flatMap(normalizePart);
	return { type: 'message', role: 'assistant', content: parts };
}

/** A message, and the thoughts and calls in it as items of their own. */
function splitMessage(given: Fields): Fields[] {
	const { tool_calls: listed, function_call: called, ...rest } = given;
	const parts = toParts(given.content ?? given.parts ?? given.text);
	const thoughts = parts.map(readThought).filter((text) => text !== undefined);
	const calls = [...parts, ...toParts(listed), ...toParts(called)]
		.map((part) => toCall(asRecord(part)))
		.filter((call) => call !== undefined);
	const spoken = parts.filter(
		(part) => readThought(part) === undefined && toCall(asRecord(part)) === undefined,
	);
	const isBare = spoken.length === 0 && thoughts.length + calls.length > 0;
	const isUntold = given.content === undefined && spoken.length === 0;
	const message: Fields = isUntold ? rest : { ...rest, content: spoken.flatMap(normalizePart) };
	const items: Fields[] = isBare ? [] : [message];
	return [...thoughts.map(toReasoning), ...items, ...calls];
}

function toParts(content: unknown): unknown[] {
	if (Array.isArray(content)) return content as unknown[];
	if (typeof content === 'string') return content === '' ? [] : [content];
	const { parts } = asRecord(content);
	if (Array.isArray(parts)) return parts as unknown[];
	return typeof content === 'object' && content !== null ? [content] : [];
}

const TEXT_TYPES: unknown[] = ['output_text', 'text', undefined, null];

/** The text of a part, which some gateways wrap into an object. */
export const readPartText = ({ text }: Fields): unknown => asRecord(text).value ?? text;

const isTextPart = (part: Fields): boolean =>
	TEXT_TYPES.includes(part.type) && typeof readPartText(part) === 'string';

function normalizePart(part: unknown): unknown[] {
	if (typeof part === 'string') return [{ type: 'output_text', text: part }];
	const fields = asRecord(part);
	return isTextPart(fields)
		? [{ ...fields, type: 'output_text', text: readPartText(fields) }]
		: [part];
}

/** What the model thought, where Claude's and Gemini's interfaces have it among the text. */
function readThought(part: unknown): string | undefined {
	const { type, thinking, thought, text } = asRecord(part);
	if (type === 'thinking' && typeof thinking === 'string') return thinking;
	return thought === true && typeof text === 'string' ? text : undefined;
}

/** A reasoning item of what the model thought. */
export const toReasoning = (text: string): Fields => ({
	type: 'reasoning',
	summary: [{ type: 'summary_text', text }],
});

const CALL_TYPES: unknown[] = ['function', 'tool_call', 'tool_use'];

/**
 * The call of a function as other interfaces write it.
 * @returns undefined for what is none
 */
export function toCall(part: Fields): Fields | undefined {
	const { type, function: named, functionCall, id, call_id: callId } = part;
	const called = asRecord(functionCall ?? named ?? part);
	const isCall = CALL_TYPES.includes(type) || called !== part || isLegacyCall(part);
	if (!isCall || typeof called.name !== 'string') return undefined;
	const given = called.arguments ?? called.args ?? called.input;
	return omitUndefined({
		type: 'function_call',
		call_id: callId ?? id ?? called.id,
		name: called.name,
		arguments: normalizeArguments(given),
	});
}

/** The one call of early versions of Chat Completions. */
const isLegacyCall = ({ type, name, arguments: given }: Fields) =>
	type === undefined && typeof name === 'string' && given !== undefined;
