import { ValidationError } from './errors';

/**
 * @param value a parameter's value, also from an expression
 * @throws {ValidationError} it is no text, or only white space
 */
export function requireText(
	value: unknown,
	field: string,
	advice: string,
): asserts value is string {
	if (value === undefined || value === null || value === '') {
		throw new ValidationError(field, 'is empty', advice);
	}
	if (typeof value !== 'string') throw new ValidationError(field, 'is not a text', advice);
	if (value.trim() === '') throw new ValidationError(field, 'is empty', advice);
}
