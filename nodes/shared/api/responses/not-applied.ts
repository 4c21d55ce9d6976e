import { sanitizeForMessage } from '../errors/sanitize';
import { asRecord } from '../http/json';
import type { ModelResponse } from '../schemas';
import { grouped } from './added-instructions';
import { getInputItems, isBlank } from './input-items';

type Fields = Record<string, unknown>;

/**
 * Finds what a gateway accepted and then left out, by what its answer says itself.
 * @param body the request as it was sent
 * @returns a sentence each; none of what the answer does not name
 */
export function findNotApplied(body: Fields, response: ModelResponse): string[] {
	return [
		tellOptions(body, response),
		tellFiles(body, response),
		tellPrevious(body, response),
	].filter((sentence) => sentence !== undefined);
}

function tellOptions(body: Fields, response: Fields): string | undefined {
	const told = OPTIONS.flatMap(({ label, read, differs }) => {
		const [asked, used] = [read(body), read(response)];
		return isBlank(asked) || used === undefined || !differs(asked, used)
			? []
			: [`${label} (asked ${show(asked)}, used ${show(used)})`];
	});
	return told.length > 0 ? `The gateway did not apply: ${told.join(', ')}.` : undefined;
}

interface ComparedOption {
	/** The name on the field. */
	label: string;
	/** Its value in a request or an answer. */
	read(fields: Fields): unknown;
	/** Whether an answer's value, which is not undefined, contradicts the request's. */
	differs(asked: unknown, used: unknown): boolean;
}

/** Gateways write `null` where they do not know the value. */
const isOther = (asked: unknown, used: unknown) => used !== null && asked !== used;

/** Gateways may round: 0.1 comes back as 0.10000000149. */
const isOtherNumber = (asked: unknown, used: unknown) =>
	typeof used === 'number' && Math.abs(Number(asked) - used) > 0.0001;

const option = (
	label: string,
	name: string,
	differs: ComparedOption['differs'] = isOther,
): ComparedOption => ({ label, read: (fields) => fields[name], differs });

const OPTIONS: ComparedOption[] = [
	option('Temperature', 'temperature', isOtherNumber),
	option('Top P', 'top_p', isOtherNumber),
	// Null says that there is no limit.
	option('Max Output Tokens', 'max_output_tokens', (asked, used) => asked !== used),
	option('Store', 'store'),
	option('Metadata', 'metadata', lacksEntry),
	option('Parallel Tool Calls', 'parallel_tool_calls'),
	{
		label: 'Reasoning Effort',
		read: ({ reasoning }) => asRecord(reasoning).effort,
		differs: isOther,
	},
	// Automatic lets the gateway choose.
	option('Service Tier', 'service_tier', (asked, used) => asked !== 'auto' && isOther(asked, used)),
];

/** The gateway may add entries of its own. */
function lacksEntry(asked: unknown, used: unknown): boolean {
	const entries = asRecord(used);
	return Object.entries(asRecord(asked)).some(
		([name, value]) => JSON.stringify(entries[name]) !== JSON.stringify(value),
	);
}

/** A value as it stands in a sentence. */
function show(value: unknown): string {
	if (typeof value === 'boolean') return value ? 'on' : 'off';
	const isNone = value === null || (typeof value === 'object' && Object.keys(value).length === 0);
	if (isNone) return 'none';
	return sanitizeForMessage(typeof value === 'string' ? value : JSON.stringify(value), 100);
}

/** Fewest tokens that a file takes. */
const TOKENS_OF_FILE = 100;

/** Most bytes of text that a token takes. */
const BYTES_OF_TOKEN = 4;

function tellFiles(body: Fields, { usage }: ModelResponse): string | undefined {
	const counted = usage?.input_tokens;
	const parts = getInputItems(body).flatMap(({ content, output }) =>
		[content, output].flatMap((list) => (Array.isArray(list) ? list.map(asRecord) : [])),
	);
	const files = parts.filter(({ type }) => type === 'input_file').length;
	if (counted === undefined || counted === 0 || files === 0) return undefined;
	const least = countTextBytes(body, parts) / BYTES_OF_TOKEN + files * TOKENS_OF_FILE;
	if (counted >= least) return undefined;
	const tokens = `${grouped(counted)} input ${counted === 1 ? 'token' : 'tokens'}`;
	return `The gateway counted ${tokens}: the ${files === 1 ? 'file' : 'files'} may not have reached the model.`;
}

/** Bytes of all texts of a request: instructions, messages, outputs of tools. */
function countTextBytes(body: Fields, parts: Fields[]): number {
	const whole = getInputItems(body).flatMap(({ content, output }) => [content, output]);
	const texts = [body.instructions, ...whole, ...parts.map(({ text }) => text)];
	const spoken = texts.filter((text) => typeof text === 'string').join('');
	return new TextEncoder().encode(spoken).length;
}

function tellPrevious(body: Fields, response: Fields): string | undefined {
	if (isBlank(body.previous_response_id) || !isBlank(response.previous_response_id)) {
		return undefined;
	}
	return 'The answer does not name the previous response: the model may not know what was said before. Send the conversation as messages.';
}
