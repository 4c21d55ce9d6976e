import { asRecord, omitUndefined } from '../http/json';
import { toMessage, toReasoning } from './item-forms';
import type { TextKind } from './streamed-item';
import { argumentsText } from './tool-arguments';

type Fields = Record<string, unknown>;

/** Whether a document is an answer of the Chat Completions interface. */
export function isChatCompletion({ object, choices, output }: Fields): boolean {
	if (Array.isArray(output)) return false;
	return /^chat\.completion/.test(String(object)) || hasAnswer(choices);
}

function hasAnswer(choices: unknown): boolean {
	const { message, text } = asRecord(readList(choices)[0]);
	return typeof message === 'object' || typeof text === 'string';
}

/** Whether an event is a piece of a streamed chat completion, also where it does not say so. */
export function isChatChunk({ type, object, choices }: Fields): boolean {
	if (typeof type === 'string') return false;
	return (
		object === 'chat.completion.chunk' || typeof asRecord(readList(choices)[0]).delta === 'object'
	);
}

/** An answer of the Chat Completions interface as a response: its first choice. */
export function fromChatCompletion(body: Fields): Fields {
	const choice = asRecord(readList(body.choices)[0]);
	const { message = { content: choice.text } } = choice;
	const { content, refusal, ...rest } = asRecord(message);
	const thoughts = readThoughts(rest);
	const parts = [
		...(isText(content) ? [content] : readList(content)),
		...(typeof refusal === 'string' ? [{ type: 'refusal', refusal }] : []),
	];
	const { tool_calls: calls, function_call: call } = rest;
	const isSaid = parts.length > 0 || readList(calls).length > 0 || typeof call === 'object';
	const said = { ...toMessage(parts), tool_calls: calls, function_call: call };
	return {
		...body,
		...readEnd(choice),
		output: [...(isText(thoughts) ? [toReasoning(thoughts)] : []), ...(isSaid ? [said] : [])],
	};
}

/** What the model thought, by the names that gateways have for it. */
const readThoughts = ({ reasoning_content: thoughts, reasoning }: Fields) => thoughts ?? reasoning;

/** What a piece of an answer that is streamed in another interface's form says. */
export interface ChatChunk {
	/** Fields of the response; `status` as soon as the piece is the last of its choice. */
	response: Fields;
	events: ChatEvent[];
}

/** A piece of a text, or the begin of a call; `item_id` tells the items apart. */
export interface ChatEvent extends Fields {
	kind: TextKind;
	item_id: string;
	item?: Fields;
	delta?: unknown;
}

/** Reads one chunk: its first choice. */
export function readChunk(chunk: Fields): ChatChunk {
	const choice = asRecord(readList(chunk.choices)[0]);
	const { content, refusal, tool_calls: calls, ...rest } = asRecord(choice.delta);
	const piece = (kind: TextKind, delta: unknown): ChatEvent[] =>
		isText(delta) ? [{ kind, delta, item_id: kind === 'summary_text' ? 'thoughts' : 'text' }] : [];
	const end = choice.finish_reason ? readEnd(choice) : {};
	const { id, model, object = 'chat.completion.chunk', usage } = chunk;
	return {
		response: omitUndefined({ id, model, object, usage, ...end }),
		events: [
			...piece('summary_text', readThoughts(rest)),
			...piece('output_text', content),
			...piece('refusal', refusal),
			...readList(calls).flatMap((call) => readCall(asRecord(call))),
		],
	};
}

function readCall(call: Fields): ChatEvent[] {
	const item_id = `call ${String(call.index ?? call.id ?? 0)}`;
	const { name, arguments: given } = asRecord(call.function);
	const delta = argumentsText(given);
	const item = omitUndefined({ type: 'function_call', call_id: call.id, name, arguments: '' });
	return [
		...(isText(name) ? [{ kind: 'arguments' as const, item_id, item }] : []),
		...(isText(delta) ? [{ kind: 'arguments' as const, item_id, delta }] : []),
	];
}

/** Finish reasons by which an answer is cut off, and the response's names of them. */
const CUT: Record<string, string> = {
	length: 'max_output_tokens',
	content_filter: 'content_filter',
};

function readEnd({ finish_reason: finish, error }: Fields): Fields {
	if (finish === 'error') return { status: 'failed', error: error ?? null };
	const reason = CUT[String(finish)];
	return {
		status: reason === undefined ? 'completed' : 'incomplete',
		...(reason !== undefined && { incomplete_details: { reason } }),
	};
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const readList = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
