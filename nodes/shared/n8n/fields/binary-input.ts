import { createHash } from 'crypto';
import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { ValidationError } from '../../api/errors/errors';
import { toDataUrl } from '../../api/responses/response-input';
import { fileType, withExtension } from '../../api/file-name';
import { IMAGE_TYPE_BYTES, imageType, type ImageType } from '../../api/images/image-type';
import { findFile, referenceName, type BinaryReference } from './binary-reference';

/** An item's file, ready to be sent. */
export interface InputFile {
	name: string;
	/** By its bytes where they tell, else by the item. */
	mimeType: string;
	bytes: Blob;
	/** The image type by its bytes; undefined where it is none. */
	image?: ImageType;
	/** Tells one stored file from another. */
	identity: string;
}

/** Bytes read at once from n8n's storage. */
const CHUNK_BYTES = 1024 * 1024;

/**
 * Reads a file of an item. It is in memory once: what comes from the storage goes into the blob
 * piece by piece.
 * @throws {ValidationError} the item has no such field, or the file is empty
 */
export async function readInputFile(
	context: IExecuteFunctions,
	itemIndex: number,
	given: BinaryReference,
	field: string,
): Promise<InputFile> {
	const { reference, stored } = findFile(context, itemIndex, given, field);
	const bytes = await read(context, itemIndex, reference, stored);
	if (bytes.size === 0) {
		throw new ValidationError(
			field,
			`"${referenceName(reference)}" is empty`,
			'The file has no bytes. Check the node that made it.',
		);
	}
	const start = new Uint8Array(await bytes.slice(0, IMAGE_TYPE_BYTES).arrayBuffer());
	const image = imageType(start);
	const type = fileType(start);
	const mimeType = type?.mimeType ?? (stored.mimeType || 'application/octet-stream');
	return {
		name: getName(stored, type?.extension),
		mimeType,
		bytes: bytes.slice(0, bytes.size, mimeType),
		image,
		identity: stored.id ?? createHash('sha256').update(stored.data).digest('hex'),
	};
}

/** A file as a `data:` URL. */
export async function dataUrl({ bytes, mimeType }: InputFile): Promise<string> {
	return toDataUrl(Buffer.from(await bytes.arrayBuffer()).toString('base64'), mimeType);
}

/** @param byBytes the extension that the bytes say */
function getName({ fileName, fileExtension }: IBinaryData, byBytes?: string): string {
	if (byBytes !== undefined) return withExtension(fileName || 'file', byBytes);
	if (!fileName) return `file.${fileExtension ?? 'bin'}`;
	const isComplete = fileExtension === undefined || /\.\w{1,8}$/.test(fileName);
	return isComplete ? fileName : `${fileName}.${fileExtension}`;
}

async function read(
	context: IExecuteFunctions,
	itemIndex: number,
	reference: BinaryReference,
	stored: IBinaryData,
): Promise<Blob> {
	if (stored.id === undefined) {
		return new Blob([await context.helpers.getBinaryDataBuffer(itemIndex, reference)]);
	}
	const stream = await context.helpers.getBinaryStream(stored.id, CHUNK_BYTES);
	const pieces: Blob[] = [];
	for await (const chunk of stream) pieces.push(new Blob([chunk as Uint8Array]));
	return new Blob(pieces);
}
