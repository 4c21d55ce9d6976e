import { adviceFor, type Sentence } from '../errors/advice';
import { CancelledError, DownloadError } from '../errors/errors';
import { ImageEnd } from './truncation-detector';
import { IMAGE_TYPE_BYTES, imageType } from './image-type';
import { notWaitedFor, pause, type Client } from '../http/request';
import { backoffMs } from '../http/retry';
import { retryAfterSeconds } from '../http/retry-after';
import { unixTime } from '../http/clock';
import { header, TransportFault, type FaultKind, type Headers } from '../http/transport';
import { Watch } from '../http/idle-timeout';

/** A reply of the storage host whose body has not been read yet. */
export interface StoredReply<File> {
	status: number;
	headers: Headers;
	/** The body as it comes. @throws {TransportFault} the connection failed */
	chunks: AsyncIterable<Uint8Array>;
	/**
	 * Streams `chunks` into the host's storage.
	 * @throws what reading them throws, or the storage's own error; nothing is left there then
	 */
	save(file: { name: string; mimeType: string }, chunks: AsyncIterable<Uint8Array>): Promise<File>;
	/** Ends the connection, whether the body was read or not. */
	discard(): void;
}

/** Who fetches stored pictures: without key or cookies, following no redirect. */
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
	/** For messages: when the picture's address ends, Unix seconds. */
	expiresAt?: number;
}

/** A picture that is in the host's storage now. */
export interface Downloaded<File> {
	file: File;
	name: string;
	mimeType: string;
	/** Bytes. */
	size: number;
}

const MOST_REDIRECTS = 5;

/**
 * Fetches a finished picture into the host's storage, streaming. Faults of the network and of the
 * storage host are tried again: reading a stored picture costs nothing.
 *
 * @param client for its time, signal and bounds; its transport, which has the key, is not used
 * @throws {DownloadError} names the host, never the whole URL: a signed address is a secret
 * @see contract, "Image task" (`image_url`, `expires_at`)
 */
export async function downloadPicture<File>(
	client: Pick<
		Client,
		'time' | 'signal' | 'maxRetries' | 'deadline' | 'redact' | 'controls' | 'onRetry'
	>,
	storage: Storage<File>,
	url: string,
	settings: DownloadSettings,
): Promise<Downloaded<File>> {
	for (let retries = 0; ; retries++) {
		if (client.signal?.aborted) throw new CancelledError();
		const result = await attempt(client, storage, url, settings);
		if (!(result instanceof DownloadFailure)) return result;
		const waitMs =
			result.retryAfter !== undefined
				? result.retryAfter * 1000
				: backoffMs(retries, client.time.random());
		if (!result.again || retries >= client.maxRetries) throw result.toError(client, url);
		if (client.time.now() + waitMs > client.deadline)
			throw notWaitedFor(result.toError(client, url));
		client.onRetry?.({ reason: result.message, waitMs, attempt: retries + 1 });
		await pause(client, waitMs);
	}
}

/** Why one attempt brought no picture. */
class DownloadFailure extends Error {
	constructor(
		message: string,
		readonly again: boolean,
		readonly advice: Sentence,
		readonly httpStatus?: number,
		readonly retryAfter?: number,
	) {
		super(message);
	}

	toError({ controls }: Pick<Client, 'controls'>, url: string): DownloadError {
		return new DownloadError(
			`The image could not be downloaded from ${hostOf(url)}: ${this.message}`,
			{
				advice: adviceFor([this.advice, PAID_FOR], controls),
				retryable: this.again,
				httpStatus: this.httpStatus,
				retryAfter: this.retryAfter,
			},
		);
	}
}

const LATER = 'This is a fault of the storage host or the network.';

const PAID_FOR =
	'The image is done and paid for: fetch it with Task → Get and its task ID, without submitting it again.';

async function attempt<File>(
	client: Pick<Client, 'time' | 'signal'>,
	storage: Storage<File>,
	url: string,
	settings: DownloadSettings,
): Promise<Downloaded<File> | DownloadFailure> {
	const watch = new Watch(client, { idleMs: settings.idleMs });
	try {
		return await watch.over(async () => {
			const reply = await followRedirects(storage, url, watch);
			try {
				return await save(reply, settings, watch, client.time.now());
			} finally {
				reply.discard();
			}
		});
	} catch (error) {
		return failureOf(error, client.signal, watch);
	}
}

function failureOf(error: unknown, signal: AbortSignal | undefined, watch: Watch): DownloadFailure {
	const cancelled = error instanceof TransportFault && error.kind === 'cancelled';
	if (signal?.aborted || (cancelled && !watch.expired)) throw new CancelledError();
	if (watch.expired) {
		return new DownloadFailure(`nothing arrived for ${watch.limits.idleMs / 1000} s`, true, LATER);
	}
	if (error instanceof TransportFault) return faultFailure(error);
	if (error instanceof DownloadFailure) return error;
	throw error;
}

async function followRedirects<File>(
	storage: Storage<File>,
	url: string,
	watch: Watch,
): Promise<StoredReply<File>> {
	let current = url;
	for (let redirects = 0; ; redirects++) {
		const target = parseWebUrl(current);
		if (!target) {
			throw new DownloadFailure(
				'its address is not a web address',
				false,
				'Ask the gateway’s operator.',
			);
		}
		const reply = await storage.open(target.href, watch.signal);
		watch.touch();
		const location = header(reply.headers, 'location');
		if (![301, 302, 303, 307, 308].includes(reply.status) || location === undefined) return reply;
		reply.discard();
		if (redirects >= MOST_REDIRECTS) {
			throw new DownloadFailure(
				`more than ${MOST_REDIRECTS} redirects`,
				false,
				'Ask the gateway’s operator.',
			);
		}
		current = parseWebUrl(location, target.href)?.href ?? '';
	}
}

