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

/** What is inside the fence: from the first to the last, since the JSON may hold some itself. */
function parseFenced(text: string): unknown {
	const begin = text.indexOf(FENCE);
	if (begin < 0) return undefined;
	const end = text.lastIndexOf(FENCE);
	const inside = text.slice(begin + FENCE.length, end > begin ? end : undefined);
	return parseJson(inside.replace(/^\w*[^\S\n]*\n/, ''));
}
