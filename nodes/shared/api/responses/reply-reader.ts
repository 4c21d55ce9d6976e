import { impliedStatus } from '../errors/error-body';
import { StreamError, type ErrorDetails } from '../errors/errors';
import { MAYBE_EXECUTED_ADVICE } from '../errors/from-reply';
import { readErrorFields } from '../errors/gateway-error';
import { getReplyIds } from '../errors/reply-ids';
import { asRecord } from '../http/json';
import { parseReply, beginsLikeEvents, recognizeBody, withoutComments } from '../http/parse-reply';
import { readAhead, withPieces } from '../http/read-ahead';
import type { Client } from '../http/request';
import { header, type GatewayReply, type OpenReply } from '../http/transport';
import { createdResponse } from './check-response';
import type { CreatedResponse } from './created-response';
import { readEvents, type StreamEvent } from './event-stream';
import { toFailure, type StreamEnd } from './event-fields';
import { ResponseAccumulator } from './response-accumulator';
import { normalizeResponse } from './response-forms';
import { getSpokenText } from './response-output';
import { failedStream, withReceived } from './stream-errors';

/** Told of each piece of text, as it comes. */
export type OnText = (text: string) => void;

/**
 * The error in a success reply to `POST /v1/responses` that is one instead of an answer: JSON that
 * is an error, or a stream that ends by one before any output.
 * @returns a reply whose body is the error; undefined if there is none
 */
export async function findError(reply: GatewayReply): Promise<GatewayReply | undefined> {
	const body = recognizeBody(reply);
	if (body.kind === 'error') return { ...reply, body: body.text };
	if (body.kind === 'json') return failureReply(reply, body.json);
	if (body.kind !== 'events') return undefined;
	const accumulator = new ResponseAccumulator();
	for await (const events of readEvents(getText(reply.body))) {
		for (const event of events) {
			const end = accumulator.add(event);
			if (end || accumulator.hasOutput) return end && errorReply(reply, accumulator, end);
		}
	}
	return undefined;
}

/**
 * Reads the reply to `POST /v1/responses`, which is here as a whole: an answer, or the text of a
 * stream.
 * @throws {ModelAccessError} it is neither, or the answer failed
 */
export async function readReply(client: Client, reply: GatewayReply): Promise<CreatedResponse> {
	const reader = new ReplyReader(client, reply);
	try {
		return await reader.read(getText(reply.body));
	} catch (error) {
		const ids = getReplyIds(client.redact, reply);
		throw withReceived(error, { ...ids, ...reader.received });
	}
}

async function* getText(body: string): AsyncGenerator<string> {
	if (body !== '') yield body;
}

/** Reads one reply: a stream of events, or what came in its place. */
export class ReplyReader {
	/** Settles as soon as some output is here, or the reply has ended. */
	readonly begun: Promise<void>;
	/** The error that came instead of an answer, if one did; known when `begun` has settled. */
	error?: GatewayReply;
	private begin: () => void = () => {};
	private readonly accumulator = new ResponseAccumulator();
	/** Whether some text was handed on. */
	private hasSpoken = false;
	/** What came before the first event: without an event, the reply is no stream. */
	private before: string[] | undefined = [];

	constructor(
		private readonly client: Client,
		private readonly reply: Pick<OpenReply, 'status' | 'headers' | 'sentId'>,
		private readonly onText?: OnText,
	) {
		this.begun = new Promise((resolve) => {
			this.begin = resolve;
		});
	}

	/** What of an answer is here, for an error. */
	get received(): Pick<ErrorDetails, 'partialText' | 'partialOutput'> {
		const { partialText, partialOutput } = this.accumulator;
		return {
			partialText: partialText || undefined,
			partialOutput: partialOutput.length > 0 ? partialOutput : undefined,
		};
	}

	async read(text: AsyncGenerator<string>): Promise<CreatedResponse> {
		try {
			return await this.readAll(text);
		} finally {
			this.begin();
		}
	}

