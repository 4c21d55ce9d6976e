import { CanceledError } from '../errors/errors';
import { RequestAborted } from '../http/abort';
import { IdleTimeout } from '../http/idle-timeout';
import { readAhead, withPieces } from '../http/read-ahead';
import type { Client } from '../http/request';
import { sendWithRetry, type Attempt } from '../http/retry';
import { header, TransportFault, type Headers } from '../http/transport';
import {
	ASK_OPERATOR,
	cutOff,
	DownloadFailure,
	fromFault,
	fromStatus,
	incomplete,
	LATER,
	notAnImage,
	tooLarge,
} from './download-failure';
import { IMAGE_TYPE_BYTES, imageType, type ImageType } from './image-type';
import { TruncationDetector } from './truncation-detector';

/** A reply of the storage host whose body has not been read yet. */
export interface StoredReply<File> {
	status: number;
	headers: Headers;
	/** The body as it comes. @throws {TransportFault} the connection failed */
	chunks: AsyncIterable<Uint8Array>;
	/** Whether `chunks` throw if fewer bytes were sent than `Content-Length` says, and may be unpacked. */
	checksLength?: boolean;
	/**
	 * Streams `chunks` into the host's storage.
	 * @throws what reading them throws, or the storage's own error; nothing is left there then
	 */
	save(file: { name: string; mimeType: string }, chunks: AsyncIterable<Uint8Array>): Promise<File>;
	/** Ends the connection, whether the body was read or not. */
	discard(): void;
}

/** Fetches stored images, without key or cookies. It follows no redirect. */
export interface Storage<File> {
	/** @throws {TransportFault} where no reply came, or `signal` was aborted */
	open(url: string, signal: AbortSignal): Promise<StoredReply<File>>;
}

export interface DownloadSettings {
	/** Bytes; a larger file is stopped there. */
	maxBytes: number;
	/** Milliseconds without a byte after which the connection is given up. */
	idleMs: number;
	/** The file's name for an extension such as `png`. */
	fileName: (extension: string) => string;
}

/** An image that is in the host's storage now. */
export interface Downloaded<File> {
	file: File;
	name: string;
	mimeType: string;
	/** Bytes. */
	size: number;
}

const MOST_REDIRECTS = 5;

/** What a download needs of a client; its transport, which has the key, is not used. */
export type DownloadClient = Pick<
	Client,
	'time' | 'signal' | 'maxRetries' | 'deadline' | 'optionNames' | 'onRetry'
>;

/**
 * Fetches a finished image into the host's storage, streaming. Faults of the network and of the
 * storage host are tried again: reading a stored image costs nothing.
 *
 * @throws {DownloadError} names the host, never the whole URL: a signed address is a secret
 * @see contract, "Image task" (`image_url`, `expires_at`)
 */
export async function downloadImage<File>(
	client: DownloadClient,
	storage: Storage<File>,
	url: string,
	settings: DownloadSettings,
): Promise<Downloaded<File>> {
	return await sendWithRetry(client, async (): Promise<Attempt<Downloaded<File>>> => {
		if (client.signal?.aborted) throw new CanceledError();
		try {
			return { value: await fetchOnce(client, storage, url, settings) };
		} catch (error) {
			return toFailedAttempt(client, url, error);
		}
	});
}

/** @throws what is no failure of a download */
function toFailedAttempt(client: DownloadClient, url: string, error: unknown) {
	if (!(error instanceof DownloadFailure)) throw error;
	const host = parseWebUrl(url)?.host ?? 'an unknown host';
	const { mayRetry, message: reason } = error;
	return { error: error.toError(host, client.optionNames), mayRetry, reason };
}

/** @throws {DownloadFailure} it brought no image */
async function fetchOnce<File>(
	client: DownloadClient,
	storage: Storage<File>,
	url: string,
	settings: DownloadSettings,
): Promise<Downloaded<File>> {
	const watch = new IdleTimeout(client, { idleMs: settings.idleMs });
	try {
		return await watch.run(async () => {
			const reply = await followRedirects(storage, url, watch);
			try {
				if (reply.status !== 200) {
					throw fromStatus(reply, client.time.now());
				}
				return await save(reply, settings, watch);
			} finally {
				reply.discard();
			}
		});
	} catch (error) {
		throw toFailure(error, client.signal, watch);
	}
}

