import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { ValidationError } from '../../../shared/api/errors/errors';
import { imageAddresses } from '../../../shared/api/images/image-edit';
import { readInputFile, type InputFile } from '../../../shared/n8n/fields/binary-input';
import {
	binaryReferences,
	referenceName,
	type BinaryReference,
} from '../../../shared/n8n/fields/binary-reference';
import { textListParameter, textParameter } from '../../../shared/n8n/fields/text';
import type { ItemScope } from '../../../shared/n8n/runner/operation';

/** The rows of the images to edit. */
export const sourceImagesField: INodeProperties = {
	displayName: 'Images',
	name: 'images',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add image',
	required: true,
	default: { image: [{ source: 'binary', binaryPropertyName: 'data', url: '' }] },
	description:
		'The images to edit, in order. The node uploads files, and the gateway fetches URLs. One edit takes either files or URLs.',
	options: [
		{
			displayName: 'Image',
			name: 'image',
			values: [
				{
					displayName: 'Source',
					name: 'source',
					type: 'options',
					options: [
						{
							name: 'Binary File',
							value: 'binary',
							description: 'A file of the input item, which the node uploads',
						},
						{
							name: 'URL',
							value: 'url',
							description: 'A URL from which the gateway fetches the image',
						},
					],
					default: 'binary',
					description: 'Where the image comes from',
				},
				{
					displayName: 'Input Binary Field',
					name: 'binaryPropertyName',
					type: 'string',
					default: 'data',
					placeholder: 'e.g. data',
					hint: 'The name of the input binary field with the image',
					description:
						'The file is a PNG, JPEG, WebP or GIF. An expression may give a list of names.',
					displayOptions: { show: { source: ['binary'] } },
				},
				{
					displayName: 'URL',
					name: 'url',
					type: 'string',
					default: '',
					placeholder: 'e.g. https://example.com/photo.png',
					description: 'The URL or data URL of the image. An expression may give a list of them.',
					displayOptions: { show: { source: ['url'] } },
				},
			],
		},
	],
};

/** The images to edit: files to upload, or addresses. */
export type SourceImages = { files: InputFile[] } | { addresses: Array<{ image_url: string }> };

/**
 * Reads the rows. Files go out in a form and addresses as JSON, so one edit has either.
 * @throws {ValidationError} names the row
 */
export async function readSourceImages(item: ItemScope): Promise<SourceImages> {
	const field = sourceImagesField.displayName;
	const { image: rows } = (item.parameter(sourceImagesField.name) ?? {}) as {
		image?: IDataObject[];
	};
	if (!Array.isArray(rows) || rows.length === 0) {
		throw new ValidationError(field, 'holds no image', 'Add an image to edit.');
	}
	const sources = rows.map(({ source }, n) => textParameter(source, `Image ${n + 1}: Source`));
	const urls = sources.filter((source) => source === 'url').length;
	if (urls === 0) return { files: await readFiles(item, rows) };
	if (urls === rows.length) {
		return {
			addresses: rows.flatMap(({ url }, n) => readAddresses(url, `Image ${n + 1}: URL`)),
		};
	}
	throw new ValidationError(
		field,
		'mix binary files and URLs',
		'An edit takes either files or URLs. Select the same source for all images. An HTTP Request node turns a URL into a binary file.',
	);
}

/** @throws {ValidationError} names the field */
export const readAddresses = (value: unknown, field: string) =>
	imageAddresses(textListParameter(value, field), field);

async function readFiles(item: ItemScope, rows: IDataObject[]): Promise<InputFile[]> {
	const files: InputFile[] = [];
	for (const [n, { binaryPropertyName: named }] of rows.entries()) {
		const field = `Image ${n + 1}: Input Binary Field`;
		for (const reference of binaryReferences(named, field)) {
			files.push(await editableImage(item, reference, field));
		}
	}
	return files;
}

const EDITABLE = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

async function editableImage(
	item: ItemScope,
	reference: BinaryReference,
	field: string,
): Promise<InputFile> {
	const file = await readInputFile(item.context, item.index, reference, field);
	if (!EDITABLE.includes(file.image?.mimeType ?? '')) {
		throw new ValidationError(
			field,
			`"${referenceName(reference)}" is ${file.image ? `a file of type ${file.image.mimeType}` : 'not an image'}`,
			'Its content must be a PNG, JPEG, WebP or GIF, whatever its name says.',
		);
	}
	return file;
}
