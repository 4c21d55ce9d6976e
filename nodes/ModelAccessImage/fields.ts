import type { IBinaryData, INodeProperties } from 'n8n-workflow';
import { ValidationError } from '../shared/api/errors/errors';
import type { Storage } from '../shared/api/images/download';
import type { QueuedClient } from '../shared/api/images/submit-task';
import type { PollResult } from '../shared/api/images/task';
import { booleanOption, defineOption, numberOption } from '../shared/n8n/fields/define-option';
import {
	concurrencyOption,
	hideIf,
	maxRetriesOption,
	timeoutOption,
} from '../shared/n8n/fields/options';
import { outputFileOption } from '../shared/n8n/fields/output-file';
import { booleanParameter, numberParameter } from '../shared/n8n/fields/parameters';
import { readSimplify } from '../shared/n8n/fields/simplify';
import { textParameter } from '../shared/n8n/fields/text';
import { createFileStorage } from '../shared/n8n/http/file-storage';
import { isAgentTool } from '../shared/n8n/agent-tool';
import type { ItemScope } from '../shared/n8n/runner/operation';
import { taskProgress } from '../shared/n8n/task-progress';
import { taskUsageCounter, type TokenUsage } from '../shared/n8n/token-usage';

/** An agent cannot take files. */
const NO_FILES = { '@tool': [true] };
/** Nothing is downloaded. */
const NO_DOWNLOAD = { ...NO_FILES, downloadImages: [false] };

const downloadImagesOption = hideIf(
	booleanOption({
		displayName: 'Download Images',
		name: 'downloadImages',
		default: true,
		description:
			'Whether to download the images as binary data. Their URLs expire: turn it off only if you need nothing but the URL.',
	}),
	NO_FILES,
);

const imageFieldOption = hideIf(
	outputFileOption('The name of the output binary field to put the file in'),
	NO_DOWNLOAD,
);

const namedFile = defineOption(
	{
		displayName: 'File Name',
		name: 'fileName',
		type: 'string',
		default: '',
		placeholder: 'e.g. product-{{ $json.sku }}-{index}',
		description:
			'The name of the file: {index} stands for the index of the image. The node adds the extension. If empty, the node takes words of the prompt and the end of the task ID.',
	},
	(value, label) => textParameter(value, label) ?? '',
);

/** The name of a file. */
export const fileNameOption = hideIf(namedFile, {
	...NO_FILES,
	'/advanced.downloadImages': [false],
});

const BYTES_PER_MEGABYTE = 1024 * 1024;
const DEFAULT_MEGABYTES = 64;

const maxFileSizeOption = hideIf(
	defineOption(
		{
			displayName: 'Max File Size (MB)',
			name: 'maxFileSize',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: DEFAULT_MEGABYTES,
			description: 'The largest image that the node downloads',
		},
		readMegabytes,
	),
	NO_DOWNLOAD,
);

function readMegabytes(value: unknown, field: string): number {
	const megabytes = numberParameter(value, { field, fallback: DEFAULT_MEGABYTES, min: 0 });
	if (megabytes > 0) return megabytes * BYTES_PER_MEGABYTE;
	throw new ValidationError(field, 'is 0', 'Enter a number of megabytes above 0.');
}

/** The advanced options of everything that downloads images. */
export const downloadOptions = [downloadImagesOption, imageFieldOption, maxFileSizeOption];

export const maxWaitOption = numberOption(
	{
		displayName: 'Max Wait (Seconds)',
		name: 'maxWait',
		default: 900,
		description:
			'How long a task may take after its submit. If the rate limit refuses an image, the node submits it again within this time.',
	},
	{ min: 0 },
);

const onTimeoutOption = defineOption(
	{
		displayName: 'On Timeout',
		name: 'onTimeout',
		type: 'options',
		options: [
			{
				name: 'Fail with an Error',
				value: 'error',
				description: 'The error names the task. Task → Wait can fetch it later.',
			},
			{
				name: 'Return the Task',
				value: 'returnTask',
				description: 'The item holds the task as it is, so that the workflow can go on with it',
			},
		],
		default: 'error',
		description: 'What to do when the image is not done within Max Wait',
	},
	(value, label) => textParameter(value, label) === 'returnTask',
);

const pollIntervalOption = numberOption(
	{
		displayName: 'Poll Interval (Seconds)',
		name: 'pollInterval',
		default: 3,
		description:
			'How long to wait before looking at the task again. If the gateway asks for longer, the node waits longer.',
	},
	{ min: 1 },
);

