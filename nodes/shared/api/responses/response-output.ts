import { asRecord, parseJson } from '../http/json';
import type { CreatedResponse } from './created-response';
import type { ModelResponse } from '../schemas';
import { parseStructured } from './structured-output';

/** The simplified form of a response, what was asked for first: so the columns of a table begin. */
export interface SimplifiedResponse extends Record<string, unknown> {
	/** All text of all message items. */
	text: string;
	/** The text parsed, where JSON was asked for. */
	parsed?: unknown;
	tool_calls?: ToolCall[];
	/** What the model said instead of an answer that it would not give. */
	refusal?: string;
	citations?: Array<Record<string, unknown>>;
	/** Summaries of what the model thought. */
	reasoning?: string[];
	status: string;
	/** Why the model stopped early. */
	incomplete_details?: unknown;
	model?: string;
	usage: unknown;
	id: string;
	request_id?: string;
	client_request_id?: string;
}

/** A call of a tool that the model asks for. */
export interface ToolCall {
	id?: unknown;
	name?: unknown;
	/** Parsed where they are JSON, else as the model wrote them. */
	arguments: unknown;
}

/**
 * Simplifies a response. Output items are read by `type`; those of unknown types are left out.
 * @param asked the body that was sent
 * @throws {InvalidResponseError} JSON was asked for and the text is none, or does not fit the schema; the error
 * carries the text
 * @see contract, "Response" (output items)
 */
export function simplifyResponse(
	created: CreatedResponse,
	asked: Record<string, unknown>,
): SimplifiedResponse {
	const { response, requestId, clientRequestId } = created;
	const text = getOutputText(response);
	const refusal = joinParts(response, 'refusal', 'refusal');
	const reasoning = response.output.flatMap(getReasoningSummaries);
	const citations = getParts(response).flatMap(({ annotations }) =>
		Array.isArray(annotations) ? annotations.map(asRecord) : [],
	);
	const calls = response.output.flatMap(getToolCalls);
	const parsed = text === '' ? undefined : parseStructured(created, text, asked);
	return {
		text,
		...(parsed !== undefined && { parsed }),
		...(calls.length > 0 && { tool_calls: calls }),
		...(refusal !== '' && { refusal }),
		...(citations.length > 0 && { citations }),
		...(reasoning.length > 0 && { reasoning }),
		status: response.status,
		...(response.incomplete_details ? { incomplete_details: response.incomplete_details } : {}),
		...(response.model !== undefined && { model: response.model }),
		usage: response.usage ?? null,
		id: response.id,
		...(requestId !== undefined && { request_id: requestId }),
		...(clientRequestId !== undefined && { client_request_id: clientRequestId }),
	};
}

/** What is read of a response: its output items, whether they are as the contract says or not. */
interface Readable {
	output: Array<Record<string, unknown>>;
}

/** All text of all message items, in order. */
export function getOutputText(response: Readable): string {
	return joinParts(response, 'output_text', 'text');
}

/** What the model says to a reader: its text, or its refusal where there is none. */
export function getSpokenText(response: Readable): string {
	return getOutputText(response) || joinParts(response, 'refusal', 'refusal');
}

/** An image among a response's output items. */
export interface OutputImage {
	base64: string;
	/** Identifier of its output item. */
	id?: string;
}

/** The images that the model drew: base64 in the `result` of `image_generation_call` items. */
export function getOutputImages(response: ModelResponse): OutputImage[] {
	return response.output.flatMap(({ type, result, id }) =>
		type === 'image_generation_call' && typeof result === 'string' && result !== ''
			? [{ base64: result, ...(typeof id === 'string' && { id }) }]
			: [],
	);
}

type OutputItem = ModelResponse['output'][number];

function getParts(response: Readable): Array<Record<string, unknown>> {
	return response.output.flatMap(({ type, content }) =>
		type === 'message' && Array.isArray(content) ? content.map(asRecord) : [],
	);
}

function joinParts(response: Readable, type: string, field: string): string {
	return getParts(response)
		.filter((part) => part.type === type)
		.map((part) => part[field])
		.filter((text) => typeof text === 'string')
		.join('');
}

/** What a reasoning item says that the model thought; none for other items. */
export function getReasoningSummaries({ type, summary }: OutputItem): string[] {
	if (type !== 'reasoning' || !Array.isArray(summary)) return [];
	return summary.map((part) => asRecord(part).text).filter((text) => typeof text === 'string');
}

function getToolCalls(item: OutputItem): ToolCall[] {
	if (item.type !== 'function_call' && item.type !== 'custom_tool_call') return [];
	const { call_id, name } = item;
	const given = item.type === 'custom_tool_call' ? item.input : item.arguments;
	return [
		{
			...(call_id !== undefined && { id: call_id }),
			...(name !== undefined && { name }),
			arguments: typeof given === 'string' ? (parseJson(given) ?? given) : given,
		},
	];
}
