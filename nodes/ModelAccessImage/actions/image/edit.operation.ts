import type { INodeExecutionData } from 'n8n-workflow';
import { ValidationError } from '../../../shared/api/errors/errors';
import { editForm, imageAddresses } from '../../../shared/api/images/image-edit';
import { hasAlpha, PNG_ALPHA_BYTES } from '../../../shared/api/images/png-alpha';
import { readInputFile, type InputFile } from '../../../shared/n8n/fields/binary-input';
import {
	binaryReferences,
	referenceName,
	type BinaryReference,
} from '../../../shared/n8n/fields/binary-reference';
import { promptField } from '../../../shared/n8n/fields/prompt';
import type { ItemScope, Operation } from '../../../shared/n8n/runner/operation';
import { modelPicker } from '../../../shared/n8n/fields/model-picker';
import { textListParameter, textParameter } from '../../../shared/n8n/fields/text';
import { optionsCollection } from '../../../shared/n8n/fields/options';
import { IMAGE_TOOL_FIELDS, readSubmitSettings } from '../../fields';
import { readScope } from '../../scope';
import { submitAndDeliver, type Submission } from '../../submit';
import { readImageRequest, submitFields, submitOptions } from './fields';

const IMAGE_FIELD = 'Input Binary Field';
const MASK_FIELD = 'Mask Binary Field';

/** Image → Edit: `POST /v1/images/edits/async`, then polls and downloads. */
export const edit: Operation = {
	value: 'edit',
	name: 'Edit',
	action: 'Edit an image',
	description: 'Change images by a text and get the results as files',
	unit: 'image',
	toolFields: IMAGE_TOOL_FIELDS,
	properties: [
		modelPicker,
		promptField('e.g. Replace the sky by a starry night', 'What to change in the image'),
		{
			displayName: 'Image Source',
			name: 'imageSource',
			type: 'options',
			options: [
				{
					name: 'Binary File',
					value: 'binary',
					description: 'Files of the input item, which are uploaded',
				},
				{
					name: 'URL',
					value: 'url',
					description: 'Addresses from which the gateway fetches the images itself',
				},
			],
			default: 'binary',
			description: 'Where the images to edit come from',
		},
		{
			displayName: IMAGE_FIELD,
			name: 'imageBinaryPropertyNames',
			type: 'string',
			required: true,
			default: 'data',
			placeholder: 'e.g. data, data_1',
			hint: 'The name of the input binary field with the image; separate several by commas',
			description: 'PNG, JPEG, WebP and GIF files can be edited',
			displayOptions: { show: { imageSource: ['binary'] } },
		},
		{
			displayName: 'Image URLs',
			name: 'imageUrls',
			type: 'string',
			typeOptions: { rows: 2 },
			required: true,
			default: '',
			placeholder: 'e.g. https://example.com/photo.png',
			hint: 'Separate several by commas or line breaks',
			description: 'Web addresses or data URLs of the images to edit',
			displayOptions: { show: { imageSource: ['url'] } },
		},
		...submitFields,
		optionsCollection(
			{
				displayName: 'Mask Binary Field',
				name: 'maskBinaryPropertyName',
				type: 'string',
				default: '',
				placeholder: 'e.g. mask',
				description:
					'Name of the input binary field with a mask: a PNG whose transparent parts are edited',
				displayOptions: { show: { '/imageSource': ['binary'] } },
			},
			{
				displayName: 'Mask URL',
				name: 'maskUrl',
				type: 'string',
				default: '',
				placeholder: 'e.g. https://example.com/mask.png',
				description: 'Address of a mask: a PNG whose transparent parts are edited',
				displayOptions: { show: { '/imageSource': ['url'] } },
			},
			...submitOptions,
		),
	],
	async run(item: ItemScope): Promise<INodeExecutionData[]> {
		const settings = readSubmitSettings(item);
		const chosen = textParameter(item.parameter('imageSource'), 'Image Source');
		const source = chosen === 'url' ? fromUrls : fromBinary;
		const submission = await source(item);
		return await submitAndDeliver(readScope(item), settings, submission);
	},
};

async function fromUrls(item: ItemScope): Promise<Submission> {
	const images = readAddresses(item.parameter('imageUrls'), 'Image URLs');
	const { maskUrl } = item.options;
	const mask =
		maskUrl === undefined || maskUrl === ''
			? undefined
			: onlyOne(readAddresses(maskUrl, 'Mask URL'), 'Mask URL');
	const request = readImageRequest(item, { images, mask });
	return { kind: 'edits', request, body: request, identity: request };
}

const readAddresses = (value: unknown, field: string) =>
	imageAddresses(textListParameter(value, field), field);

async function fromBinary(item: ItemScope): Promise<Submission> {
	const request = readImageRequest(item);
	const files: InputFile[] = [];
	for (const reference of binaryReferences(
		item.parameter('imageBinaryPropertyNames'),
		IMAGE_FIELD,
	)) {
		files.push(await editableImage(item, reference));
	}
	const { maskBinaryPropertyName: named } = item.options;
	const mask =
		named === undefined || named === ''
			? undefined
			: await maskImage(item, onlyOne(binaryReferences(named, MASK_FIELD), MASK_FIELD));
	return {
		kind: 'edits',
		request,
		body: editForm(request, files, mask),
		identity: [request, files.map(({ identity }) => identity), mask?.identity],
	};
}

/** @throws {ValidationError} there are several */
function onlyOne<T>(found: T[], field: string): T {
	if (found.length > 1)
		throw new ValidationError(field, 'names several', 'An edit takes one mask.');
	return found[0]!;
}

const EDITABLE = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

async function editableImage(item: ItemScope, reference: BinaryReference): Promise<InputFile> {
	const file = await readInputFile(item.context, item.index, reference, IMAGE_FIELD);
	if (!EDITABLE.includes(file.image?.mimeType ?? '')) {
		throw new ValidationError(
			IMAGE_FIELD,
			`"${referenceName(reference)}" is ${file.image ? `a file of type ${file.image.mimeType}` : 'not an image'}`,
			'Its bytes have to be those of a PNG, JPEG, WebP or GIF file, whatever its name says.',
		);
	}
	return file;
}

async function maskImage(item: ItemScope, reference: BinaryReference): Promise<InputFile> {
	const file = await readInputFile(item.context, item.index, reference, MASK_FIELD);
	const start = new Uint8Array(await file.bytes.slice(0, PNG_ALPHA_BYTES).arrayBuffer());
	const isPng = file.image?.mimeType === 'image/png';
	if (!isPng || !hasAlpha(start)) {
		throw new ValidationError(
			MASK_FIELD,
			`"${referenceName(reference)}" is ${isPng ? 'a PNG without transparency' : 'not a PNG'}`,
			'A mask is a PNG with an alpha channel, whose transparent parts are edited.',
		);
	}
	return file;
}
