import type { KeyHolder } from '../access';
import { jsonObject, type JsonObject, type ParsedBody } from '../body';
import { ApiError, badField } from '../errors';
import { Fields } from '../fields';
import type { GatewaySettings } from '../options';
import { sourceFromSeed, type ImageSource } from '../drawing/draw';
import type { Form } from './form';
import type { TaskRequest } from './task';
import { checkMask, readDataUrl, readUpload, type Upload } from './upload';

/** A submit that was found valid. */
export interface Submission {
	request: TaskRequest;
	width: number;
	height: number;
	sources: ImageSource[];
	mask?: ImageSource;
}

type Limits = Pick<GatewaySettings, 'pixelLimit' | 'defaultSize'>;

/** The most images that an edit takes. */
const MAX_IMAGES = 16;
/** The most images that a task makes. */
const MAX_N = 10;
const MAX_SIDE = 8192;

/**
 * Reads the body of `POST /v1/images/generations/async` (contract: Endpoints).
 * @throws ApiError 400, 408, 413
 */
export function readGeneration(body: ParsedBody, holder: KeyHolder, limits: Limits): Submission {
	return readCommon('generation', jsonObject(body), holder, limits);
}

/**
 * Reads the body of `POST /v1/images/edits/async`: a form or JSON. A form has `image` or `image[]`,
 * and optionally `mask`. JSON has `images[].image_url`, and optionally `mask.image_url`. A `data:`
 * URL is decoded. An http URL is recorded and not fetched.
 * @throws ApiError 400, 408, 413
 */
export function readEdit(body: ParsedBody, holder: KeyHolder, limits: Limits): Submission {
	if (body.kind === 'form') {
		const submission = readCommon('edit', fieldsOfForm(body.form), holder, limits);
		const files = body.form.files.filter(({ field }) => field === 'image' || field === 'image[]');
		const images = files.map((file) => uploadOf(body.form, file, limits));
		const mask = body.form.files.find(({ field }) => field === 'mask');
		return withImages(submission, images, mask && uploadOf(body.form, mask, limits), 'image');
	}
	const object = jsonObject(body);
	const submission = readCommon('edit', object, holder, limits);
	const fields = new Fields(object);
	const images = fields.objects('images')?.map((image) => uploadFromUrl(image, limits)) ?? [];
	const mask = fields.record('mask');
	return withImages(submission, images, mask && uploadFromUrl(mask, limits), 'images');
}

function readCommon(
	kind: TaskRequest['kind'],
	object: JsonObject,
	holder: KeyHolder,
	{ defaultSize }: Limits,
): Submission {
	const fields = new Fields(object);
	const model = fields.text('model');
	const prompt = fields.text('prompt');
	if (fields.boolean('stream')) {
		throw badField('stream', 'is not supported by image tasks', 'stream_not_supported');
	}
	const n = fields.integer('n', 1, MAX_N) ?? 1;
	const size = fields.string('size') ?? 'auto';
	for (const name of ['quality', 'background', 'output_format', 'moderation', 'user', 'style']) {
		fields.string(name);
	}
	fields.oneOf('response_format', ['url', 'b64_json']);
	fields.integer('output_compression', 0, 100);
	const { width, height } = readSize(size, defaultSize);
	return {
		request: { kind, model, prompt, size, n, key: holder.name, fields: object },
		width,
		height,
		sources: [],
	};
}

/**
 * Width and height of a `size`.
 * @throws ApiError 400
 */
export function readSize(size: string, defaultSize: string): { width: number; height: number } {
	const form = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size === 'auto' ? defaultSize : size);
	if (!form) throw badField('size', 'must be auto or <width>x<height>');
	const width = Number(form[1]);
	const height = Number(form[2]);
	if (Math.max(width, height) > MAX_SIDE) {
		throw badField('size', `must not be larger than ${MAX_SIDE}x${MAX_SIDE}`);
	}
	return { width, height };
}

/** A form's texts, typed as the JSON body would have them. */
function fieldsOfForm({ fields }: Form): JsonObject {
	return Object.fromEntries(
		Object.entries(fields).map(([name, value]): [string, unknown] => {
			if (name === 'stream' && (value === 'true' || value === 'false')) {
				return [name, value === 'true'];
			}
			const isNumber = ['n', 'output_compression'].includes(name) && /^-?\d+$/.test(value);
			return [name, isNumber ? Number(value) : value];
		}),
	);
}

function uploadOf(form: Form, file: Form['files'][number], { pixelLimit }: Limits) {
	const name = file.fileName ? `${file.field} (${file.fileName})` : file.field;
	return readUpload(name, form.contents.get(file) ?? Buffer.alloc(0), pixelLimit);
}

function uploadFromUrl(fields: Fields, { pixelLimit }: Limits): Upload {
	const field = fields.path('image_url');
	const url = fields.text('image_url');
	if (url.startsWith('data:')) return readUpload(field, readDataUrl(field, url).bytes, pixelLimit);
	if (!/^https?:\/\//.test(url)) throw badField(field, 'must be an http, https or data URL');
	// Not fetched, so nothing is known that a mask could be checked against.
	return { field, mimeType: 'image/png', alpha: true, source: sourceFromSeed(url) };
}

function withImages(
	submission: Submission,
	images: Upload[],
	mask: Upload | undefined,
	field: string,
): Submission {
	if (images.length === 0) {
		throw badField(field, 'is required: at least one image', 'missing_field');
	}
	if (images.length > MAX_IMAGES) {
		throw new ApiError(400, {
			code: 'too_many_images',
			message: `${field} may hold at most ${MAX_IMAGES} images`,
			param: field,
		});
	}
	if (mask) checkMask(mask, mask.width === undefined ? undefined : images[0]);
	return { ...submission, sources: images.map(({ source }) => source), mask: mask?.source };
}
