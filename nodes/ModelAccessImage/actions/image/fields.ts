import type { INodeProperties } from 'n8n-workflow';
import { checkImageRequest, type ImageRequest } from '../../../shared/api/images/image-request';
import { defineOption, textOption, type Option } from '../../../shared/n8n/fields/define-option';
import { readModel } from '../../../shared/n8n/fields/model-picker';
import { readPrompt } from '../../../shared/n8n/fields/prompt';
import { concurrencyOption, extraBodyOption } from '../../../shared/n8n/fields/options';
import { omitUndefined, optionalNumber } from '../../../shared/n8n/fields/parameters';
import type { ItemScope } from '../../../shared/n8n/runner/operation';
import {
	binaryPropertyField,
	downloadImagesField,
	fileOptions,
	requestOptions,
	simplifyField,
	waitOptions,
} from '../../fields';

const numberOfImages = defineOption(
	{
		displayName: 'Number of Images',
		name: 'n',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 1,
		description: 'How many images to make. Each becomes an item of its own, and each is charged.',
	},
	(value, field) => optionalNumber(value, { field, min: 1, whole: true }),
);

const background = textOption({
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
});

const outputFormat = textOption({
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
});

const quality = textOption({
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
});

const size = textOption({
	displayName: 'Size',
	name: 'size',
	type: 'options',
	options: [
		{ name: 'Automatic', value: 'auto' },
		{ name: 'Landscape (1536x1024)', value: '1536x1024' },
		{ name: 'Portrait (1024x1536)', value: '1024x1536' },
		{ name: 'Square (1024x1024)', value: '1024x1024' },
	],
	default: 'auto',
	description:
		'Width x height in pixels. For any other size switch to Expression and enter it, such as 1280x720. Which sizes work depends on the model.',
});

const extraBody = extraBodyOption('{ "style": "vivid" }');

/** A field that only counts when the node waits for the image. */
const whenWaiting = (field: INodeProperties): INodeProperties => ({
	...field,
	displayOptions: { show: { ...field.displayOptions?.show, waitForCompletion: [true] } },
});

/** The fields behind the prompt, of each operation that submits. */
export const submitFields: INodeProperties[] = [
	{
		displayName: 'Wait for Completion',
		name: 'waitForCompletion',
		type: 'boolean',
		default: true,
		description:
			'Whether to wait until the image is done. If off, the item holds the task, which Task → Wait can collect later; a task that the gateway refuses afterwards is not submitted again.',
	},
	whenWaiting(simplifyField),
	whenWaiting(downloadImagesField),
	whenWaiting(binaryPropertyField),
];

/** The options of each operation that submits. */
export const submitOptions: Array<INodeProperties | Option<unknown>> = [
	background,
	numberOfImages,
	outputFormat,
	quality,
	size,
	extraBody,
	...fileOptions,
	...waitOptions,
	...requestOptions,
	concurrencyOption,
];

/**
 * Reads the fields that both operations submit. Only what was set is sent; the extra body is merged
 * last.
 * @param own fields of one operation
 * @throws {ValidationError} names the field
 */
export function readImageRequest(item: ItemScope, own: Record<string, unknown> = {}): ImageRequest {
	const { options } = item;
	return checkImageRequest({
		...omitUndefined({
			model: readModel(item.parameter('model')),
			prompt: readPrompt(item.parameter('prompt')),
			...own,
			size: size.read(options),
			n: numberOfImages.read(options),
			quality: quality.read(options),
			background: background.read(options),
			output_format: outputFormat.read(options),
		}),
		...extraBody.read(options),
	});
}
