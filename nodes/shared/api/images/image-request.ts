import { ValidationError } from '../errors/errors';
import { requireText } from '../errors/require-text';

/** Body of an image submit; fields beside these pass through. */
export interface ImageRequest extends Record<string, unknown> {
	model: string;
	prompt: string;
	size?: string;
}

/**
 * Checks the body of an image submit before anything is sent.
 * @param body the fields as set, with the extra body already merged over them
 * @returns the same body
 * @throws {ValidationError} empty model or prompt, a malformed size, a demand to stream
 * @see contract, "POST /v1/images/generations/async"
 */
export function checkImageRequest(body: Record<string, unknown>): ImageRequest {
	requireText(body.model, 'Model', 'Choose a model from the list or enter its exact ID.');
	requireText(body.prompt, 'Prompt', 'Describe the image in words.');
	if (body.size !== undefined && !/^(auto|[1-9]\d{0,4}x[1-9]\d{0,4})$/.test(String(body.size))) {
		throw new ValidationError(
			'Size',
			'is neither auto nor <width>x<height>',
			'Enter the size in pixels, such as 1024x1024, or auto.',
		);
	}
	if (body.stream !== undefined && body.stream !== false) {
		throw new ValidationError(
			'Extra Body',
			'asks to stream, which image tasks do not allow',
			'Remove "stream" from the Extra Body option.',
		);
	}
	return body as ImageRequest;
}
