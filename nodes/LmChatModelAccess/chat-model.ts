import { joinedSignal } from '../shared/client/abort';
import { InputError } from '../shared/client/errors';
import type { Client } from '../shared/client/request';
import {
	checkResponseRequest,
	createResponse,
	type CreatedResponse,
} from '../shared/client/response';
import { streamResponse } from '../shared/client/response-stream';
import { onlySet, withExtraBody } from '../shared/n8n/parameters';
import { answerContentOf, type AnswerContent } from './from-response';
import { inputItemsOf } from './to-input-items';
import { Pieces } from './async-queue';
import type {
	ChatModel,
	ChatModelConfig,
	GenerateResult,
	Message,
	MessageContent,
	StreamChunk,
	Tool,
} from './sdk';
import { parametersOf, toolChoiceOf, toolsOf } from './tools';

/** What the node makes a model of. */
export interface ChatModelSettings {
	modelId: string;
	/** Body fields of the options that were set, under the gateway's names. */
	fields: Record<string, unknown>;
	/** Merged over everything else, but for `tools`, which are added. */
	extraBody: Record<string, unknown>;
	/** Milliseconds that a stream may be silent. */
	idleMs: number;
	/** Aborted when the execution is cancelled. */
	cancelled?: AbortSignal;
	/** A client for one request, which ends when the signal is aborted. */
	client(cancel: AbortSignal): Client;
	/** Told of each answer. */
	onAnswer?(created: CreatedResponse): void;
	/** Whatever went wrong, as n8n's error. */
	errorOf(error: unknown): unknown;
}

/** What one call may ask for. LangChain's options come through n8n's kit as they are. */
export interface CallConfig extends ChatModelConfig {
	signal?: AbortSignal;
	stop?: string[];
}

/** What tools are bound with. */
interface Asked {
	toolChoice?: unknown;
	/** `text`, for structured output. */
	text?: Record<string, unknown>;
}

interface Answered {
	created: CreatedResponse;
	content: AnswerContent;
}

/**
 * A chat model over `POST /v1/responses`, in the form that n8n's kit for AI nodes wants. Each call
 * is one request of the client: what is sent again is decided by the retry table and by nothing
 * else.
 * @see contract, "POST /v1/responses"
 */
export class ModelAccessChatModel implements ChatModel<CallConfig> {
	readonly provider = 'model-access';
	readonly modelId: string;

	constructor(
		private readonly settings: ChatModelSettings,
		private readonly tools: Tool[] = [],
		private readonly asked: Asked = {},
	) {
		this.modelId = settings.modelId;
	}

	/** The same model with these tools added. */
	withTools(tools: Tool[]): ModelAccessChatModel {
		return new ModelAccessChatModel(this.settings, [...this.tools, ...tools], this.asked);
	}

	/**
	 * The same model that has to, or must not, call tools.
	 * @param choice in any of the forms that LangChain knows
	 */
	withToolChoice(choice: unknown): ModelAccessChatModel {
		const toolChoice = toolChoiceOf(choice);
		return new ModelAccessChatModel(this.settings, this.tools, { ...this.asked, toolChoice });
	}

	/**
	 * The same model that answers with JSON which fits a schema.
	 * @param schema JSON Schema, or zod's
	 * @param name how the schema is called at the gateway; its title where it is left out
	 */
	withStructuredOutput(schema: object, name?: string): ModelAccessChatModel {
		const json = parametersOf(schema, 'The wished output');
		const called = [name, json.title].find(isName) ?? 'answer';
		const text = { format: { type: 'json_schema', name: called, schema: json } };
		return new ModelAccessChatModel(this.settings, this.tools, { ...this.asked, text });
	}

	/**
	 * Asks for an answer, once (see the retry table).
	 * @throws {NodeApiError|NodeOperationError}
	 */
	async generate(messages: Message[], config: CallConfig = {}): Promise<GenerateResult> {
		const answered = await this.ask(messages, config, [], createResponse);
		const { created, content } = answered;
		const { response, requestId } = created;
		return {
			id: response.id,
			finishReason: content.finishReason,
			usage: content.usage,
			message: {
				role: 'assistant',
				id: response.id,
				content: contentOf(content, stoppedAt(content.text, config)),
			},
			providerMetadata: onlySet({
				id: response.id,
				status: response.status,
				finish_reason: content.finishReason,
				model_name: response.model,
				request_id: requestId,
			}),
			rawResponse: created.json,
		};
	}

