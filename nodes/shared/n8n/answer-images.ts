import type { IBinaryKeyData, IExecuteFunctions } from 'n8n-workflow';
import { IMAGE_TYPE_BYTES, imageType } from '../api/images/image-type';
import type { CreatedResponse } from '../api/responses/created-response';
import { getOutputImages } from '../api/responses/response-output';

/** What of the gateway's IDs may become a file's name. */
const FILE_NAME = /^[\w-]{1,100}$/;

/**
 * The images of an answer as binary data: `data`, `data_1`, …
 * @param field the name for the first one
 * @returns undefined where it holds none
 */
export async function getAnswerImages(
	helpers: Pick<IExecuteFunctions['helpers'], 'prepareBinaryData'>,
	{ response }: CreatedResponse,
	field: string,
): Promise<IBinaryKeyData | undefined> {
	const images = getOutputImages(response);
	if (images.length === 0) return undefined;
	const binary: IBinaryKeyData = {};
	for (const [index, { base64, id }] of images.entries()) {
		const bytes = Buffer.from(withoutPrefix(base64), 'base64');
		const type = imageType(bytes.subarray(0, IMAGE_TYPE_BYTES));
		const name = `${id !== undefined && FILE_NAME.test(id) ? id : `image-${index}`}.${type?.extension ?? 'bin'}`;
		binary[index === 0 ? field : `${field}_${index}`] = await helpers.prepareBinaryData(
			bytes,
			name,
			type?.mimeType ?? 'application/octet-stream',
		);
	}
	return binary;
}

/** The base64 of a data URL; a text that is none stays as it is. */
function withoutPrefix(base64: string): string {
	return base64.startsWith('data:') ? base64.slice(base64.indexOf(',') + 1) : base64;
}
