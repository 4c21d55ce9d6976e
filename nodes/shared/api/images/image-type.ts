/** A kind of image file. */
export interface ImageType {
	mimeType: string;
	extension: string;
}

/** How many bytes from a file's start {@link imageType} looks at. */
export const IMAGE_TYPE_BYTES = 256;

const SIGNATURES: Array<[string, number, ImageType]> = [
	['\x89PNG\r\n\x1a\n', 0, { mimeType: 'image/png', extension: 'png' }],
	['\xff\xd8\xff', 0, { mimeType: 'image/jpeg', extension: 'jpg' }],
	['GIF87a', 0, { mimeType: 'image/gif', extension: 'gif' }],
	['GIF89a', 0, { mimeType: 'image/gif', extension: 'gif' }],
	['ftypavif', 4, { mimeType: 'image/avif', extension: 'avif' }],
	['ftypheic', 4, { mimeType: 'image/heic', extension: 'heic' }],
	['ftypavis', 4, { mimeType: 'image/avif', extension: 'avif' }],
	['ftypheix', 4, { mimeType: 'image/heic', extension: 'heic' }],
	['ftypmif1', 4, { mimeType: 'image/heif', extension: 'heif' }],
	['\0\0\0\x0cJXL \r\n\x87\n', 0, { mimeType: 'image/jxl', extension: 'jxl' }],
	['\xff\x0a', 0, { mimeType: 'image/jxl', extension: 'jxl' }],
	['II*\0', 0, { mimeType: 'image/tiff', extension: 'tiff' }],
	['MM\0*', 0, { mimeType: 'image/tiff', extension: 'tiff' }],
];

/**
 * Tells an image's type from its first bytes, whatever its name or header says.
 * @param start the first bytes, {@link IMAGE_TYPE_BYTES} of them if there are as many
 * @returns undefined where it is no image
 */
export function imageType(start: Uint8Array): ImageType | undefined {
	const text = String.fromCharCode(...start.subarray(0, IMAGE_TYPE_BYTES));
	const found = SIGNATURES.find(([signature, at]) => text.startsWith(signature, at));
	if (found) return found[2];
	if (/^BM[^]{4}\0{4}/.test(text)) return { mimeType: 'image/bmp', extension: 'bmp' };
	if (/^RIFF[^]{4}WEBP/.test(text)) return { mimeType: 'image/webp', extension: 'webp' };
	if (/^(ï»¿)?\s*(<\?xml[^>]*>\s*)?(<!--[^]*?-->\s*)*(<svg[\s>]|<!DOCTYPE svg\b)/i.test(text)) {
		return { mimeType: 'image/svg+xml', extension: 'svg' };
	}
	return undefined;
}
