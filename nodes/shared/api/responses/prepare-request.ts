import { getInputItems, getTexts, isBlank } from './input-items';

type Item = Record<string, unknown>;

/**
 * Brings a body into the form that gateways read alike, without changing what it says:
 * - System and developer messages at the head of the conversation become `instructions`. Without
 *   these, many gateways add instructions of their own, which the caller pays. If `instructions` are
 *   set, they win and the messages stay. The same holds for a stored `prompt`, which has its own instructions. One message always stays, since no input may be empty.
 * - An output of a tool that is a list of texts becomes one text. Some gateways refuse the list.
 * @param body the fields as set, with the extra body already merged over them
 * @see contract, "Response request" (`instructions`, `input`)
 */
export function prepareRequest(body: Record<string, unknown>): Record<string, unknown> {
	const { instructions, ...rest } = body;
	const prepared = Array.isArray(body.input)
		? { ...rest, input: body.input.map(joinOutput) }
		: rest;
	return isBlank(instructions) ? withInstructions(prepared) : { ...prepared, instructions };
}

function withInstructions(body: Record<string, unknown>): Record<string, unknown> {
	const texts = getInputItems(body).map(getRule);
	const end = texts.indexOf(undefined);
	const count = end < 0 ? texts.length - 1 : end;
	if (count <= 0 || !isBlank(body.prompt)) return body;
	const rules = texts.slice(0, count).filter((text) => !isBlank(text));
	return {
		...body,
		...(rules.length > 0 && { instructions: rules.join('\n\n') }),
		input: (body.input as unknown[]).slice(count),
	};
}

/** The text of a message that says how the model should behave; undefined for other items. */
function getRule({ type = 'message', role, content }: Item): string | undefined {
	if (type !== 'message' || (role !== 'system' && role !== 'developer')) return undefined;
	return getTexts(content)?.join('\n');
}

function joinOutput(item: unknown): unknown {
	if (typeof item !== 'object' || item === null) return item;
	const { type, output } = item as Item;
	if (type !== 'function_call_output' || typeof output === 'string') return item;
	const texts = getTexts(output);
	return texts === undefined || texts.length === 0 ? item : { ...item, output: texts.join('\n') };
}
