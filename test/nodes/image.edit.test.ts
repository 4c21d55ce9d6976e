import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import { createHash } from 'node:crypto';
import { PNG } from 'pngjs';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { drawPicture, pictureBelongsTo, sizeOf, type FormRecord } from '../../gateway';
import {
	prepareNode,
	readBinary,
	runNode,
	storeBinaryInMemory,
	storeBinaryOnDisk,
	type RunNodeOptions,
} from '../../scripts/engine/index';
import { editImage, generateImage, imageNode, shown, startStory, type Story } from './arrange';
import { TaskBooks } from './image.arrange';

const books = new TaskBooks();
let story: Story;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = books.follow(await startStory());
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

/** A PNG of one colour. */
function plain(red: number, green: number, blue: number, alpha = 255): Buffer {
	const png = new PNG({ width: 20, height: 20 });
	for (let at = 0; at < png.data.length; at += 4) png.data.set([red, green, blue, alpha], at);
	return PNG.sync.write(png, { colorType: 6 });
}

/** A mask that is transparent on its left half. */
function leftHole(): Buffer {
	const png = new PNG({ width: 20, height: 20 });
	for (let at = 0; at < png.data.length; at += 4) {
		png.data[at + 3] = (at / 4) % png.width < png.width / 2 ? 0 : 255;
	}
	return PNG.sync.write(png, { colorType: 6 });
}

const RED = plain(255, 0, 0);
const BLUE = plain(0, 0, 255);
const dataUrlOf = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;

describe('The edited picture', () => {
	/** The colour of the run's picture at a place, from 0 to 1. */
	async function colourAt(run: Awaited<ReturnType<Story['image']>>, x: number, y: number) {
		const png = PNG.sync.read(await readBinary(run.items[0]?.binary?.data));
		const at = (Math.floor(y * png.height) * png.width + Math.floor(x * png.width)) * 4;
		return [...png.data.subarray(at, at + 3)];
	}

	const size = { size: '40x40' };

	test.each<[string, IDataObject, Record<string, IBinaryData>]>([
		['an uploaded file', editFiles({ options: size }), { data: file(RED) }],
		['a data URL', editImage({ imageUrls: dataUrlOf(RED), options: size }), {}],
	])('is made from %s', async (_name, parameters, binary) => {
		const run = await story.image(parameters, { items: [withFiles(binary)] });
		expect(await colourAt(run, 0.5, 0.5)).toEqual([255, 0, 0]);
		// The frame is of the new scene.
		expect(await colourAt(run, 0.02, 0.02)).not.toEqual([255, 0, 0]);
	});

	test.each<[string, IDataObject, Record<string, IBinaryData>]>([
		[
			'several uploaded files, in their order',
			editFiles({ imageBinaryPropertyNames: 'b, a', options: size }),
			{ a: file(BLUE), b: file(RED) },
		],
		[
			'several data URLs',
			editImage({ imageUrls: `${dataUrlOf(RED)}\n${dataUrlOf(BLUE)}`, options: size }),
			{},
		],
	])('is made from %s', async (_name, parameters, binary) => {
		const run = await story.image(parameters, { items: [withFiles(binary)] });
		expect(await colourAt(run, 0.3, 0.5)).toEqual([255, 0, 0]);
		expect(await colourAt(run, 0.7, 0.5)).toEqual([0, 0, 255]);
	});

	test.each<[string, IDataObject, Record<string, IBinaryData>]>([
		[
			'an uploaded mask',
			editFiles({ options: { ...size, maskBinaryPropertyName: 'hole' } }),
			{ data: file(RED), hole: file(leftHole()) },
		],
		[
			'a mask by data URL',
			editImage({
				imageUrls: dataUrlOf(RED),
				options: { ...size, maskUrl: dataUrlOf(leftHole()) },
			}),
			{},
		],
	])('is new only where %s is transparent', async (_name, parameters, binary) => {
		const run = await story.image(parameters, { items: [withFiles(binary)] });
		expect(await colourAt(run, 0.9, 0.5)).toEqual([255, 0, 0]);
		expect(await colourAt(run, 0.1, 0.5)).not.toEqual([255, 0, 0]);
	});
});

