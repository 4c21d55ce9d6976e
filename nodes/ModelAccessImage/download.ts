import type { IDataObject, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { downloadPicture } from '../shared/api/images/download';
import { InputError, ModelAccessError, TaskError } from '../shared/api/errors/errors';
import { pictureFileName } from '../shared/api/images/file-name';
import type { Observation } from '../shared/api/images/task';
import {
	picturesOf,
	pictureOutput,
	type Picture,
	type PictureOrigin,
} from '../shared/api/images/task-images';
import type { Client } from '../shared/api/http/request';
import type { ItemScope } from '../shared/n8n/runner/run-items';
import { numberParameter } from '../shared/n8n/fields/parameters';
import { pictureStorage } from '../shared/n8n/http/file-storage';

export const downloadImagesField: INodeProperties = {
	displayName: 'Download Images',
	name: 'downloadImages',
	type: 'boolean',
	default: true,
	description:
		'Whether to download the finished images as binary data. Their URLs expire, so switch this off only if you need nothing but the URL.',
};

export const binaryPropertyField: INodeProperties = {
	displayName: 'Put Output File in Field',
	name: 'binaryPropertyName',
	type: 'string',
	required: true,
	default: 'data',
	hint: 'The name of the output binary field to put the file in',
	displayOptions: { show: { downloadImages: [true] } },
};

export const fileNameOption: INodeProperties = {
	displayName: 'File Name',
	name: 'fileName',
	type: 'string',
	default: '',
	placeholder: 'e.g. product-{{ $json.sku }}-{index}',
	description:
		'Name of the file; {index} stands for the image’s index, and the extension follows the file’s real type. Empty takes the task ID.',
};

export const maxFileSizeOption: INodeProperties = {
	displayName: 'Max File Size (MB)',
	name: 'maxFileSize',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 64,
	description: 'A larger image is not downloaded',
};

/** How finished pictures are handed on. */
export interface Delivery {
	download: boolean;
	binaryProperty: string;
	fileName: string;
	maxBytes: number;
	/** Milliseconds without a byte. */
	idleMs: number;
}

/**
 * Reads the fields above, before anything is sent.
 * @param idleMs milliseconds without a byte that a download may take
 * @throws {InputError}
 */
export function deliveryOf(item: ItemScope, idleMs: number): Delivery {
	const download = item.parameter('downloadImages') !== false;
	const property = download ? item.parameter('binaryPropertyName') : 'data';
	if (typeof property !== 'string' || property.trim() === '') {
		throw new InputError(
			'Put Output File in Field',
			'is empty',
			'Enter the name of a binary field, such as data.',
		);
	}
	const field = 'Max File Size';
	const megabytes = numberParameter(item.options.maxFileSize, { field, fallback: 64, min: 0 });
	if (megabytes === 0) throw new InputError(field, 'is 0', 'Enter a number of megabytes above 0.');
	return {
		download,
		binaryProperty: property.trim(),
		fileName: String(item.options.fileName ?? ''),
		maxBytes: megabytes * 1024 * 1024,
		idleMs,
	};
}

/** Milliseconds in which a download that failed is tried again. */
const DOWNLOAD_PATIENCE_MS = 120_000;

/**
 * The output items of a completed task: one for each picture, its file as binary data.
 *
 * All pictures are fetched side by side; the first failure is thrown when all have ended.
 * @throws {ModelAccessError} every error carries the task's ID and the pictures' addresses
 */
export async function deliver(
	item: ItemScope,
	client: Client,
	origin: PictureOrigin,
	{ task }: Observation,
	delivery: Delivery,
): Promise<INodeExecutionData[]> {
	const pictures = picturesOf(origin.taskId, task);
	const items = await Promise.allSettled(
		pictures.map(async (picture): Promise<INodeExecutionData> => {
			const json = pictureOutput(task, picture, origin) as IDataObject;
			if (!delivery.download) return { json };
			const got = await fetchPicture(
				item,
				client,
				origin.taskId,
				picture,
				delivery,
				task.expires_at,
			);
			return {
				json: { ...json, file: { name: got.name, mime_type: got.mimeType, size: got.size } },
				binary: { [delivery.binaryProperty]: got.file },
			};
		}),
	);
	return items.map((result) => {
		if (result.status === 'fulfilled') return result.value;
		throw ofPictures(result.reason, origin.taskId, pictures);
	});
}

async function fetchPicture(
	item: ItemScope,
	client: Client,
	taskId: string,
	picture: Picture,
	{ fileName, maxBytes, idleMs }: Delivery,
	expiresAt: number | undefined,
) {
	const { baseUrl } = item.connection;
	const url = URL.canParse(picture.url, baseUrl) ? new URL(picture.url, baseUrl).href : picture.url;
	const bounded = { ...client, deadline: client.time.now() + DOWNLOAD_PATIENCE_MS };
	return await downloadPicture(bounded, pictureStorage(item.context), url, {
		maxBytes,
		idleMs,
		expiresAt,
		fileName: (extension) => pictureFileName(fileName, { taskId, ...picture }, extension),
	});
}

/** The error of a picture that is paid for and could not be handed on. */
function ofPictures(error: unknown, taskId: string, pictures: Picture[]): ModelAccessError {
	const known =
		error instanceof ModelAccessError
			? error
			: new TaskError(`The image could not be stored: ${(error as Error).message}`, {
					retryable: false,
					advice:
						'n8n’s binary storage refused the file. The image is done and paid for: fetch it with Task → Get and its task ID.',
				});
	return known.withTaskId(
		taskId,
		pictures.map(({ url }) => url),
	);
}
