import { AnswerError, InputError, quotable } from './errors';
import { requireText } from './image-request';
import { fieldsOf, parseJson } from './json';
import { request, type Client } from './request';
import { checkAnswer, responseSchema, type ModelResponse } from './schemas';

/** A model's answer, checked and as it came. */
export interface CreatedResponse {
	/** Checked, for reading. */
	response: ModelResponse;
	/** As the gateway sent it. */
	json: Record<string, unknown>;
	requestId?: string;
}

/**
 * Checks the body of `POST /v1/responses` before anything is sent.
 * @param body the fields as set, with the extra body already merged over them
 * @throws {InputError} no model, no input, `messages` in place of `input`, a demand to stream
 * @see contract, "Response request"
 */
export function checkResponseRequest(body: Record<string, unknown>): Record<string, unknown> {
	requireText(body.model, 'Model', 'Choose a model from the list or enter its exact ID.');
	if ('messages' in body) {
		throw new InputError(
			'Extra Body',
			'holds "messages"',
			'Responses uses "input"; "messages" belongs to the Chat Completions interface.',
		);
	}
	if (body.stream !== undefined && body.stream !== false) {
		throw new InputError(
			'Extra Body',
			'asks to stream',
			'Remove "stream" from the Extra Body option; this operation returns the whole answer at once.',
		);
	}
	if (!Array.isArray(body.input) || body.input.length === 0) {
		requireText(body.input, 'Prompt', 'Enter what the model should answer to.');
	}
	return body;
}

/**
 * Asks a model for a response, once (see the retry table).
 * @throws {ModelAccessError} see {@link request}
 * @throws {AnswerError} the answer's status is `failed`, or it is not as the contract says
 * @see contract, "POST /v1/responses"
 */
export async function createResponse(
	client: Client,
	body: Record<string, unknown>,
): Promise<CreatedResponse> {
	const answer = await request(client, 'response', { method: 'POST', path: '/responses', body });
	const kind = 'response';
	const response = checkAnswer(responseSchema, answer, { what: 'response', kind });
	const { requestId } = answer;
	if (response.status === 'failed' || response.status === 'cancelled') {
		throw failedResponse(client, response, requestId);
	}
	return { response, json: answer.json as Record<string, unknown>, requestId };
}

function failedResponse(
	client: Client,
	response: ModelResponse,
	requestId: string | undefined,
): AnswerError {
	const error = fieldsOf(response.error);
	const text = (value: unknown) =>
		typeof value === 'string' && value !== '' ? quotable(client.redact(value)) : undefined;
	return new AnswerError(
		`The model’s response ${response.status === 'failed' ? 'failed' : 'was cancelled'}: ${text(error.message) ?? 'the gateway gave no reason'}`,
		{
			advice:
				'The request was executed and may have been charged. Change it if the reason asks for it before you send it again.',
			retryable: false,
			type: text(error.type),
			code: text(error.code),
			requestId,
		},
	);
}

/** The simplified form of a response: what most workflows go on with. */
export interface SimplifiedResponse extends Record<string, unknown> {
	id: string;
	status: string;
	model?: string;
	/** All text of all message items. */
	text: string;
	/** The text parsed, where JSON was asked for. */
	parsed?: unknown;
	tool_calls?: Array<{ id?: unknown; name?: unknown; arguments: unknown }>;
	usage?: unknown;
	request_id?: string;
}

/**
 * Simplifies a response. Output items are read by `type`; those of unknown types are left out.
 * @param asked the body that was sent
 * @see contract, "Response" (output items)
 */
export function simplifyResponse(
	{ response, requestId }: CreatedResponse,
	asked: Record<string, unknown>,
): SimplifiedResponse {
	const text = response.output.flatMap(textsOf).join('');
	const calls = response.output.filter(({ type }) => type === 'function_call').map(toolCall);
	return {
		id: response.id,
		status: response.status,
		...(response.model !== undefined && { model: response.model }),
		text,
		...(wantsJson(asked) && { parsed: parseJson(text) }),
		...(calls.length > 0 && { tool_calls: calls }),
		...(response.incomplete_details ? { incomplete_details: response.incomplete_details } : {}),
		usage: response.usage ?? null,
		...(requestId !== undefined && { request_id: requestId }),
	};
}

type OutputItem = ModelResponse['output'][number];

function textsOf(item: OutputItem): string[] {
	if (item.type !== 'message' || !Array.isArray(item.content)) return [];
	return (item.content as unknown[]).flatMap((part) => {
		const { type, text } = fieldsOf(part);
		return type === 'output_text' && typeof text === 'string' ? [text] : [];
	});
}

function toolCall(item: OutputItem) {
	const { call_id, name, arguments: given } = item;
	return {
		...(call_id !== undefined && { id: call_id }),
		...(name !== undefined && { name }),
		arguments: typeof given === 'string' ? (parseJson(given) ?? given) : given,
	};
}

function wantsJson({ text }: Record<string, unknown>): boolean {
	const type = (text as { format?: { type?: unknown } } | undefined)?.format?.type;
	return type === 'json_object' || type === 'json_schema';
}
