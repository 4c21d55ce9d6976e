import { readText, type NoText } from '../../api/errors/read-text';

/** How to write an expression that yields a text. */
const WAYS_OUT: Record<NoText, string> = {
	'a list':
		'Write one entry of the list, such as {{ $json.items[0] }}, or all of them as a text: {{ $json.items.join() }}.',
	'an object':
		'Write one of its fields, such as {{ $json.answer.text }}, or all of it as JSON: {{ JSON.stringify($json.answer) }}.',
};

/**
 * Reads a text that a user set, perhaps by an expression: a number or a boolean counts as its text.
 * @param value what n8n evaluated
 * @param field the name on the field
 * @returns undefined where nothing is set
 * @throws {ValidationError} it is a list or an object
 */
export function textParameter(value: unknown, field: string): string | undefined {
	return readText(value, field, (got) => WAYS_OUT[got]);
}

/**
 * Reads a field that takes a text or a list of texts.
 * @throws {ValidationError} it is an object, or an entry is no text
 */
export function textListParameter(value: unknown, field: string): string | string[] | undefined {
	if (!Array.isArray(value)) return textParameter(value, field);
	return value.map((entry, index) => textParameter(entry, `${field}, entry ${index + 1}`) ?? '');
}

/**
 * Reads a field that takes a list of texts, or a text that separates them by commas.
 * @returns undefined where nothing is set
 * @throws {ValidationError} it is an object, or an entry is no text
 */
export function textList(value: unknown, field: string): string[] | undefined {
	const texts = textListParameter(value, field) ?? '';
	const list = (Array.isArray(texts) ? texts : texts.split(','))
		.map((part) => part.trim())
		.filter((part) => part !== '');
	return list.length > 0 ? list : undefined;
}
