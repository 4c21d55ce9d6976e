import { isObject, type JsonObject } from '../body';
import type { GatewaySwitches } from '../switches';

/** Options that subscription accounts drop. */
const OPTIONS = [
	'temperature',
	'top_p',
	'max_output_tokens',
	'metadata',
	'user',
	'safety_identifier',
];

/** The part of a request that reaches the model. The rest is dropped without an error. */
export function withoutDropped(body: JsonObject, switches: GatewaySwitches): JsonObject {
	const left = { ...body };
	if (switches.dropsOptions) for (const name of OPTIONS) delete left[name];
	if (switches.dropsPreviousResponse) delete left.previous_response_id;
	if (switches.dropsFormat && isObject(left.text)) left.text = { ...left.text, format: undefined };
	if (switches.dropsFiles && Array.isArray(left.input)) left.input = left.input.map(withoutFiles);
	return left;
}

function withoutFiles(item: unknown): unknown {
	if (!isObject(item)) return item;
	const lists = Object.entries(item).filter(([, value]) => Array.isArray(value));
	const kept = lists.map(([name, list]) => [name, keepParts(list as unknown[])] as const);
	return { ...item, ...Object.fromEntries(kept) };
}

function keepParts(parts: unknown[]): unknown[] {
	const kept = parts.filter((part) => !isObject(part) || part.type !== 'input_file');
	return kept.length > 0 ? kept : [{ type: 'input_text', text: '' }];
}
