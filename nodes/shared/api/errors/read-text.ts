import { ValidationError } from './errors';

/** What a value is that has no text. */
export type NoText = 'a list' | 'an object';

/**
 * Reads a text, also from an expression: a number, a boolean or a time counts as its text.
 * @param advice the way out of a list or an object
 * @returns undefined if nothing is set
 * @throws {ValidationError} it is a list or an object
 */
export function readText(
	value: unknown,
	field: string,
	advice: (got: NoText) => string,
): string | undefined {
	if (value === undefined || value === null) return undefined;
	if (typeof value !== 'object') return String(value);
	const time = readTime(value);
	if (time !== undefined) return time;
	const got = nameNoText(value);
	throw new ValidationError(field, `is ${got}, not a text`, advice(got));
}

/** What an object is, in words. */
export const nameNoText = (value: object): NoText =>
	Array.isArray(value) ? 'a list' : 'an object';

/** The text of a time: a `Date`, or an object of a library that writes the same form. */
function readTime(value: object): string | undefined {
	for (const method of ['toISOString', 'toISO'] as const) {
		const write = (value as Partial<Record<typeof method, unknown>>)[method];
		if (typeof write === 'function') return String(write.call(value));
	}
	return undefined;
}
