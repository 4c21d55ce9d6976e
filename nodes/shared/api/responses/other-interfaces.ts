import { asRecord, omitUndefined } from '../http/json';
import type { ChatChunk, ChatEvent } from './chat-completion';
import { toCall, toMessage } from './item-forms';

type Fields = Record<string, unknown>;

/*
 * Answers in the form of Claude (Messages) and Gemini (generateContent), which gateways pass on if
 * they do not translate.
 */

const isMessage = ({ type, content, output }: Fields) =>
	type === 'message' && Array.isArray(content) && output === undefined;

const isContent = ({ candidates, output }: Fields) =>
	Array.isArray(candidates) && output === undefined;

/** Whether a document is an answer in the form of Claude's or Gemini's interface. */
export const isOtherInterface = (fields: Fields): boolean => isMessage(fields) || isContent(fields);

/** Such an answer as a response: of several candidates the first. */
export function fromOtherInterface(body: Fields): Fields {
	if (isContent(body)) {
		const { content } = asRecord((body.candidates as unknown[])[0]);
		return { ...body, ...readContentEnd(body), output: [{ ...toMessage([]), content }] };
	}
	const message = { type: 'message', role: 'assistant', content: body.content };
	return { ...body, ...readStop(body.stop_reason), output: [message] };
}

/** Reasons by which an answer is cut off, and the response's names of them. */
const CUT: Record<string, string> = {
	max_tokens: 'max_output_tokens',
	safety: 'content_filter',
	prohibited_content: 'content_filter',
	recitation: 'content_filter',
};

function readStop(reason: unknown): Fields {
	const cut = CUT[String(reason).toLowerCase()];
	return cut === undefined
		? { status: 'completed' }
		: { status: 'incomplete', incomplete_details: { reason: cut } };
}

function readContentEnd({ candidates, usageMetadata, responseId, modelVersion }: Fields): Fields {
	const { finishReason } = asRecord((candidates as unknown[])[0]);
	const usage = asRecord(usageMetadata);
	return omitUndefined({
		id: responseId,
		model: modelVersion,
		...(finishReason !== undefined && readStop(finishReason)),
		...(usageMetadata !== undefined && {
			usage: omitUndefined({
				input_tokens: usage.promptTokenCount,
				output_tokens: usage.candidatesTokenCount,
				total_tokens: usage.totalTokenCount,
			}),
		}),
	});
}

/** Reads a piece of a streamed answer of Gemini's interface. */
export function readContentPiece(fields: Fields, place: number): ChatChunk {
	const { content } = asRecord((fields.candidates as unknown[])[0]);
	const { parts } = asRecord(content);
	const events = (Array.isArray(parts) ? parts : [])
		.map(asRecord)
		.flatMap((part, index) => readPart(part, `call ${place}.${index}`));
	return { response: { object: 'generateContent', ...readContentEnd(fields) }, events };
}

function readPart(part: Fields, callId: string): ChatEvent[] {
	const item = toCall(part);
	if (item) return [{ kind: 'arguments', item_id: callId, item }];
	if (typeof part.text !== 'string' || part.text === '') return [];
	const kind = part.thought === true ? 'summary_text' : 'output_text';
	return [{ kind, item_id: kind, delta: part.text }];
}

/** Reads an event of a stream of Claude's interface, which are told apart by the number of their block. */
export function readMessageEvent(fields: Fields): ChatChunk {
	const { index, message, content_block: block, delta } = fields;
	const item_id = `block ${String(index)}`;
	switch (fields.type) {
		case 'message_start': {
			const { id, model, usage } = asRecord(message);
			return { response: omitUndefined({ type: 'message', id, model, usage }), events: [] };
		}
		case 'content_block_start': {
			const item = toCall({ ...asRecord(block), input: '' });
			return {
				response: {},
				events: item ? [{ kind: 'arguments', item_id, item: { ...item, arguments: '' } }] : [],
			};
		}
		case 'content_block_delta': {
			const { text, thinking, partial_json: json } = asRecord(delta);
			return {
				response: {},
				events: [
					{ kind: 'output_text' as const, item_id, delta: text },
					{ kind: 'summary_text' as const, item_id, delta: thinking },
					{ kind: 'arguments' as const, item_id, delta: json },
				].filter((event) => typeof event.delta === 'string'),
			};
		}
		default:
			return { response: readMessageEnd(fields), events: [] };
	}
}

function readMessageEnd({ delta, usage }: Fields): Fields {
	const { stop_reason: reason } = asRecord(delta);
	return omitUndefined({ ...(reason ? readStop(reason) : {}), usage });
}
