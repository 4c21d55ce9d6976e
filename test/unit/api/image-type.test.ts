import { imageType } from '../../../nodes/shared/api/images/image-type';

/** Bytes of a text in which each character stands for one byte, with something behind them. */
const file = (start: string) => Buffer.from(start.padEnd(64, '\x01'), 'latin1');

test.each([
	['image/png', 'png', ['\x89PNG\r\n\x1a\n']],
	['image/jpeg', 'jpg', ['\xff\xd8\xff\xe0\0\x10JFIF', '\xff\xd8\xff\xe1\0\x10Exif']],
	['image/gif', 'gif', ['GIF87a', 'GIF89a']],
	['image/webp', 'webp', ['RIFF\x24\n\x02\0WEBPVP8 ', 'RIFF\n\n\r\nWEBP']],
	['image/avif', 'avif', ['\0\0\0\x20ftypavif']],
	['image/heic', 'heic', ['\0\0\0\x18ftypheic']],
	['image/tiff', 'tiff', ['II*\0', 'MM\0*']],
	['image/svg+xml', 'svg', ['<svg xmlns="x">', '<svg><path/>', '\n  <svg viewBox="0 0 1 1">']],
	['image/svg+xml', 'svg', ['\xef\xbb\xbf<svg >', '<?xml version="1.0"?>\n<svg xmlns="x">']],
	['image/svg+xml', 'svg', ['<?xml version="1.0"?><!-- made\nby --><svg >']],
	['image/svg+xml', 'svg', ['<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "-//W3C//DTD"']],
])('an image is known by its first bytes: %s (%s): %j', (mimeType, extension, starts) => {
	for (const start of starts) expect(imageType(file(start))).toEqual({ mimeType, extension });
});

test.each([
	['half a PNG signature', '\x89PNG'],
	['a PNG whose line ends were changed', '\x89PNG\n\x1a\n'],
	['HTML', '<!DOCTYPE html><html></html>'],
	['HTML with an image in it', '<html><body><svg width="1"></svg></body></html>'],
	['JSON', '{"error":{"message":"GIF89a"}}'],
	['XML of an error', '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'],
	['text that begins like SVG', '<svgfoo>'],
	['sound', 'RIFF\x24\n\x02\0WAVEfmt '],
	['a film', '\0\0\0\x20ftypisom'],
	['text', 'GIF is a file format'],
	['a signature further back', `${' '.repeat(300)}GIF89a`.padEnd(400, '\x01')],
])('anything else is no image: %s', (_, start) => {
	expect(imageType(Buffer.from(start, 'latin1'))).toBeUndefined();
});
