import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import { createHash } from 'node:crypto';
import { PNG } from 'pngjs';
import { drawPicture, pictureBelongsTo, sizeOf, type FormRecord } from '../gateway';
import { readBinary, storeBinaryInMemory, storeBinaryOnDisk } from '../support/engine';
import { editImage, generateImage, shown, startStory, type Story } from './arrange';

let story: Story;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = await startStory();
});
afterEach(async () => await story.close());

const BOAT = drawPicture({ prompt: 'boat', index: 0, width: 24, height: 16 });
const TREE = drawPicture({ prompt: 'tree', index: 0, width: 24, height: 16 });
const MASK = PNG.sync.write(new PNG({ width: 24, height: 16 }), { colorType: 6 });
const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex');

/** A file in an item, as n8n keeps it in memory. */
const file = (
	bytes: Buffer,
	fileName: string | undefined = 'boat.png',
	mimeType = 'image/png',
): IBinaryData => ({ data: bytes.toString('base64'), mimeType, fileName });

const withFiles = (binary: Record<string, IBinaryData>, json: IDataObject = {}) =>
	({ json, binary }) satisfies INodeExecutionData;

/** Parameters of Image → Edit, of files of the item. */
const editFiles = (given: IDataObject = {}) =>
	editImage({ imageSource: 'binary', imageUrls: '', ...given });

const submit = () => story.gateway.requests.find(({ route }) => route === 'edits');
const form = () => submit()?.body as FormRecord;

