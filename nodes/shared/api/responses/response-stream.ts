import { adviceFor, type Sentence } from '../errors/advice';
import { CancelledError, ModelAccessError, StreamError } from '../errors/errors';
import { quoteField } from '../errors/sanitize';
import { RequestAborted } from '../http/abort';
import { decode, readEvents, type StreamEvent } from './event-stream';
import { IN_DOUBT_ADVICE, requestIdOf } from '../errors/from-reply';
import { openExchange, parseAnswer, type Client } from '../http/request';
import { createdResponse, type CreatedResponse } from './response';
import { spokenText } from './response-output';
import { ResponseAssembly, type StreamEnd } from './response-accumulator';
import { header, TransportFault, type OpenReply } from '../http/transport';
import { Watch } from '../http/idle-timeout';

export interface StreamSettings {
	/** Milliseconds without a byte after which the connection is given up. */
	idleMs: number;
	/** Told of each piece of text, as it comes; where very many arrive together they are one. */
	onText?: (text: string) => void;
}

/**
 * Asks a model for a response and reads it as it comes. A gateway that answers with a JSON document
 * in place of a stream is understood too.
 *
 * The client's time-out bounds the whole of it, the idle time-out each silence.
 * @throws {StreamError} the answer broke off or failed; it carries the text received so far
 * @throws {ModelAccessError} see `exchange`, as long as no answer has begun
 * @see contract, "POST /v1/responses" and "Events"
 */
export async function streamResponse(
	client: Client,
	body: Record<string, unknown>,
	{ idleMs, onText }: StreamSettings,
): Promise<CreatedResponse> {
	const message = { method: 'POST', path: '/responses', body: { ...body, stream: true } } as const;
	const reply = await openExchange(client, 'response', message, idleMs);
	const { time, cancel = client.signal } = client;
	const watch = new Watch(
		{ time, signal: cancel },
		{ idleMs, endsAt: time.now() + client.timeoutMs },
	);
	const assembly = new ResponseAssembly();
	const close = () => reply.close();
	watch.signal.addEventListener('abort', close, { once: true });
	try {
		return await watch.over(async () => await read(client, reply, assembly, watch, onText));
	} catch (error) {
		throw brokenOff(client, error, { reply, assembly, watch });
	} finally {
		reply.close();
	}
}

