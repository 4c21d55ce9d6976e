import { InvalidResponseError } from '../shared/api/errors/errors';
import { pickIds, type ReplyIds } from '../shared/api/errors/reply-ids';
import { sanitizeForMessage } from '../shared/api/errors/sanitize';
import { asRecord, parseJson } from '../shared/api/http/json';
import type { CreatedResponse } from '../shared/api/responses/created-response';
import { getIncompleteReason } from '../shared/api/responses/incomplete';
import { getSpokenText, getReasoningSummaries } from '../shared/api/responses/response-output';
import type { ModelResponse } from '../shared/api/schemas';
import { markReasoning } from './unstored-reasoning';
import type { FinishReason, MessageContent, TokenUsage } from './sdk';

type Item = ModelResponse['output'][number];
type Call = Extract<MessageContent, { type: 'tool-call' }>;

/** An answer, split into the kinds of content that n8n's kit has. */
export interface AnswerContent {
	/** The model's text or its refusal. */
	text: string;
	/** Summaries of the model's reasoning. */
	reasoning: string;
	/** Items other than messages and function calls, as `markReasoning` makes them. */
	items: Item[];
	calls: Call[];
	finishReason: FinishReason;
	usage?: TokenUsage;
}

/**
 * Reads an answer.
 * @throws {InvalidResponseError} the arguments of a function call are not a JSON object, for
 * example because they are cut off. A tool must not run with a part of its arguments
 * @see contract, "Response" (output items)
 */
export function fromResponse({ response, ...ids }: CreatedResponse): AnswerContent {
	const { output } = response;
	const calls = output
		.filter(isCall)
		.map((item, index) => toToolCall(response, item, index, pickIds(ids)));
	return {
		text: getSpokenText(response),
		reasoning: output
			.flatMap(getReasoningSummaries)
			.filter((text) => text !== '')
			.join('\n\n'),
		items: markReasoning(response).filter((item) => item.type !== 'message' && !isCall(item)),
		calls,
		finishReason: readFinishReason(response, calls.length > 0),
		usage: readUsage(response),
	};
}

const isCall = ({ type }: Item) => type === 'function_call';

function toToolCall(
	response: ModelResponse,
	{ call_id: callId, id, name, arguments: given }: Item,
	index: number,
	ids: ReplyIds,
): Call {
	const text = typeof given === 'string' ? given : JSON.stringify(given ?? {});
	const parsed = readArguments(text);
	if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
		throw new InvalidResponseError(
			`The model called ${sanitizeForMessage(String(name), 100)} with arguments that are not a JSON object: ${sanitizeForMessage(text, 200)}`,
			{
				advice: [
					getIncompleteReason(response) ??
						'The tool was not called. Try again, or use another model.',
					'The answer was paid for.',
				].join(' '),
				retryable: false,
				charged: true,
				...ids,
				partialText: getSpokenText(response) || undefined,
			},
		);
	}
	return {
		type: 'tool-call',
		toolCallId: [callId, id].find((known) => typeof known === 'string') ?? `call_${index}`,
		toolName: typeof name === 'string' ? name : '',
		input: JSON.stringify(parsed),
	};
}

/** Models without arguments to give write nothing, `null` or `""` instead of `{}`. */
function readArguments(text: string): unknown {
	if (text.trim() === '') return {};
	const parsed = parseJson(text);
	const isNone = parsed === null || (typeof parsed === 'string' && parsed.trim() === '');
	return isNone ? {} : parsed;
}

function readFinishReason(response: ModelResponse, calls: boolean): FinishReason {
	if (response.status === 'completed') return calls ? 'tool-calls' : 'stop';
	switch (asRecord(response.incomplete_details).reason) {
		case 'max_output_tokens':
			return 'length';
		case 'content_filter':
			return 'content-filter';
		default:
			return 'other';
	}
}

function readUsage({ usage }: ModelResponse): TokenUsage | undefined {
	if (!usage) return undefined;
	const { input_tokens: input = 0, output_tokens: output = 0 } = usage;
	const cached = asRecord(usage.input_tokens_details).cached_tokens;
	const thought = asRecord(usage.output_tokens_details).reasoning_tokens;
	return {
		promptTokens: input,
		completionTokens: output,
		totalTokens: usage.total_tokens ?? input + output,
		...(typeof cached === 'number' && { inputTokenDetails: { cacheRead: cached } }),
		...(typeof thought === 'number' && { outputTokenDetails: { reasoning: thought } }),
	};
}
