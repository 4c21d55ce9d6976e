import type { INodeExecutionData } from 'n8n-workflow';
import { ValidationError } from '../../../shared/api/errors/errors';
import { editForm } from '../../../shared/api/images/image-edit';
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
import { IMAGE_TOOL_FIELDS, readSubmitSettings } from '../../fields';
import { submitAndDeliver, type Submission } from '../../submit';
import { readImageRequest, submitFields, submitOptions } from './fields';
import { readAddresses, readSourceImages, sourceImagesField } from './source-images';

const MASK_FIELD = 'Mask Binary Field';
const MASK_URL = 'Mask URL';

/** Image → Edit: `POST /v1/images/edits/async`, then polls and downloads. */
export const edit: Operation = {
	value: 'edit',
	name: 'Edit',
	action: 'Edit an image',
	description: 'Edit images by a text prompt and get them as files',
	unit: 'image',
	toolDescription:
		'Edits images by a text prompt. Returns the URL of the image (image_url), when the URL expires (expires_at), and the ID of the task (task_id). If image_url is missing, the image is not done yet.',
	toolFields: IMAGE_TOOL_FIELDS,
	properties: [
		modelPicker,
		promptField('e.g. Replace the sky with a starry night', 'What to change in the image'),
		sourceImagesField,
		...submitFields,
		...submitOptions(
			{
				displayName: MASK_FIELD,
				name: 'maskBinaryPropertyName',
				type: 'string',
				default: '',
				placeholder: 'e.g. mask',
				description:
					'The name of the input binary field with the mask, if the images are binary files. The model edits where the PNG is transparent.',
			},
			{
				displayName: MASK_URL,
				name: 'maskUrl',
				type: 'string',
				default: '',
				placeholder: 'e.g. https://example.com/mask.png',
				description:
					'The URL of the mask, if the images are URLs. The model edits where the PNG is transparent.',
			},
		),
	],
	async run(item: ItemScope): Promise<INodeExecutionData[]> {
		const settings = readSubmitSettings(item);
		const submission = await readSubmission(item);
		return await submitAndDeliver(settings, submission);
	},
};

async function readSubmission(item: ItemScope): Promise<Submission> {
	const images = await readSourceImages(item);
	const { maskBinaryPropertyName, maskUrl } = item.options;
	if ('files' in images) {
		refuseMask(maskUrl, MASK_URL, `binary files. Use ${MASK_FIELD}`);
		return await uploaded(item, images.files);
	}
	refuseMask(maskBinaryPropertyName, MASK_FIELD, `URLs. Use ${MASK_URL}`);
	const mask = isUnset(maskUrl) ? undefined : onlyOne(readAddresses(maskUrl, MASK_URL), MASK_URL);
	const request = readImageRequest(item, { images: images.addresses, mask });
	return { kind: 'edits', request, body: request, identity: request };
}

async function uploaded(item: ItemScope, files: InputFile[]): Promise<Submission> {
	const request = readImageRequest(item);
	const { maskBinaryPropertyName: named } = item.options;
	const mask = isUnset(named)
		? undefined
		: await maskImage(item, onlyOne(binaryReferences(named, MASK_FIELD), MASK_FIELD));
	return {
		kind: 'edits',
		request,
		body: editForm(request, files, mask),
		identity: [request, files.map(({ identity }) => identity), mask?.identity],
	};
}

const isUnset = (mask: unknown) => mask === undefined || mask === null || mask === '';

/** @throws {ValidationError} a mask is set that cannot be sent with these images */
function refuseMask(mask: unknown, field: string, images: string) {
	if (isUnset(mask)) return;
	throw new ValidationError(
		field,
		'does not have the same source as Images',
		`The images are ${images}, or remove the option.`,
	);
}

/** @throws {ValidationError} there are several */
function onlyOne<T>(found: T[], field: string): T {
	if (found.length > 1)
		throw new ValidationError(field, 'names several', 'An edit takes one mask.');
	return found[0]!;
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
