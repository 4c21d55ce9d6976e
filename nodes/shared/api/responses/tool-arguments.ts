import { asRecord, parseJson } from '../http/json';

/** Empty objects in front of another object. */
const EMPTY_OBJECTS = /^\s*(?:\{\s*\}\s*)+(?=\{)/;

/**
 * The arguments of a function call as JSON text. Some gateways put the empty object of the
 * provider's first event in front of the arguments. Others encode the text as JSON once more. An
 * empty text, `null` and `""` mean no arguments.
 * @param given as the gateway sent them
 * @returns what is no text as it is, and text that can't be read too
 */
export function normalizeArguments(given: unknown): unknown {
	if (given === null || given === undefined) return '{}';
	if (typeof given !== 'string') return given;
	const parsed = parseJson(given);
	if (given.trim() === '' || parsed === null) return '{}';
	if (typeof parsed === 'string') return normalizeArguments(parsed);
	return parsed === undefined ? withoutEmptyObjects(given) : given;
}

function withoutEmptyObjects(text: string): string {
	const rest = text.replace(EMPTY_OBJECTS, '');
	return parseJson(rest) === undefined ? text : rest;
}

/** Arguments as text, where a gateway sends the object itself in a stream. */
export const argumentsText = (given: unknown): unknown =>
	typeof given === 'object' && given !== null ? JSON.stringify(given) : given;

/** Whether these are all arguments of a call that has some. */
export function isWholeArguments(given: unknown): boolean {
	const parsed = typeof given === 'string' ? parseJson(given) : given;
	return !Array.isArray(parsed) && Object.keys(asRecord(parsed)).length > 0;
}
