import { asRecord, parseJson } from '../shared/api/http/json';
import type { LangChainMessage } from './langchain-model';

/*
 * What n8n loses of a message's content, one function for each loss. "Kit" is @n8n/ai-utilities
 * 0.34.1, which @n8n/ai-node-sdk 0.31.1 re-exports; `fromLcContent` and `toLcMessage` stand in its
 * converters/message.js. test/nodes/langchain-adapter.test.ts fails when a loss is gone.
 */

type Item = Record<string, unknown>;

/**
 * Loss: `fromLcContent` drops a part that is a plain string.
 * Goes when the kit reads strings as text.
 */
export function keepStrings(part: unknown): unknown {
	return typeof part === 'string' ? { type: 'text', text: part } : part;
}

/**
 * Loss: `fromLcContent` drops `image_url`, the form of Chat Completions. n8n's agent and Basic LLM
 * Chain send images in it (@n8n/n8n-nodes-langchain 2.41.1: ToolsAgent/common.js and
 * ChainLLM/methods/imageUtils.js).
 * Goes when the kit reads `image_url`.
 */
export function keepImageUrls(part: unknown): unknown {
	const { type, image_url: given } = asRecord(part);
	if (type !== 'image_url') return part;
	const { url, detail } = typeof given === 'string' ? { url: given } : asRecord(given);
	const [, mimeType, data] = /^data:([^;,]+)[^,]*;base64,(.*)$/s.exec(String(url)) ?? [];
	return {
		type: 'image',
		mimeType: mimeType ?? 'image/*',
		...(data === undefined ? { url } : { data }),
		metadata: detail === undefined ? {} : { detail },
	};
}

const FILE_TYPES = ['file', 'image', 'audio', 'video', 'text-plain'];
const isFile = ({ type }: Item) => FILE_TYPES.includes(String(type));

/**
 * Loss: `fromLcContent` reads `data` of a text file, which holds its text in `text`.
 * Goes when the kit reads `text` of a `text-plain` block, and of one with `source_type: 'text'`.
 */
export function keepTextFiles(part: unknown): unknown {
	const fields = asRecord(part);
	if (!isFile(fields)) return part;
	const { type, source_type: source, text } = fields;
	const isText = source === 'text' || (type === 'text-plain' && typeof text === 'string');
	return isText ? { type: 'text', text } : part;
}

/**
 * Loss: `fromLcContent` reads `mimeType` and `fileId`, but not `mime_type` and `id`, their names
 * before LangChain 1.0. n8n's agent still sends `mime_type` (@n8n/n8n-nodes-langchain 2.41.1:
 * ToolsAgent/common.js).
 * Goes when the kit reads both, or n8n's agent sends the new names.
 */
export function keepOldFileFields(part: unknown): unknown {
	const fields = asRecord(part);
	if (!isFile(fields)) return part;
	const { mime_type: oldType, source_type: source, ...block } = fields;
	return {
		...block,
		...(block.id !== undefined && source === 'id' && { fileId: block.id }),
		mimeType: block.mimeType ?? oldType,
	};
}

/**
 * Loss: `fromLcContent` makes a file of an image and keeps only its MIME type. An image at a URL
 * may lack one. Nothing then says that it is an image. Goes when the kit keeps the block's type or
 * gives such an image a MIME type.
 */
export function keepImageType(part: unknown): unknown {
	const fields = asRecord(part);
	if (fields.type !== 'image') return part;
	return { ...fields, mimeType: fields.mimeType ?? 'image/*' };
}

/**
 * Loss: `fromLcContent` writes the URL and file ID of a block into its `metadata`, and so changes
 * the caller's message.
 * Goes when the kit copies `metadata` first.
 */
export function copyMetadata(part: unknown): unknown {
	const fields = asRecord(part);
	if (!isFile(fields) || fields.metadata === undefined) return part;
	return { ...fields, metadata: { ...asRecord(fields.metadata) } };
}

/** What the kit reads, and parts of other vendors' answers, which no other model can use. */
const READ_OR_USELESS = [
	...FILE_TYPES,
	'text',
	'reasoning',
	'tool_call',
	'invalid_tool_call',
	'server_tool_call_result',
	'citation',
	'non_standard',
	'tool_use',
	'thinking',
	'redacted_thinking',
];

/**
 * Loss: `fromLcContent` drops a part of any other type, such as `input_audio` in the API's own form.
 * Goes when the kit passes such parts on.
 */
