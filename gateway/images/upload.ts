import { ApiError, badField } from '../errors';
import { decodePng, hasAlpha, mimeTypeOf, sizeOf } from '../drawing/png';
import { sourceFromSeed, sourceFromPixels, type ImageSource } from '../drawing/draw';

/** A valid image of a request. */
export interface Upload {
	/** Path of the field, for messages. */
	field: string;
	mimeType: string;
	/** Pixels; known for PNG only. */
	width?: number;
	height?: number;
	alpha: boolean;
	source: ImageSource;
}

/**
 * Checks that bytes are an image. PNG is decoded. JPEG, WebP and GIF are recognized by their
 * signature.
 * @param pixelLimit the most pixels that the image may have
 * @throws ApiError 400 naming the field
 */
export function readUpload(field: string, bytes: Buffer, pixelLimit: number): Upload {
	if (bytes.length === 0) throw badField(field, 'is an empty file', 'empty_image');
	const mimeType = mimeTypeOf(bytes);
	if (!mimeType) {
		throw badField(field, 'is not an image (PNG, JPEG, WebP or GIF)', 'invalid_image');
	}
	if (mimeType !== 'image/png') {
		return { field, mimeType, alpha: false, source: sourceFromSeed(bytes) };
	}
	const size = sizeOf(bytes);
	if (size && size.width * size.height > pixelLimit) {
		throw badField(field, `has more than ${pixelLimit} pixels`, 'image_too_large');
	}
	const pixels = decodePng(bytes);
	if (!pixels) throw badField(field, 'is a damaged PNG', 'invalid_image');
	const { width, height } = pixels;
	return {
		field,
		mimeType,
		width,
		height,
		alpha: hasAlpha(bytes),
		source: sourceFromPixels(pixels),
	};
}

/**
 * Bytes and declared type of a base64 `data:` URL.
 * @throws ApiError 400 naming the field
 */
export function readDataUrl(field: string, url: string): { mimeType: string; bytes: Buffer } {
	const comma = url.indexOf(',');
	const head = /^data:([^;,]*)(;[^,]*)?;base64$/i.exec(url.slice(0, Math.max(0, comma)));
	const payload = url.slice(comma + 1);
	if (!head || !/^[A-Za-z0-9+/]*={0,2}$/.test(payload)) {
		throw badField(field, 'is not a base64 data URL', 'invalid_data_url');
	}
	return { mimeType: head[1] || 'text/plain', bytes: Buffer.from(payload, 'base64') };
}

/**
 * Checks a mask against its image.
 * @throws ApiError 400 naming the mask's field
 */
export function checkMask(mask: Upload, image: Upload | undefined) {
	if (mask.mimeType !== 'image/png' || !mask.alpha) {
		throw badField(mask.field, 'must be a PNG with an alpha channel', 'invalid_mask');
	}
	const known = image?.width !== undefined;
	if (known && (image.width !== mask.width || image.height !== mask.height)) {
		throw new ApiError(400, {
			code: 'invalid_mask',
			message: `${mask.field} must have the size of the image (${image.width}x${image.height})`,
			param: mask.field,
		});
	}
}
