import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { ValidationError } from '../../../shared/api/errors/errors';
import {
	textPart,
	type ContentPart,
	type Message,
	type Role,
} from '../../../shared/api/responses/response-input';
import { dataUrl, readInputFile } from '../../../shared/n8n/fields/binary-input';
import { binaryReferences, referenceName } from '../../../shared/n8n/fields/binary-reference';
import { textParameter } from '../../../shared/n8n/fields/text';
import type { ItemScope } from '../../../shared/n8n/runner/operation';

const roleField: INodeProperties = {
	displayName: 'Role',
	name: 'role',
	type: 'options',
	options: [
		{ name: 'User', value: 'user', description: 'What the model should answer to' },
		{ name: 'Assistant', value: 'assistant', description: 'What the model said before' },
		{ name: 'System', value: 'system', description: 'How the model should behave' },
		{
			name: 'Developer',
			value: 'developer',
			description: 'How the model should behave, on newer models',
		},
	],
	default: 'user',
	description: 'Who wrote the message',
};

const typeField: INodeProperties = {
	displayName: 'Type',
	name: 'type',
	type: 'options',
	options: [
		{ name: 'Text', value: 'text', description: 'A text alone' },
		{ name: 'Image', value: 'image', description: 'Images to look at, with a text or without' },
		{ name: 'File', value: 'file', description: 'Files, such as a PDF, with a text or without' },
	],
	default: 'text',
	description: 'What the message holds',
};

const textField: INodeProperties = {
	displayName: 'Prompt',
	name: 'text',
	type: 'string',
	typeOptions: { rows: 3 },
	default: '',
	placeholder: 'e.g. What is in this image?',
	description:
		'The text of the message. It may stay empty if the message holds an image or a file.',
};

const imageSourceField: INodeProperties = {
	displayName: 'Image Source',
	name: 'imageSource',
	type: 'options',
	options: [
		{ name: 'Binary File', value: 'binary' },
		{ name: 'URL', value: 'url' },
	],
	default: 'binary',
	description: 'Where the image comes from',
	displayOptions: { show: { type: ['image'] } },
};

const imageBinaryField: INodeProperties = {
	displayName: 'Input Binary Field',
	name: 'binaryPropertyNames',
	type: 'string',
	default: 'data',
	placeholder: 'e.g. data, data_1',
	hint: 'The name of the input binary field with the image; separate several by commas',
	displayOptions: { show: { type: ['image'], imageSource: ['binary'] } },
};

const imageUrlField: INodeProperties = {
	displayName: 'Image URL',
	name: 'imageUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. https://example.com/photo.png',
	description: 'The URL from which the gateway fetches the image, or a data URL',
	displayOptions: { show: { type: ['image'], imageSource: ['url'] } },
};

const detailField: INodeProperties = {
	displayName: 'Detail',
	name: 'detail',
	type: 'options',
	options: [
		{ name: 'Automatic', value: 'auto' },
		{ name: 'High', value: 'high', description: 'The model sees more detail, at a higher cost' },
		{ name: 'Low', value: 'low' },
	],
	default: 'auto',
	description: 'How closely the model looks at the image',
	displayOptions: { show: { type: ['image'] } },
};

const fileBinaryField: INodeProperties = {
	displayName: 'Input Binary Field',
	name: 'fileBinaryPropertyNames',
	type: 'string',
	default: 'data',
	placeholder: 'e.g. data',
	hint: 'The name of the input binary field with the file; separate several by commas',
	displayOptions: { show: { type: ['file'] } },
};

/** The field for messages: sortable rows, their fields in the order of n8n's OpenAI node. */
export const messageRows: INodeProperties = {
	displayName: 'Messages',
	name: 'messages',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add message',
	default: { message: [{ type: 'text', role: 'user', text: '' }] },
	description: 'The conversation that the model should answer to, in order',
	options: [
		{
			displayName: 'Message',
			name: 'message',
			values: [
				typeField,
				roleField,
				textField,
				imageSourceField,
				imageBinaryField,
				imageUrlField,
				detailField,
				fileBinaryField,
			],
		},
	],
};

/**
 * Reads the rows as input items, their files as data URLs.
 * @throws {ValidationError} names the row
 */
export async function readMessages(item: ItemScope): Promise<Message[]> {
	const { message: rows } = (item.parameter('messages') ?? {}) as { message?: IDataObject[] };
	if (!Array.isArray(rows) || rows.length === 0) {
		throw new ValidationError(
			'Messages',
			'has no message',
			'Add a message for the model to answer to.',
		);
	}
	const messages: Message[] = [];
	for (const [index, row] of rows.entries()) {
		messages.push(await readMessage(item, row, `Message ${index + 1}`));
	}
	return messages;
}

async function readMessage(item: ItemScope, row: IDataObject, name: string): Promise<Message> {
	const role = (textParameter(row.role, `${name}: Role`) ?? 'user') as Role;
	const text = textParameter(row.text, `${name}: Prompt`) ?? '';
	const type = textParameter(row.type, `${name}: Type`);
	if (type !== 'image' && type !== 'file') {
		if (text.trim() === '') {
			throw new ValidationError(name, 'is empty', 'Enter its prompt, or remove the message.');
		}
		return { role, content: text };
	}
	if (role !== 'user') {
		throw new ValidationError(
			name,
			`has the role ${role} and ${type === 'image' ? 'an image' : 'a file'}`,
			'Only a user’s message can hold images and files. Set Role to User.',
		);
	}
	const parts =
		type === 'image' ? await imageParts(item, row, name) : await fileParts(item, row, name);
	return { role, content: [...(text.trim() === '' ? [] : [textPart(role, text)]), ...parts] };
}

async function imageParts(item: ItemScope, row: IDataObject, name: string): Promise<ContentPart[]> {
	const detail = textParameter(row.detail, `${name}: Detail`);
	const part = (address: string): ContentPart => ({
		type: 'input_image',
		image_url: address,
		...(detail !== undefined && { detail }),
	});
	const source = textParameter(row.imageSource, `${name}: Image Source`);
	if (source === 'url') return [part(imageAddress(row.imageUrl, `${name}: Image URL`))];
	const field = `${name}: Input Binary Field`;
	const parts: ContentPart[] = [];
	for (const reference of binaryReferences(row.binaryPropertyNames, field)) {
		const file = await readInputFile(item.context, item.index, reference, field);
		if (!file.image) {
			throw new ValidationError(
				field,
				`"${referenceName(reference)}" is not an image but ${file.mimeType}`,
				'Set Type to File for other files, or select a field with an image.',
			);
		}
		parts.push(part(await dataUrl(file)));
	}
	return parts;
}

/** @throws {ValidationError} it is not the URL of an image */
function imageAddress(value: unknown, field: string): string {
	const address = (textParameter(value, field) ?? '').trim();
	if (/^(https?:\/\/|data:image\/)/i.test(address)) return address;
	throw new ValidationError(
		field,
		address === '' ? 'is empty' : 'is not the URL of an image',
		'Enter a URL that begins with https:// or data:image/.',
	);
}

async function fileParts(item: ItemScope, row: IDataObject, name: string): Promise<ContentPart[]> {
	const field = `${name}: Input Binary Field`;
	const parts: ContentPart[] = [];
	for (const reference of binaryReferences(row.fileBinaryPropertyNames, field)) {
		const file = await readInputFile(item.context, item.index, reference, field);
		parts.push({ type: 'input_file', filename: file.name, file_data: await dataUrl(file) });
	}
	return parts;
}
