import { quotable } from '../shared/client/errors';
import { fieldsOf, parseJson } from '../shared/client/json';
import { ModelAccessChatModel } from './chat-model';

/** A message of LangChain, as far as it is looked at here. */
interface LangChainMessage {
	content: unknown;
	additional_kwargs?: Record<string, unknown>;
}

interface Generation {
	message: LangChainMessage;
	generationInfo?: Record<string, unknown>;
}

type Rest = unknown[];
type Item = Record<string, unknown>;

/** The chat model of LangChain that n8n's kit makes of ours, as far as it is looked at here. */
export interface LangChainModel {
	callbacks?: unknown;
	chatModel?: unknown;
	_generate(messages: LangChainMessage[], ...rest: Rest): Promise<{ generations: Generation[] }>;
	_streamResponseChunks(messages: LangChainMessage[], ...rest: Rest): AsyncGenerator<Generation>;
	bindTools(tools: unknown[], options?: { tool_choice?: unknown }): LangChainModel;
	withStructuredOutput?(schema: object, options?: StructuredOptions): unknown;
	pipe(step: (message: LangChainMessage & { text: string }) => unknown): unknown;
}

interface StructuredOptions {
	name?: string;
	/** Whether the message is wanted as well. */
	includeRaw?: boolean;
}

/**
 * Makes up for what the model of n8n's kit (0.31) loses between LangChain and us:
 * - pictures, files and parts in forms that the kit passes over in silence; n8n's own agent and
 *   chain send pictures in such a form;
 * - what was thought before a tool was called, which the Responses API wants back;
 * - content as a text, as other models have it and some of n8n's parsers need it;
 * - the choice of a tool;
 * - structured output, which LangChain gets by a call that the kit's messages can't hold;
 * - the usage of streams, for which n8n would show an estimate.
 */
export function withoutLosses(model: LangChainModel): LangChainModel {
	const generate = model._generate?.bind(model);
	const stream = model._streamResponseChunks?.bind(model);
	const bindTools = model.bindTools?.bind(model);
	if (generate) {
		model._generate = async (messages, ...rest) => {
			const result = await generate(messages.map(standardMessage), ...rest);
			for (const { message } of result.generations) keepItems(message, takeItems(message));
			return result;
		};
	}
	if (stream) {
		model._streamResponseChunks = async function* (messages, ...rest) {
			const items: Item[] = [];
			for await (const chunk of stream(messages.map(standardMessage), ...rest)) {
				items.push(...takeItems(chunk.message));
				if (chunk.generationInfo?.finish_reason !== undefined) keepItems(chunk.message, items);
				yield chunk;
			}
		};
	}
	if (bindTools) {
		const bound = (tools: unknown[], change: (ours: ModelAccessChatModel) => unknown) => {
			const made = bindTools(tools);
			if (made.chatModel instanceof ModelAccessChatModel) made.chatModel = change(made.chatModel);
			return withoutLosses(made);
		};
		model.bindTools = (tools, options) =>
			bound(tools, (ours) =>
				options?.tool_choice === undefined ? ours : ours.withToolChoice(options.tool_choice),
			);
		model.withStructuredOutput = (schema, { name, includeRaw } = {}) =>
			bound([], (ours) => ours.withStructuredOutput(schema, name)).pipe(async (message) => {
				const read = async () => await fitting(schema, message.text);
				if (!includeRaw) return await read();
				return { raw: message, parsed: await read().catch(() => null) };
			});
	}
	readUsageOfStreams(model.callbacks);
	return model;
}

/**
 * The JSON of an answer, checked by a schema that can check.
 * @throws {Error} it is no JSON, or does not fit
 */
async function fitting(schema: object, text: string): Promise<unknown> {
	const parsed = parseJson(text);
	if (parsed === undefined) throw new Error(`Failed to parse. Text: "${quotable(text)}"`);
	const check = 'parseAsync' in schema ? schema.parseAsync : undefined;
	return typeof check === 'function' ? ((await check.call(schema, parsed)) as unknown) : parsed;
}

