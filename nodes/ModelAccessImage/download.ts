import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import { DownloadError, ModelAccessError, TaskError } from '../shared/api/errors/errors';
import { downloadImage, type Downloaded } from '../shared/api/images/download';
import { toDeadLink } from '../shared/api/images/download-failure';
import { fileNamer, type NamedImage } from '../shared/api/images/file-name';
import { pollImageTask } from '../shared/api/images/poll-task';
import type { PollResult } from '../shared/api/images/task';
import {
	getTaskImages,
	rawImage,
	simplifyImage,
	type TaskImage,
	type ImageOrigin,
} from '../shared/api/images/task-images';
import type { FileSettings, ImageScope } from './fields';

/** Milliseconds in which a download that failed is tried again. */
const RETRY_MS = 120_000;

/**
 * Makes the output of a completed task: an item for each image, its file as binary data. All images
 * are fetched side by side; the first failure is thrown when all have ended.
 * @throws {ModelAccessError} every error carries the task's ID and the images' URLs
 */
export async function downloadImages(
	scope: ImageScope,
	seen: PollResult,
	origin: ImageOrigin,
	settings: FileSettings,
): Promise<INodeExecutionData[]> {
	const { taskId, prompt } = origin;
	const images = getTaskImages(taskId, seen.task);
	scope.onUsage(taskId, seen.task.result?.usage);
	const toItem = async (image: TaskImage): Promise<INodeExecutionData> => {
		const json = settings.simplify
			? simplifyImage(seen.task, image, origin)
			: rawImage(seen, image);
		if (!settings.download) return { json: json as IDataObject };
		const got = await fetchOrReread(scope, { ...image, taskId, prompt }, settings);
		return {
			json: { ...json, file: { name: got.name, mime_type: got.mimeType, size: got.size } },
			binary: { [settings.binaryProperty]: got.file },
		};
	};
	const items = await Promise.allSettled(images.map(toItem));
	return items.map((result) => {
		if (result.status === 'fulfilled') return result.value;
		const urls = images.map(({ url }) => url);
		throw notStored(result.reason).withTaskId(taskId, urls);
	});
}

type KnownImage = TaskImage & NamedImage;

/**
 * Fetches an image. Where its link is dead, the task is read once more, which costs nothing: it may
 * name a new one.
 */
async function fetchOrReread(
	scope: ImageScope,
	image: KnownImage,
	settings: FileSettings,
): Promise<Downloaded<IBinaryData>> {
	try {
		return await fetchImage(scope, image, settings);
	} catch (error) {
		return await fetchByNewLink(scope, image, settings, error);
	}
}

/** @throws the error of the first link, if there is no other, or it does not help */
async function fetchByNewLink(
	scope: ImageScope,
	image: KnownImage,
	settings: FileSettings,
	error: unknown,
): Promise<Downloaded<IBinaryData>> {
	if (!(error instanceof DownloadError && error.details.linkIsGone)) throw error;
	const { task } = await pollImageTask(scope.client, image.taskId).catch(() => ({
		task: undefined,
	}));
	const url = task && getTaskImages(image.taskId, task)[image.index]?.url;
	if (url === undefined) throw error;
	if (url === image.url) throw toDeadLink(error, task?.expires_at, scope.client.time.now());
	return await fetchImage(scope, { ...image, url }, settings);
}

async function fetchImage(
	{ client, storage, baseUrl }: ImageScope,
	image: KnownImage,
	{ fileName, maxBytes, idleMs }: FileSettings,
): Promise<Downloaded<IBinaryData>> {
	const address = URL.canParse(image.url, baseUrl) ? new URL(image.url, baseUrl).href : image.url;
	const bounded = { ...client, deadline: client.time.now() + RETRY_MS };
	return await downloadImage(bounded, storage, address, {
		maxBytes,
		idleMs,
		fileName: fileNamer(fileName, image),
	});
}

/** The error of an image that is paid for and could not be stored. */
function notStored(error: unknown): ModelAccessError {
	if (error instanceof ModelAccessError) return error;
	return new TaskError(`The image could not be stored: ${(error as Error).message}`, {
		retryable: false,
		advice:
			'n8n’s binary storage refused the file. The image is paid for. Do not submit it again: fetch it with Task → Get and its task ID.',
	});
}
