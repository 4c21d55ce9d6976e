import { asRecord } from '../http/json';

type Item = Record<string, unknown>;

/** Whether a field that takes a text counts as not set. */
export const isBlank = (value: unknown): boolean =>
	value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

/** The input items of a body; none if its input is a text. */
export const getInputItems = ({ input }: Item): Item[] =>
	Array.isArray(input) ? input.map(asRecord) : [];

const TEXT_TYPES = ['input_text', 'output_text', 'text'];

/**
 * The texts of a content that is text alone.
 * @param content a text, or content parts
 * @returns undefined if it holds something else
 */
export function getTexts(content: unknown): string[] | undefined {
	if (typeof content === 'string') return [content];
	if (!Array.isArray(content)) return undefined;
	const texts = content.map(asRecord).map(({ type, text }) => {
		return TEXT_TYPES.includes(String(type)) && typeof text === 'string' ? text : undefined;
	});
	return texts.every((text) => text !== undefined) ? texts : undefined;
}
