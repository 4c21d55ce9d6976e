import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import { ModelAccessError, TaskError } from '../shared/api/errors/errors';
import { downloadImage, type DownloadClient, type Storage } from '../shared/api/images/download';
import { makeFileName } from '../shared/api/images/file-name';
import {
	getTaskImages,
	toImageOutput,
	type TaskImage,
	type ImageOrigin,
} from '../shared/api/images/task-images';
import type { ImageTask } from '../shared/api/schemas';
import type { FileSettings } from './fields';

/** Milliseconds in which a download that failed is tried again. */
const RETRY_MS = 120_000;

/** What fetches images, and where they go. */
export interface Downloader {
	client: DownloadClient;
	storage: Storage<IBinaryData>;
	/** The gateway's address, for image URLs that are relative to it. */
	baseUrl: string;
}

/**
 * Makes the output of a completed task: an item for each image, its file as binary data. All images
 * are fetched side by side; the first failure is thrown when all have ended.
 * @throws {ModelAccessError} every error carries the task's ID and the images' URLs
 */
export async function downloadImages(
	downloader: Downloader,
	task: ImageTask,
	origin: ImageOrigin,
	settings: FileSettings,
): Promise<INodeExecutionData[]> {
	const images = getTaskImages(origin.taskId, task);
	const toItem = async (image: TaskImage): Promise<INodeExecutionData> => {
		const json = toImageOutput(task, image, origin) as IDataObject;
		if (!settings.download) return { json };
		const expiring = { ...image, taskId: origin.taskId, expiresAt: task.expires_at };
		const got = await fetchImage(downloader, expiring, settings);
		return {
			json: { ...json, file: { name: got.name, mime_type: got.mimeType, size: got.size } },
			binary: { [settings.binaryProperty]: got.file },
		};
	};
	const items = await Promise.allSettled(images.map(toItem));
	return items.map((result) => {
		if (result.status === 'fulfilled') return result.value;
		const urls = images.map(({ url }) => url);
		throw notDelivered(result.reason).withTaskId(origin.taskId, urls);
	});
}

async function fetchImage(
	{ client, storage, baseUrl }: Downloader,
	image: TaskImage & { taskId: string; expiresAt?: number },
	{ fileName, maxBytes, idleMs }: FileSettings,
) {
	const { url, expiresAt } = image;
	const address = URL.canParse(url, baseUrl) ? new URL(url, baseUrl).href : url;
	const bounded = { ...client, deadline: client.time.now() + RETRY_MS };
	return await downloadImage(bounded, storage, address, {
		maxBytes,
		idleMs,
		expiresAt,
		fileName: (extension) => makeFileName(fileName, image, extension),
	});
}

/** The error of an image that is paid for and could not be handed on. */
function notDelivered(error: unknown): ModelAccessError {
	if (error instanceof ModelAccessError) return error;
	return new TaskError(`The image could not be stored: ${(error as Error).message}`, {
		retryable: false,
		advice:
			'n8n’s binary storage refused the file. The image is done and paid for: fetch it with Task → Get and its task ID.',
	});
}
