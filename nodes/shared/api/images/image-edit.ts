import { ValidationError } from '../errors/errors';
import type { ImageRequest } from './image-request';

/** An image to upload. */
export interface UploadFile {
	name: string;
	bytes: Blob;
}

/**
 * The multipart form of an image edit: each image is a part `image`, or `image[]` if there are
 * several. The mask and the other fields follow as text, objects as JSON.
 */
export function editForm(request: ImageRequest, images: UploadFile[], mask?: UploadFile): FormData {
	const form = new FormData();
	for (const [name, value] of Object.entries(request)) {
		if (value === undefined || value === null) continue;
		form.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
	}
	const part = images.length === 1 ? 'image' : 'image[]';
	for (const { bytes, name } of images) form.append(part, bytes, name);
	if (mask) form.append('mask', mask.bytes, mask.name);
	return form;
}

/**
 * The `images` (or `mask`) of an edit by address.
 * @param value one text with addresses separated by commas or line breaks, or a list of them. The
 * comma inside a `data:` URL does not separate
 * @param field the name on the field
 * @throws {ValidationError} no address, or one that is neither of the web nor an image's data URL
 */
export function imageAddresses(value: unknown, field: string): Array<{ image_url: string }> {
	const texts = (Array.isArray(value) ? (value as unknown[]) : [value]).flatMap((part) =>
		typeof part === 'string'
			? part
					.split(/[\s,]+(?=https?:|data:)|\s*[\r\n]+\s*/i)
					.map((text) => text.replace(/[\s,]+$/, ''))
			: [part],
	);
	const addresses = texts.filter((text) => text !== '' && text !== undefined && text !== null);
	if (addresses.length === 0) {
		throw new ValidationError(field, 'is empty', 'Enter the URL of an image.');
	}
	return addresses.map((address, index) => {
		const text = typeof address === 'string' ? address.trim() : '';
		const isData = /^data:image\/[a-z0-9.+-]+[;,]/i.test(text);
		const isWeb = /^https?:\/\//i.test(text) && URL.canParse(text);
		if (!isData && !isWeb) {
			throw new ValidationError(
				field,
				`has no image URL at position ${index + 1}`,
				'Use URLs that begin with https:// or data:image/.',
			);
		}
		return { image_url: text };
	});
}
