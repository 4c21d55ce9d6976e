import { asRecord } from '../http/json';
import { fromChatCompletion, isChatCompletion } from './chat-completion';
import { normalizeArguments } from './tool-arguments';

type Fields = Record<string, unknown>;

/**
 * Brings a response into the contract's form. Gateways that translate from other interfaces leave
 * out IDs and states. They send contents as texts, call their parts `text`, or answer in the form
 * of Chat Completions.
 * @param body as the gateway sent it
 * @returns the body itself if it is no response at all
 * @see contract, "Response"
 */
export function normalizeResponse(body: unknown): unknown {
	const fields = asRecord(body);
	if (Array.isArray(body)) return body;
	const response = isChatCompletion(fields) ? fromChatCompletion(fields) : fields;
	const { output_text: text } = response;
	const hasText = typeof text === 'string' && text !== '';
	if (!Array.isArray(response.output) && !hasText && !hasFailed(response)) return body;
	const output = toItems(response.output).map(normalizeItem);
	const lacksText = hasText && output.every((item) => readSpoken(asRecord(item)) === '');
	return {
		...response,
		id: readId(response.id),
		status: readStatus(response),
		output: lacksText ? [...output.filter(isNoMessage), toMessage(text)] : output,
	};
}

/** What an item says to a reader: its text and its refusal; nothing if it is no message. */
export function readSpoken(item: Fields): string {
	const { type, content } = asRecord(normalizeItem(item));
	if (type !== 'message' || !Array.isArray(content)) return '';
	return content
		.map(asRecord)
		.map(({ type: kind, text, refusal }) => (kind === 'output_text' ? text : refusal))
		.filter((text) => typeof text === 'string')
		.join('');
}

const hasFailed = ({ status }: Fields) => /^(failed|cancell?ed)$/.test(String(status));

const toItems = (output: unknown): unknown[] =>
	Array.isArray(output) ? (output as unknown[]) : [];

const toMessage = (text: unknown): Fields => ({
	type: 'message',
	role: 'assistant',
	content: [{ type: 'output_text', text }],
});

const isNoMessage = (item: unknown) => asRecord(item).type !== 'message';

function normalizeItem(item: unknown): unknown {
	const fields = asRecord(item);
	const type = readType(fields);
	if (type === 'message') return { ...fields, type, ...normalizeContent(fields) };
	if (type !== 'function_call') return item;
	return { ...fields, type, arguments: normalizeArguments(fields.arguments) };
}

/** An item without a type is what its fields say. */
function readType({ type, role, content, call_id: callId, name }: Fields): unknown {
	if (type !== undefined && type !== null) return type;
	if (role === 'assistant' && content !== undefined) return 'message';
	return typeof callId === 'string' && typeof name === 'string' ? 'function_call' : type;
}

function normalizeContent({ content }: Fields): Fields {
	if (typeof content === 'string') return { content: [{ type: 'output_text', text: content }] };
	return Array.isArray(content) ? { content: content.map(normalizePart) } : {};
}

function normalizePart(part: unknown): unknown {
	if (typeof part === 'string') return { type: 'output_text', text: part };
	const { type, text } = asRecord(part);
	const isOutput = typeof text === 'string' && (type === 'text' || type === undefined);
	return isOutput ? { ...asRecord(part), type: 'output_text' } : part;
}

function readId(id: unknown): string {
	return typeof id === 'string' || typeof id === 'number' ? String(id) : '';
}

function readStatus({ status, error, incomplete_details: incomplete }: Fields): unknown {
	if (status !== undefined && status !== null) return status;
	if (Object.keys(asRecord(error)).length > 0) return 'failed';
	return Object.keys(asRecord(incomplete)).length > 0 ? 'incomplete' : 'completed';
}