	private async readAll(text: AsyncGenerator<string>): Promise<CreatedResponse> {
		const isText = (pieces: readonly string[]) => (pieces.at(-1) ?? '').trimStart() !== '';
		const head = (await readAhead(text, isText)).join('').trimStart();
		const whole = withPieces([head], text);
		if (/^[{<]/.test(head)) return this.fromDocument(await joinText(whole));
		const end = (await this.readEvents(whole)) ?? this.accumulator.conclude();
		if (end) return this.fromEnd(end);
		const document = withoutComments((this.before ?? []).join(''));
		if (this.before && (/^[{[<]/.test(document) || !this.claimsToStream(head))) {
			return this.fromDocument(document);
		}
		throw new StreamError('The answer ended before it was complete', {
			advice: MAYBE_EXECUTED_ADVICE.response,
			retryable: false,
			maybeExecuted: true,
		});
	}

	/** Takes events in until one of them ends the stream; those after it are ignored. */
	private async readEvents(text: AsyncIterable<string>): Promise<StreamEnd | undefined> {
		for await (const events of readEvents(this.tracking(text))) {
			this.before = undefined;
			const end = this.take(events);
			if (end) return end;
			if (this.accumulator.hasOutput) this.begin();
		}
		return undefined;
	}

	private async *tracking(text: AsyncIterable<string>): AsyncGenerator<string> {
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
		return /event-stream/i.test(contentType) || beginsLikeEvents(head);
	}

	private fromEnd(end: StreamEnd): CreatedResponse {
		this.error = errorReply(this.reply, this.accumulator, end);
		if (end.kind === 'error') throw failedStream(this.client, end.error);
		const { status, headers } = this.reply;
		const ids = getReplyIds(this.client.redact, this.reply);
		const reply = { status, headers, body: '' };
		return this.finish(createdResponse(this.client, { json: end.response, reply, ...ids }));
	}

	private fromDocument(body: string): CreatedResponse {
		const { status, headers, sentId } = this.reply;
		const reply = { status, headers, sentId, body };
		const recognized = recognizeBody(reply);
		if (recognized.kind === 'error') this.error = reply;
		if (recognized.kind === 'json') this.error = failureReply(reply, recognized.json);
		return this.finish(createdResponse(this.client, parseReply(this.client, 'response', reply)));
	}

	/** If none of its text came on the way, all of it goes out at the end. */
	private finish(created: CreatedResponse): CreatedResponse {
		if (!this.hasSpoken) this.speak(getSpokenText(created.response));
		return created;
	}
}

/** The same for a whole response that failed. */
function failureReply(reply: Pick<OpenReply, 'headers' | 'sentId'>, json: unknown) {
	const response = asRecord(normalizeResponse(json));
	if (response.status !== 'failed') return undefined;
	return errorReply(reply, { hasOutput: false }, toFailure({ response }));
}

/** Statuses by which a gateway says that it made nothing: a limit, an overload, a bill. */
const NOTHING_MADE = [402, 403, 404, 429, 503, 529];

/**
 * The error by which a stream ended before any output, where its code says that nothing was made.
 * After output, and with other codes, it is in doubt.
 */
function errorReply(
	{ headers, sentId }: Pick<OpenReply, 'headers' | 'sentId'>,
	{ hasOutput }: Pick<ResponseAccumulator, 'hasOutput'>,
	end: StreamEnd,
): GatewayReply | undefined {
	if (end.kind !== 'error' || hasOutput || end.hasOutput) return undefined;
	const { code, type } = readErrorFields(end.error);
	// A gateway's own code that is a status counts more than the code of its provider.
	const own = impliedStatus({ code: String(end.error.code) });
	const status = own ?? impliedStatus({ code: String(code), type: String(type) });
	if (status === undefined || !NOTHING_MADE.includes(status)) return undefined;
	return { status, headers, sentId, body: JSON.stringify({ error: end.error }) };
}

/**
 * Pieces that may arrive together and still go on one by one. n8n and LangChain take long for each,
 * and a reader cannot follow more of them.
 */
const MOST_PIECES = 32;

async function joinText(text: AsyncIterable<string>): Promise<string> {
	const pieces: string[] = [];
	for await (const piece of text) pieces.push(piece);
	return pieces.join('');
}
