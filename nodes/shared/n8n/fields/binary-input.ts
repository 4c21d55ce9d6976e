import { createHash } from 'crypto';
import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { ValidationError } from '../../api/errors/errors';
import { toDataUrl } from '../../api/responses/response-input';
import { IMAGE_TYPE_BYTES, imageType, type ImageType } from '../../api/images/image-type';

/** Where a file comes from: the name of an item's binary field, or the file from an expression. */
export type BinaryReference = string | IBinaryData;

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

/**
 * The files that a binary field parameter names: names separated by commas, a list of names, or
 * binary data from an expression.
 * @param field the name on the field
 * @throws {ValidationError} nothing is named
 */
export function binaryReferences(value: unknown, field: string): BinaryReference[] {
	const parts = Array.isArray(value) ? (value as unknown[]) : [value];
	const references = parts.flatMap((part): BinaryReference[] => {
		if (typeof part === 'string') {
			return part
				.split(',')
				.map((name) => name.trim())
				.filter((name) => name !== '');
		}
		return typeof part === 'object' && part !== null ? [part as IBinaryData] : [];
	});
	if (references.length === 0) {
		throw new ValidationError(
			field,
			'names no binary field',
			'Enter the name of the input’s binary field, such as data; several are separated by commas.',
		);
	}
	return references;
}

/** How a reference is called in messages. */
export function referenceName(reference: BinaryReference): string {
	return typeof reference === 'string' ? reference : (reference.fileName ?? 'binary data');
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
	reference: BinaryReference,
	field: string,
): Promise<InputFile> {
	const stored = storedFile(context, itemIndex, reference);
	if (!stored) {
		throw new ValidationError(
			field,
			typeof reference === 'string'
				? `"${reference}" is not a binary field of the item`
				: 'is neither a name nor binary data',
			'Check the name, and that the node before hands on a binary file. An expression may also give the binary data of another node’s item.',
		);
	}
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
	const mimeType = getMimeType(start, image, stored.mimeType);
	return {
		name: stored.fileName ?? `file.${image?.extension ?? stored.fileExtension ?? 'bin'}`,
		mimeType,
		bytes: bytes.slice(0, bytes.size, mimeType),
		image,
		identity: stored.id ?? createHash('sha256').update(stored.data).digest('hex'),
	};
}

/** The file behind a reference; undefined where there is none. */
function storedFile(
	context: IExecuteFunctions,
	itemIndex: number,
	reference: BinaryReference,
): IBinaryData | undefined {
	try {
		return context.helpers.assertBinaryData(itemIndex, reference);
	} catch {
		return undefined;
	}
}

/** A file as a `data:` URL. */
export async function dataUrl({ bytes, mimeType }: InputFile): Promise<string> {
	return toDataUrl(Buffer.from(await bytes.arrayBuffer()).toString('base64'), mimeType);
}

/** The type by which a file is sent: its bytes', the item's, or the general one. */
function getMimeType(start: Uint8Array, image: ImageType | undefined, said: string): string {
	if (image) return image.mimeType;
	if (String.fromCharCode(...start.subarray(0, 5)) === '%PDF-') return 'application/pdf';
	return said || 'application/octet-stream';
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
