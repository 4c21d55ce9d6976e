/** What a parser of a file asks for next. */
interface Step {
	readonly done: boolean;
	/** Whether the file may end here. */
	readonly mayEnd?: boolean;
	/** The bytes to look at. */
	readonly bytes?: Uint8Array;
	/**
	 * Takes what it needs of a chunk.
	 * @returns the position behind it
	 */
	consume(chunk: Uint8Array, from: number): number;
}

/** Looks at so many bytes. */
class Take implements Step {
	readonly bytes: Uint8Array;
	private filled = 0;

	constructor(
		count: number,
		readonly mayEnd = false,
	) {
		this.bytes = new Uint8Array(count);
	}

	get done(): boolean {
		return this.filled === this.bytes.length;
	}

	consume(chunk: Uint8Array, from: number): number {
		const part = chunk.subarray(from, from + this.bytes.length - this.filled);
		this.bytes.set(part, this.filled);
		this.filled += part.length;
		return from + part.length;
	}
}

/** Passes over so many bytes. */
class Skip implements Step {
	constructor(private left: number) {}

	get done(): boolean {
		return this.left <= 0;
	}

	consume(chunk: Uint8Array, from: number): number {
		const to = Math.min(chunk.length, from + this.left);
		this.left -= to - from;
		return to;
	}
}

/** Passes over all bytes up to and with this one. */
class Find implements Step {
	done = false;

	constructor(private readonly byte: number) {}

	consume(chunk: Uint8Array, from: number): number {
		const found = chunk.indexOf(this.byte, from);
		this.done = found >= 0;
		return this.done ? found + 1 : chunk.length;
	}
}

/**
 * Reads a file from its start to its end, and gets the bytes that it takes. It returns whether it
 * saw the end; if not, nothing more can be told.
 */
type Parser = Generator<Step, boolean, Uint8Array>;

const PARSERS: Record<string, () => Parser> = {
	'image/png': png,
	'image/jpeg': jpeg,
	'image/gif': gif,
	'image/webp': webp,
	'image/avif': boxes,
	'image/heic': boxes,
	'image/heif': boxes,
};

const NO_BYTES = new Uint8Array();

/**
 * Follows an image's bytes as they pass, and tells whether the file reached the end of its type.
 * Half an image of unknown length is then not taken for a whole one.
 *
 * In doubt a file counts as whole, since it is paid for. Examples are a type without a known end, a
 * malformed file, and bytes after the end. It keeps a few bytes at a time, never the image.
 */
export class TruncationDetector {
	private readonly parser?: Parser;
	private step?: Step;
	private sawEnd = false;

	/** @param mimeType as `imageType` tells it */
	constructor(mimeType: string) {
		this.parser = PARSERS[mimeType]?.();
		this.goOn();
	}

	/** Whether the file may end after the bytes that have passed: its end was seen, or can't be told. */
	get mayEnd(): boolean {
		return this.step === undefined || this.step.mayEnd === true;
	}

	/** Whether the file's end was seen. */
	get hasEnded(): boolean {
		return this.sawEnd || this.step?.mayEnd === true;
	}

	/** Takes note of the next bytes. */
	feed(chunk: Uint8Array): void {
		for (let at = 0; this.step && at < chunk.length; ) {
			at = this.step.consume(chunk, at);
			if (this.step.done) this.goOn();
		}
	}

	/** Hands the parser what it took, until it asks for bytes that have not passed yet. */
	private goOn() {
		do {
			const next = this.parser?.next(this.step?.bytes ?? NO_BYTES);
			this.step = next?.done === false ? next.value : undefined;
			this.sawEnd = next?.done === true && next.value;
		} while (this.step?.done);
	}
}

const view = (bytes: Uint8Array) => new DataView(bytes.buffer);

const text = (bytes: Uint8Array, from: number) =>
	String.fromCharCode(...bytes.subarray(from, from + 4));

/** Names of chunks and boxes: four characters. */
const NAME = /^[ -~]{4}$/;

/** Chunks of a length and a name; the last is `IEND` (PNG specification, sections 5.3 and 11.2.4). */
function* png(): Parser {
	yield new Skip(8);
	for (;;) {
		const head = yield new Take(8);
		const name = text(head, 4);
		if (name === 'IEND' || !NAME.test(name)) return name === 'IEND';
		yield new Skip(view(head).getUint32(0) + 4);
	}
}

const END_OF_IMAGE = 0xd9;

/**
 * Segments. Coded data follows some of them, in which a marker can't occur. The last marker is
 * `EOI` (ITU-T T.81, section B.1).
 */
function* jpeg(): Parser {
	yield new Skip(2);
	for (;;) {
		yield new Find(0xff);
		let marker = 0xff;
		while (marker === 0xff) [marker = 0] = yield new Take(1);
		if (marker === END_OF_IMAGE) return true;
		const standsAlone = marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd8);
		if (standsAlone) continue;
		const length = view(yield new Take(2)).getUint16(0);
		if (length < 2) return false;
		yield new Skip(length - 2);
	}
}

const TRAILER = 0x3b;

/** Blocks of sub-blocks; the last is the trailer, which some encoders leave out (GIF89a, 15 to 27). */
function* gif(): Parser {
	const colorBytes = (flags = 0) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
	const screen = yield new Take(13);
	yield new Skip(colorBytes(screen[10]));
	let images = 0;
	for (;;) {
		const [kind] = yield new Take(1, images > 0);
		if (kind === 0x21) {
			yield new Skip(1);
		} else if (kind === 0x2c) {
			const image = yield new Take(9);
			yield new Skip(colorBytes(image[8]) + 1);
			images++;
		} else {
			return kind === TRAILER;
		}
		for (let size = 1; size > 0; ) {
			[size = 0] = yield new Take(1);
			yield new Skip(size);
		}
	}
}

/** Bytes by which encoders are known to count the length of a WebP too large. */
const MISCOUNTED = 8;

/** A length stands in its head, which streaming encoders leave open (RIFF). */
function* webp(): Parser {
	const head = yield new Take(12);
	const size = view(head).getUint32(4, true);
	if (size === 0xffffffff) return false;
	yield new Skip(size + 8 - 12 - MISCOUNTED);
	return true;
}

/**
 * Boxes of a length and a name (ISO/IEC 14496-12, section 4.2). None is marked as the last. The
 * file is whole after its data, or after its description if that holds the data.
 */
function* boxes(): Parser {
	let described = false;
	for (let name = ''; name !== 'mdat'; ) {
		const head: Uint8Array = yield new Take(8, described);
		const size = view(head).getUint32(0);
		name = text(head, 4);
		if (!NAME.test(name)) return false;
		described ||= name === 'meta';
		if (size === 1) {
			const long = view(yield new Take(8)).getBigUint64(0);
			yield new Skip(Number(long) - 16);
		} else if (size >= 8) {
			yield new Skip(size - 8);
		} else {
			return false;
		}
	}
	return true;
}