/** The kit reads the usage under one pair of names; for a stream LangChain gives it another. */
function readUsageOfStreams(callbacks: unknown) {
	if (!Array.isArray(callbacks)) return;
	for (const { options } of callbacks.map(fieldsOf)) {
		const known = fieldsOf(options);
		if (typeof known.tokensUsageParser !== 'function') continue;
		known.tokensUsageParser = (result: unknown) => {
			const usage = fieldsOf(fieldsOf(fieldsOf(result).llmOutput).tokenUsage);
			const promptTokens = Number(usage.input_tokens ?? usage.promptTokens ?? 0);
			const completionTokens = Number(usage.output_tokens ?? usage.completionTokens ?? 0);
			return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
		};
	}
}

/** The field in which n8n's agent takes what a model thought along from round to round, as text. */
const THOUGHT = 'reasoning_content';

/** A message whose parts the kit understands; the original stays as it is. */
function standardMessage(message: LangChainMessage): LangChainMessage {
	const { content } = message;
	const thought = thoughtOf(message);
	const blocks = Array.isArray(content) ? content.map(standardBlock) : undefined;
	if (!blocks && thought.length === 0) return message;
	const said = blocks ?? (content === '' ? [] : [{ type: 'text', text: content }]);
	return Object.create(message, {
		content: { value: [...thought, ...said], enumerable: true },
	}) as LangChainMessage;
}

function thoughtOf({ additional_kwargs: more }: LangChainMessage): unknown[] {
	const text = more?.[THOUGHT];
	const items = typeof text === 'string' ? parseJson(text) : undefined;
	return Array.isArray(items)
		? items.map((value: unknown) => ({ type: 'non_standard', value }))
		: [];
}

/** What the kit has a form for; anything else goes through it as it is. */
const KNOWN = [
	'text',
	'reasoning',
	'tool_call',
	'invalid_tool_call',
	'server_tool_call_result',
	'citation',
	'non_standard',
	// Parts of other vendors' answers, which no other model reads.
	'tool_use',
	'thinking',
	'redacted_thinking',
];
const FILES = ['file', 'image', 'audio', 'video', 'text-plain'];

function standardBlock(block: unknown): unknown {
	if (typeof block === 'string') return { type: 'text', text: block };
	const fields = fieldsOf(block);
	if (fields.type === 'image_url') return pictureBlock(fields.image_url);
	if (FILES.includes(String(fields.type))) return fileBlock(fields);
	return KNOWN.includes(String(fields.type)) ? block : { type: 'non_standard', value: block };
}

/** A picture in the form of Chat Completions, which n8n's agent and chain use. */
function pictureBlock(given: unknown) {
	const { url, detail } = typeof given === 'string' ? { url: given } : fieldsOf(given);
	const [, mimeType, data] = /^data:([^;,]+)[^,]*;base64,(.*)$/s.exec(String(url)) ?? [];
	return {
		type: 'image',
		mimeType: mimeType ?? 'image/*',
		...(data === undefined ? { url } : { data }),
		metadata: detail === undefined ? {} : { detail },
	};
}

/** A file in LangChain's newer or its older form. */
function fileBlock({
	mime_type: olderType,
	source_type: source,
	...block
}: Record<string, unknown>) {
	if (source === 'text' || (block.type === 'text-plain' && typeof block.text === 'string')) {
		return { type: 'text', text: block.text };
	}
	const given = block.mimeType ?? olderType;
	return {
		...block,
		...(block.id !== undefined && source === 'id' && { fileId: block.id }),
		mimeType: given ?? (block.type === 'image' ? 'image/*' : undefined),
		// The kit adds to it.
		metadata: { ...fieldsOf(block.metadata) },
	};
}

/**
 * Makes the content of an answer a text.
 * @returns what is no text: items of the gateway, as it sent them
 */
function takeItems(message: LangChainMessage): Item[] {
	if (!Array.isArray(message.content)) return [];
	const blocks = message.content.map(fieldsOf);
	message.content = blocks
		.filter(({ type }) => type === 'text')
		.map(({ text }) => String(text))
		.join('');
	return blocks.filter(({ type }) => type === 'non_standard').map(({ value }) => fieldsOf(value));
}

/** Keeps items beside the text: what was thought where n8n's agent takes it along. */
function keepItems(message: LangChainMessage, items: Item[]) {
	const thought = items.filter(({ type }) => type === 'reasoning');
	const others = items.filter(({ type }) => type !== 'reasoning');
	message.additional_kwargs = {
		...message.additional_kwargs,
		...(thought.length > 0 && { [THOUGHT]: JSON.stringify(thought) }),
		...(others.length > 0 && { output_items: others }),
	};
}
