import { Readable } from 'node:stream';

import type { VirtualTime } from './virtual-time';

/** A helper that the engine passes to a node. */
type Helper = (this: unknown, ...args: unknown[]) => Promise<unknown>;

/** Helpers that use a socket or a file in real time, until their promise settles. */
const AWAITED = [
	'httpRequest',
	'httpRequestWithAuthentication',
	'request',
	'requestWithAuthentication',
	'requestWithAuthenticationPaginated',
	'getBinaryDataBuffer',
	'getBinaryStream',
	'getBinaryMetadata',
	'binaryToString',
];

/** Helpers that read a stream to its end. */
const CONSUMING = ['prepareBinaryData', 'setBinaryDataBuffer', 'binaryToBuffer'];

/**
 * Stops `time` while a helper of `context` works. If the helper returns a stream, `time` is stopped
 * until the stream closes. Each connection counts once. While the storage waits for the next chunk,
 * the connection or the gateway holds the time.
 */
export function trackHelpers(context: { helpers: object }, time: VirtualTime): void {
	const helpers = context.helpers as Record<string, Helper | undefined>;
	for (const name of AWAITED) {
		const original = helpers[name];
		if (original) helpers[name] = awaited(original, time);
	}
	for (const name of CONSUMING) {
		const original = helpers[name];
		if (original) helpers[name] = consuming(original, time);
	}
}

const awaited = (original: Helper, time: VirtualTime): Helper =>
	async function (this: unknown, ...args) {
		const answer = await time.track(original.apply(this, args));
		const stream = responseStream(answer);
		if (stream) void time.track(closed(stream));
		return answer;
	};

const consuming = (original: Helper, time: VirtualTime): Helper =>
	async function (this: unknown, ...args) {
		const stream = args.find((arg) => arg instanceof Readable);
		if (!stream) return await time.track(original.apply(this, args));
		const hold = new Hold(time);
		holdUntilRead(stream, hold);
		countBetweenChunks(stream, hold);
		try {
			return await original.apply(this, args);
		} finally {
			hold.release();
		}
	};

/** Stops time from `take` until `release`. Both may be called several times. */
class Hold {
	private free: (() => void) | undefined;

	constructor(private readonly time: VirtualTime) {}

	take() {
		if (this.free) return;
		void this.time.track(
			new Promise<void>((resolve) => {
				this.free = resolve;
			}),
		);
	}

	release() {
		this.free?.();
		this.free = undefined;
	}
}

/** Takes `hold` until `stream` has a reader, because the storage first makes a folder. */
function holdUntilRead(stream: Readable, hold: Hold) {
	const read = stream.read.bind(stream);
	hold.take();
	stream.read = (size) => {
		stream.read = read;
		hold.release();
		return read(size) as unknown;
	};
}

/** Takes `hold` while the reader of `stream` processes a chunk or the end. */
function countBetweenChunks(stream: Readable, hold: Hold) {
	const iterate = stream[Symbol.asyncIterator].bind(stream);
	stream[Symbol.asyncIterator] = () => {
		const chunks = iterate();
		const next = chunks.next.bind(chunks);
		chunks.next = async (...args) => {
			hold.release();
			try {
				return await next(...args);
			} finally {
				hold.take();
			}
		};
		return chunks;
	};
}

/** The stream in the result of a request helper: the result itself, or its body. */
function responseStream(answer: unknown): Readable | undefined {
	if (answer instanceof Readable && 'headers' in answer) return answer;
	const body = (answer as { body?: unknown } | null | undefined)?.body;
	return body instanceof Readable ? body : undefined;
}

const closed = async (stream: Readable) =>
	await new Promise<void>((resolve) => {
		if (stream.closed || stream.readableEnded) return resolve();
		stream.once('end', resolve);
		stream.once('close', resolve);
	});