const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('Image → Edit of files', () => {
	test('uploads the file in the field data, and returns the edited picture', async () => {
		const run = await story.image(editFiles({ options: { size: '40x20' } }), {
			items: [withFiles({ data: file(BOAT) })],
		});

		expect(submit()).toMatchObject({ method: 'POST', path: '/v1/images/edits/async' });
		expect(submit()?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
		expect(Number(submit()?.headers['content-length'])).toBe(submit()?.rawLength);
		expect(form()).toEqual({
			fields: { model: 'aurora-image-1', prompt: 'More light', size: '40x20' },
			files: [
				{
					field: 'image',
					fileName: 'boat.png',
					mimeType: 'image/png',
					size: BOAT.length,
					sha256: hash(BOAT),
				},
			],
		});
		const png = await readBinary(run.items[0]?.binary?.data);
		expect(sizeOf(png)).toEqual({ width: 40, height: 20 });
		expect(pictureBelongsTo('More light', png)).toBe(true);
		expect(run.items[0]).toMatchObject({
			json: {
				task_id: story.gateway.tasks[0]?.id,
				status: 'completed',
				model: 'aurora-image-1',
				prompt: 'More light',
			},
			pairedItem: { item: 0 },
		});
	});

	test.each<[string, unknown]>([
		['names separated by commas', 'front, back'],
		['a list of names from an expression', '={{ ["front", "back"] }}'],
		['names of the item', '={{ $json.fields }}'],
	])('uploads several files: %s', async (_name, imageBinaryPropertyNames) => {
		await story.image(editFiles({ imageBinaryPropertyNames: imageBinaryPropertyNames as string }), {
			items: [
				withFiles(
					{ front: file(BOAT, 'front.png'), back: file(TREE, 'back.png'), other: file(MASK) },
					{ fields: 'front,back' },
				),
			],
		});
		expect(form().files.map(({ field, fileName, sha256 }) => [field, fileName, sha256])).toEqual([
			['image[]', 'front.png', hash(BOAT)],
			['image[]', 'back.png', hash(TREE)],
		]);
	});

	test('uploads the mask as a file of its own', async () => {
		await story.image(editFiles({ options: { maskBinaryPropertyName: 'hole' } }), {
			items: [withFiles({ data: file(BOAT), hole: file(MASK, 'hole.png') })],
		});
		expect(form().files.map(({ field, fileName }) => [field, fileName])).toEqual([
			['image', 'boat.png'],
			['mask', 'hole.png'],
		]);
	});

	test('sends its options as fields of the form', async () => {
		const options = {
			n: 2,
			quality: 'high',
			background: 'transparent',
			outputFormat: 'webp',
			extraBody: '{ "user": "u1", "moderation": "low" }',
		};
		const run = await story.image(editFiles({ options }), {
			items: [withFiles({ data: file(BOAT) })],
		});
		expect(form().fields).toEqual({
			model: 'aurora-image-1',
			prompt: 'More light',
			n: '2',
			quality: 'high',
			background: 'transparent',
			output_format: 'webp',
			user: 'u1',
			moderation: 'low',
		});
		expect(run.items).toHaveLength(2);
	});

	test('names a file by its bytes where it has no name, and tells its type by them', async () => {
		await story.image(editFiles(), {
			items: [
				withFiles({
					data: { data: JPEG.toString('base64'), mimeType: 'application/octet-stream' },
				}),
			],
		});
		expect(form().files).toEqual([
			expect.objectContaining({ fileName: 'file.jpg', mimeType: 'image/jpeg' }),
		]);
	});

	test('keeps letters of all scripts in a file’s name', async () => {
		await story.image(editFiles(), {
			items: [withFiles({ data: file(BOAT, 'Schiff "blau" – лодка.png') })],
		});
		expect(form().files[0]?.fileName).toMatch(/^Schiff .*blau.* – лодка\.png$/);
	});

	test('edits what was generated before, from n8n’s storage on disk', async () => {
		const storage = await storeBinaryOnDisk();
		try {
			const generated = await story.image(generateImage());
			const [item] = generated.items;
			const run = await story.image(editFiles(), {
				items: [{ json: {}, binary: { data: item!.binary!.data! } }],
			});

			expect(form().files[0]?.sha256).toBe(hash(await readBinary(item?.binary?.data)));
			expect(pictureBelongsTo('More light', await readBinary(run.items[0]?.binary?.data))).toBe(
				true,
			);
		} finally {
			await storage.remove();
		}
	});

	test('sends each item’s own file', async () => {
		await story.image(editFiles({ waitForCompletion: false, options: { concurrency: 1 } }), {
			items: [withFiles({ data: file(BOAT) }), withFiles({ data: file(TREE) })],
		});
		const sent = story.gateway.requests.map(({ body }) => (body as FormRecord).files[0]?.sha256);
		expect(sent).toEqual([hash(BOAT), hash(TREE)]);
	});

	test('is sent again whole where the gateway asks to slow down', async () => {
		let refusals = 1;
		story.gateway.settings.intercept = ({ route, stage }) =>
			route === 'edits' && stage === 'before' && refusals-- > 0
				? { kind: 'reply', status: 429, headers: { 'Retry-After': '2' } }
				: undefined;
		await story.image(editFiles(), { items: [withFiles({ data: file(BOAT) })] });

		const edits = story.gateway.requests.filter(({ route }) => route === 'edits');
		expect(edits.map(({ body }) => (body as FormRecord).files[0]?.sha256)).toEqual([
			hash(BOAT),
			hash(BOAT),
		]);
		expect(story.gateway.tasks).toHaveLength(1);
	});
});

describe('Image → Edit of addresses', () => {
	test('sends the address as JSON, and fetches nothing itself', async () => {
		await story.image(editImage({ options: { size: '40x20' } }));

		expect(submit()?.headers['content-type']).toMatch(/^application\/json/);
		expect(submit()?.body).toEqual({
			model: 'aurora-image-1',
			prompt: 'More light',
			images: [{ image_url: 'https://pictures.example.com/boat.png' }],
			size: '40x20',
		});
	});

	const data = `data:image/png;base64,${BOAT.toString('base64')}`;
	test.each<[string, string, string[]]>([
		[
			'commas',
			'https://a.example/1.png, https://a.example/2.png',
			['https://a.example/1.png', 'https://a.example/2.png'],
		],
		[
			'line breaks',
			'https://a.example/1.png\n\n https://a.example/2.png \n',
			['https://a.example/1.png', 'https://a.example/2.png'],
		],
		[
			'a list of an expression',
			'={{ ["https://a.example/1.png", "https://a.example/2.png"] }}',
			['https://a.example/1.png', 'https://a.example/2.png'],
		],
		['a data URL among them', `https://a.example/1.png,${data}`, ['https://a.example/1.png', data]],
		[
			'a comma within an address',
			'https://a.example/1.png?size=1,2',
			['https://a.example/1.png?size=1,2'],
		],
	])('takes several addresses: %s', async (_name, imageUrls, expected) => {
		await story.image(editImage({ imageUrls, waitForCompletion: false }));
		expect(submit()?.body).toMatchObject({
			images: expected.map((image_url) => ({ image_url })),
		});
	});

	test('sends the mask’s address', async () => {
		const maskUrl = 'https://pictures.example.com/mask.png';
		await story.image(editImage({ waitForCompletion: false, options: { maskUrl } }));
		expect(submit()?.body).toMatchObject({ mask: { image_url: maskUrl } });
	});

	test('returns the 202 where it does not wait', async () => {
		const run = await story.image(editImage({ waitForCompletion: false }));
		expect(run.items[0]?.json).toMatchObject({
			task_id: story.gateway.tasks[0]?.id,
			status: 'processing',
			retry_after: 3,
		});
	});
});

describe('What Image → Edit refuses before anything is sent', () => {
	const opaque = drawPicture({ prompt: 'x', index: 0, width: 24, height: 16 });

	const refusals: Array<[string, IDataObject, RegExp, Record<string, IBinaryData>?]> = [
		['an item without a file', editFiles(), /no binary (data|file)|binary field/i],
		[
			'a field that is not there',
			editFiles({ imageBinaryPropertyNames: 'picture' }),
			/picture/,
			{ data: file(BOAT) },
		],
		[
			'no field',
			editFiles({ imageBinaryPropertyNames: ' , ' }),
			/^Input Binary Field names no binary field$/,
			{ data: file(BOAT) },
		],
		[
			'a text file',
			editFiles(),
			/^Input Binary Field "data" is not an image$/,
			{ data: file(Buffer.from('words'), 'a.png') },
		],
		[
			'an empty file',
			editFiles(),
			/^Input Binary Field "data" is empty$/,
			{ data: file(Buffer.alloc(0)) },
		],
		[
			'a picture that cannot be edited',
			editFiles(),
			/^Input Binary Field "data" is a file of type image\/tiff$/,
			{ data: file(Buffer.from('II*\0rest of it'), 'a.tiff') },
		],
		[
			'a mask without transparency',
			editFiles({ options: { maskBinaryPropertyName: 'mask' } }),
			/^Mask Binary Field "mask" is a PNG without transparency$/,
			{ data: file(BOAT), mask: file(opaque) },
		],
		[
			'a mask that is a JPEG',
			editFiles({ options: { maskBinaryPropertyName: 'mask' } }),
			/^Mask Binary Field "mask" is not a PNG$/,
			{ data: file(BOAT), mask: file(JPEG) },
		],
		['no address', editImage({ imageUrls: ' ' }), /^Image URLs (is empty|holds no address)/],
		[
			'a word as address',
			editImage({ imageUrls: 'boat.png' }),
			/^Image URLs holds no address of an image at position 1$/,
		],
		[
			'a second address that is none',
			editImage({ imageUrls: 'https://a.example/1.png\nboat' }),
			/^Image URLs holds no address of an image at position 2$/,
		],
		[
			'a file address',
			editImage({ imageUrls: 'file:///etc/passwd' }),
			/^Image URLs holds no address/,
		],
		[
			'a mask address that is none',
			editImage({ options: { maskUrl: 'mask' } }),
			/^Mask URL holds no address/,
		],
		['an empty prompt', editImage({ prompt: '' }), /^Prompt is empty$/],
		['a bad size', editImage({ options: { size: 'big' } }), /^Size is neither/],
		[
			'a demand to stream',
			editImage({ options: { extraBody: '{ "stream": true }' } }),
			/^Extra Body asks to stream/,
		],
		['images below 1', editImage({ options: { n: '={{ 0 }}' } }), /^Number of Images is below 1$/],
	];

	test.each(
		refusals.map(([name, parameters, message, binary = {}]) => ({
			name,
			parameters,
			message,
			binary,
		})),
	)('$name, naming the field', async ({ parameters, message, binary }) => {
		const run = await story.imageError(parameters, { items: [withFiles(binary)] });
		expect(run.error.message).toMatch(message);
		expect(shown(run).context.itemIndex).toBe(0);
		expect(story.gateway.count()).toBe(0);
	});
});

test('a file that is too large for the gateway is an error that says so, sent once', async () => {
	story.gateway.settings.fileLimit = 100;
	const run = await story.imageError(editFiles(), { items: [withFiles({ data: file(BOAT) })] });

	expect(run.error.message).toMatch(
		/^The request is too large for the gateway \(HTTP 413\): image/,
	);
	expect(shown(run).description).toMatch(/Shrink or split/);
	expect(story.gateway.count()).toBe(1);
});
