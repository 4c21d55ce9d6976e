import { toDataUrl, type ContentPart } from '../shared/api/responses/response-input';
import { fileType, withExtension } from '../shared/api/file-name';
import { IMAGE_TYPE_BYTES } from '../shared/api/images/image-type';
import { toSendableReasoning } from './unstored-reasoning';
import type { Message, MessageContent } from './sdk';

type Item = Record<string, unknown>;
type File = Extract<MessageContent, { type: 'file' }>;
type Result = Extract<MessageContent, { type: 'tool-result' }>;

/**
 * Makes input items of the Responses API of a conversation: messages, function calls and their
 * outputs, in order. Content of an unknown kind is sent unchanged.
 * @param keepReasoning whether the gateway stores responses and finds reasoning items by ID. If it
 * does not, only items with encrypted content of their own can be sent back
 * @see contract, "Response request" (`input`)
 */
export function toInputItems(messages: Message[], keepReasoning: boolean): Item[] {
	const items = messages.flatMap((message) => {
		switch (message.role) {
			case 'assistant':
				return toAssistantItems(message.content);
			case 'tool':
				return message.content.flatMap(toOutputItems);
			default:
				return toMessageItems(message.role, message.content);
		}
	});
	return toSendableReasoning(withoutRepeatedReasoning(items), keepReasoning);
}

/** n8n's agent repeats the reasoning before several calls with each of them: it is sent once. */
function withoutRepeatedReasoning(items: Item[]): Item[] {
	const seen = new Set<unknown>();
	return items.filter(({ type, id }) => {
		if (type !== 'reasoning' || id === undefined) return true;
		const isFirst = !seen.has(id);
		seen.add(id);
		return isFirst;
	});
}

function toMessageItems(role: 'system' | 'user', content: MessageContent[]): Item[] {
	const parts = content.flatMap(toContentParts);
	const [only, ...more] = parts;
	if (only === undefined) return [];
	const text = more.length === 0 && 'text' in only ? only.text : undefined;
	return [{ role, content: text ?? parts }];
}

/** Parts of a message or of a tool's result. */
function toContentParts(content: MessageContent): Array<ContentPart | Item> {
	switch (content.type) {
		case 'text':
			return content.text === '' ? [] : [{ type: 'input_text', text: content.text }];
		case 'file':
			return [toFilePart(content)];
		case 'provider':
			return [content.value];
		default:
			return [];
	}
}

function toAssistantItems(content: MessageContent[]): Item[] {
	return content.flatMap((part): Item[] => {
		switch (part.type) {
			case 'text': {
				const { text } = part;
				return text === '' ? [] : [{ role: 'assistant', content: [{ type: 'output_text', text }] }];
			}
			case 'tool-call':
				return [toCallItem(part.toolCallId, part.toolName, part.input)];
			case 'invalid-tool-call':
				return [toCallItem(part.toolCallId, part.name ?? '', part.args ?? '')];
			case 'tool-result':
				return toOutputItems(part);
			case 'provider':
				return [part.value];
			default:
				return [];
		}
	});
}

/** Leaves out the item's ID: the gateway takes that only with the reasoning item before it. */
function toCallItem(callId: string | undefined, name: string, text: string): Item {
	return { type: 'function_call', call_id: callId ?? name, name, arguments: text };
}

function toOutputItems(content: MessageContent): Item[] {
	if (content.type !== 'tool-result') return [];
	return [{ type: 'function_call_output', call_id: content.toolCallId, output: toOutput(content) }];
}

function toOutput({ result }: Result): unknown {
	const value: unknown = result;
	if (typeof value === 'string') return value;
	if (isContent(value)) {
		const parts = value.flatMap(toContentParts);
		if (parts.length > 0) return parts;
	}
	return JSON.stringify(value) ?? '';
}

const isContent = (value: unknown): value is MessageContent[] =>
	Array.isArray(value) &&
	value.length > 0 &&
	value.every((part) => typeof part === 'object' && part !== null && 'type' in part);

const UNKNOWN_TYPE = 'application/octet-stream';

/** An image or another file, by its content, its URL or its ID at the gateway. */
function toFilePart({ mediaType = UNKNOWN_TYPE, data, providerMetadata = {} }: File): Item {
	const { url, fileId, detail, filename, name } = providerMetadata;
	const given = fileId === undefined ? undefined : { file_id: fileId };
	if (mediaType.startsWith('image/')) {
		return {
			type: 'input_image',
			...(given ?? { image_url: url ?? asDataUrl(mediaType, data) }),
			...(detail !== undefined && { detail }),
		};
	}
	if (given) return { type: 'input_file', ...given };
	if (url !== undefined) return { type: 'input_file', file_url: url };
	return {
		type: 'input_file',
		filename: getFileName(filename ?? name, mediaType, data),
		file_data: asDataUrl(mediaType, data),
	};
}

function asDataUrl(mediaType: string, data: string | Uint8Array): string {
	if (typeof data === 'string' && data.startsWith('data:')) return data;
	const base64 = typeof data === 'string' ? data : Buffer.from(data).toString('base64');
	return toDataUrl(base64, mediaType);
}

/** Gateways go by the extension, so it follows the bytes where these say it. */
function getFileName(given: unknown, mediaType: string, data: string | Uint8Array): string {
	const name = typeof given === 'string' && given !== '' ? given : undefined;
	const byBytes = fileType(firstBytes(data))?.extension;
	if (byBytes !== undefined) return withExtension(name ?? 'file', byBytes);
	return name ?? `file.${getExtension(mediaType)}`;
}

function firstBytes(data: string | Uint8Array): Uint8Array {
	if (typeof data !== 'string') return data.subarray(0, IMAGE_TYPE_BYTES);
	const start = data.startsWith('data:') ? data.indexOf(',') + 1 : 0;
	return Buffer.from(data.slice(start, start + 2 * IMAGE_TYPE_BYTES), 'base64');
}

const getExtension = (mediaType: string) =>
	mediaType === UNKNOWN_TYPE ? 'bin' : (/\/(?:x-)?(\w+)/.exec(mediaType)?.[1] ?? 'bin');
