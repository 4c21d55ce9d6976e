import { InputError } from '../client/errors';

/**
 * Reads a number that a user set, perhaps by an expression.
 * @param value what n8n evaluated
 * @param field the name on the field
 * @throws {InputError} it is no number, or below `min`
 */
export function numberParameter(
	value: unknown,
	{ field, fallback, min }: { field: string; fallback: number; min: number },
): number {
	if (value === undefined || value === null || value === '') return fallback;
	const number = typeof value === 'string' ? Number(value) : value;
	if (typeof number !== 'number' || !Number.isFinite(number)) {
		throw new InputError(field, 'is not a number', `Enter a number from ${min} on.`);
	}
	if (number < min) {
		throw new InputError(field, `is below ${min}`, `Enter a number from ${min} on.`);
	}
	return number;
}

/**
 * Reads a JSON object, from an expression that yields one or from text.
 * @param value what n8n evaluated
 * @param field the name on the field
 * @returns an empty object where nothing is set
 * @throws {InputError} the text does not parse (it says where), or it is no object
 */
export function jsonObjectParameter(value: unknown, field: string): Record<string, unknown> {
	const parsed = typeof value === 'string' ? parseJson(value, field) : (value ?? {});
	if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
		throw new InputError(
			field,
			'is not a JSON object',
			'Enter an object in braces, such as { "seed": 7 }.',
		);
	}
	return parsed as Record<string, unknown>;
}

function parseJson(text: string, field: string): unknown {
	if (text.trim() === '') return {};
	try {
		return JSON.parse(text) as unknown;
	} catch (error) {
		throw brokenJson(field, text, (error as Error).message);
	}
}

function brokenJson(field: string, text: string, reason: string): InputError {
	return new InputError(
		field,
		`is not valid JSON${place(text, reason)}`,
		'Check quotes, commas and braces there. Names and texts stand in double quotes.',
	);
}

/** Where a JSON text breaks, from the position that the parser names. */
function place(text: string, reason: string): string {
	const position = /position (\d+)/.exec(reason)?.[1];
	if (position === undefined) return /end of/i.test(reason) ? ': it ends too early' : '';
	const before = text.slice(0, Number(position)).split('\n');
	return ` (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`;
}

/**
 * Drops what was not set, so that only what the user chose is sent.
 * @param fields by the name the gateway gives them
 */
export function onlySet(fields: Record<string, unknown>): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''),
	);
}
