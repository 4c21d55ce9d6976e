import { imageType, type ImageType } from './images/image-type';

/**
 * Tells a file's type from its first bytes, whatever its name or header says.
 * @returns undefined if the bytes do not say it
 */
export function fileType(start: Uint8Array): ImageType | undefined {
	const isPdf = String.fromCharCode(...start.subarray(0, 5)) === '%PDF-';
	return isPdf ? { mimeType: 'application/pdf', extension: 'pdf' } : imageType(start);
}

/** Extensions of one type. */
const SAME = [
	['jpg', 'jpeg', 'jpe', 'jfif'],
	['heic', 'heif'],
	['tif', 'tiff'],
];

/** Extensions of a type that the bytes contradict. Others are part of the name: `v1.2`. */
const KNOWN =
	/\.(jpe?g|jpe|jfif|png|webp|gif|avif|hei[cf]|tiff?|svg|bmp|jxl|pdf|txt|md|csv|tsv|json|xml|html?|docx?|xlsx?|pptx?|zip|bin|dat|tmp)$/i;

/**
 * A file's name, with the extension that its bytes say: gateways go by it.
 * @param extension what the bytes say
 */
export function withExtension(name: string, extension: string): string {
	const given = KNOWN.exec(name)?.[1]?.toLowerCase();
	if (given === undefined) return `${name}.${extension}`;
	const fits = given === extension || SAME.some((a) => a.includes(given) && a.includes(extension));
	return fits ? name : name.replace(KNOWN, `.${extension}`);
}