function toFailure(error: unknown, signal: AbortSignal | undefined, watch: IdleTimeout): unknown {
	const isCanceled = error instanceof RequestAborted && !watch.expired;
	if (isCanceled || signal?.aborted) return new CanceledError();
	if (watch.expired) {
		return new DownloadFailure(`nothing arrived for ${watch.limits.idleMs / 1000} s`, true, LATER);
	}
	return error instanceof TransportFault ? fromFault(error) : error;
}

const REDIRECTS = [301, 302, 303, 307, 308];

async function followRedirects<File>(
	storage: Storage<File>,
	url: string,
	watch: IdleTimeout,
): Promise<StoredReply<File>> {
	let target = webUrl(url);
	for (let redirects = 0; ; redirects++) {
		const reply = await storage.open(target.href, watch.signal);
		watch.reset();
		const location = header(reply.headers, 'location');
		if (!REDIRECTS.includes(reply.status) || location === undefined) return reply;
		reply.discard();
		if (redirects >= MOST_REDIRECTS) {
			throw new DownloadFailure(`more than ${MOST_REDIRECTS} redirects`, false, ASK_OPERATOR);
		}
		target = webUrl(location, target.href);
	}
}

/** @throws {DownloadFailure} it is no address of the web */
function webUrl(url: string, base?: string): URL {
	const parsed = parseWebUrl(url, base);
	if (parsed) return parsed;
	throw new DownloadFailure('its address is not a web address', false, ASK_OPERATOR);
}

async function save<File>(
	reply: StoredReply<File>,
	{ maxBytes, fileName }: DownloadSettings,
	watch: IdleTimeout,
): Promise<Downloaded<File>> {
	const announced = readAnnounced(reply.headers);
	if (announced > maxBytes) throw tooLarge(maxBytes);
	const chunks = watch.track(reply.chunks);
	const pieces = await readAhead(chunks, (read) => countBytes(read) >= IMAGE_TYPE_BYTES);
	const start = joinBytes(pieces);
	const type = imageType(start);
	const expected = reply.checksLength ? NaN : announced;
	if (!type) throw notAnImage(reply.headers, start, expected);
	const content = new Content(type, expected, maxBytes);
	const { mimeType, extension } = type;
	const name = fileName(extension);
	const file = await reply.save({ name, mimeType }, content.check(withPieces(pieces, chunks)));
	return { file, name, mimeType, size: content.size };
}

/**
 * Bytes of the file that the storage host named; NaN if it named none. Of a packed file it names
 * those that it sends, which says nothing of the file.
 */
function readAnnounced(headers: Headers): number {
	const isPacked = !/^\s*(identity\s*)?$/i.test(header(headers, 'content-encoding') ?? '');
	return isPacked ? NaN : Number(header(headers, 'content-length') ?? NaN);
}

/** The bytes of an image on their way into the storage. */
class Content {
	/** Bytes so far. */
	size = 0;
	private readonly end: TruncationDetector;

	constructor(
		private readonly type: ImageType,
		/** Bytes that have to come; NaN if that is not known, or not to be checked here. */
		private readonly expected: number,
		private readonly maxBytes: number,
	) {
		this.end = new TruncationDetector(type.mimeType);
	}

	/** @throws {DownloadFailure} they are too many, or end too early */
	async *check(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
		for await (const chunk of chunks) {
			this.size += chunk.length;
			if (this.size > this.maxBytes) throw tooLarge(this.maxBytes);
			this.end.feed(chunk);
			yield chunk;
		}
		// A length may be wrong in both directions: the file's own end decides then.
		const { size, expected, end } = this;
		if (size < expected && !end.hasEnded) throw incomplete(size, expected);
		if (!end.mayEnd) throw cutOff(this.type.extension, size);
	}
}

const countBytes = (pieces: readonly Uint8Array[]) =>
	pieces.reduce((sum, { length }) => sum + length, 0);

function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
	const joined = new Uint8Array(countBytes(pieces));
	let at = 0;
	for (const piece of pieces) {
		joined.set(piece, at);
		at += piece.length;
	}
	return joined;
}

function parseWebUrl(url: string, base?: string): URL | undefined {
	if (!URL.canParse(url, base)) return undefined;
	const parsed = new URL(url, base);
	return /^https?:$/.test(parsed.protocol) ? parsed : undefined;
}
