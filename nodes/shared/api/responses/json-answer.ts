import { parseJson } from '../http/json';

const FENCE = '```';

/**
 * Parses the JSON of an answer, also where the model put it into a Markdown fence.
 * @returns undefined where there is no JSON
 */
export function parseJsonAnswer(text: string): unknown {
	const parsed = parseJson(text);
	return parsed === undefined ? parseFenced(text) : parsed;
}

/** What is inside the only fence of a text. */
function parseFenced(text: string): unknown {
	const [, fenced, , ...others] = text.split(FENCE);
	if (fenced === undefined || others.length > 0) return undefined;
	return parseJson(fenced.replace(/^\w*[^\S\n]*\n/, ''));
}
