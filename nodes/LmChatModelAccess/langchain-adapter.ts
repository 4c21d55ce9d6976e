import { sanitizeForMessage } from '../shared/api/errors/sanitize';
import { asRecord } from '../shared/api/http/json';
import { parseJsonAnswer } from '../shared/api/responses/json-answer';
import { keepItems, repairRequest, takeItems } from './langchain-content';
import type { LangChainModel } from './langchain-model';

/*
 * What the adapter of n8n's kit loses between LangChain and our chat model. "Adapter" is
 * `LangchainChatModelAdapter` in @n8n/ai-utilities 0.34.1, adapters/langchain-chat-model.js. It has
 * not changed since 0.10.0 (n8n 2.16). If a patch point is missing or a loss is gone,
 * test/nodes/langchain-adapter.test.ts fails.
 */

/** A tracer of n8n, with the function that reads the token usage of an answer. */
interface Tracer {
	options: { tokensUsageParser: (result: unknown) => unknown };
}

const isFunction = (value: unknown) => typeof value === 'function';

/** Where the patches change the adapter: the name of each point, and whether the adapter has it. */
export const PATCH_POINTS = {
	_generate: (model) => isFunction(model._generate),
	_streamResponseChunks: (model) => isFunction(model._streamResponseChunks),
	bindTools: (model) => isFunction(model.bindTools),
	pipe: (model) => isFunction(model.pipe),
	'chatModel.withToolChoice': (model) => isFunction(asRecord(model.chatModel).withToolChoice),
	'chatModel.withStructuredOutput': (model) =>
		isFunction(asRecord(model.chatModel).withStructuredOutput),
	'callbacks[].options.tokensUsageParser': (model) => findTracers(model).length > 0,
} satisfies Record<string, (model: LangChainModel) => boolean>;

type PatchPoint = keyof typeof PATCH_POINTS;

interface Patch {
	apply(model: LangChainModel): void;
	needs: PatchPoint[];
	/** What is lost without it, for the log. */
	loss: string;
}

const PATCHES: Patch[] = [
	{
		apply: keepContent,
		needs: ['_generate'],
		loss: 'images, files and reasoning, without streaming',
	},
	{
		apply: keepStreamedContent,
		needs: ['_streamResponseChunks'],
		loss: 'images, files and reasoning, with streaming',
	},
	{
		apply: keepToolChoice,
		needs: ['bindTools', 'chatModel.withToolChoice'],
		loss: 'the tool choice',
	},
	{
		apply: keepStructuredOutput,
		needs: ['bindTools', 'pipe', 'chatModel.withStructuredOutput'],
		loss: 'structured output',
	},
	{
		apply: keepStreamUsage,
		needs: ['callbacks[].options.tokensUsageParser'],
		loss: 'the token usage of streams',
	},
];

/**
 * Makes up for what n8n loses between LangChain and our chat model.
 * @param model the adapter, which is changed
 * @param logger where each missing patch point is reported, once per call
 */
export function repairAdapter(
	model: LangChainModel,
	logger: { warn(message: string): void },
): LangChainModel {
	const missing = listMissingPoints(model);
	for (const point of missing) {
		const losses = PATCHES.filter(({ needs }) => needs.includes(point)).map(({ loss }) => loss);
		logger.warn(
			`Model Access Chat Model: the chat model adapter of this n8n has no ${point}. Lost: ${losses.join('; ')}. Update the Model Access nodes.`,
		);
	}
	const patches = PATCHES.filter(({ needs }) => !needs.some((point) => missing.includes(point)));
	return applyPatches(model, patches);
}

/** The patch points that an adapter lacks. */
export function listMissingPoints(model: LangChainModel): PatchPoint[] {
	const points = Object.keys(PATCH_POINTS) as PatchPoint[];
	return points.filter((point) => !PATCH_POINTS[point](model));
}

function applyPatches(model: LangChainModel, patches: Patch[]): LangChainModel {
	if (PATCH_POINTS.bindTools(model)) keepPatches(model, patches);
	for (const { apply } of patches) apply(model);
	return model;
}

/**
 * Loss: `bindTools` makes a new adapter, without our patches.
 * Goes when all others have gone.
 */
