import type { ContentPart } from '../shared/client/response-input';
import type { Message, MessageContent } from './sdk';

type Item = Record<string, unknown>;
type File = Extract<MessageContent, { type: 'file' }>;
type Result = Extract<MessageContent, { type: 'tool-result' }>;

/**
 * A conversation as input items of the Responses API: messages, calls of functions and their
 * outputs, in order. What nobody here knows goes out as it came.
 * @param keepReasoning whether the gateway knows what a model thought by its ID. Without it, only
 * what carries its own (encrypted) content can be sent back
 * @see contract, "Response request" (`input`)
 */
export function inputItemsOf(messages: Message[], keepReasoning: boolean): Item[] {
	const items = messages.flatMap((message) => {
		switch (message.role) {
			case 'assistant':
				return assistantItems(message.content);
			case 'tool':
				return message.content.flatMap(outputItems);
			default:
				return saidBy(message.role, message.content);
		}
	});
	return onceEach(items).filter(
		({ type, encrypted_content: own }) =>
			type !== 'reasoning' || keepReasoning || typeof own === 'string',
	);
}

/** What was thought before several calls may come with each of them, and goes out once. */
function onceEach(items: Item[]): Item[] {
	const thought = new Set<unknown>();
	return items.filter(({ type, id }) => {
		if (type !== 'reasoning' || id === undefined) return true;
		const first = !thought.has(id);
		thought.add(id);
		return first;
	});
}

function saidBy(role: 'system' | 'user', content: MessageContent[]): Item[] {
	const parts = content.flatMap(partsOf);
	const [only, ...more] = parts;
	if (only === undefined) return [];
	const text = more.length === 0 && 'text' in only ? only.text : undefined;
	return [{ role, content: text ?? parts }];
}

/** Parts of something said or shown to the model. */
function partsOf(content: MessageContent): Array<ContentPart | Item> {
	switch (content.type) {
		case 'text':
			return content.text === '' ? [] : [{ type: 'input_text', text: content.text }];
		case 'file':
			return [filePart(content)];
		case 'provider':
			return [content.value];
		default:
			return [];
	}
}

function assistantItems(content: MessageContent[]): Item[] {
	return content.flatMap((part): Item[] => {
		switch (part.type) {
			case 'text': {
				const { text } = part;
				return text === '' ? [] : [{ role: 'assistant', content: [{ type: 'output_text', text }] }];
			}
			case 'tool-call':
				return [callItem(part.toolCallId, part.toolName, part.input)];
			case 'invalid-tool-call':
				return [callItem(part.toolCallId, part.name ?? '', part.args ?? '')];
			case 'tool-result':
				return outputItems(part);
			case 'provider':
				return [part.value];
			default:
				return [];
		}
	});
}

/** A call without its item's ID: that one only holds together with what was thought before it. */
function callItem(callId: string | undefined, name: string, text: string): Item {
	return { type: 'function_call', call_id: callId ?? name, name, arguments: text };
}

function outputItems(content: MessageContent): Item[] {
	if (content.type !== 'tool-result') return [];
	return [{ type: 'function_call_output', call_id: content.toolCallId, output: outputOf(content) }];
}

function outputOf({ result }: Result): unknown {
	const value: unknown = result;
	if (typeof value === 'string') return value;
	if (isContent(value)) {
		const parts = value.flatMap(partsOf);
		if (parts.length > 0) return parts;
	}
	return JSON.stringify(value) ?? '';
}

const isContent = (value: unknown): value is MessageContent[] =>
	Array.isArray(value) &&
	value.length > 0 &&
	value.every((part) => typeof part === 'object' && part !== null && 'type' in part);

const UNKNOWN_TYPE = 'application/octet-stream';

/** A picture or another file: its content, its address, or its ID at the gateway. */
function filePart({ mediaType = UNKNOWN_TYPE, data, providerMetadata = {} }: File): Item {
	const { url, fileId, detail, filename, name } = providerMetadata;
	const given = fileId === undefined ? undefined : { file_id: fileId };
	if (mediaType.startsWith('image/')) {
		return {
			type: 'input_image',
			...(given ?? { image_url: url ?? dataUrl(mediaType, data) }),
			...(detail !== undefined && { detail }),
		};
	}
	if (given) return { type: 'input_file', ...given };
	if (url !== undefined) return { type: 'input_file', file_url: url };
	return {
		type: 'input_file',
		filename: filename ?? name ?? `file.${extensionOf(mediaType)}`,
		file_data: dataUrl(mediaType, data),
	};
}

function dataUrl(mediaType: string, data: string | Uint8Array): string {
	if (typeof data === 'string' && data.startsWith('data:')) return data;
	const base64 = typeof data === 'string' ? data : Buffer.from(data).toString('base64');
	return `data:${mediaType};base64,${base64}`;
}

const extensionOf = (mediaType: string) =>
	mediaType === UNKNOWN_TYPE ? 'bin' : (/\/(?:x-)?(\w+)/.exec(mediaType)?.[1] ?? 'bin');