	/**
	 * Asks for an answer, and hands on its text as it comes. Calls of tools are handed on whole, and
	 * once the answer is complete: nothing can be done by a part of them.
	 * @throws {NodeApiError|NodeOperationError} with the text received so far in its details
	 */
	async *stream(messages: Message[], config: CallConfig = {}): AsyncGenerator<StreamChunk> {
		const left = new AbortController();
		const pieces = new Pieces<string>();
		// Text after which the answer is to stop may come in pieces of its own: it is cut at the end.
		const atOnce = stopsOf(config).length > 0;
		const { idleMs } = this.settings;
		const onText = atOnce ? undefined : (piece: string) => pieces.push(piece);
		const answer = this.ask(
			messages,
			config,
			[left.signal],
			async (client, body) => await streamResponse(client, body, { idleMs, onText }),
		).finally(() => pieces.end());
		// Whoever leaves early does not wait for it.
		answer.catch(() => {});
		try {
			for await (const delta of pieces) if (delta !== '') yield { type: 'text-delta', delta };
			const { content } = await answer;
			const rest = atOnce ? stoppedAt(content.text, config) : '';
			if (rest !== '') yield { type: 'text-delta', delta: rest };
			yield* endOf(content);
		} finally {
			left.abort();
		}
	}

	private async ask(
		messages: Message[],
		config: CallConfig,
		signals: AbortSignal[],
		send: (client: Client, body: Record<string, unknown>) => Promise<CreatedResponse>,
	): Promise<Answered> {
		const { settings } = this;
		const stop = joinedSignal([settings.cancelled, config.abortSignal, config.signal, ...signals]);
		try {
			const created = await send(settings.client(stop.signal), this.bodyOf(messages, config));
			settings.onAnswer?.(created);
			return { created, content: answerContentOf(created) };
		} catch (error) {
			throw settings.errorOf(error);
		} finally {
			stop.release();
		}
	}

	/** @throws {InputError} there is nothing to answer to, or the extra body takes its place */
	private bodyOf(messages: Message[], config: CallConfig): Record<string, unknown> {
		const { modelId, fields, extraBody } = this.settings;
		if ('input' in extraBody) {
			throw new InputError(
				'Extra Body',
				'holds "input"',
				'The agent or chain brings the conversation. Remove "input" from the Extra Body option.',
			);
		}
		const { tools: moreTools, ...extra } = extraBody;
		const tools = toolsOf(this.tools);
		const allTools = Array.isArray(moreTools) ? [...tools, ...(moreTools as unknown[])] : tools;
		const known = { ...fields, ...extra };
		const input = inputItemsOf(messages, known.store !== false);
		if (input.length === 0) {
			throw new InputError('Prompt', 'is empty', 'Enter what the model should answer to.');
		}
		return checkResponseRequest(
			withExtraBody(
				onlySet({
					model: modelId,
					input,
					...fields,
					max_output_tokens: config.maxTokens ?? fields.max_output_tokens,
					temperature: config.temperature ?? fields.temperature,
					top_p: config.topP ?? fields.top_p,
					tools: allTools.length > 0 ? allTools : undefined,
					tool_choice: allTools.length > 0 ? this.asked.toolChoice : undefined,
					text: this.asked.text,
				}),
				extra,
			),
		);
	}
}

function contentOf(content: AnswerContent, text: string): MessageContent[] {
	return [
		...(text === '' ? [] : [{ type: 'text', text } as const]),
		...(content.reasoning === '' ? [] : [{ type: 'reasoning', text: content.reasoning } as const]),
		...content.items.map((value) => ({ type: 'provider', value }) as const),
		...content.calls,
	];
}

/** What of an answer comes after its text. */
function* endOf(content: AnswerContent): Generator<StreamChunk> {
	const { reasoning, items, calls, finishReason, usage } = content;
	if (reasoning !== '') yield { type: 'reasoning-delta', delta: reasoning };
	for (const value of items) yield { type: 'content', content: { type: 'provider', value } };
	for (const { toolCallId, toolName, input } of calls) {
		yield { type: 'tool-call-delta', id: toolCallId, name: toolName, argumentsDelta: input };
	}
	yield { type: 'finish', finishReason, usage };
}

const stopsOf = ({ stop, stopSequences }: CallConfig): string[] =>
	(stop ?? stopSequences ?? []).filter((text) => text !== '');

/** The Responses API knows no texts to stop at: what comes from one on is left out. */
function stoppedAt(text: string, config: CallConfig): string {
	const places = stopsOf(config)
		.map((stop) => text.indexOf(stop))
		.filter((place) => place >= 0);
	return places.length > 0 ? text.slice(0, Math.min(...places)) : text;
}

const isName = (name: unknown): name is string =>
	typeof name === 'string' && /^[\w-]{1,64}$/.test(name);