async function read(
	client: Client,
	reply: OpenReply,
	assembly: ResponseAssembly,
	watch: Watch,
	onText: StreamSettings['onText'],
): Promise<CreatedResponse> {
	let told = false;
	const tell = (piece: string) => {
		told ||= piece !== '';
		onText?.(piece);
	};
	/** Where no piece of it came on the way, the text goes out at the end. */
	const finished = (created: CreatedResponse) => {
		if (!told) tell(spokenText(created.response));
		return created;
	};
	const fromDocument = (body: string) =>
		finished(createdResponse(client, parseAnswer(client, 'response', { ...reply, body })));
	const text = decode(watch.noting(reply.chunks));
	const head = await beginning(text);
	if (/^[{<]/.test(head.trimStart())) {
		const document = [head];
		for await (const piece of text) document.push(piece);
		return fromDocument(document.join(''));
	}
	/** All that came before the first event: where there is none, it was no stream. */
	let before: string[] | undefined = [];
	for await (const events of readEvents(resumed(head, text, (piece) => before?.push(piece)))) {
		before = undefined;
		const end = endAmong(events, assembly, tell);
		if (end?.kind === 'error') throw failedStream(client, end);
		if (end?.kind === 'response') {
			const { status, headers } = reply;
			const answer = {
				json: end.response,
				reply: { status, headers, body: '' },
				requestId: requestIdOf(client.redact, reply),
			};
			return finished(createdResponse(client, answer));
		}
	}
	const isStream = /event-stream/i.test(header(reply.headers, 'content-type') ?? '');
	const isComment = head.startsWith(':');
	if (before && !isStream && !isComment) return fromDocument(before.join(''));
	throw new StreamError('The answer ended before it was complete', {
		advice: IN_DOUBT_ADVICE.response,
		retryable: false,
		inDoubt: true,
	});
}

/**
 * Pieces that may arrive together and still go on one by one. More than that no eye can follow, and
 * whoever streams them further pays for each: n8n and LangChain pay much.
 */
const FLOOD = 32;

/** Takes events in until one of them ends the stream; those after it are nobody's. */
function endAmong(
	events: StreamEvent[],
	assembly: ResponseAssembly,
	tell: (piece: string) => void,
): StreamEnd | undefined {
	const pieces: string[] = [];
	let end: StreamEnd | undefined;
	for (const event of events) {
		end = assembly.take(event, (piece) => pieces.push(piece));
		if (end) break;
	}
	const told = pieces.length > FLOOD ? [pieces.join('')] : pieces;
	told.forEach(tell);
	return end;
}

/** The first text that is no white space; what stands before it matters to nobody. */
async function beginning(text: AsyncGenerator<string>): Promise<string> {
	for (;;) {
		const { done, value } = await text.next();
		if (done) return '';
		const head = value.trimStart();
		if (head !== '') return head;
	}
}

/** @param onPiece told of each piece before it goes on */
async function* resumed(
	head: string,
	rest: AsyncGenerator<string>,
	onPiece: (piece: string) => void,
): AsyncGenerator<string> {
	onPiece(head);
	yield head;
	for await (const piece of rest) {
		onPiece(piece);
		yield piece;
	}
}

function failedStream(
	{ redact }: Client,
	{ error }: Extract<StreamEnd, { kind: 'error' }>,
): StreamError {
	const said = (value: unknown) => quoteField(redact, value);
	const type = error.type === 'error' ? undefined : said(error.type);
	return new StreamError(
		`The model’s response failed: ${said(error.message) ?? said(error.code) ?? 'the gateway gave no reason'}`,
		{
			type,
			code: said(error.code),
			retryable: false,
			charged: true,
			advice: IN_DOUBT_ADVICE.response,
		},
	);
}

/** Whatever ended a stream that had begun, as an error with the text received so far. */
function brokenOff(
	client: Client,
	error: unknown,
	{ reply, assembly, watch }: { reply: OpenReply; assembly: ResponseAssembly; watch: Watch },
): unknown {
	const failure = failureOf(client, watch, error);
	if (!(failure instanceof ModelAccessError)) return failure;
	const { requestId, partialText } = failure.facts;
	return failure.with({
		requestId: requestId ?? requestIdOf(client.redact, reply),
		partialText: partialText ?? (assembly.partialText || undefined),
	});
}

function failureOf(client: Client, watch: Watch, error: unknown): unknown {
	const isCanceled = error instanceof RequestAborted && !watch.expired;
	if (isCanceled || (client.cancel ?? client.signal)?.aborted) {
		return new CancelledError(IN_DOUBT_ADVICE.response);
	}
	const isBroken = watch.expired !== undefined || error instanceof TransportFault;
	return isBroken ? connectionError(client, watch, error) : error;
}

function connectionError(client: Client, watch: Watch, error: unknown): ModelAccessError {
	const expired = watch.expired ?? (watch.silentTooLong ? 'idle' : undefined);
	if (expired === 'idle') {
		return interrupted(
			client,
			`Nothing arrived for ${watch.limits.idleMs / 1000} s in the middle of the answer`,
			{
				having: 'Idle Timeout',
				say: 'Raise the Idle Timeout option if the model pauses for longer.',
			},
		);
	}
	if (expired === 'total') {
		return interrupted(client, `The answer was not complete within ${client.timeoutMs / 1000} s`, {
			having: 'Timeout',
			say: 'Raise the Timeout option if answers take longer.',
		});
	}
	const { code } = error as TransportFault;
	return interrupted(
		client,
		`The connection was lost in the middle of the answer${code ? ` (${code})` : ''}`,
		'Check the network and the proxies between n8n and the gateway.',
	);
}

function interrupted({ controls }: Client, message: string, advice: Sentence): StreamError {
	return new StreamError(message, {
		advice: adviceFor([IN_DOUBT_ADVICE.response, advice], controls),
		retryable: false,
		inDoubt: true,
	});
}
