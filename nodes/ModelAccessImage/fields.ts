import type { INodeProperties } from 'n8n-workflow';
import { ValidationError } from '../shared/api/errors/errors';
import type { RequestBounds } from '../shared/n8n/http/client';
import { defineOption, numberOption } from '../shared/n8n/fields/define-option';
import { maxRetriesOption, timeoutOption } from '../shared/n8n/fields/options';
import { numberParameter } from '../shared/n8n/fields/parameters';
import { textParameter } from '../shared/n8n/fields/text';
import type { ItemScope } from '../shared/n8n/runner/operation';

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

const fileNameOption = defineOption(
	{
		displayName: 'File Name',
		name: 'fileName',
		type: 'string',
		default: '',
		placeholder: 'e.g. product-{{ $json.sku }}-{index}',
		description:
			'Name of the file; {index} stands for the image’s index, and the extension follows the file’s real type. Empty takes the first words of the prompt and the end of the task ID.',
	},
	(value, label) => textParameter(value, label) ?? '',
);

const BYTES_PER_MEGABYTE = 1024 * 1024;
const DEFAULT_MEGABYTES = 64;

const maxFileSizeOption = defineOption(
	{
		displayName: 'Max File Size (MB)',
		name: 'maxFileSize',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: DEFAULT_MEGABYTES,
		description: 'A larger image is not downloaded',
	},
	(value, field) => {
		const megabytes = numberParameter(value, { field, fallback: DEFAULT_MEGABYTES, min: 0 });
		if (megabytes > 0) return megabytes * BYTES_PER_MEGABYTE;
		throw new ValidationError(field, 'is 0', 'Enter a number of megabytes above 0.');
	},
);

/** The options of everything that downloads images. */
export const fileOptions = [fileNameOption, maxFileSizeOption];

const maxWaitOption = numberOption(
	{
		displayName: 'Max Wait (Seconds)',
		name: 'maxWait',
		default: 900,
		description:
			'How long a task may take from its submit, and how long an image is submitted again that the gateway refuses as one too many',
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
				description: 'The error names the task, which can be fetched later with Task → Wait',
			},
			{
				name: 'Return the Task',
				value: 'returnTask',
				description: 'The item holds the task as it stands, so that the workflow can go on with it',
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
			'How long to wait at least before looking at the task again. Where the gateway asks for longer, that counts.',
	},
	{ min: 1 },
);

/** The options of everything that waits for a task. */
export const waitOptions = [maxWaitOption, onTimeoutOption, pollIntervalOption];

const imageTimeoutOption = timeoutOption(
	60,
	'How long to wait for one reply, and for the next byte of a download',
);

/** The options of every request. */
export const requestOptions = [imageTimeoutOption, maxRetriesOption];

/**
 * Reads what bounds the requests of one item.
 * @throws {ValidationError} names the option
 */
export function readBounds({ options }: Pick<ItemScope, 'options'>): RequestBounds {
	const seconds = maxWaitOption.read(options);
	return {
		timeoutMs: imageTimeoutOption.read(options),
		maxRetries: maxRetriesOption.read(options),
		totalMs: seconds * 1000,
	};
}

/** How a task is waited for. */
export interface WaitSettings {
	/** Milliseconds; no wait is shorter. */
	pollIntervalMs: number;
	/** Whether a task that is not done in time becomes the output, in place of an error. */
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

export const simplifyField: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

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
	const download = item.parameter('downloadImages') !== false;
	return {
		simplify: item.parameter(simplifyField.name) !== false,
		download,
		binaryProperty: download ? readBinaryProperty(item) : '',
		fileName: fileNameOption.read(options),
		maxBytes: maxFileSizeOption.read(options),
		idleMs: imageTimeoutOption.read(options),
	};
}

function readBinaryProperty(item: ItemScope): string {
	const { name, displayName } = binaryPropertyField;
	const property = textParameter(item.parameter(name), displayName)?.trim() ?? '';
	if (property !== '') return property;
	throw new ValidationError(
		displayName,
		'is empty',
		'Enter the name of a binary field, such as data.',
	);
}

/** What a submit needs beside what is submitted. */
export interface SubmitSettings {
	wait: WaitSettings;
	/** Undefined if the node does not wait for the images. */
	files?: FileSettings;
}

/**
 * Reads what a submit needs beside what is submitted.
 * @throws {ValidationError} names the field
 */
export function readSubmitSettings(item: ItemScope): SubmitSettings {
	const waits = item.parameter('waitForCompletion') !== false;
	return {
		wait: readWaitSettings(item),
		files: waits ? readFileSettings(item) : undefined,
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
