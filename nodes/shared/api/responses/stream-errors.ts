import { formatAdvice, type Sentence } from '../errors/advice';
import { CanceledError, ModelAccessError, StreamError, type ErrorDetails } from '../errors/errors';
import { MAYBE_EXECUTED_ADVICE } from '../errors/from-reply';
import { readErrorFields } from '../errors/gateway-error';
import { describeError } from '../errors/describe';
import type { ReplyIds } from '../errors/reply-ids';
import { quoteMessage, sanitizeField } from '../errors/sanitize';
import { RequestAborted } from '../http/abort';
import { omitUndefined } from '../http/json';
import type { IdleTimeout } from '../http/idle-timeout';
import type { Client } from '../http/request';
import { TransportFault } from '../http/transport';

/**
 * The error of a stream in which the gateway says that the answer failed.
 * @param error what the gateway says, as it came
 * @see contract, "Events" (`response.failed`, `error`)
 */
export function failedStream(
	{ redact }: Pick<Client, 'redact'>,
	error: Record<string, unknown>,
): StreamError {
	const { type, ...said } = readErrorFields(error);
	const code = sanitizeField(redact, said.code);
	const message = quoteMessage(redact, said.message) ?? code ?? 'the gateway gave no reason';
	return new StreamError(describeError({ title: 'The model’s response failed', code, message }), {
		type: type === 'error' ? undefined : sanitizeField(redact, type),
		code,
		retryable: false,
		charged: true,
		advice: MAYBE_EXECUTED_ADVICE.response,
	});
}

/**
 * The error of a stream that broke off after it had begun, with what was received.
 * @param error what reading it threw
 * @returns the error itself if it is none of the client's
 */
export function interruptedStream(
	client: Client,
	watch: IdleTimeout,
	error: unknown,
	received: Received,
): unknown {
	return withReceived(toFailure(client, watch, error), received);
}

/** What is here of a reply that ended in an error. */
type Received = ReplyIds & Pick<ErrorDetails, 'partialText' | 'partialOutput'>;

/**
 * An error with what was received of the answer.
 * @returns the error itself if it is none of the client's
 */
export function withReceived(error: unknown, received: Received): unknown {
	return error instanceof ModelAccessError
		? error.with({ ...received, ...omitUndefined({ ...error.details }) })
		: error;
}

function toFailure(client: Client, watch: IdleTimeout, error: unknown): unknown {
	const isCanceled = (client.cancel ?? client.signal)?.aborted === true;
	if (isCanceled) return new CanceledError(MAYBE_EXECUTED_ADVICE.response);
	if (watch.expired === 'total') return tooLate(client);
	if (watch.expired === 'idle') return silent(client, watch);
	const isConnection = error instanceof TransportFault || error instanceof RequestAborted;
	if (isConnection && watch.isSilent) return silent(client, watch);
	if (error instanceof RequestAborted) return new CanceledError(MAYBE_EXECUTED_ADVICE.response);
	return error instanceof TransportFault ? lost(client, error) : error;
}

function silent(client: Client, { limits }: IdleTimeout): StreamError {
	const message = `Nothing arrived for ${limits.idleMs / 1000} s in the middle of the answer`;
	return interrupted(client, message, {
		ifOption: 'Idle Timeout',
		text: 'Raise the Idle Timeout option if the model pauses for longer.',
	});
}

function tooLate(client: Client): StreamError {
	const message = `The answer was not complete within ${client.timeoutMs / 1000} s`;
	return interrupted(client, message, {
		ifOption: 'Timeout',
		text: 'Raise the Timeout option if answers take longer.',
	});
}

function lost(client: Client, { code }: TransportFault): StreamError {
	return interrupted(
		client,
		`The connection was lost in the middle of the answer${code ? ` (${code})` : ''}`,
		'Check the network and the proxies between n8n and the gateway.',
	);
}

function interrupted({ optionNames }: Client, message: string, advice: Sentence): StreamError {
	return new StreamError(message, {
		advice: formatAdvice([MAYBE_EXECUTED_ADVICE.response, advice], optionNames),
		retryable: false,
		maybeExecuted: true,
	});
}
