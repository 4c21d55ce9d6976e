import { AnswerError } from '../errors/errors';
import { quotable } from '../errors/sanitize';
import { fieldsOf, parseJson } from '../http/json';
import type { CreatedResponse } from './response';
import type { ModelResponse } from '../schemas';

/** The simplified form of a response: what most workflows go on with. */
export interface SimplifiedResponse extends Record<string, unknown> {
	id: string;
	status: string;
	model?: string;
	/** All text of all message items. */
	text: string;
	/** What the model said in place of an answer that it would not give. */
	refusal?: string;
	/** The text parsed, where JSON was asked for. */
	parsed?: unknown;
	tool_calls?: ToolCall[];
	/** Summaries of what the model thought. */
	reasoning?: string[];
	citations?: Array<Record<string, unknown>>;
	/** Why the model stopped early. */
	incomplete_details?: unknown;
	usage: unknown;
	request_id?: string;
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
 * @throws {AnswerError} JSON was asked for and the text is none, or does not fit the schema's top
 * level; the error carries the text
 * @see contract, "Response" (output items)
 */
export function simplifyResponse(
	created: CreatedResponse,
	asked: Record<string, unknown>,
): SimplifiedResponse {
	const { response, requestId } = created;
	const text = outputText(response);
	const refusal = joined(response, 'refusal', 'refusal');
	const reasoning = response.output.flatMap(summariesOf);
	const citations = partsOf(response).flatMap(({ annotations }) =>
		Array.isArray(annotations) ? annotations.map(fieldsOf) : [],
	);
	const calls = response.output.flatMap(toolCallOf);
	const parsed = text === '' ? undefined : parsedText(created, text, asked);
	return {
		id: response.id,
		status: response.status,
		...(response.model !== undefined && { model: response.model }),
		text,
		...(refusal !== '' && { refusal }),
		...(parsed !== undefined && { parsed }),
		...(calls.length > 0 && { tool_calls: calls }),
		...(reasoning.length > 0 && { reasoning }),
		...(citations.length > 0 && { citations }),
		...(response.incomplete_details ? { incomplete_details: response.incomplete_details } : {}),
		usage: response.usage ?? null,
		...(requestId !== undefined && { request_id: requestId }),
	};
}

/** What is read of a response: its output items, whether they are as the contract says or not. */
interface Readable {
	output: Array<Record<string, unknown>>;
}

/** All text of all message items, in order. */
export function outputText(response: Readable): string {
	return joined(response, 'output_text', 'text');
}

/** What the model says to a reader: its text, or its refusal where there is none. */
export function spokenText(response: Readable): string {
	return outputText(response) || joined(response, 'refusal', 'refusal');
}

/** A picture among a response's output items. */
export interface OutputPicture {
	base64: string;
	/** Identifier of its output item. */
	id?: string;
}

/** The pictures that the model drew: base64 in the `result` of `image_generation_call` items. */
export function outputPictures(response: ModelResponse): OutputPicture[] {
	return response.output.flatMap(({ type, result, id }) =>
		type === 'image_generation_call' && typeof result === 'string' && result !== ''
			? [{ base64: result, ...(typeof id === 'string' && { id }) }]
			: [],
	);
}

/** Why a response ended early, in words; undefined where it did not. */
export function incompleteReason(response: ModelResponse): string | undefined {
	if (response.status !== 'incomplete') return undefined;
	const { reason } = fieldsOf(response.incomplete_details);
	switch (reason) {
		case 'max_output_tokens':
			return 'The model stopped at Max Output Tokens: its answer is cut off. Raise that option to get the rest.';
		case 'content_filter':
			return 'The gateway’s content filter stopped the model: its answer is cut off.';
		default:
			return `The model stopped early${typeof reason === 'string' ? ` (${quotable(reason, 100)})` : ''}: its answer is cut off.`;
	}
}

type OutputItem = ModelResponse['output'][number];

function partsOf(response: Readable): Array<Record<string, unknown>> {
	return response.output.flatMap(({ type, content }) =>
		type === 'message' && Array.isArray(content) ? content.map(fieldsOf) : [],
	);
}

function joined(response: Readable, type: string, field: string): string {
	return partsOf(response)
		.filter((part) => part.type === type)
		.map((part) => part[field])
		.filter((text) => typeof text === 'string')
		.join('');
}

function summariesOf({ type, summary }: OutputItem): string[] {
	if (type !== 'reasoning' || !Array.isArray(summary)) return [];
	return summary.map((part) => fieldsOf(part).text).filter((text) => typeof text === 'string');
}

function toolCallOf(item: OutputItem): ToolCall[] {
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

interface JsonSchema {
	type?: unknown;
	required?: unknown;
}

/** The schema that JSON was asked for by; an empty one for any JSON object. */
function askedSchema({ text }: Record<string, unknown>): JsonSchema | undefined {
	const format = fieldsOf(fieldsOf(text).format);
	if (format.type === 'json_object') return { type: 'object' };
	return format.type === 'json_schema' ? fieldsOf(format.schema) : undefined;
}

function parsedText(
	{ response, requestId }: CreatedResponse,
	text: string,
	asked: Record<string, unknown>,
): unknown {
	const schema = askedSchema(asked);
	if (!schema) return undefined;
	const parsed = parseJson(text);
	const fault = parsed === undefined ? 'is not JSON' : topLevelFault(parsed, schema);
	if (fault === undefined) return parsed;
	const why = incompleteReason(response);
	throw new AnswerError(`The model’s answer ${fault}: ${quotable(text, 300)}`, {
		advice: [
			why ?? 'The model did not keep to the Output Format.',
			'The answer was paid for; its text is in the error’s details. Turn Simplify off to get answers as they are.',
		].join(' '),
		retryable: false,
		charged: true,
		requestId,
		partialText: text,
	});
}

/** What of the schema's top level a value does not fit: its type, its required properties. */
function topLevelFault(value: unknown, { type, required }: JsonSchema): string | undefined {
	const types = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string');
	if (types.length > 0 && !types.some((name) => isOfType(value, name))) {
		return `is not of the schema’s type (${types.join(' or ')})`;
	}
	if (typeof value !== 'object' || value === null || !Array.isArray(required)) return undefined;
	const missing = required.filter(
		(name) => typeof name === 'string' && !Object.hasOwn(value, name),
	);
	return missing.length > 0 ? `lacks what the schema requires (${missing.join(', ')})` : undefined;
}

function isOfType(value: unknown, type: string): boolean {
	switch (type) {
		case 'object':
			return typeof value === 'object' && value !== null && !Array.isArray(value);
		case 'array':
			return Array.isArray(value);
		case 'integer':
			return Number.isInteger(value);
		case 'null':
			return value === null;
		case 'string':
		case 'number':
		case 'boolean':
			return typeof value === type;
		default:
			return true;
	}
}
