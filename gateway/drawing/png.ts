import { PNG } from 'pngjs';
import { crc32 } from 'node:zlib';

/** Offset of the end of the signature and the IHDR chunk. More chunks may be inserted here. */
const AFTER_HEADER = 33;
const KEYWORD = 'Description';

/** Pixels, four bytes each: red, green, blue, alpha. */
export interface Pixels {
	width: number;
	height: number;
	data: Uint8Array;
}

/**
 * Encodes pixels of three bytes each as PNG, fast, and writes a text into the file.
 * @param description kept in an iTXt chunk, see {@link descriptionOf}
 */
export function encodePng(
	{ width, height, data }: { width: number; height: number; data: Buffer },
	description: string,
): Buffer {
	const png = new PNG({ width, height });
	png.data = data;
	const file = PNG.sync.write(png, {
		colorType: 2,
		inputColorType: 2,
		inputHasAlpha: false,
		filterType: 2,
		deflateLevel: 1,
	});
	const text = chunk(
		'iTXt',
		Buffer.concat([Buffer.from(`${KEYWORD}\0\0\0\0\0`, 'latin1'), Buffer.from(description)]),
	);
	return Buffer.concat([file.subarray(0, AFTER_HEADER), text, file.subarray(AFTER_HEADER)]);
}

/** Decodes a PNG; `undefined` if the bytes are no PNG or damaged. */
export function decodePng(bytes: Buffer): Pixels | undefined {
	try {
		return PNG.sync.read(bytes);
	} catch {
		return undefined;
	}
}

/** The text that {@link encodePng} wrote into a file. */
export function descriptionOf(png: Buffer): string | undefined {
	const start = Buffer.from(`${KEYWORD}\0\0\0\0\0`, 'latin1');
	for (const { type, data } of chunks(png)) {
		if (type === 'iTXt' && data.subarray(0, start.length).equals(start)) {
			return data.subarray(start.length).toString('utf8');
		}
	}
	return undefined;
}

/**
 * Whether a file is a complete PNG that the gateway drew from this prompt.
 * @param prompt the prompt of the image task
 */
export const imageBelongsTo = (prompt: string, png: Buffer): boolean =>
	decodePng(png) !== undefined && descriptionOf(png) === prompt;

/** The MIME type of a file by its first bytes. */
export function mimeTypeOf(bytes: Buffer): string | undefined {
	const starts = (text: string, at = 0) =>
		bytes.subarray(at, at + text.length).equals(Buffer.from(text, 'latin1'));
	if (starts('\x89PNG\r\n\x1a\n')) return 'image/png';
	if (starts('\xff\xd8\xff')) return 'image/jpeg';
	if (starts('GIF87a') || starts('GIF89a')) return 'image/gif';
	if (starts('RIFF') && starts('WEBP', 8)) return 'image/webp';
	return undefined;
}

/** Width and height in the header of a PNG. */
export function sizeOf(png: Buffer): { width: number; height: number } | undefined {
	if (mimeTypeOf(png) !== 'image/png' || png.length < AFTER_HEADER) return undefined;
	return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
}

/** Whether a PNG has an alpha channel, or a palette with transparency. */
export function hasAlpha(png: Buffer): boolean {
	const colorType = png[25];
	if (colorType === 4 || colorType === 6) return true;
	for (const { type } of chunks(png)) if (type === 'tRNS') return true;
	return false;
}

function* chunks(png: Buffer): Generator<{ type: string; data: Buffer }> {
	for (let at = 8; at + 12 <= png.length; ) {
		const length = png.readUInt32BE(at);
		yield {
			type: png.toString('latin1', at + 4, at + 8),
			data: png.subarray(at + 8, at + 8 + length),
		};
		at += length + 12;
	}
}

function chunk(type: string, data: Buffer): Buffer {
	const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
	const frame = Buffer.alloc(8);
	frame.writeUInt32BE(data.length, 0);
	frame.writeUInt32BE(crc32(body), 4);
	return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
