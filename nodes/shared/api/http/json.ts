const BYTE_ORDER_MARK = 0xfeff;

/**
 * Parses JSON text, a byte order mark in front of it or not.
 * @returns undefined where it is no JSON
 */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text) as unknown;
	} catch {
		return undefined;
	}
}

/** A value's fields; none where it is no object. */
export function asRecord(value: unknown): Record<string, unknown> {
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** The fields that have a value. */
export function omitUndefined(fields: Record<string, unknown>): Record<string, unknown> {
	const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
	return Object.fromEntries(given);
}
