const BYTE_ORDER_MARK = 0xfeff;

const PROTOTYPE = '__proto__';

/**
 * Parses JSON text, a byte order mark in front of it or not. A key `__proto__` is left out: copied
 * by assignment, it becomes the prototype of the copy.
 * @returns undefined if it is no JSON
 */
export function parseJson(text: string): unknown {
	const json = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
	try {
		return JSON.parse(json, json.includes(PROTOTYPE) ? withoutPrototype : undefined) as unknown;
	} catch {
		return undefined;
	}
}

const withoutPrototype = (key: string, value: unknown) => (key === PROTOTYPE ? undefined : value);

/** A value's fields; none where it is no object. */
export function asRecord(value: unknown): Record<string, unknown> {
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** The fields that have a value. */
export function omitUndefined(fields: Record<string, unknown>): Record<string, unknown> {
	const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
	return Object.fromEntries(given);
}
