import { describeError } from '../errors/describe';
import { InvalidResponseError } from '../errors/errors';
import { readErrorFields } from '../errors/gateway-error';
import { pickIds, type ReplyIds } from '../errors/reply-ids';
import { quoteMessage, sanitizeField } from '../errors/sanitize';
import { asRecord } from '../http/json';
import type { Client, ParsedReply } from '../http/client';
import { checkReply, responseSchema, type ModelResponse } from '../schemas';
import type { CreatedResponse } from './created-response';
import { readSpoken } from './item-forms';
import { normalizeResponse } from './response-forms';

/**
 * Checks an answer that holds a response.
 * @throws {InvalidResponseError} its status is `failed`, or it is not as the contract says
 */
export function createdResponse(client: Client, answer: ParsedReply): CreatedResponse {
	const response = checkedResponse(client, answer);
	const ids = pickIds(answer);
	if (['failed', 'cancelled'].includes(response.status)) {
		throw failedResponse(client, response, ids);
	}
	return { response, json: answer.json as Record<string, unknown>, ...ids };
}

/** @throws {InvalidResponseError} it is no response; the error carries the body, which was paid for */
function checkedResponse(client: Client, answer: ParsedReply): ModelResponse {
	const json = normalizeResponse(answer.json);
	const partialText = () => client.redact(answer.reply.body);
	const facts = { what: 'response', kind: 'response', partialText } as const;
	return checkReply(responseSchema, { ...answer, json }, facts);
}

function failedResponse(
	client: Client,
	response: ModelResponse,
	ids: ReplyIds,
): InvalidResponseError {
	const said = readErrorFields(response.error ?? asRecord(response.status_details).error);
	const text = (value: unknown) => sanitizeField(client.redact, value);
	const code = text(said.code);
	const message = quoteMessage(client.redact, said.message) ?? 'the gateway gave no reason';
	const title =
		response.status === 'failed'
			? 'The model’s response failed'
			: 'The model’s response was cancelled';
	return new InvalidResponseError(describeError({ title, code, message }), {
		advice:
			'The request was executed and may have been charged. Fix what the reason names before you send it again.',
		retryable: false,
		charged: true,
		type: text(said.type),
		code,
		...ids,
		partialText: response.output.map(readSpoken).join('') || undefined,
	});
}