/** The advanced options of everything that looks at a task until it is done. */
export const pollOptions = [onTimeoutOption, pollIntervalOption];

const imageTimeoutOption = timeoutOption(
	60,
	'How long to wait for a reply, and for the next bytes of a download',
);

/** The advanced options of every request. */
export const requestOptions = [imageTimeoutOption, maxRetriesOption, concurrencyOption];

/** What the steps of an image item work with. */
export interface ImageScope extends Pick<ItemScope, 'work' | 'hint'> {
	client: QueuedClient;
	/** Milliseconds that a task may take from its submit, and that an image may be refused. */
	maxWaitMs: number;
	/** Where files go. */
	storage: Storage<IBinaryData>;
	/** The gateway's address, for image URLs that are relative to it. */
	baseUrl: string;
	/** Counts the tokens of a task whose images are here. */
	onUsage(taskId: string, usage: TokenUsage): void;
	/** What tells the user of each reply about a task. */
	onPoll(taskId: string): (seen: PollResult) => void;
}

/**
 * Makes what the steps of an image item work with.
 * @throws {ValidationError} names the option
 */
export function readScope(item: ItemScope): ImageScope {
	const { context, connection, options, work, hint } = item;
	const maxWaitMs = maxWaitOption.read(options) * 1000;
	const bounds = {
		timeoutMs: imageTimeoutOption.read(options),
		maxRetries: maxRetriesOption.read(options),
		totalMs: maxWaitMs,
	};
	return {
		client: item.client(bounds),
		maxWaitMs,
		storage: createFileStorage(context),
		baseUrl: connection.baseUrl,
		work,
		hint,
		onUsage: taskUsageCounter(context),
		onPoll: taskProgress(item),
	};
}

/** How a task is waited for. */
export interface WaitSettings {
	/** Milliseconds; no wait is shorter. */
	pollIntervalMs: number;
	/** Whether a task that is not done in time becomes the output, instead of an error. */
	returnsTask: boolean;
}

/**
 * Reads how to wait for a task.
 * @throws {ValidationError} names the option
 */
export function readWaitSettings({ options }: ItemScope): WaitSettings {
	return {
		pollIntervalMs: Math.ceil(pollIntervalOption.read(options) * 1000),
		returnsTask: onTimeoutOption.read(options),
	};
}

/** How finished images become output. */
export interface FileSettings {
	/** Whether the output is simplified; else it holds the task as the gateway sent it. */
	simplify: boolean;
	/** Whether they are downloaded at all. */
	download: boolean;
	/** The binary field of the file. */
	binaryProperty: string;
	/** As the user wrote it; empty takes words of the prompt and the end of the task's ID. */
	fileName: string;
	/** Bytes of the largest file. */
	maxBytes: number;
	/** Milliseconds without a byte. */
	idleMs: number;
}

/**
 * Reads how finished images become output.
 * @throws {ValidationError} names the field
 */
export function readFileSettings(item: ItemScope): FileSettings {
	const { options } = item;
	const download = downloadImagesOption.read(options) && !isAgentTool(item.context);
	return {
		simplify: readSimplify(item),
		download,
		binaryProperty: download ? imageFieldOption.read(options) : '',
		fileName: fileNameOption.read(options),
		maxBytes: maxFileSizeOption.read(options),
		idleMs: imageTimeoutOption.read(options),
	};
}

export const waitField = {
	displayName: 'Wait for Completion',
	name: 'waitForCompletion',
	type: 'boolean',
	default: true,
	description:
		'Whether to wait until the image is done. If off, the item holds the task, which Task → Wait can fetch later. If the gateway refuses the task later, the node then does not submit it again.',
} satisfies INodeProperties;

/** What a submit needs beside what is submitted. */
export interface SubmitSettings {
	scope: ImageScope;
	wait: WaitSettings;
	/** Whether the output is simplified, with and without images. */
	simplify: boolean;
	/** Undefined if the node does not wait for the images. */
	files?: FileSettings;
}

/**
 * Reads what a submit needs beside what is submitted.
 * @throws {ValidationError} names the field
 */
export function readSubmitSettings(item: ItemScope): SubmitSettings {
	const waits = booleanParameter(item.parameter(waitField.name), waitField);
	return {
		wait: readWaitSettings(item),
		simplify: readSimplify(item),
		files: waits ? readFileSettings(item) : undefined,
		scope: readScope(item),
	};
}

/** What an agent reads of an image, or of its task. */
export const IMAGE_TOOL_FIELDS = [
	'task_id',
	'status',
	'prompt',
	'image_url',
	'expires_at',
	'error',
];