describe('Where the file may be', () => {
	const photo = file(RED, 'photo.png');

	test.each<[string, IDataObject, INodeExecutionData, 'separate' | 'combined']>([
		[
			'all files of the item, by an expression',
			{ imageBinaryPropertyNames: '={{ Object.keys($binary) }}' },
			{ json: {}, binary: { photo } },
			'separate',
		],
		[
			'a file in the JSON of the item, by its field',
			{ imageBinaryPropertyNames: 'photo' },
			{ json: { photo: { ...photo } } },
			'combined',
		],
		[
			'a file deep in the JSON of the item',
			{ imageBinaryPropertyNames: 'form.photo' },
			{ json: { form: { photo: { ...photo } } } },
			'combined',
		],
		[
			'a file in the JSON of the item that an expression gives',
			{ imageBinaryPropertyNames: '={{ $json.photo }}' },
			{ json: { photo: { ...photo } } },
			'combined',
		],
	])('%s', async (_name, given, item, binaryMode) => {
		const run = await story.image(editFiles(given), { items: [item], binaryMode });

		expect(form().files).toEqual([
			expect.objectContaining({ field: 'image', fileName: 'photo.png', sha256: hash(RED) }),
		]);
		expect(run.items[0]?.json.status).toBe('completed');
	});

	test.each<[string, IDataObject, 'separate' | 'combined']>([
		['a field', { imageBinaryPropertyNames: 'data' }, 'separate'],
		// In memory n8n leaves the bytes out of what an expression sees.
		[
			'a file that an expression gives',
			{ imageBinaryPropertyNames: '={{ $binary.data }}' },
			'separate',
		],
		['a field of the JSON', { imageBinaryPropertyNames: 'data' }, 'combined'],
		[
			'a file of the JSON that an expression gives',
			{ imageBinaryPropertyNames: '={{ $json.data }}' },
			'combined',
		],
	])('on disk, by %s', async (_name, given, binaryMode) => {
		const storage = await storeBinaryOnDisk();
		try {
			const { context } = await story.image(generateImage({ prompt: 'Setup' }));
			const stored = await context.helpers.prepareBinaryData(RED, 'photo.png', 'image/png');
			expect(stored.id).toMatch(/^filesystem/);
			const item =
				binaryMode === 'combined'
					? { json: { data: { ...stored } } }
					: { json: {}, binary: { data: stored } };
			const options = { maskBinaryPropertyName: given.imageBinaryPropertyNames! };
			await story.image(editFiles({ ...given, options }), { items: [item], binaryMode });

			expect(form().files.map(({ field, fileName, sha256 }) => [field, fileName, sha256])).toEqual([
				['image', 'photo.png', hash(RED)],
				['mask', 'photo.png', hash(RED)],
			]);
		} finally {
			await storage.remove();
		}
	});
});

