import type { ModelResponse } from '../schemas';
import { getInputItems, getTexts, isBlank } from './input-items';

/** Tokens above the bytes of the request from which they cannot be its own. */
const TOLERANCE = 500;

/** Fields that refer to what the gateway stores: its tokens are not in the request. */
const REFERENCES = ['previous_response_id', 'conversation', 'prompt'];

/** Tools whose results the gateway does not count as input. */
const OWN_TOOLS = ['function', 'custom'];

/**
 * Finds instructions that a gateway added to a request without any. A token is hardly ever shorter
 * than a byte, so a request cannot have more tokens than bytes.
 * @param body the request as it was sent
 * @returns one sentence that says so, or undefined. Undefined for a request with instructions,
 * files, images, hosted tools, or a reference to what the gateway stores
 */
export function findAddedInstructions(
	body: Record<string, unknown>,
	{ usage }: Pick<ModelResponse, 'usage'>,
): string | undefined {
	const counted = usage?.input_tokens ?? 0;
	if (counted <= TOLERANCE || !isBlank(body.instructions) || !isPlain(body)) return undefined;
	const bytes = new TextEncoder().encode(JSON.stringify(body)).length;
	if (counted <= bytes + TOLERANCE) return undefined;
	return `The gateway counted ${grouped(counted)} input tokens for a request of ${grouped(bytes)} bytes. It may add instructions of its own`;
}

/** A number with commas: 5,335. */
export const grouped = (value: number): string =>
	String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');

/** Whether all that counts as input stands in the body as text. */
function isPlain(body: Record<string, unknown>): boolean {
	const tools = Array.isArray(body.tools) ? (body.tools as Array<{ type?: unknown }>) : [];
	return (
		REFERENCES.every((name) => isBlank(body[name])) &&
		tools.every((tool) => OWN_TOOLS.includes(String(tool?.type))) &&
		getInputItems(body).every(isText)
	);
}

function isText(item: Record<string, unknown>): boolean {
	const { type = 'message', content, output, encrypted_content: encrypted } = item;
	switch (type) {
		case 'message':
			return getTexts(content) !== undefined;
		case 'function_call':
			return true;
		case 'function_call_output':
			return getTexts(output) !== undefined;
		case 'reasoning':
			return typeof encrypted === 'string';
		default:
			return false;
	}
}
