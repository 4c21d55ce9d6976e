import { getReplyIds } from '../errors/reply-ids';
import { IdleTimeout } from '../http/idle-timeout';
import { openStream, type Client } from '../http/request';
import type { GatewayReply, OpenReply } from '../http/transport';
import type { CreatedResponse } from './created-response';
import { decode } from './event-stream';
import { ReplyReader, type OnText } from './reply-reader';
import { interruptedStream } from './stream-errors';

export interface StreamSettings {
	/** Milliseconds without a byte after which the connection is given up. */
	idleMs: number;
	/** Told of each piece of text, as it comes; very many that arrive together are one. */
	onText?: OnText;
}

/**
 * Asks a model for a response and reads it as it comes. A gateway that answers with a JSON document
 * instead of a stream is understood too.
 *
 * The client's time-out bounds the whole of it, the idle time-out each silence from the headers on.
 * A limit that the gateway tells in the stream, before any output, is sent again as the retry table
 * allows.
 * @throws {StreamError} the answer broke off or failed; it carries the text received so far
 * @throws {ModelAccessError} see `send`, as long as no answer has begun
 * @see contract, "POST /v1/responses" and "Events"
 */
export async function streamResponse(
	client: Client,
	body: Record<string, unknown>,
	settings: StreamSettings,
): Promise<CreatedResponse> {
	const message = { method: 'POST', path: '/responses', body: { ...body, stream: true } } as const;
	const { answer } = await openStream(client, 'response', message, async (reply, startedAt) => {
		return await begin(client, reply, settings, startedAt);
	});
	return await answer;
}

/** Reads until there is some output, and goes on in the background. */
async function begin(
	client: Client,
	reply: OpenReply,
	{ idleMs, onText }: StreamSettings,
	startedAt: number,
): Promise<{ value: { answer: Promise<CreatedResponse> } } | { error: GatewayReply }> {
	const { time, cancel = client.signal } = client;
	const limits = { idleMs, endsAt: startedAt + client.timeoutMs };
	const watch = new IdleTimeout({ time, signal: cancel }, limits);
	const reader = new ReplyReader(client, reply, onText);
	const answer = readToEnd(client, reply, reader, watch);
	// It may never be awaited, and its rejection must not go unhandled.
	answer.catch(() => {});
	await reader.begun;
	return reader.error ? { error: reader.error } : { value: { answer } };
}

async function readToEnd(
	client: Client,
	reply: OpenReply,
	reader: ReplyReader,
	watch: IdleTimeout,
): Promise<CreatedResponse> {
	const close = () => reply.close();
	watch.signal.addEventListener('abort', close, { once: true });
	try {
		return await watch.run(async () => await reader.read(decode(watch.track(reply.chunks))));
	} catch (error) {
		const ids = getReplyIds(client.redact, reply);
		throw interruptedStream(client, watch, error, { ...ids, ...reader.received });
	} finally {
		reply.close();
	}
}
