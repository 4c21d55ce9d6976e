import { ValidationError } from '../errors/errors';
import { requireText } from '../errors/require-text';
import { send, type Client } from '../http/request';
import type { CreatedResponse } from './created-response';
import { findError, readReply } from './reply-reader';
import { MESSAGES_HINT } from './response-input';

/**
 * Checks the body of `POST /v1/responses` before anything is sent.
 * @param body the fields as set, with the extra body already merged over them
 * @throws {ValidationError} no model, no input, `messages` instead of `input`, a demand to stream
 * @see contract, "Response request"
 */
export function checkResponseRequest(body: Record<string, unknown>): Record<string, unknown> {
	requireText(body.model, 'Model', 'Select a model from the list or enter its exact ID.');
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
 * Asks a model for a response, once (see the retry table). A gateway that answers with the text of
 * a stream is understood too.
 * @throws {StreamError} the answer is a stream that broke off or failed
 * @throws {ModelAccessError} see `send`
 * @throws {InvalidResponseError} the answer's status is `failed`, or it is not as the contract says
 * @see contract, "POST /v1/responses"
 */
export async function createResponse(
	client: Client,
	body: Record<string, unknown>,
): Promise<CreatedResponse> {
	const message = { method: 'POST', path: '/responses', body } as const;
	return await readReply(client, await send(client, 'response', message, findError));
}
