/** What a walk through a file asks for next. */
type Step =
	/** So many bytes, to look at. `orEnd`: the file is whole, too, where it has no more. */
	| { take: number; orEnd?: boolean }
	/** So many bytes, to pass over. */
	| { skip: number }
	/** All bytes up to and with this one, to pass over. */
	| { find: number };

/** A walk from a file's start to its end. What it gets begins with the bytes that it asked for. It is over, too, where nothing more can be told. */
type Walk = Generator<Step, void, Uint8Array>;

/** Bytes that a walk looks at together, at most. */
const MOST_TAKEN = 16;

const WALKS: Record<string, () => Walk> = {
	'image/png': png,
	'image/jpeg': jpeg,
	'image/gif': gif,
	'image/webp': webp,
	'image/avif': boxes,
	'image/heic': boxes,
	'image/heif': boxes,
};

/**
 * Follows a picture's bytes as they pass and tells whether its file reached the end that its type
 * has, so that half a picture is not taken for one where nobody named a length.
 *
 * In doubt a file counts as whole, since it is paid for: a type whose end can't be told, a file
 * that is not built as its type says, and whatever encoders put behind the end. It keeps a few
 * bytes at a time, never the picture.
 */
export class ImageEnd {
	private readonly walk?: Walk;
	private step?: Step;
	private taken = 0;
	private readonly bytes = new Uint8Array(MOST_TAKEN);

	/** @param mimeType as `imageType` tells it */
	constructor(mimeType: string) {
		this.walk = WALKS[mimeType]?.();
		this.goOn();
	}

	/** Whether the file may end after the bytes that have passed. */
	get reached(): boolean {
		return this.step === undefined || ('take' in this.step && this.step.orEnd === true);
	}

	/** Takes note of the next bytes. */
	pass(chunk: Uint8Array): void {
		let at = 0;
		while (this.step && at < chunk.length) {
			const { step } = this;
			if ('find' in step) {
				const found = chunk.indexOf(step.find, at);
				if (found < 0) return;
				at = found + 1;
				this.goOn();
			} else {
				const wanted = 'take' in step ? step.take : step.skip;
				const part = chunk.subarray(at, at + wanted - this.taken);
				if ('take' in step) this.bytes.set(part, this.taken);
				at += part.length;
				this.taken += part.length;
				if (this.taken === wanted) this.goOn();
			}
		}
	}

	/** Hands the walk what it asked for, and notes what it asks for next. */
	private goOn() {
		do {
			const { value } = this.walk?.next(this.bytes) ?? {};
			this.step = value ?? undefined;
		} while (this.step && 'skip' in this.step && this.step.skip <= 0);
		this.taken = 0;
	}
}

const view = (bytes: Uint8Array) => new DataView(bytes.buffer);

const text = (bytes: Uint8Array, from: number) =>
	String.fromCharCode(...bytes.subarray(from, from + 4));

/** Names of chunks and boxes: four characters. */
const NAME = /^[ -~]{4}$/;

/** Chunks of a length and a name; the last is `IEND` (PNG specification, sections 5.3 and 11.2.4). */
function* png(): Walk {
	yield { skip: 8 };
	for (;;) {
		const head = yield { take: 8 };
		const name = text(head, 4);
		if (name === 'IEND' || !NAME.test(name)) return;
		yield { skip: view(head).getUint32(0) + 4 };
	}
}

const END_OF_IMAGE = 0xd9;

/**
 * Segments, of which some are followed by coded data in which a marker can't occur; the last marker
 * is `EOI` (ITU-T T.81, section B.1).
 */
function* jpeg(): Walk {
	yield { skip: 2 };
	for (;;) {
		yield { find: 0xff };
		let marker = 0xff;
		while (marker === 0xff) [marker = 0] = yield { take: 1 };
		if (marker === END_OF_IMAGE) return;
		const standsAlone = marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd8);
		if (standsAlone) continue;
		const length = view(yield { take: 2 }).getUint16(0);
		if (length < 2) return;
		yield { skip: length - 2 };
	}
}

/** Blocks of sub-blocks; the last is the trailer, which some encoders leave out (GIF89a, 15 to 27). */
function* gif(): Walk {
	const colours = (flags = 0) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
	const screen = yield { take: 13 };
	yield { skip: colours(screen[10]) };
	let pictures = 0;
	for (;;) {
		const [kind] = yield { take: 1, orEnd: pictures > 0 };
		if (kind === 0x21) {
			yield { skip: 1 };
		} else if (kind === 0x2c) {
			const picture = yield { take: 9 };
			yield { skip: colours(picture[8]) + 1 };
			pictures++;
		} else {
			return;
		}
		for (let size = 1; size > 0; ) {
			[size = 0] = yield { take: 1 };
			yield { skip: size };
		}
	}
}

/** Bytes by which encoders are known to count the length of a WebP too large. */
const MISCOUNTED = 8;

/** A length stands in its head, which streaming encoders leave open (RIFF). */
function* webp(): Walk {
	const head = yield { take: 12 };
	const size = view(head).getUint32(4, true);
	if (size < 0xffffffff) yield { skip: size + 8 - 12 - MISCOUNTED };
}

/**
 * Boxes of a length and a name (ISO/IEC 14496-12, section 4.2). None is marked as the last: the file
 * is whole behind its data, or, where it holds them in its description, behind that.
 */
function* boxes(): Walk {
	let described = false;
	for (let name = ''; name !== 'mdat'; ) {
		const head: Uint8Array = yield { take: 8, orEnd: described };
		const size = view(head).getUint32(0);
		name = text(head, 4);
		if (!NAME.test(name)) return;
		described ||= name === 'meta';
		if (size === 1) {
			const long = view(yield { take: 8 }).getBigUint64(0);
			yield { skip: Number(long) - 16 };
		} else if (size >= 8) {
			yield { skip: size - 8 };
		} else {
			return;
		}
	}
}
