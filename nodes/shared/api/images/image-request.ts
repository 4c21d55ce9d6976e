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
 * @returns the same body, its size in the form that the gateway reads
 * @throws {ValidationError} empty model or prompt, a malformed size, a demand to stream
 * @see contract, "POST /v1/images/generations/async"
 */
export function checkImageRequest(body: Record<string, unknown>): ImageRequest {
	requireText(body.model, 'Model', 'Select a model from the list or enter its exact ID.');
	requireText(body.prompt, 'Prompt', 'Describe the image in words.');
	if (body.stream !== undefined && body.stream !== false) {
		throw new ValidationError(
			'Extra Body',
			'asks to stream, which image tasks do not allow',
			'Remove "stream" from the Extra Body option.',
		);
	}
	const size = body.size === undefined ? undefined : readSize(body.size);
	return (size === body.size ? body : { ...body, size }) as ImageRequest;
}

const SIZE = /^(auto|([1-9]\d{0,4})\s*[x×]\s*([1-9]\d{0,4}))$/i;

/**
 * A size in the gateway's form, from the ways in which people write it.
 * @throws {ValidationError} it is none
 */
function readSize(value: unknown): string {
	const [, , width, height] = SIZE.exec(String(value).trim()) ?? [];
	if (width !== undefined) return `${width}x${height}`;
	if (SIZE.test(String(value).trim())) return 'auto';
	throw new ValidationError(
		'Size',
		'is neither auto nor width x height',
		'Select one from the list. For another size, switch to Expression and enter its pixels, such as 1280x720.',
	);
}
