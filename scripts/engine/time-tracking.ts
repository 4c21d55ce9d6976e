import { Readable } from 'node:stream';

import type { VirtualTime } from './virtual-time';

/** A helper as the engine hands it to a node. */
type Helper = (this: unknown, ...args: unknown[]) => Promise<unknown>;

/** Helpers whose work takes real time on a socket or a file, and ends with their promise. */
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
 * Makes `time` stand still while a helper of `context` is at work, and, where it answered with a
 * stream, until that stream has closed. Each connection counts once: while storing a stream waits
 * for the next chunk, it is the connection that holds time up, or the gateway that lets it go.
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

/** Holds time up from `take` until `release`, however often either is called. */
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

/** Takes `hold` until somebody reads from `stream`: the storage makes a folder before. */
function holdUntilRead(stream: Readable, hold: Hold) {
	const read = stream.read.bind(stream);
	hold.take();
	stream.read = (size) => {
		stream.read = read;
		hold.release();
		return read(size) as unknown;
	};
}

/** Takes `hold` while the reader of `stream` is at work on a chunk, or has seen the end. */
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

/** The stream in what a request helper returned: the answer itself, or its body. */
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
