import { asRecord, omitUndefined } from '../http/json';
import { readSpoken, toMessage, toReasoning } from './item-forms';
import type { TextKind } from './streamed-item';
import { argumentsText } from './tool-arguments';

type Fields = Record<string, unknown>;

/** Whether a document is an answer of the Chat Completions interface. */
export function isChatCompletion({ object, choices, output }: Fields): boolean {
	if (Array.isArray(output)) return false;
	return isNamedChat(object) || hasAnswer(choices);
}

/** Whether `object` names the Chat Completions interface: a document, or a chunk. */
export const isNamedChat = (object: unknown) => String(object).startsWith('chat.completion');

function hasAnswer(choices: unknown): boolean {
	const { message, text } = asRecord(readList(choices)[0]);
	return typeof message === 'object' || typeof text === 'string';
}

/** Whether an event is a piece of a streamed chat completion, also where it does not say so. */
export function isChatChunk({ object, choices }: Fields): boolean {
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
		...(isText(refusal) ? [{ type: 'refusal', refusal }] : []),
	];
	const { tool_calls: calls, function_call: call } = rest;
	const said = { ...toMessage(parts), tool_calls: calls, function_call: call };
	return {
		...body,
		...readEnd(choice),
		output: [...(isText(thoughts) ? [toReasoning(thoughts)] : []), said],
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

/** A piece of a text, or the begin of a call; `item_id` tells items of one type apart. */
export interface ChatEvent extends Fields {
	kind: TextKind;
	item_id?: string;
	item?: Fields;
	delta?: unknown;
}

/** Reads one chunk: its first choice. */
export function readChunk(chunk: Fields): ChatChunk {
	const choice = asRecord(readList(chunk.choices)[0]);
	const { content, refusal, tool_calls: calls, ...rest } = asRecord(choice.delta);
	const { function_call: call } = rest;
	const texts: ChatEvent[] = [
		{ kind: 'summary_text', delta: readThoughts(rest) },
		{ kind: 'output_text', delta: readSpoken(toMessage(content)) },
		{ kind: 'refusal', delta: refusal },
	];
	const end = choice.finish_reason ? readEnd(choice) : {};
	const { id, model, object = 'chat.completion.chunk', usage } = chunk;
	return {
		response: omitUndefined({ id, model, object, usage, ...end }),
		events: [
			...texts.filter(({ delta }) => isText(delta)),
			...[...readList(calls), ...(call ? [{ function: call }] : [])]
				.map(asRecord)
				.flatMap(readCall),
		],
	};
}

function readCall(call: Fields): ChatEvent[] {
	const item_id = `call ${String(call.index ?? call.id ?? 0)}`;
	const { name, arguments: given } = asRecord(call.function);
	const item = omitUndefined({ type: 'function_call', call_id: call.id, name, arguments: '' });
	const piece: ChatEvent = { kind: 'arguments', item_id, delta: argumentsText(given) };
	return isText(name) ? [{ kind: 'arguments', item_id, item }, piece] : [piece];
}

/** Finish reasons by which an answer is cut off, and the response's names of them. */
const CUT: Record<string, string> = {
	length: 'max_output_tokens',
	content_filter: 'content_filter',
};

function readEnd({ finish_reason: finish, error }: Fields): Fields {
	if (finish === 'error') return { status: 'failed', error: error ?? null };
	const reason = CUT[String(finish)];
	return reason === undefined
		? { status: 'completed' }
		: { status: 'incomplete', incomplete_details: { reason } };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const readList = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
