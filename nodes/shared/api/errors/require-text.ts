import { InputError } from './errors';

/**
 * @param value a parameter's value, also from an expression
 * @throws {InputError} it is no text, or only white space
 */
export function requireText(
	value: unknown,
	field: string,
	advice: string,
): asserts value is string {
	if (value === undefined || value === null || value === '') {
		throw new InputError(field, 'is empty', advice);
	}
	if (typeof value !== 'string') throw new InputError(field, 'is not a text', advice);
	if (value.trim() === '') throw new InputError(field, 'is empty', advice);
}
