import { PNG } from 'pngjs';
import { TruncationDetector } from '../../../nodes/shared/api/images/truncation-detector';

/** Bytes one after the other: numbers, and a text's characters. */
const bytes = (...parts: Array<string | number[]>) =>
	Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1')));

const png = PNG.sync.write(new PNG({ width: 3, height: 2 }));

/** A JPEG as its specification has it: thumbnail in a segment, two scans, stuffed and restarted data. */
const jpeg = bytes(
	[0xff, 0xd8],
	[0xff, 0xe1, 0, 10],
	[0xff, 0xd8, 0xff, 0xda, 0xff, 0xd9, 1, 2],
	[0xff, 0xdb, 0, 4, 7, 7],
	[0xff, 0xda, 0, 3, 9],
	[1, 2, 0xff, 0, 3, 0xff, 0xd0, 4, 5, 0xff, 0xff, 0xc4, 0, 3, 8],
	[0xff, 0xda, 0, 2, 6, 6, 0xff, 0xd9],
);

/** An animation: two palettes, a comment, two images. */
const gif = bytes(
	'GIF89a',
	[2, 0, 2, 0, 0x80, 0, 0],
	[0, 0, 0, 255, 255, 255],
	[0x21, 0xfe, 3, 0x3b, 0x3b, 0x3b, 0],
	[0x2c, 0, 0, 0, 0, 2, 0, 2, 0, 0x80, 1, 2, 3, 4, 5, 6, 2, 2, 0x3b, 0x0a, 0],
	[0x21, 0xf9, 4, 0, 0, 0, 0, 0],
	[0x2c, 0, 0, 0, 0, 2, 0, 2, 0, 0, 2, 1, 0x3b, 1, 9, 0],
	[0x3b],
);

const webp = bytes('RIFF\x18\0\0\0WEBPVP8 \x0c\0\0\0', [1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6]);

const boxes = ['\0\0\0\x10ftypavif\0\0\0\0', '\0\0\0\x0cmeta\x01\x02\x03\x04'];
const avif = bytes(...boxes, '\0\0\0\x01mdat\0\0\0\0\0\0\0\x14\x01\x02\x03\x04');

/** Each with the bytes at its end that may be missing without harm to the image. */
const FILES: Array<[name: string, mimeType: string, file: Buffer, spare: number]> = [
	['PNG', 'image/png', png, 4],
	['JPEG', 'image/jpeg', jpeg, 0],
	['GIF', 'image/gif', gif, 1],
	['WebP', 'image/webp', webp, 8],
	['AVIF', 'image/avif', avif, 0],
	['HEIC', 'image/heic', avif, 0],
];

function whole(mimeType: string, file: Buffer, size = file.length): boolean {
	const end = new TruncationDetector(mimeType);
	for (let at = 0; at < file.length; at += size) end.feed(file.subarray(at, at + size));
	return end.mayEnd;
}

describe.each(FILES)('%s', (_name, mimeType, file, spare) => {
	test('is whole in one piece, in pieces of any size, and with something behind its end', () => {
		for (let size = 1; size <= file.length; size++)
			expect([size, whole(mimeType, file, size)]).toEqual([size, true]);
		for (const more of [Buffer.alloc(3), Buffer.from('made by an encoder'), png])
			expect(whole(mimeType, Buffer.concat([file, more]))).toBe(true);
	});

	test('is not whole where it is cut, but where nothing but its very end is missing', () => {
		const ends = [file.length / 2, file.length - spare - 1, file.length - spare];
		const cut = ends.map((end) => whole(mimeType, file.subarray(0, end)));
		expect(cut).toEqual([false, false, true]);
		const cuts = Array.from({ length: file.length - spare - 1 }, (_unused, at) => at);
		const taken = cuts.filter((at) => whole(mimeType, file.subarray(0, at)));
		// A GIF between two blocks and an AVIF between two boxes look finished.
		expect(taken.length).toBeLessThan(/gif|avif|heic/.test(mimeType) ? 10 : 1);
	});
});

test.each([
	['a PNG of other chunks', 'image/png', bytes('\x89PNG\r\n\x1a\n', Array(40).fill(7) as number[])],
	['a JPEG whose segment has no length', 'image/jpeg', bytes([0xff, 0xd8, 0xff, 0xe0, 0, 0, 1, 2])],
	['a GIF with an unknown block', 'image/gif', bytes('GIF89a', [1, 0, 1, 0, 0, 0, 0, 0x77, 1])],
	['a WebP that was streamed', 'image/webp', bytes('RIFF', [255, 255, 255, 255], 'WEBPVP8 ', [9])],
	['an AVIF whose last box goes on to the end', 'image/avif', bytes([0, 0, 0, 0], 'mdat', [1, 2])],
	['an SVG', 'image/svg+xml', bytes('<svg>')],
])('%s counts as whole: nothing can be told of it', (_name, mimeType, file) => {
	expect(whole(mimeType, file)).toBe(true);
});
