import { InvalidResponseError, ValidationError } from '../errors/errors';
import { describeError } from '../errors/describe';
import { pickIds, type ReplyIds } from '../errors/reply-ids';
import { quoteMessage, sanitizeField } from '../errors/sanitize';
import { requireText } from '../errors/require-text';
import { asRecord } from '../http/json';
import { MESSAGES_HINT } from './response-input';
import { getOutputText } from './response-output';
import { request, type ParsedReply, type Client } from '../http/request';
import { checkReply, responseSchema, type ModelResponse } from '../schemas';
import type { CreatedResponse } from './created-response';

/**
 * Checks the body of `POST /v1/responses` before anything is sent.
 * @param body the fields as set, with the extra body already merged over them
 * @throws {ValidationError} no model, no input, `messages` in place of `input`, a demand to stream
 * @see contract, "Response request"
 */
export function checkResponseRequest(body: Record<string, unknown>): Record<string, unknown> {
	requireText(body.model, 'Model', 'Choose a model from the list or enter its exact ID.');
	if ('messages' in body)
		throw new ValidationError('Extra Body', 'holds "messages"', MESSAGES_HINT);
	if (body.stream !== undefined && body.stream !== false) {
		throw new ValidationError(
			'Extra Body',
			'asks to stream',
			'Remove "stream" from the Extra Body option, and turn on the field Stream.',
		);
	}
	if (!Array.isArray(body.input) || body.input.length === 0) {
		requireText(body.input, 'Prompt', 'Enter what the model should answer to.');
	}
	return body;
}

/**
 * Asks a model for a response, once (see the retry table).
 * @throws {ModelAccessError} see `send`
 * @throws {InvalidResponseError} the answer's status is `failed`, or it is not as the contract says
 * @see contract, "POST /v1/responses"
 */
export async function createResponse(
	client: Client,
	body: Record<string, unknown>,
): Promise<CreatedResponse> {
	const message = { method: 'POST', path: '/responses', body } as const;
	return createdResponse(client, await request(client, 'response', message));
}

/**
 * Checks an answer that holds a response.
 * @throws {InvalidResponseError} its status is `failed`, or it is not as the contract says
 */
export function createdResponse(client: Client, answer: ParsedReply): CreatedResponse {
	const response = checkedResponse(answer);
	const ids = pickIds(answer);
	if (response.status === 'failed' || response.status === 'cancelled') {
		throw failedResponse(client, response, ids);
	}
	return { response, json: answer.json as Record<string, unknown>, ...ids };
}

/** @throws {InvalidResponseError} it is not as the contract says; the error carries what text it has */
function checkedResponse(answer: ParsedReply): ModelResponse {
	try {
		return checkReply(responseSchema, answer, { what: 'response', kind: 'response' });
	} catch (error) {
		throw withReadableText(error, answer.json);
	}
}

function withReadableText(error: unknown, json: unknown): unknown {
	const { output } = asRecord(json);
	const text = getOutputText({ output: Array.isArray(output) ? output.map(asRecord) : [] });
	return error instanceof InvalidResponseError && text !== ''
		? error.with({ partialText: text })
		: error;
}

function failedResponse(
	client: Client,
	response: ModelResponse,
	ids: ReplyIds,
): InvalidResponseError {
	const error = asRecord(response.error);
	const text = (value: unknown) => sanitizeField(client.redact, value);
	const code = text(error.code);
	const message = quoteMessage(client.redact, error.message) ?? 'the gateway gave no reason';
	const title = `The model’s response ${response.status === 'failed' ? 'failed' : 'was cancelled'}`;
	return new InvalidResponseError(describeError({ title, code, message }), {
		advice:
			'The request was executed and may have been charged. Change it if the reason asks for it before you send it again.',
		retryable: false,
		charged: true,
		type: text(error.type),
		code,
		...ids,
	});
}