describe('The form on the wire', () => {
	test('has each file’s own name and the type of its bytes', async () => {
		const binary = {
			a: file(BOAT, 'ein Boot.png', 'application/octet-stream'),
			b: file(JPEG, 'photo.png', 'image/png'),
			c: file(Buffer.from('RIFF\x10\0\0\0WEBPVP8 \0\0\0\0', 'latin1'), 'c.webp', 'image/webp'),
			d: file(Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1'), 'd', 'text/plain'),
		};
		await story.image(editFiles({ imageBinaryPropertyNames: 'a,b,c,d' }), {
			items: [withFiles(binary)],
		});
		expect(
			form().files.map(({ field, fileName, mimeType }) => [field, fileName, mimeType]),
		).toEqual([
			['image[]', 'ein Boot.png', 'image/png'],
			['image[]', 'photo.png', 'image/jpeg'],
			['image[]', 'c.webp', 'image/webp'],
			['image[]', 'd', 'image/gif'],
		]);
	});

	test('has objects, lists and truth values of the extra body as text', async () => {
		const extraBody = {
			meta: { album: 'summer', tags: ['a', 'b'] },
			list: [1, 2],
			strict: false,
			seed: 0,
			nothing: null,
			prompt: 'Rather this',
		};
		await story.image(editFiles({ options: { extraBody: JSON.stringify(extraBody) } }), {
			items: [withFiles({ data: file(BOAT) })],
		});
		expect(form().fields).toEqual({
			model: 'aurora-image-1',
			prompt: 'Rather this',
			meta: '{"album":"summer","tags":["a","b"]}',
			list: '[1,2]',
			strict: 'false',
			seed: '0',
		});
	});

	test('is the whole of it again after 429 and 503: files, mask and fields', async () => {
		let refusals = 2;
		story.gateway.settings.intercept = ({ route, stage }) =>
			route === 'edits' && stage === 'before' && refusals > 0
				? { kind: 'reply', status: refusals-- === 2 ? 429 : 503, headers: { 'Retry-After': '1' } }
				: undefined;
		await story.image(
			editFiles({
				imageBinaryPropertyNames: 'a, b',
				options: { maskBinaryPropertyName: 'hole', quality: 'low' },
			}),
			{
				items: [
					withFiles({ a: file(BOAT, 'a.png'), b: file(TREE, 'b.png'), hole: file(MASK, 'm.png') }),
				],
			},
		);

		const sent = story.gateway.requests.filter(({ route }) => route === 'edits');
		expect(sent).toHaveLength(3);
		expect(sent[1]?.body).toEqual(sent[0]?.body);
		expect(sent[2]?.body).toEqual(sent[0]?.body);
		expect(form().files).toHaveLength(3);
		expect(story.gateway.tasks).toHaveLength(1);
	});

	test('is sent once where the connection is lost behind it: a task may exist', async () => {
		story.gateway.settings.intercept = ({ route }) =>
			route === 'edits' ? { kind: 'destroy' } : undefined;
		const run = await story.imageError(editFiles(), { items: [withFiles({ data: file(BOAT) })] });

		expect(story.gateway.count({ route: 'edits' })).toBe(1);
		expect(shown(run).description).toMatch(/An image task may exist and be charged/);
	});

	test.each(['memory', 'disk'] as const)(
		'carries a file of 20 MB from %s whole, beside another',
		async (where) => {
			const storage = where === 'disk' ? await storeBinaryOnDisk() : undefined;
			try {
				// Without the search for the key, which would look through all of these bytes.
				const options = {
					node: imageNode(story.time),
					parameters: editFiles({
						imageBinaryPropertyNames: 'one, two',
						waitForCompletion: false,
					}) as RunNodeOptions['parameters'],
					time: story.time,
					credentials: { modelAccessApi: { ...story.access } },
					credentialTypes: [new ModelAccessApi()],
				};
				const { helpers } = prepareNode(options).context;
				const large = Buffer.concat([JPEG, Buffer.alloc(20 * 2 ** 20, 7)]);
				const photo = async (bytes: Buffer, name: string) =>
					await story.time.drive(helpers.prepareBinaryData(bytes, name, 'image/jpeg'));
				const binary = {
					one: await photo(large, 'one.jpg'),
					two: await photo(JPEG, 'two.jpg'),
				};
				await runNode({ ...options, items: [{ json: {}, binary }] });

				expect(form().files.map(({ size, sha256 }) => [size, sha256])).toEqual([
					[large.length, hash(large)],
					[JPEG.length, hash(JPEG)],
				]);
			} finally {
				await storage?.remove();
			}
		},
	);
});

describe('An item that cannot be sent', () => {
	const good = withFiles({ data: file(BOAT), hole: file(MASK) });

	test.each<[string, IDataObject, INodeExecutionData, RegExp]>([
		['has not the field', {}, withFiles({ other: file(BOAT) }), /Input Binary Field.*data/],
		['has no file at all', {}, { json: {} }, /Input Binary Field.*data/],
		[
			'lacks the second of two fields',
			{ imageBinaryPropertyNames: 'data, hole' },
			withFiles({ data: file(BOAT) }),
			/Input Binary Field.*hole/,
		],
		[
			'lacks the mask',
			{ options: { maskBinaryPropertyName: 'hole' } },
			withFiles({ data: file(BOAT) }),
			/Mask Binary Field.*hole/,
		],
		[
			'has an empty mask',
			{ options: { maskBinaryPropertyName: 'hole' } },
			withFiles({ data: file(BOAT), hole: file(Buffer.alloc(0)) }),
			/^Mask Binary Field "hole" is empty/,
		],
		[
			'has a mask that is no image',
			{ options: { maskBinaryPropertyName: 'hole' } },
			withFiles({ data: file(BOAT), hole: file(Buffer.from('words')) }),
			/^Mask Binary Field "hole" is not a PNG/,
		],
		[
			'has a web page in place of the image',
			{},
			withFiles({ data: file(Buffer.from('<!doctype html>'), 'boat.png') }),
			/^Input Binary Field "data" is not an image/,
		],
	])(
		'since it %s names field and item, and only the others are sent',
		async (_name, given, bad, message) => {
			const parameters = editFiles({ waitForCompletion: false, ...given });
			const run = await story.image(parameters, {
				items: [good, bad],
				onError: 'continueRegularOutput',
			});
			expect(run.items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
			expect(run.items[0]?.json.status).toBe('processing');
			expect(run.items[1]?.json.error).toMatch(message);
			expect(story.gateway.count()).toBe(1);

			const failed = shown(await story.imageError(parameters, { items: [bad] }));
			expect(failed.message).toMatch(message);
			expect(failed.context.itemIndex).toBe(0);
			expect(story.gateway.count()).toBe(1);
		},
	);
});

describe('What an edit and a generation return', () => {
	const operations: Array<[string, IDataObject]> = [
		['edit', editImage()],
		['generate', generateImage()],
	];

	/** Rewrites the body of a completed task. */
	const onCompleted = (change: (body: IDataObject) => void) => {
		story.gateway.settings.intercept = ({ reply, route }) => {
			if (reply && route === 'task') {
				const body = JSON.parse(String(reply.body)) as IDataObject;
				if (body.status === 'completed') change(body);
				reply.body = JSON.stringify(body);
			}
			return undefined;
		};
	};

	test.each(operations)(
		'%s: an item for each picture, its file named by index',
		async (_name, parameters) => {
			const options = { n: 3, fileName: '=cover-{index}-of-{{ $json.sku }}', outputFormat: 'webp' };
			const run = await story.image(
				{ ...parameters, options },
				{ items: [{ json: { sku: 'A7' } }] },
			);

			expect(run.items.map(({ json }) => [json.image_index, json.image_count])).toEqual([
				[0, 3],
				[1, 3],
				[2, 3],
			]);
			// The bytes are PNG, whatever was asked for.
			expect(run.items.map(({ binary }) => binary?.data?.fileName)).toEqual(
				[0, 1, 2].map((index) => `cover-${index}-of-A7.png`),
			);
		},
	);

	test.each(operations)(
		'%s: the fields of result.data that nobody knows',
		async (_name, parameters) => {
			onCompleted((body) => {
				const { data } = body.result as { data: IDataObject[] };
				Object.assign(data[0]!, { seed: 7, safety: { flagged: false } });
			});
			const run = await story.image({ ...parameters, downloadImages: false });
			expect(run.items[0]?.json.image).toMatchObject({
				seed: 7,
				safety: { flagged: false },
				revised_prompt: expect.stringMatching(/, in soft light$/) as string,
			});
		},
	);

	test.each(operations)(
		'%s: one picture where data is empty and image_url is set',
		async (_name, parameters) => {
			onCompleted((body) => Object.assign(body.result as IDataObject, { data: [] }));
			const run = await story.image(parameters);
			expect(run.items.map(({ json }) => [json.image_index, json.image_count])).toEqual([[0, 1]]);
			expect(run.items[0]?.binary?.data?.mimeType).toBe('image/png');
		},
	);

	test.each(operations)(
		'%s: an error with the task where it is completed with neither',
		async (_name, parameters) => {
			onCompleted((body) => {
				delete body.image_url;
				Object.assign(body.result as IDataObject, { data: [] });
			});
			const error = shown(await story.imageError(parameters));
			const id = story.gateway.tasks[0]?.id;
			expect(error.message).toBe('The image task is completed, but names no picture');
			expect(error.description).toContain(`Task ID: ${id}.`);
			expect(error.context.details).toMatchObject({ task_id: id, retryable: false });
			expect(story.gateway.storageRequests).toHaveLength(0);
		},
	);
});

test('over all stories of this file no task was submitted twice, and none was lost', () => {
	expect(books.problems).toEqual([]);
	expect(books.accepted).toBeGreaterThan(40);
});
