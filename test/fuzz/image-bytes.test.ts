import { TruncationDetector } from '../../nodes/shared/api/images/truncation-detector';
import { imageType } from '../../nodes/shared/api/images/image-type';
import fc from '../support/fast-check';

const STARTS: Array<[mimeType: string, start: string]> = [
	['image/png', '\x89PNG\r\n\x1a\n'],
	['image/jpeg', '\xff\xd8\xff'],
	['image/gif', 'GIF89a'],
	['image/webp', 'RIFF\x10\0\0\0WEBP'],
	['image/avif', '\0\0\0\x10ftypavif'],
	['image/tiff', 'II*\0'],
];

/** Bytes of which those that mean something to the file of an image come often. */
const MEANINGFUL = [0, 1, 2, 0x21, 0x2c, 0x3b, 0xc0, 0xd0, 0xd9, 0xda, 0xff];
const word = fc.constantFrom('IEND', 'IDAT', 'meta', 'mdat', '\0\0\0\x08');
const byte = fc.oneof(fc.constantFrom(...MEANINGFUL), fc.nat(255));
const part = fc.oneof(
	byte.map((one) => Buffer.from([one])),
	word.map((one) => Buffer.from(one, 'latin1')),
);
const meaningful = fc.array(part, { maxLength: 200 }).map((parts) => Buffer.concat(parts));

function passed(mimeType: string, file: Buffer, size: number): boolean {
	const end = new TruncationDetector(mimeType);
	for (let at = 0; at < file.length; at += size) end.feed(file.subarray(at, at + size));
	return end.mayEnd;
}

test('any bytes come to an end or to none, the same however they are cut', () => {
	const sizes = fc.integer({ min: 1, max: 50 });
	const cut = fc.tuple(fc.constantFrom(...STARTS), meaningful, sizes);
	const property = fc.property(cut, ([[mimeType, start], rest, size]) => {
		const file = Buffer.concat([Buffer.from(start, 'latin1'), rest]);
		expect(imageType(file)?.mimeType).toBe(mimeType);
		expect(passed(mimeType, file, size)).toBe(passed(mimeType, file, file.length));
	});
	fc.assert(property, { numRuns: 2000 });
});
