import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { ValidationError } from '../../api/errors/errors';
import { nameNoText } from '../../api/errors/read-text';
import { sanitizeForMessage } from '../../api/errors/sanitize';

/** Where a file comes from: the name of an item's binary field, or the file from an expression. */
export type BinaryReference = string | IBinaryData;

/**
 * The files that a binary field parameter names. It holds names separated by commas, a list of
 * names, or binary data from an expression.
 * @param field the name on the field
 * @throws {ValidationError} nothing is named, or the value is the content of a file
 */
export function binaryReferences(value: unknown, field: string): BinaryReference[] {
	const parts = Array.isArray(value) ? (value as unknown[]) : [value];
	const references = parts.flatMap((part): BinaryReference[] => {
		if (part === undefined || part === null) return [];
		return typeof part === 'object' ? [part as IBinaryData] : readNames(String(part), field);
	});
	if (references.length === 0) {
		throw new ValidationError(
			field,
			isBlank(parts) ? 'is empty' : 'names no binary field',
			'Enter the name of the input’s binary field, such as data; several are separated by commas.',
		);
	}
	return references;
}

const isBlank = (parts: unknown[]) => parts.every((part) => String(part ?? '').trim() === '');

/** What the bytes of a file look like as a text. */
// eslint-disable-next-line no-control-regex
const BYTES = /^\s*%PDF-|[\u0000-\u0008\u000e-\u001f\ufffd]/;

const DATA_URL = /^\s*data:([\w.+-]+\/[\w.+-]+)?[;,]/i;

function readNames(text: string, field: string): string[] {
	// A comma in these separates no names.
	if (DATA_URL.test(text) || BYTES.test(text)) throw contentOfFile(field);
	return text
		.split(',')
		.map((name) => name.trim())
		.filter((name) => name !== '');
}

/** How a reference is called in messages. */
export function referenceName(reference: BinaryReference): string {
	const name = typeof reference === 'string' ? reference : (reference.fileName ?? 'binary data');
	return sanitizeForMessage(String(name), LONGEST_NAME);
}

/** Characters of a name that a message quotes. */
const LONGEST_NAME = 100;

/** A reference that leads to a file, and that file. */
export interface FoundFile {
	reference: BinaryReference;
	stored: IBinaryData;
}

/**
 * Finds the file behind a reference.
 * @throws {ValidationError} there is none
 */
export function findFile(
	context: IExecuteFunctions,
	itemIndex: number,
	given: BinaryReference,
	field: string,
): FoundFile {
	const reference = isWithoutBytes(given) ? findSame(context, itemIndex, given, field) : given;
	try {
		return { reference, stored: context.helpers.assertBinaryData(itemIndex, reference) };
	} catch {
		throw notFound(reference, field, getFieldNames(context, itemIndex));
	}
}

/**
 * Whether an expression yields a file by `$binary`: n8n leaves out the bytes of a file that it keeps
 * in memory.
 */
function isWithoutBytes(reference: BinaryReference): reference is IBinaryData {
	return (
		typeof reference === 'object' &&
		typeof reference.mimeType === 'string' &&
		reference.id === undefined &&
		reference.data === undefined
	);
}

/**
 * The item's file of which n8n left out the bytes: the one that is the same in all else.
 * @throws {ValidationError} none is, or files with different bytes are
 */
function findSame(
	context: IExecuteFunctions,
	itemIndex: number,
	wanted: IBinaryData,
	field: string,
): IBinaryData {
	const files = Object.values(context.getInputData()[itemIndex]?.binary ?? {});
	const same = files.filter((file) => isSame(file, wanted));
	const [found] = same;
	if (found && same.every(({ data }) => data === found.data)) return found;
	throw new ValidationError(
		field,
		`got the file "${referenceName(wanted)}" without its bytes`,
		'n8n leaves the bytes out of $binary. Write the name of the field, such as photo, or the file itself: {{ $input.item.binary.photo }}.',
	);
}

function isSame(file: IBinaryData, { ...wanted }: IBinaryData): boolean {
	const { data, ...known } = file;
	const all = new Set([...Object.keys(known), ...Object.keys(wanted)]) as Set<keyof IBinaryData>;
	all.delete('data');
	return data !== undefined && [...all].every((name) => file[name] === wanted[name]);
}

/** The binary fields that an item has. */
const getFieldNames = (context: IExecuteFunctions, itemIndex: number) =>
	Object.keys(context.getInputData()[itemIndex]?.binary ?? {});

function notFound(reference: BinaryReference, field: string, names: string[]): ValidationError {
	if (typeof reference !== 'string') {
		return new ValidationError(
			field,
			`is ${nameNoText(reference)}, neither a name nor binary data`,
			'Write the name of the field, such as data, or the file of another node’s item: {{ $("Name").item.binary.data }}.',
		);
	}
	if (isContent(reference)) return contentOfFile(field);
	return new ValidationError(
		field,
		`"${referenceName(reference)}" is not a binary field of the item`,
		`${tellFields(names)} An expression may also give the binary data of another node’s item.`,
	);
}

/** Names of fields that a message lists. */
const MOST_NAMES = 10;

/** Which binary fields an item has, and what to do about it. */
function tellFields(names: string[]): string {
	if (names.length === 0)
		return 'The item has no file. Check that the previous node passes one on.';
	const some = names.slice(0, MOST_NAMES).map((name) => `"${referenceName(name)}"`);
	const more = names.length > MOST_NAMES ? ', …' : '';
	return `The item has ${some.join(', ')}${more}. Enter ${names.length === 1 ? 'that name' : 'one of these names'}.`;
}

/** Characters that no name of a field has. */
const NO_NAME = 200;

/** How base64 of PNG, JPEG, GIF, WebP, TIFF, PDF and ZIP files begins. */
const BASE64_START = /^(iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|SUkqA|TU0AK|JVBERi0|UEsDB)/;

/** Whether a text that names no field is what a file holds. */
function isContent(text: string): boolean {
	return text.length > NO_NAME || BASE64_START.test(text);
}

function contentOfFile(field: string): ValidationError {
	return new ValidationError(
		field,
		'is the content of a file, not the name of a field',
		'Write the name of the binary field, such as data. A Convert to File node makes a binary file of base64. To use an image URL or a data URL, select URL as the source.',
	);
}
