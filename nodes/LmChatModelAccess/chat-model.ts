import { joinSignals } from '../shared/api/http/abort';
import { ValidationError } from '../shared/api/errors/errors';
import type { Client } from '../shared/api/http/request';
import { asRecord } from '../shared/api/http/json';
import { checkResponseRequest, createResponse } from '../shared/api/responses/response';
import { prepareRequest } from '../shared/api/responses/prepare-request';
import type { CreatedResponse } from '../shared/api/responses/created-response';
import { streamResponse } from '../shared/api/responses/response-stream';
import { omitUndefined, withExtraBody } from '../shared/n8n/fields/parameters';
import { AsyncQueue } from './async-queue';
import { fromResponse, type AnswerContent } from './from-response';
import type {
	ChatModel,
	ChatModelConfig,
	GenerateResult,
	Message,
	MessageContent,
	StreamChunk,
	Tool,
} from './sdk';
import { toInputItems } from './to-input-items';
import { markRefused, sendForContent, wantsContent } from './unstored-reasoning';
import { toOutputSchema, toRequestTools, toToolChoice } from './tools';

/** What the node's fields and credential say about the model. */
export interface ChatModelSettings {
	modelId: string;
	/** Body fields of the options that the user set, under the gateway's names. */
	fields: Record<string, unknown>;
	/** The gateway's own tools, beside those of the agent. */
	builtInTools?: Array<Record<string, unknown>>;
	/** Merged last and wins, except for `tools`, which are added to the agent's. */
	extraBody: Record<string, unknown>;
	/** How long a stream may be silent, in milliseconds. */
	idleMs: number;
	/** Aborted when the execution is canceled. */
	canceled?: AbortSignal;
	/** Makes a client for one request, which ends when the signal is aborted. */
	client(cancel: AbortSignal): Client;
	/** Called with each answer, and the request as it was sent. */
	onAnswer?(created: CreatedResponse, body: Record<string, unknown>): Promise<void>;
	/** Turns any error into n8n's. */
	toError(error: unknown): unknown;
}

/** Options of one call. n8n's kit passes LangChain's options on unchanged. */
export interface CallConfig extends ChatModelConfig {
	signal?: AbortSignal;
	stop?: string[];
}

/** Body fields that an agent or chain binds to the model. */
interface BoundOptions {
	toolChoice?: unknown;
	/** The body's `text`, for structured output. */
	text?: Record<string, unknown>;
}

interface Answered {
	created: CreatedResponse;
	content: AnswerContent;
}

/**
 * A chat model over `POST /v1/responses`, in the form of n8n's kit for AI nodes. Each call is one
 * request of the client: only the retry table decides what is sent again.
 * @see contract, "POST /v1/responses"
 */
export class ModelAccessChatModel implements ChatModel<CallConfig> {
	readonly provider = 'model-access';
	readonly modelId: string;

	constructor(
		private readonly settings: ChatModelSettings,
		private readonly tools: Tool[] = [],
		private readonly bound: BoundOptions = {},
	) {
		this.modelId = settings.modelId;
	}

	/** The same model with these tools added. */
	withTools(tools: Tool[]): ModelAccessChatModel {
		return new ModelAccessChatModel(this.settings, [...this.tools, ...tools], this.bound);
	}

	/**
	 * The same model with a rule for which tools it calls.
	 * @param choice in any of LangChain's forms
	 */
	withToolChoice(choice: unknown): ModelAccessChatModel {
		const toolChoice = toToolChoice(choice);
		return new ModelAccessChatModel(this.settings, this.tools, { ...this.bound, toolChoice });
	}

	/**
	 * The same model that answers with JSON by a schema.
	 * @param schema JSON Schema, or a schema of zod
	 * @param name the schema's name at the gateway; by default the schema's title
	 */
	withStructuredOutput(schema: object, name?: string): ModelAccessChatModel {
		const json = toOutputSchema(schema, 'The wished output');
		const schemaName = [name, json.title].find(isName) ?? 'answer';
		const text = { format: { type: 'json_schema', name: schemaName, schema: json } };
		return new ModelAccessChatModel(this.settings, this.tools, { ...this.bound, text });
	}

	/**
	 * Requests an answer, once (see the retry table).
	 * @throws {NodeApiError|NodeOperationError}
	 */
	async generate(messages: Message[], config: CallConfig = {}): Promise<GenerateResult> {
		const { created, content } = await this.request(messages, config, [], createResponse);
		const { response, requestId, clientRequestId } = created;
		return {
			id: response.id,
			finishReason: content.finishReason,
			usage: content.usage,
			message: {
				role: 'assistant',
				id: response.id,
				content: toMessageContent(content, cutAtStop(content.text, config)),
			},
			providerMetadata: omitUndefined({
				id: response.id,
				status: response.status,
				finish_reason: content.finishReason,
				model_name: response.model,
				request_id: requestId,
				client_request_id: clientRequestId,
			}),
			rawResponse: created.json,
		};
	}

