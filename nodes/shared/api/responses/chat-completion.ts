import { asRecord, omitUndefined } from '../http/json';
import type { TextKind } from './streamed-item';

type Fields = Record<string, unknown>;

/** Whether a document is an answer of the Chat Completions interface. */
export function isChatCompletion({ object, choices, output }: Fields): boolean {
	if (Array.isArray(output)) return false;
	return /^chat\.completion/.test(String(object)) || hasMessage(choices);
}

const hasMessage = (choices: unknown) =>
	Array.isArray(choices) && typeof asRecord(choices[0]).message === 'object';

/** An answer of the Chat Completions interface as a response: its first choice. */
export function fromChatCompletion(body: Fields): Fields {
	const choice = asRecord(listOf(body.choices)[0]);
	const {
		content,
		refusal,
		reasoning_content: thoughts,
		tool_calls: calls,
	} = asRecord(choice.message);
	const parts = [
		...(typeof content === 'string' ? [{ type: 'output_text', text: content }] : listOf(content)),
		...(typeof refusal === 'string' ? [{ type: 'refusal', refusal }] : []),
	];
	const message = { type: 'message', role: 'assistant', content: parts };
	return {
		...body,
		...readEnd(body, choice),
		output: [
			...(isText(thoughts) ? [toReasoning(thoughts)] : []),
			...(parts.length > 0 ? [message] : []),
			...listOf(calls).map((call) => toCall(asRecord(call))),
		],
	};
}

/** What a chunk of a streamed chat completion says. */
export interface ChatChunk {
	/** Fields of the response; `status` as soon as the chunk is the last of its choice. */
	response: Fields;
	events: ChatEvent[];
}

/** A piece of a text, or the begin of a call; `item_id` tells the items apart. */
interface ChatEvent extends Fields {
	kind: TextKind;
	item_id: string;
	item?: Fields;
	delta?: unknown;
}

/** Reads one chunk: its first choice. */
export function readChunk(chunk: Fields): ChatChunk {
	const choice = asRecord(listOf(chunk.choices)[0]);
	const {
		content,
		refusal,
		reasoning_content: thoughts,
		tool_calls: calls,
	} = asRecord(choice.delta);
	const piece = (kind: TextKind, delta: unknown): ChatEvent[] =>
		isText(delta) ? [{ kind, delta, item_id: kind === 'summary_text' ? 'thoughts' : 'text' }] : [];
	const end = choice.finish_reason ? readEnd(chunk, choice) : readHead(chunk);
	const { id, model, object } = chunk;
	return {
		response: omitUndefined({ id, model, object, ...end }),
		events: [
			...piece('summary_text', thoughts),
			...piece('output_text', content),
			...piece('refusal', refusal),
			...listOf(calls).flatMap((call) => readCall(asRecord(call))),
		],
	};
}

function readCall(call: Fields): ChatEvent[] {
	const item_id = `call ${String(call.index ?? call.id ?? 0)}`;
	const { name, arguments: delta } = asRecord(call.function);
	const begun: ChatEvent = {
		kind: 'arguments',
		item_id,
		item: toCall({ ...call, function: { name } }),
	};
	return [
		...(isText(name) ? [begun] : []),
		...(isText(delta) ? [{ kind: 'arguments' as const, item_id, delta }] : []),
	];
}

const toReasoning = (text: string): Fields => ({
	type: 'reasoning',
	summary: [{ type: 'summary_text', text }],
});

function toCall({ id, function: called }: Fields): Fields {
	const { name, arguments: given = '' } = asRecord(called);
	return omitUndefined({ type: 'function_call', call_id: id, name, arguments: given });
}

/** Finish reasons by which an answer is cut off, and the response's words for them. */
const CUT: Record<string, string> = {
	length: 'max_output_tokens',
	content_filter: 'content_filter',
};

function readEnd(body: Fields, { finish_reason: finish }: Fields): Fields {
	const reason = CUT[String(finish)];
	return {
		status: reason === undefined ? 'completed' : 'incomplete',
		...(reason !== undefined && { incomplete_details: { reason } }),
		...readHead(body),
	};
}

function readHead({ usage }: Fields): Fields {
	const { prompt_tokens: input, completion_tokens: output, ...rest } = asRecord(usage);
	if (input === undefined && output === undefined) return {};
	return { usage: omitUndefined({ input_tokens: input, output_tokens: output, ...rest }) };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
