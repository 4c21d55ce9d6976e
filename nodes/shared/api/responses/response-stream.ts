import { StreamError } from '../errors/errors';
import { MAYBE_EXECUTED_ADVICE } from '../errors/from-reply';
import { getReplyIds } from '../errors/reply-ids';
import { IdleTimeout } from '../http/idle-timeout';
import { readAhead, withPieces } from '../http/read-ahead';
import { parseReply } from '../http/parse-reply';
import { openStream, type Client } from '../http/request';
import { header, type OpenReply } from '../http/transport';
import { decode, readEvents, type StreamEvent } from './event-stream';
import { createdResponse } from './response';
import type { CreatedResponse } from './created-response';
import { ResponseAccumulator, type StreamEnd } from './response-accumulator';
import { getSpokenText } from './response-output';
import { failedStream, interruptedStream } from './stream-errors';

export interface StreamSettings {
	/** Milliseconds without a byte after which the connection is given up. */
	idleMs: number;
	/** Told of each piece of text, as it comes; very many that arrive together are one. */
	onText?: (text: string) => void;
}

/**
 * Asks a model for a response and reads it as it comes. A gateway that answers with a JSON document
 * in place of a stream is understood too.
 *
 * The client's time-out bounds the whole of it, the idle time-out each silence.
 * @throws {StreamError} the answer broke off or failed; it carries the text received so far
 * @throws {ModelAccessError} see `send`, as long as no answer has begun
 * @see contract, "POST /v1/responses" and "Events"
 */
export async function streamResponse(
	client: Client,
	body: Record<string, unknown>,
	{ idleMs, onText }: StreamSettings,
): Promise<CreatedResponse> {
	const message = { method: 'POST', path: '/responses', body: { ...body, stream: true } } as const;
	const reply = await openStream(client, 'response', message, idleMs);
	const { time, cancel = client.signal } = client;
	const watch = new IdleTimeout(
		{ time, signal: cancel },
		{ idleMs, endsAt: time.now() + client.timeoutMs },
	);
	const reader = new ReplyReader(client, reply, onText);
	const close = () => reply.close();
	watch.signal.addEventListener('abort', close, { once: true });
	try {
		return await watch.run(async () => await reader.read(watch.track(reply.chunks)));
	} catch (error) {
		const ids = getReplyIds(client.redact, reply);
		throw interruptedStream(client, watch, error, { ...ids, partialText: reader.partialText });
	} finally {
		reply.close();
	}
}

/** Reads one reply: a stream of events, or what came in its place. */
class ReplyReader {
	private readonly accumulator = new ResponseAccumulator();
	/** Whether some text was handed on. */
	private hasSpoken = false;
	/** What came before the first event: without an event, the reply is no stream. */
	private before: string[] | undefined = [];

	constructor(
		private readonly client: Client,
		private readonly reply: OpenReply,
		private readonly onText: StreamSettings['onText'],
	) {}

	/** All text so far, refusals included. */
	get partialText(): string {
		return this.accumulator.partialText;
	}

	async read(chunks: AsyncIterable<Uint8Array>): Promise<CreatedResponse> {
		const text = decode(chunks);
		const isText = (pieces: readonly string[]) => (pieces.at(-1) ?? '').trimStart() !== '';
		const head = (await readAhead(text, isText)).join('').trimStart();
		const whole = withPieces([head], text);
		if (/^[{<]/.test(head)) return this.fromDocument(await joinText(whole));
		const end = await this.readEvents(whole);
		if (end) return this.fromEnd(end);
		if (this.before && !this.claimsToStream(head)) return this.fromDocument(this.before.join(''));
		throw new StreamError('The answer ended before it was complete', {
			advice: MAYBE_EXECUTED_ADVICE.response,
			retryable: false,
			maybeExecuted: true,
		});
	}

	/** Takes events in until one of them ends the stream; those after it are ignored. */
	private async readEvents(text: AsyncIterable<string>): Promise<StreamEnd | undefined> {
		for await (const events of readEvents(this.noting(text))) {
			this.before = undefined;
			const end = this.take(events);
			if (end) return end;
		}
		return undefined;
	}

	private async *noting(text: AsyncIterable<string>): AsyncGenerator<string> {
		for await (const piece of text) {
			this.before?.push(piece);
			yield piece;
		}
	}

	private take(events: StreamEvent[]): StreamEnd | undefined {
		const pieces: string[] = [];
		let end: StreamEnd | undefined;
		for (const event of events) {
			end = this.accumulator.add(event, (piece) => pieces.push(piece));
			if (end) break;
		}
		const spoken = pieces.length > MOST_PIECES ? [pieces.join('')] : pieces;
		for (const piece of spoken) this.speak(piece);
		return end;
	}

	private speak(piece: string) {
		this.hasSpoken ||= piece !== '';
		this.onText?.(piece);
	}

	private claimsToStream(head: string): boolean {
		const contentType = header(this.reply.headers, 'content-type') ?? '';
		return /event-stream/i.test(contentType) || head.startsWith(':');
	}

	private fromEnd(end: StreamEnd): CreatedResponse {
		if (end.kind === 'error') throw failedStream(this.client, end.error);
		const { status, headers } = this.reply;
		const ids = getReplyIds(this.client.redact, this.reply);
		const reply = { status, headers, body: '' };
		return this.finish(createdResponse(this.client, { json: end.response, reply, ...ids }));
	}

	private fromDocument(body: string): CreatedResponse {
		const answer = parseReply(this.client, 'response', { ...this.reply, body });
		return this.finish(createdResponse(this.client, answer));
	}

	/** If none of its text came on the way, all of it goes out at the end. */
	private finish(created: CreatedResponse): CreatedResponse {
		if (!this.hasSpoken) this.speak(getSpokenText(created.response));
		return created;
	}
}

/**
 * Pieces that may arrive together and still go on one by one. n8n and LangChain take long for each,
 * and no reader can follow more of them.
 */
const MOST_PIECES = 32;

async function joinText(text: AsyncIterable<string>): Promise<string> {
	const pieces: string[] = [];
	for await (const piece of text) pieces.push(piece);
	return pieces.join('');
}
