import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import { createHash } from 'node:crypto';
import { PNG } from 'pngjs';
import { sizeOf, type FormRecord } from '../../gateway';
import {
	readBinary,
	storeBinaryInMemory,
	storeBinaryOnDisk,
	type BinaryStorage,
} from '../../scripts/engine/index';
import { editImage, getTask, startHarness, type Harness } from './arrange';
import { checkingTasks, expectPictures } from './image.arrange';

let harness: Harness;
beforeEach(async () => {
	await storeBinaryInMemory();
	harness = checkingTasks(await startHarness());
});
afterEach(async () => await harness.close());

/** A PNG whose left half has this color, as its right half where no other is given. */
function picture(left: number[], right = left): Buffer {
	const png = new PNG({ width: 20, height: 20 });
	for (let at = 0; at < png.data.length; at += 4) {
		png.data.set((at / 4) % png.width < png.width / 2 ? left : right, at);
	}
	return PNG.sync.write(png, { colorType: 6 });
}

const RED = picture([255, 0, 0, 255]);
const BLUE = picture([0, 0, 255, 255]);
/** A mask by which the left half is edited. */
const MASK = picture([0, 0, 0, 0], [0, 0, 0, 255]);
const OPAQUE = PNG.sync.write(PNG.sync.read(RED), { colorType: 2 });
const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex');
const WEBP = Buffer.from('RIFF\x10\0\0\0WEBPVP8 \0\0\0\0', 'latin1');
const GIF = Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1');

/** A file in an item, as n8n keeps it in memory. */
const file = (bytes: Buffer, fileName = 'boat.png', mimeType = 'image/png'): IBinaryData => ({
	data: bytes.toString('base64'),
	mimeType,
	fileName,
});

const withFiles = (
	binary: Record<string, IBinaryData>,
	json: IDataObject = {},
): INodeExecutionData => ({ json, binary });

/** Parameters of Image → Edit, of files of the item. */
const editFiles = (given: IDataObject = {}) =>
	editImage({ imageSource: 'binary', imageUrls: '', ...given });

const edits = () => harness.gateway.requests.filter(({ route }) => route === 'edits');
const form = () => edits()[0]?.body as FormRecord;

const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const dataUrlOf = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;

