import type { IDataObject, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { FailedTaskError, ModelAccessError } from '../shared/api/errors/errors';
import { checkImageRequest, type ImageRequest } from '../shared/api/images/image-request';
import { submitImageTask, type SubmitKind } from '../shared/api/images/submit-task';
import type { Observation } from '../shared/api/images/task';
import type { Client } from '../shared/api/http/request';
import type { ItemScope } from '../shared/n8n/runner/run-items';
import { concurrencyOption, extraBodyOption } from '../shared/n8n/fields/options';
import { jsonObjectParameter, onlySet, optionalNumber } from '../shared/n8n/fields/parameters';
import {
	binaryPropertyField,
	deliveryOf,
	downloadImagesField,
	fileNameOption,
	maxFileSizeOption,
} from './download';
import {
	boundedClient,
	collect,
	progressReport,
	requestOptions,
	taskOutput,
	waitingOf,
	waitingOptions,
} from './wait';

/** A field that only counts when the node waits for the image. */
const whenWaiting = (field: INodeProperties): INodeProperties => ({
	...field,
	displayOptions: { show: { ...field.displayOptions?.show, waitForCompletion: [true] } },
});

/** The fields behind the prompt, of each operation that submits. */
export const submissionFields: INodeProperties[] = [
	{
		displayName: 'Wait for Completion',
		name: 'waitForCompletion',
		type: 'boolean',
		default: true,
		description:
			'Whether to wait until the image is done. If off, the item holds the task, which Task → Wait can collect later.',
	},
	whenWaiting(downloadImagesField),
	whenWaiting(binaryPropertyField),
];

/** The options of each operation that submits. */
export const submissionOptions: INodeProperties[] = [
	{
		displayName: 'Background',
		name: 'background',
		type: 'options',
		options: [
			{ name: 'Automatic', value: 'auto' },
			{ name: 'Opaque', value: 'opaque' },
			{ name: 'Transparent', value: 'transparent' },
		],
		default: 'auto',
		description: 'Whether the image may be see-through. Support depends on the model.',
	},
	{
		displayName: 'Number of Images',
		name: 'n',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 1,
		description: 'How many images to make. Each becomes an item of its own, and each is charged.',
	},
	{
		displayName: 'Output Format',
		name: 'outputFormat',
		type: 'options',
		options: [
			{ name: 'JPEG', value: 'jpeg' },
			{ name: 'PNG', value: 'png' },
			{ name: 'WebP', value: 'webp' },
		],
		default: 'png',
		description: 'The file format to ask for. Support depends on the model.',
	},
	{
		displayName: 'Quality',
		name: 'quality',
		type: 'options',
		options: [
			{ name: 'Automatic', value: 'auto' },
			{ name: 'High', value: 'high' },
			{ name: 'Low', value: 'low' },
			{ name: 'Medium', value: 'medium' },
		],
		default: 'auto',
		description: 'How much work goes into the image. Support depends on the model.',
	},
	{
		displayName: 'Size',
		name: 'size',
		type: 'string',
		default: '1024x1024',
		placeholder: 'e.g. 1024x1024',
		description: 'Width x height in pixels, or auto. Which sizes work depends on the model.',
	},
	fileNameOption,
	maxFileSizeOption,
	extraBodyOption('{ "style": "vivid" }'),
	...waitingOptions,
	...requestOptions,
	concurrencyOption,
];

/**
 * The fields of a submit that both operations share, with the extra body merged last. Only what
 * was set is sent.
 * @throws {InputError}
 */
export function imageRequestOf(item: ItemScope, own: Record<string, unknown> = {}): ImageRequest {
	const { size, n, quality, background, outputFormat, extraBody } = item.options;
	return checkImageRequest({
		...onlySet({
			model: item.parameter('model'),
			prompt: item.parameter('prompt'),
			...own,
			size,
			n: optionalNumber(n, { field: 'Number of Images', min: 1, whole: true }),
			quality,
			background,
			output_format: outputFormat,
		}),
		...jsonObjectParameter(extraBody, 'Extra Body'),
	});
}

/** What is submitted, and by which its task is known again when the node is tried once more. */
export interface Submission {
	kind: SubmitKind;
	request: ImageRequest;
	/** What is sent: the request itself, or a form made from it. */
	body: Record<string, unknown> | FormData;
	/** Tells this request from others for the same item. */
	identity: unknown;
}

/**
 * Submits a task once, however often the node is tried, and delivers what it makes.
 * @param prepare makes what is submitted; everything else is checked before it is sent
 * @throws {ModelAccessError} after the task is accepted every error carries its ID
 */
export async function submitAndCollect(
	item: ItemScope,
	prepare: () => Promise<Submission>,
): Promise<INodeExecutionData[]> {
	const client = boundedClient(item);
	const waiting = waitingOf(item);
	const delivery =
		item.parameter('waitForCompletion') === false ? undefined : deliveryOf(item, client.timeoutMs);
	const submission = await prepare();
	const { model, prompt } = submission.request;

	const earlier = item.earlier(submission.identity);
	const { taskId, accepted, first } =
		earlier?.kind === 'task'
			? { ...earlier, first: undefined }
			: await submitOnce(item, client, submission);
	const onSeen = progressReport(item, taskId);
	if (!delivery) {
		if (first) onSeen(first);
		return [{ json: accepted }];
	}
	try {
		const origin = { taskId, model, prompt };
		return await collect(item, client, origin, { first, waiting, delivery, onSeen });
	} catch (error) {
		throw notToRepeat(error);
	}
}

/**
 * Doing this operation once more would submit, and pay for, another task, although this one goes
 * on; unless it has failed.
 */
function notToRepeat(error: unknown): unknown {
	const isOver = error instanceof FailedTaskError;
	return error instanceof ModelAccessError && !isOver ? error.with({ retryable: false }) : error;
}

/** Submits, and notes the task where neither an error nor another try of the node can lose it. */
async function submitOnce(
	item: ItemScope,
	client: Client,
	{ kind, body }: Submission,
): Promise<{ taskId: string; accepted: IDataObject; first: Observation }> {
	const first = await submitImageTask(client, kind, body);
	const { taskId } = first;
	const accepted = taskOutput(taskId, first).json;
	item.paid({ kind: 'task', taskId, accepted });
	return { taskId, accepted, first };
}
