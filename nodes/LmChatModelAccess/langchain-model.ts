/** A message of LangChain, as far as the repairs read it. */
export interface LangChainMessage {
	content: unknown;
	additional_kwargs?: Record<string, unknown>;
}

/** An answer, or a chunk of one. */
export interface Generation {
	message: LangChainMessage;
	generationInfo?: Record<string, unknown>;
}

export interface StructuredOutputOptions {
	name?: string;
	/** Whether to return the message beside the parsed output. */
	includeRaw?: boolean;
}

/** What the repairs call on our chat model, which the adapter holds. */
export interface AdaptedModel {
	withToolChoice(choice: unknown): AdaptedModel;
	withStructuredOutput(schema: object, name?: string): AdaptedModel;
}

/** The adapter that n8n's kit makes of our chat model, as far as the repairs use it. */
export interface LangChainModel {
	callbacks?: unknown;
	chatModel: AdaptedModel;
	_generate(
		messages: LangChainMessage[],
		...rest: unknown[]
	): Promise<{ generations: Generation[] }>;
	_streamResponseChunks(
		messages: LangChainMessage[],
		...rest: unknown[]
	): AsyncGenerator<Generation>;
	bindTools(tools: unknown[], options?: { tool_choice?: unknown }): LangChainModel;
	withStructuredOutput?(schema: object, options?: StructuredOutputOptions): unknown;
	pipe(step: (message: LangChainMessage & { text: string }) => unknown): unknown;
}