describe('The form of an edit', () => {
	test('has the file in the field data, and the edited picture comes back', async () => {
		const run = await harness.image(editFiles({ options: { size: '40x20', n: 2 } }), {
			items: [withFiles({ data: file(RED, 'Schiff "blau" – лодка.png') })],
		});

		expect(edits()).toHaveLength(1);
		expect(edits()[0]).toMatchObject({ method: 'POST', path: '/v1/images/edits/async' });
		expect(edits()[0]?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
		expect(Number(edits()[0]?.headers['content-length'])).toBe(edits()[0]?.rawLength);
		expect(form()).toEqual({
			fields: { model: 'aurora-image-1', prompt: 'More light', size: '40x20', n: '2' },
			files: [
				{
					field: 'image',
					fileName: expect.stringMatching(/^Schiff .*blau.* – лодка\.png$/) as string,
					mimeType: 'image/png',
					size: RED.length,
					sha256: hash(RED),
				},
			],
		});
		const [png] = await expectPictures(run.items, ['More light', 'More light']);
		expect(sizeOf(png!)).toEqual({ width: 40, height: 20 });
		expect(run.items[0]).toMatchObject({
			json: {
				task_id: harness.gateway.tasks[0]?.id,
				status: 'completed',
				model: 'aurora-image-1',
				prompt: 'More light',
			},
			pairedItem: { item: 0 },
		});
	});

	test('has several files in their order, each with its own name and the type of its bytes', async () => {
		const binary = {
			a: file(RED, 'a.png', 'application/octet-stream'),
			b: file(JPEG, 'photo.png'),
			c: file(WEBP, 'c.webp', 'image/webp'),
			d: file(GIF, 'd', 'text/plain'),
			hole: file(MASK, 'hole.png'),
		};
		const options = {
			maskBinaryPropertyName: 'hole',
			quality: 'high',
			extraBody: '{ "meta": { "tags": ["a"] }, "prompt": "Rather this" }',
		};
		await harness.image(editFiles({ imageBinaryPropertyNames: 'b, a,c,d', options }), {
			items: [withFiles(binary)],
		});

		expect(
			form().files.map(({ field, fileName, mimeType, sha256 }) => [
				field,
				fileName,
				mimeType,
				sha256,
			]),
		).toEqual([
			['image[]', 'photo.png', 'image/jpeg', hash(JPEG)],
			['image[]', 'a.png', 'image/png', hash(RED)],
			['image[]', 'c.webp', 'image/webp', hash(WEBP)],
			['image[]', 'd', 'image/gif', hash(GIF)],
			['mask', 'hole.png', 'image/png', hash(MASK)],
		]);
		expect(form().fields).toEqual({
			model: 'aurora-image-1',
			prompt: 'Rather this',
			quality: 'high',
			meta: '{"tags":["a"]}',
		});
	});

	test('is the whole of it again after 429 and 503', async () => {
		let refusals = 2;
		harness.gateway.settings.intercept = ({ route, stage }) =>
			route === 'edits' && stage === 'before' && refusals > 0
				? { kind: 'reply', status: refusals-- === 2 ? 429 : 503, headers: { 'Retry-After': '1' } }
				: undefined;
		const parameters = editFiles({
			imageBinaryPropertyNames: 'a, b',
			options: { maskBinaryPropertyName: 'hole', quality: 'low' },
		});
		await harness.image(parameters, {
			items: [withFiles({ a: file(RED), b: file(BLUE), hole: file(MASK) })],
		});

		expect(form().files).toHaveLength(3);
		expect(edits().map(({ body }) => body)).toEqual(Array(3).fill(form()));
		expect(harness.gateway.tasks).toHaveLength(1);
	});
});

test('an edit of addresses is JSON, and the node fetches nothing itself', async () => {
	const imageUrls = `https://a.example/1.png?size=1,2\n${dataUrlOf(RED)}`;
	const maskUrl = 'https://a.example/mask.png';
	const parameters = editImage({
		imageUrls,
		waitForCompletion: false,
		options: { size: '40x20', maskUrl },
	});
	const run = await harness.image(parameters);

	expect(edits()[0]).toMatchObject({ method: 'POST', path: '/v1/images/edits/async' });
	expect(edits()[0]?.headers['content-type']).toMatch(/^application\/json/);
	expect(edits()[0]?.body).toEqual({
		model: 'aurora-image-1',
		prompt: 'More light',
		images: [{ image_url: 'https://a.example/1.png?size=1,2' }, { image_url: dataUrlOf(RED) }],
		mask: { image_url: maskUrl },
		size: '40x20',
	});
	expect(run.items[0]?.json).toMatchObject({
		task_id: harness.gateway.tasks[0]?.id,
		status: 'processing',
		retry_after: 3,
	});
});

test.each<[string, IDataObject, Record<string, IBinaryData>]>([
	[
		'uploaded files',
		editFiles({
			imageBinaryPropertyNames: 'b, a',
			options: { size: '40x40', maskBinaryPropertyName: 'hole' },
		}),
		{ a: file(BLUE), b: file(RED), hole: file(MASK) },
	],
	[
		'data URLs',
		editImage({
			imageUrls: `${dataUrlOf(RED)}\n${dataUrlOf(BLUE)}`,
			options: { size: '40x40', maskUrl: dataUrlOf(MASK) },
		}),
		{},
	],
])(
	'the edited picture is made from %s in their order, new where the mask is transparent',
	async (_name, parameters, binary) => {
		const run = await harness.image(parameters, { items: [withFiles(binary)] });

		const png = PNG.sync.read(await readBinary(run.items[0]?.binary?.data));
		const colorAt = (x: number) => [...png.data.subarray((20 * 40 + x) * 4).subarray(0, 3)];
		expect(colorAt(4)).not.toEqual([255, 0, 0]);
		expect(colorAt(36)).toEqual([0, 0, 255]);
	},
);

describe('The file of an edit may be', () => {
	const photo = file(RED, 'photo.png');

	test.each<[string, string, INodeExecutionData, 'separate' | 'combined']>([
		[
			'any of the item, by an expression',
			'={{ Object.keys($binary) }}',
			withFiles({ photo }),
			'separate',
		],
		['deep in the JSON', 'form.photo', { json: { form: { photo: { ...photo } } } }, 'combined'],
		[
			'what an expression gives from the JSON',
			'={{ $json.photo }}',
			{ json: { photo: { ...photo } } },
			'combined',
		],
	])('in memory: %s', async (_name, imageBinaryPropertyNames, item, binaryMode) => {
		await harness.image(editFiles({ imageBinaryPropertyNames }), { items: [item], binaryMode });
		expect(form().files.map(({ field, fileName, sha256 }) => [field, fileName, sha256])).toEqual([
			['image', 'photo.png', hash(RED)],
		]);
	});

	describe('on disk', () => {
		let storage: BinaryStorage;
		beforeEach(async () => {
			storage = await storeBinaryOnDisk();
		});
		afterEach(async () => await storage.remove());

		/** Puts a file into n8n's storage. */
		async function store(bytes: Buffer, name: string): Promise<IBinaryData> {
			const { context } = await harness.image(getTask('imgtask_1'), {
				onError: 'continueRegularOutput',
			});
			return await context.helpers.prepareBinaryData(bytes, name, 'image/png');
		}

		test.each<[string, string, 'separate' | 'combined']>([
			// In memory n8n leaves the bytes out of what an expression sees.
			['what an expression gives', '={{ $binary.data }}', 'separate'],
			['a field of the JSON', 'data', 'combined'],
		])('%s, also for the mask', async (_name, name, binaryMode) => {
			const data = await store(MASK, 'photo.png');
			const item =
				binaryMode === 'combined' ? { json: { data: { ...data } } } : withFiles({ data });
			const options = { maskBinaryPropertyName: name };
			await harness.image(editFiles({ imageBinaryPropertyNames: name, options }), {
				items: [item],
				binaryMode,
			});
			expect(form().files.map(({ field, fileName, sha256 }) => [field, fileName, sha256])).toEqual([
				['image', 'photo.png', hash(MASK)],
				['mask', 'photo.png', hash(MASK)],
			]);
		});

		test('larger than the 10 MB that the HTTP library takes without being asked', async () => {
			const large = Buffer.concat([JPEG, Buffer.alloc(11 * 2 ** 20, 7)]);
			const binary = { one: await store(large, 'one.jpg'), two: await store(JPEG, 'two.jpg') };
			await harness.image(
				editFiles({ imageBinaryPropertyNames: 'one, two', waitForCompletion: false }),
				{ items: [withFiles(binary)] },
			);
			expect(form().files.map(({ size, sha256 }) => [size, sha256])).toEqual([
				[large.length, hash(large)],
				[JPEG.length, hash(JPEG)],
			]);
		});
	});
});

test('an item whose files cannot be sent names field and fault, and only the others are sent', async () => {
	const red = file(RED);
	const text = file(Buffer.from('words'));
	const tiff = file(Buffer.from('II*\0rest of it'));
	const mask = { mask: 'hole' };
	const rows: Array<[Record<string, IBinaryData>, IDataObject, message: string]> = [
		[{ other: red }, {}, 'Input Binary Field "data" is not a binary field of the item'],
		[
			{ data: red },
			{ names: 'data, b' },
			'Input Binary Field "b" is not a binary field of the item',
		],
		[{ data: text }, {}, 'Input Binary Field "data" is not an image'],
		[{ data: file(Buffer.alloc(0)) }, {}, 'Input Binary Field "data" is empty'],
		[{ data: tiff }, {}, 'Input Binary Field "data" is a file of type image/tiff'],
		[{ data: red }, mask, 'Mask Binary Field "hole" is not a binary field of the item'],
		[{ data: red, hole: file(JPEG) }, mask, 'Mask Binary Field "hole" is not a PNG'],
		[
			{ data: red, hole: file(OPAQUE) },
			mask,
			'Mask Binary Field "hole" is a PNG without transparency',
		],
		[{ data: red, hole: file(MASK) }, { mask: 'hole, data' }, 'Mask Binary Field names several'],
	];
	const parameters = editFiles({
		imageBinaryPropertyNames: '={{ $json.names ?? "data" }}',
		waitForCompletion: false,
		options: { maskBinaryPropertyName: '={{ $json.mask ?? "" }}' },
	});
	const run = await harness.image(parameters, {
		items: [...rows.map(([binary, json]) => withFiles(binary, json)), withFiles({ data: red })],
		onError: 'continueRegularOutput',
	});

	expect(run.items.map(({ json }) => json.error)).toEqual([
		...rows.map(([, , message]) => message),
		undefined,
	]);
	expect(run.items.at(-1)?.json.status).toBe('processing');
	expect(form().files[0]?.sha256).toBe(hash(RED));
	expect(harness.gateway.count()).toBe(1);
});

test('a word is no address of a mask: nothing is sent', async () => {
	const { error } = await harness.imageError(editImage({ options: { maskUrl: 'hole' } }));
	expect(error.message).toBe('Mask URL holds no address of an image at position 1');
	expect(harness.gateway.count()).toBe(0);
});
