import type { ImageTask } from '../schemas';
import type { ImageRequest } from './image-request';
import { getTaskImages } from './task-images';

const FORMATS: Record<string, string> = { jpeg: 'JPEG', jpg: 'JPEG', png: 'PNG', webp: 'WebP' };

/**
 * What a gateway made otherwise than it was asked to.
 * @param mimeTypes of the files, by their bytes; undefined where none was downloaded
 * @returns by what differs, the sentence that says so
 */
export function findDifferences(
	request: ImageRequest,
	task: ImageTask,
	mimeTypes: ReadonlyArray<string | undefined>,
): Array<[what: string, sentence: string]> {
	const asked = typeof request.n === 'number' ? request.n : 1;
	const came = getTaskImages('', task).length;
	const format = String(request.output_format ?? '').toLowerCase();
	const wanted = FORMATS[format];
	const types = mimeTypes.flatMap((type) => type?.replace('image/', '') ?? []);
	const other = types.find((type) => wanted !== undefined && FORMATS[type] !== wanted);
	const { size } = request;
	const made = task.result?.size;
	return [
		...(came < asked ? [difference('images', `${asked} images`, `${came} came`)] : []),
		...(other !== undefined
			? [difference('format', wanted!, `it sent ${FORMATS[other] ?? other}`)]
			: []),
		...(isPixels(size) && isPixels(made) && size !== made
			? [difference('size', size, `it made ${made}`)]
			: []),
	];
}

function difference(what: string, asked: string, came: string): [string, string] {
	return [what, `The gateway was asked for ${asked}, and ${came}.`];
}

const isPixels = (value: unknown): value is string =>
	typeof value === 'string' && /^\d+x\d+$/.test(value);