export function keepUnknownParts(part: unknown): unknown {
	const { type } = asRecord(part);
	return READ_OR_USELESS.includes(String(type)) ? part : { type: 'non_standard', value: part };
}

/** In this order: a later one reads what an earlier one made. */
const PART_REPAIRS = [
	keepStrings,
	keepImageUrls,
	keepTextFiles,
	keepOldFileFields,
	keepImageType,
	copyMetadata,
	keepUnknownParts,
];

/** The field that n8n's agent takes along from round to round, as text. */
const REASONING = 'reasoning_content';

/**
 * Loss: n8n's agent rebuilds the messages between the rounds of a turn. It keeps nothing but calls
 * and the text in `additional_kwargs.reasoning_content` (@n8n/n8n-nodes-langchain 2.41.1:
 * utils/agent-execution/createEngineRequests.js and buildSteps.js). The Responses API wants the
 * reasoning items before a call back. Goes, with `restoreReasoning`, when n8n's agent keeps
 * `non_standard` content.
 * @param items the answer's items that are no text
 */
export function keepReasoning(message: LangChainMessage, items: Item[]) {
	const reasoning = items.filter(({ type }) => type === 'reasoning');
	if (reasoning.length > 0) addFields(message, { [REASONING]: JSON.stringify(reasoning) });
}

/** Puts the reasoning items that `keepReasoning` has kept before the content. */
export function restoreReasoning(message: LangChainMessage): LangChainMessage {
	const kept = message.additional_kwargs?.[REASONING];
	const items = typeof kept === 'string' ? parseJson(kept) : undefined;
	if (!Array.isArray(items) || items.length === 0) return message;
	const { content } = message;
	const text = content === '' ? [] : [{ type: 'text', text: content }];
	return withContent(message, [
		...items.map((value: unknown) => ({ type: 'non_standard', value })),
		...(Array.isArray(content) ? (content as unknown[]) : text),
	]);
}

/**
 * Loss: `toLcMessage` makes a list of blocks of the text. n8n's Auto-fixing Output Parser reads it by
 * `toString()` (@n8n/n8n-nodes-langchain 2.41.1: utils/output_parsers/N8nOutputFixingParser.js), and
 * LangChain's StringOutputParser throws at `non_standard` blocks.
 * Goes when the kit makes a string of it.
 */
export function keepTextAsString(message: LangChainMessage) {
	if (!Array.isArray(message.content)) return;
	message.content = message.content
		.map(asRecord)
		.filter(({ type }) => type === 'text')
		.map(({ text }) => String(text))
		.join('');
}

/**
 * Loss: `keepTextAsString` takes the items that are no text out of the content.
 * Goes with it.
 * @param items these items, as the gateway sent them
 */
export function keepOtherItems(message: LangChainMessage, items: Item[]) {
	const others = items.filter(({ type }) => type !== 'reasoning');
	if (others.length > 0) addFields(message, { output_items: others });
}

/** Repairs a message before the kit converts it. Returns a copy where it changes something. */
export function repairRequest(message: LangChainMessage): LangChainMessage {
	const { content } = message;
	if (!Array.isArray(content)) return restoreReasoning(message);
	const parts = content.map((given: unknown) =>
		PART_REPAIRS.reduce((part, repair) => repair(part), given),
	);
	return restoreReasoning(withContent(message, parts));
}

/**
 * Repairs an answer, or a chunk of one, after the kit has made it. Changes the message itself: the
 * kit also hands that to LangChain's callbacks.
 * @returns the items that are no text, as the gateway sent them
 */
export function takeItems(message: LangChainMessage): Item[] {
	if (!Array.isArray(message.content)) return [];
	const items = message.content
		.map(asRecord)
		.filter(({ type }) => type === 'non_standard')
		.map(({ value }) => asRecord(value));
	keepTextAsString(message);
	return items;
}

/** Adds what `takeItems` took, of all chunks, to the last one. */
export function keepItems(message: LangChainMessage, items: Item[]) {
	keepReasoning(message, items);
	keepOtherItems(message, items);
}

function addFields(message: LangChainMessage, fields: Record<string, unknown>) {
	message.additional_kwargs = { ...message.additional_kwargs, ...fields };
}

function withContent(message: LangChainMessage, content: unknown[]): LangChainMessage {
	return Object.create(message, {
		content: { value: content, enumerable: true },
	}) as LangChainMessage;
}