	/**
	 * Requests an answer and yields its text as it arrives. Tool calls follow whole, after the
	 * answer is complete: an agent cannot use a part of one.
	 * @throws {NodeApiError|NodeOperationError} with the text received so far in its details
	 */
	async *stream(messages: Message[], config: CallConfig = {}): AsyncGenerator<StreamChunk> {
		const left = new AbortController();
		const texts = new AsyncQueue<string>();
		// A stop sequence may be split between two deltas, so the text is cut when it is complete.
		const isHeldBack = getStopSequences(config).length > 0;
		const { idleMs } = this.settings;
		const onText = isHeldBack ? undefined : (text: string) => texts.push(text);
		const answer = this.request(
			messages,
			config,
			[left.signal],
			async (client, body) => await streamResponse(client, body, { idleMs, onText }),
		).finally(() => texts.end());
		// A reader who leaves early does not await it, and its rejection must not go unhandled.
		answer.catch(() => {});
		try {
			for await (const delta of texts) if (delta !== '') yield { type: 'text-delta', delta };
			const { content } = await answer;
			const rest = isHeldBack ? cutAtStop(content.text, config) : '';
			if (rest !== '') yield { type: 'text-delta', delta: rest };
			yield* toFinalChunks(content);
		} finally {
			left.abort();
		}
	}

	private async request(
		messages: Message[],
		config: CallConfig,
		signals: AbortSignal[],
		send: (client: Client, body: Record<string, unknown>) => Promise<CreatedResponse>,
	): Promise<Answered> {
		const { settings } = this;
		const stop = joinSignals([settings.canceled, config.abortSignal, config.signal, ...signals]);
		try {
			const body = this.toBody(messages, config);
			const sendOnce = async (given: Record<string, unknown>) =>
				await send(settings.client(stop.signal), given);
			const { created, sent, refused } = wantsContent(messages)
				? await sendForContent(body, sendOnce)
				: { created: await sendOnce(body), sent: body, refused: false };
			await settings.onAnswer?.(created, sent);
			const content = fromResponse(created);
			return { created, content: refused ? markRefused(content) : content };
		} catch (error) {
			throw settings.toError(error);
		} finally {
			stop.release();
		}
	}

	/** @throws {ValidationError} the conversation is empty, or the extra body has an `input` */
	private toBody(messages: Message[], config: CallConfig): Record<string, unknown> {
		const { modelId, fields, extraBody, builtInTools = [] } = this.settings;
		if ('input' in extraBody) {
			throw new ValidationError(
				'Extra Body',
				'holds "input"',
				'The agent or chain provides the conversation. Remove "input" from the Extra Body option.',
			);
		}
		const { tools: moreTools, ...extra } = extraBody;
		const tools = [...toRequestTools(this.tools), ...builtInTools];
		const allTools = Array.isArray(moreTools) ? [...tools, ...(moreTools as unknown[])] : tools;
		const known = { ...fields, ...extra };
		const input = toInputItems(messages, known.store !== false);
		if (input.length === 0) {
			throw new ValidationError('Prompt', 'is empty', 'Enter what the model should answer to.');
		}
		const body = checkResponseRequest(
			withExtraBody(
				omitUndefined({
					model: modelId,
					input,
					...fields,
					max_output_tokens: config.maxTokens ?? fields.max_output_tokens,
					temperature: config.temperature ?? fields.temperature,
					top_p: config.topP ?? fields.top_p,
					tools: allTools.length > 0 ? allTools : undefined,
					tool_choice: allTools.length > 0 ? this.bound.toolChoice : undefined,
					text: this.bound.text ? { ...asRecord(fields.text), ...this.bound.text } : fields.text,
				}),
				extra,
			),
		);
		return prepareRequest(body);
	}
}

function toMessageContent(content: AnswerContent, text: string): MessageContent[] {
	return [
		...(text === '' ? [] : [{ type: 'text', text } as const]),
		...(content.reasoning === '' ? [] : [{ type: 'reasoning', text: content.reasoning } as const]),
		...content.items.map((value) => ({ type: 'provider', value }) as const),
		...content.calls,
	];
}

/** The chunks that follow the text of an answer. */
function* toFinalChunks(content: AnswerContent): Generator<StreamChunk> {
	const { reasoning, items, calls, finishReason, usage } = content;
	if (reasoning !== '') yield { type: 'reasoning-delta', delta: reasoning };
	for (const value of items) yield { type: 'content', content: { type: 'provider', value } };
	for (const { toolCallId, toolName, input } of calls) {
		yield { type: 'tool-call-delta', id: toolCallId, name: toolName, argumentsDelta: input };
	}
	yield { type: 'finish', finishReason, usage };
}

const getStopSequences = ({ stop, stopSequences }: CallConfig): string[] =>
	(stop ?? stopSequences ?? []).filter((text) => text !== '');

/** The Responses API has no stop sequences, so the text is cut here. */
function cutAtStop(text: string, config: CallConfig): string {
	const positions = getStopSequences(config)
		.map((stop) => text.indexOf(stop))
		.filter((position) => position >= 0);
	return positions.length > 0 ? text.slice(0, Math.min(...positions)) : text;
}

const isName = (name: unknown): name is string =>
	typeof name === 'string' && /^[\w-]{1,64}$/.test(name);
