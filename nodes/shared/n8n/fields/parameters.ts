import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { ValidationError } from '../../api/errors/errors';
import { sanitizeForMessage } from '../../api/errors/sanitize';
import { optionLabel } from './option-names';

/** What reads the parameters of one item by name. The value of a resource locator is its ID. */
export const parameterReader =
	(context: IExecuteFunctions, index: number) =>
	(name: string): unknown =>
		context.getNodeParameter(name, index, undefined, { extractValue: true });

/** What a number has to be. */
export interface NumberRule {
	/** The name on the field. */
	field: string;
	min: number;
	/** Whether fractions are refused. */
	whole?: boolean;
}

/**
 * Reads a number that a user set, perhaps by an expression.
 * @param value what n8n evaluated
 * @throws {ValidationError} it is no number, or below `min`
 */
export function numberParameter(
	value: unknown,
	{ fallback, ...rule }: NumberRule & { fallback: number },
): number {
	return optionalNumber(value, rule) ?? fallback;
}

/**
 * The same for a number that is sent only where it was set.
 * @returns undefined where nothing is set
 * @throws {ValidationError} it is no number, or below `min`
 */
export function optionalNumber(
	value: unknown,
	{ field, min, whole }: NumberRule,
): number | undefined {
	if (isUnset(value)) return undefined;
	const advice = `Enter a ${whole ? 'whole ' : ''}number from ${min} on.`;
	const number = typeof value === 'string' ? Number(value) : value;
	if (typeof number !== 'number' || !Number.isFinite(number)) {
		throw new ValidationError(field, 'is not a number', advice);
	}
	if (number < min) throw new ValidationError(field, `is below ${min}`, advice);
	if (whole && !Number.isInteger(number)) {
		throw new ValidationError(field, 'is not a whole number', advice);
	}
	return number;
}

/** Whether a field is empty; one that holds nothing but blanks looks the same. */
function isUnset(value: unknown): boolean {
	return (
		value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
	);
}

/** A field that is on or off. */
type BooleanField = Pick<INodeProperties, 'displayName'> & { default: boolean };

/**
 * Reads whether a field is on, perhaps by an expression: `true` and `false`, also as texts.
 * @param value what n8n evaluated; where nothing is set, the field's default counts
 * @throws {ValidationError} it is neither: a list, an object, a number, another text
 */
export function booleanParameter(value: unknown, field: BooleanField): boolean {
	return optionalBoolean(value, optionLabel(field)) ?? field.default;
}

/**
 * The same for a field that is sent only where it was set.
 * @param field the name on the field
 * @returns undefined where nothing is set
 * @throws {ValidationError} it is neither true nor false
 */
export function optionalBoolean(value: unknown, field: string): boolean | undefined {
	if (isUnset(value)) return undefined;
	if (isFalse(value)) return false;
	if (value === true || isText(value, 'true')) return true;
	throw new ValidationError(
		field,
		`is ${describeValue(value)}, not true or false`,
		'Turn it on or off, or write an expression that gives true or false, such as {{ $json.answer === "yes" }}.',
	);
}

/** Whether a field is off. What is neither true nor false is not. */
export const isFalse = (value: unknown): boolean => value === false || isText(value, 'false');

const isText = (value: unknown, text: string) =>
	typeof value === 'string' && value.trim().toLowerCase() === text;

function describeValue(value: unknown): string {
	if (Array.isArray(value)) return 'a list';
	if (typeof value === 'string') return `"${sanitizeForMessage(value, 50)}"`;
	return typeof value === 'number' ? `the number ${value}` : 'an object';
}

/**
 * Reads a duration that a user set in seconds, perhaps by an expression.
 * @param fallback seconds
 * @returns whole milliseconds, as many as a timer takes at most
 * @throws {ValidationError} it is no number, not above 0, or too long for a timer
 */
export function secondsParameter(value: unknown, field: string, fallback: number): number {
	const seconds = numberParameter(value, { field, fallback, min: 0 });
	if (seconds === 0) throw new ValidationError(field, 'is 0', 'Enter a number of seconds above 0.');
	const ms = Math.ceil(seconds * 1000);
	if (ms > LONGEST_MS) {
		throw new ValidationError(
			field,
			'is longer than 24 days',
			'Enter a smaller number of seconds.',
		);
	}
	return ms;
}

/** What a timer takes at most. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Reads a JSON object, from an expression that yields one or from text.
 * @param value what n8n evaluated
 * @param field the name on the field
 * @returns an empty object where nothing is set
 * @throws {ValidationError} the text does not parse, or it is no object
 */
export function jsonObjectParameter(value: unknown, field: string): Record<string, unknown> {
	const parsed = jsonParameter(value, field);
	if (parsed === undefined) return {};
	if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
		throw new ValidationError(
			field,
			'is not a JSON object',
			'Enter an object in braces, such as { "seed": 7 }.',
		);
	}
	return parsed as Record<string, unknown>;
}

/**
 * Reads a JSON list, from an expression that yields one or from text.
 * @returns undefined where nothing is set
 * @throws {ValidationError} the text does not parse, or it is no list
 */
export function jsonListParameter(value: unknown, field: string): unknown[] | undefined {
	const parsed = jsonParameter(value, field);
	if (parsed === undefined) return undefined;
	if (!Array.isArray(parsed)) {
		throw new ValidationError(field, 'is not a JSON list', 'Enter a list in square brackets.');
	}
	return parsed.length > 0 ? (parsed as unknown[]) : undefined;
}

/**
 * Reads any JSON value.
 * @returns undefined where nothing is set
 * @throws {ValidationError} the text does not parse
 */
export function jsonParameter(value: unknown, field: string): unknown {
	if (typeof value !== 'string') return value ?? undefined;
	return value.trim() === '' ? undefined : parseJson(value, field);
}

function parseJson(text: string, field: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch (error) {
		throw brokenJson(field, error as Error);
	}
}

function brokenJson(field: string, { message }: Error): ValidationError {
	return new ValidationError(
		field,
		`is not valid JSON: ${sanitizeForMessage(message, 200)}`,
		'Check quotes, commas and braces there. Names and texts stand in double quotes.',
	);
}

/**
 * Drops what was not set, so that only what the user chose is sent.
 * @param fields by the name the gateway gives them
 */
export function omitUndefined(fields: Record<string, unknown>): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(fields).filter(
			([, value]) => value !== undefined && value !== null && value !== '',
		),
	);
}

/**
 * Merges an extra body over fields that were set: it wins, and where both hold an object its fields
 * are merged into it, so that `text.verbosity` does not remove `text.format`.
 */
export function withExtraBody(
	fields: Record<string, unknown>,
	extra: Record<string, unknown>,
): Record<string, unknown> {
	const merged = Object.entries(extra).map(([name, value]) => {
		const both = isPlainObject(fields[name]) && isPlainObject(value);
		return [name, both ? { ...(fields[name] as object), ...(value as object) } : value];
	});
	return { ...fields, ...(Object.fromEntries(merged) as Record<string, unknown>) };
}

function isPlainObject(value: unknown): boolean {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