async function save<File>(
	reply: StoredReply<File>,
	settings: DownloadSettings,
	watch: Watch,
	now: number,
): Promise<Downloaded<File>> {
	if (reply.status !== 200) throw statusFailure(reply, settings, now);
	const announced = Number(header(reply.headers, 'content-length') ?? NaN);
	if (announced > settings.maxBytes) throw tooLarge(settings.maxBytes);

	const chunks = watch.noting(reply.chunks);
	const start = await beginning(chunks);
	const type = imageType(start);
	if (!type) throw notAnImage(reply, start, announced);
	const { mimeType, extension } = type;
	const name = settings.fileName(extension);
	const end = new ImageEnd(mimeType);
	let size = 0;
	async function* checked() {
		for await (const chunk of resumed(start, chunks)) {
			size += chunk.length;
			if (size > settings.maxBytes) throw tooLarge(settings.maxBytes);
			end.pass(chunk);
			yield chunk;
		}
		if (size < announced) throw incomplete(size, announced);
		if (!end.reached) throw cutOff(extension, size);
	}
	const file = await reply.save({ name, mimeType }, checked());
	return { file, name, mimeType, size };
}

/** The first chunks, joined, until a file's type can be told from them. */
async function beginning(chunks: AsyncGenerator<Uint8Array>): Promise<Uint8Array> {
	let start = new Uint8Array();
	while (start.length < IMAGE_TYPE_BYTES) {
		const { done, value } = await chunks.next();
		if (done) break;
		const longer = new Uint8Array(start.length + value.length);
		longer.set(start);
		longer.set(value, start.length);
		start = longer;
	}
	return start;
}

async function* resumed(
	start: Uint8Array,
	rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
	yield start;
	yield* rest;
}

function notAnImage(
	{ headers }: StoredReply<unknown>,
	start: Uint8Array,
	announced: number,
): DownloadFailure {
	if (start.length === 0) return new DownloadFailure('the file is empty', true, LATER);
	if (start.length < IMAGE_TYPE_BYTES && start.length < announced) {
		return incomplete(start.length, announced);
	}
	const contentType = header(headers, 'content-type') ?? '';
	const kind = /html/i.test(contentType)
		? 'a web page (HTML)'
		: /json/i.test(contentType)
			? 'JSON'
			: 'something else';
	return new DownloadFailure(
		`${kind} came in place of an image`,
		false,
		'Open the image_url of the task in a browser to see what the storage host answers.',
	);
}

function incomplete(size: number, announced: number): DownloadFailure {
	return new DownloadFailure(`only ${size} of ${announced} bytes arrived`, true, LATER);
}

/** Nothing says how long the file should be, but its type says how it should end. */
function cutOff(extension: string, size: number): DownloadFailure {
	return new DownloadFailure(
		`only a part of the ${extension} file arrived (${size} bytes, without its end)`,
		true,
		`${LATER} Where the image_url shows the whole picture in a browser, switch Download Images off and fetch it with an HTTP Request node.`,
	);
}

function tooLarge(maxBytes: number): DownloadFailure {
	const megabytes = Math.round((maxBytes / 1024 / 1024) * 100) / 100;
	return new DownloadFailure(`it is larger than Max File Size (${megabytes} MB)`, false, {
		having: 'Max File Size',
		say: 'Raise the Max File Size option.',
	});
}

function statusFailure(
	{ status, headers }: StoredReply<unknown>,
	{ expiresAt }: DownloadSettings,
	now: number,
): DownloadFailure {
	if (status === 403 || status === 404 || status === 410) {
		const until = expiresAt === undefined ? '' : ` (it ends at ${unixTime(expiresAt)})`;
		return new DownloadFailure(
			`HTTP ${status}, the link may have expired${until}`,
			false,
			'Download pictures before expires_at of their task.',
			status,
		);
	}
	const again = status === 408 || status === 429 || status >= 500;
	return new DownloadFailure(
		`HTTP ${status}`,
		again,
		again ? LATER : 'Ask the gateway’s operator.',
		status,
		again ? retryAfterSeconds(headers, now) : undefined,
	);
}

const FAULTS: Record<
	Exclude<FaultKind, 'cancelled'>,
	[problem: string, again: boolean, advice: string]
> = {
	unreached: ['the host cannot be reached', true, 'Check that this machine may connect to it.'],
	timeout: ['it did not answer in time', true, LATER],
	lost: ['the connection was lost', true, LATER],
	certificate: [
		'its TLS certificate is not accepted',
		false,
		'Ask the gateway’s operator; verification is not switched off.',
	],
	tls: ['it does not speak TLS as https needs it', false, 'Ask the gateway’s operator.'],
	blocked: [
		'n8n’s own protection refuses to connect to its address',
		false,
		'The address is in a private network that this n8n instance does not allow (SSRF protection). Ask its administrator to allow the host.',
	],
};

function faultFailure(fault: TransportFault): DownloadFailure {
	const [problem, again, advice] = FAULTS[fault.kind as Exclude<FaultKind, 'cancelled'>];
	const reason = fault.code === undefined ? problem : `${problem} (${fault.code})`;
	return new DownloadFailure(reason, again, advice);
}

function parseWebUrl(url: string, base?: string): URL | undefined {
	if (!URL.canParse(url, base)) return undefined;
	const parsed = new URL(url, base);
	return /^https?:$/.test(parsed.protocol) ? parsed : undefined;
}

function hostOf(url: string): string {
	return parseWebUrl(url)?.host ?? 'an unknown host';
}