export function keepPatches(model: LangChainModel, patches: Patch[]) {
	const bindTools = model.bindTools.bind(model);
	model.bindTools = (...given) => applyPatches(bindTools(...given), patches);
}

/** Makes up for the losses in langchain-content.ts, for an answer that is not streamed. */
export function keepContent(model: LangChainModel) {
	const generate = model._generate.bind(model);
	model._generate = async (messages, ...rest) => {
		const result = await generate(messages.map(repairRequest), ...rest);
		for (const { message } of result.generations) keepItems(message, takeItems(message));
		return result;
	};
}

/** Makes up for the losses in langchain-content.ts, for a stream. */
export function keepStreamedContent(model: LangChainModel) {
	const stream = model._streamResponseChunks.bind(model);
	model._streamResponseChunks = async function* (messages, ...rest) {
		const items: ReturnType<typeof takeItems> = [];
		for await (const chunk of stream(messages.map(repairRequest), ...rest)) {
			items.push(...takeItems(chunk.message));
			if (chunk.generationInfo?.finish_reason !== undefined) keepItems(chunk.message, items);
			yield chunk;
		}
	};
}

/**
 * Loss: the adapter's `bindTools(tools)` has no parameter for options and so drops `tool_choice`.
 * Goes when the adapter hands `tool_choice` to the chat model.
 */
export function keepToolChoice(model: LangChainModel) {
	const bindTools = model.bindTools.bind(model);
	model.bindTools = (tools, options) => {
		const bound = bindTools(tools, options);
		const choice = options?.tool_choice;
		if (choice !== undefined) bound.chatModel = bound.chatModel.withToolChoice(choice);
		return bound;
	};
}

/**
 * Loss: the adapter inherits `withStructuredOutput` of LangChain, which reads the output from the
 * call of a tool and takes it from an `AIMessageChunk` only (@langchain/core 1.2.8,
 * language_models/chat_models.js). `_generate` of the adapter returns an `AIMessage`, so it throws.
 * Goes when the adapter has a `withStructuredOutput` that calls that of the chat model.
 */
export function keepStructuredOutput(model: LangChainModel) {
	model.withStructuredOutput = (schema, { name, includeRaw } = {}) => {
		const structured = model.bindTools([]);
		structured.chatModel = structured.chatModel.withStructuredOutput(schema, name);
		return structured.pipe(async (message) => {
			const parse = async () => await parseOutput(schema, message.text);
			if (!includeRaw) return await parse();
			return { raw: message, parsed: await parse().catch(() => null) };
		});
	};
}

/**
 * Parses the JSON of an answer, and validates it if the schema is one of zod.
 * @throws {Error} it is no JSON, or does not fit the schema
 */
async function parseOutput(schema: object, text: string): Promise<unknown> {
	const parsed = parseJsonAnswer(text);
	if (parsed === undefined) {
		throw new Error(
			`Failed to parse. Text: "${sanitizeForMessage(text)}". The gateway may not pass the output format on to this model: describe the JSON in the prompt.`,
		);
	}
	const validate = 'parseAsync' in schema ? schema.parseAsync : undefined;
	if (typeof validate !== 'function') return parsed;
	return (await validate.call(schema, parsed)) as unknown;
}

/**
 * Loss: the adapter reads the usage as `input_tokens` and `output_tokens`. For a stream LangChain
 * calls them `promptTokens` and `completionTokens` (@langchain/core 1.2.8,
 * language_models/chat_models.js, `_streamIterator`), so n8n shows an estimate.
 * Goes when the adapter reads both.
 */
export function keepStreamUsage(model: LangChainModel) {
	for (const { options } of findTracers(model)) {
		options.tokensUsageParser = (result) => {
			const usage = asRecord(asRecord(asRecord(result).llmOutput).tokenUsage);
			const promptTokens = Number(usage.input_tokens ?? usage.promptTokens ?? 0);
			const completionTokens = Number(usage.output_tokens ?? usage.completionTokens ?? 0);
			return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
		};
	}
}

function findTracers({ callbacks }: LangChainModel): Tracer[] {
	const handlers: unknown[] = Array.isArray(callbacks) ? callbacks : [];
	return handlers.filter((handler): handler is Tracer =>
		isFunction(asRecord(asRecord(handler).options).tokensUsageParser),
	);
}
