import type { INodeProperties } from 'n8n-workflow';
import { checkImageRequest, type ImageRequest } from '../../../shared/api/images/image-request';
import { defineOption, textOption } from '../../../shared/n8n/fields/define-option';
import { readModel } from '../../../shared/n8n/fields/model-picker';
import { readPrompt } from '../../../shared/n8n/fields/prompt';
import {
	extraBodyOption,
	hideIf,
	optionFields,
	type Listed,
} from '../../../shared/n8n/fields/options';
import { omitUndefined, optionalNumber } from '../../../shared/n8n/fields/parameters';
import { simplifyField } from '../../../shared/n8n/fields/simplify';
import type { ItemScope } from '../../../shared/n8n/runner/operation';
import {
	downloadOptions,
	fileNameOption,
	maxWaitOption,
	pollOptions,
	requestOptions,
	waitField,
} from '../../fields';

const numberOfImages = defineOption(
	{
		displayName: 'Number of Images',
		name: 'n',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 1,
		description: 'How many images to make. Each becomes an item of its own, and you pay for each.',
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
	description: 'Whether the background is transparent. Support depends on the model.',
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
	description: 'The format of the image file. Support depends on the model.',
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
	description:
		'How good the image should be: a better one costs more. Support depends on the model.',
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
		'Width x height in pixels. For another size, switch to Expression and enter it, such as 1280x720. Support depends on the model.',
});

const extraBody = extraBodyOption('{ "style": "vivid" }');

const NOT_WAITING = { '/waitForCompletion': [false] };

/** The fields behind the prompt, of each operation that submits. */
export const submitFields: INodeProperties[] = [waitField, simplifyField];

/**
 * The options of each operation that submits.
 * @param own options of one operation
 */
export function submitOptions(...own: Listed[]): INodeProperties[] {
	return optionFields({
		options: [
			background,
			hideIf(fileNameOption, NOT_WAITING),
			numberOfImages,
			outputFormat,
			quality,
			size,
			...own,
		],
		advanced: [
			...[...downloadOptions, ...pollOptions].map((option) => hideIf(option, NOT_WAITING)),
			extraBody,
			maxWaitOption,
			...requestOptions,
		],
	});
}

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
