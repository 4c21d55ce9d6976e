import busboy from 'busboy';
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../errors';

/** A file part of a form. */
export interface FormFile {
	/** Name of the form field. */
	field: string;
	fileName?: string;
	mimeType: string;
	/** Bytes. */
	size: number;
	sha256: string;
}

/** A multipart form without the bytes of its files, as the usage log keeps it. */
export interface FormRecord {
	fields: Record<string, string>;
	files: FormFile[];
}

/** A multipart form with the bytes of its files. */
export interface Form extends FormRecord {
	contents: Map<FormFile, Buffer>;
}

/**
 * Parses a multipart body.
 * @param fileLimit bytes that one file may have
 * @throws ApiError 400 if it is malformed, 413 if a file is too large
 */
export async function readForm(
	headers: IncomingHttpHeaders,
	body: Buffer,
	fileLimit: number,
): Promise<Form> {
	const form: Form = { fields: {}, files: [], contents: new Map() };
	await new Promise<void>((resolve, reject) => {
		const malformed = (error: unknown) =>
			reject(
				new ApiError(400, {
					code: 'invalid_form',
					message: `the multipart body cannot be read: ${(error as Error).message}`,
				}),
			);
		try {
			// A file name is kept as it is: it is no path.
			const parser = busboy({
				headers,
				limits: { fileSize: fileLimit, fieldSize: body.length },
				defParamCharset: 'utf8',
				preservePath: true,
			});
			parser.on('field', (name, value) => {
				form.fields[name] = value;
			});
			parser.on('file', (field, stream, { filename, mimeType }) => {
				const chunks: Buffer[] = [];
				stream.on('data', (chunk: Buffer) => chunks.push(chunk));
				stream.on('limit', () =>
					reject(
						new ApiError(413, { message: `${field}: the file has more than ${fileLimit} bytes` }),
					),
				);
				stream.on('close', () => {
					const content = Buffer.concat(chunks);
					const file: FormFile = {
						field,
						fileName: filename,
						mimeType,
						size: content.length,
						sha256: createHash('sha256').update(content).digest('hex'),
					};
					form.files.push(file);
					form.contents.set(file, content);
				});
			});
			parser.on('error', malformed);
			parser.on('close', resolve);
			parser.end(body);
		} catch (error) {
			malformed(error);
		}
	});
	return form;
}
