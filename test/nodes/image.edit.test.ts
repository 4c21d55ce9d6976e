import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import { createHash } from 'node:crypto';
import { PNG } from 'pngjs';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { sizeOf, type FormRecord } from '../../gateway';
import {
	prepareNode,
	readBinary,
	runNode,
	storeBinaryInMemory,
	storeBinaryOnDisk,
	type RunNodeOptions,
} from '../../scripts/engine/index';
import { editImage, generateImage, imageNode, startStory, type Story } from './arrange';
import { checkingTasks, expectPictures } from './image.arrange';

let story: Story;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = checkingTasks(await startStory());
});
afterEach(async () => await story.close());

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

const edits = () => story.gateway.requests.filter(({ route }) => route === 'edits');
const form = () => edits()[0]?.body as FormRecord;

const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const dataUrlOf = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;

describe('The form of an edit', () => {
	test('has the file in the field data, and the edited picture comes back', async () => {
		const run = await story.image(editFiles({ options: { size: '40x20', n: 2 } }), {
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
				task_id: story.gateway.tasks[0]?.id,
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
		await story.image(editFiles({ imageBinaryPropertyNames: 'b, a,c,d', options }), {
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

	test('has each item’s own file', async () => {
		await story.image(editFiles({ waitForCompletion: false, options: { concurrency: 1 } }), {
			items: [withFiles({ data: file(RED) }), withFiles({ data: file(BLUE) })],
		});
		const sent = edits().map(({ body }) => (body as FormRecord).files[0]?.sha256);
		expect(sent).toEqual([hash(RED), hash(BLUE)]);
	});

	test('is the whole of it again after 429 and 503', async () => {
		let refusals = 2;
		story.gateway.settings.intercept = ({ route, stage }) =>
			route === 'edits' && stage === 'before' && refusals > 0
				? { kind: 'reply', status: refusals-- === 2 ? 429 : 503, headers: { 'Retry-After': '1' } }
				: undefined;
		const parameters = editFiles({
			imageBinaryPropertyNames: 'a, b',
			options: { maskBinaryPropertyName: 'hole', quality: 'low' },
		});
		await story.image(parameters, {
			items: [withFiles({ a: file(RED), b: file(BLUE), hole: file(MASK) })],
		});

		expect(form().files).toHaveLength(3);
		expect(edits().map(({ body }) => body)).toEqual(Array(3).fill(form()));
		expect(story.gateway.tasks).toHaveLength(1);
	});

	test('carries a file of 11 MB from disk whole, beside another', async () => {
		// More than the 10 MB that follow-redirects takes without being asked.
		const storage = await storeBinaryOnDisk();
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
			const large = Buffer.concat([JPEG, Buffer.alloc(11 * 2 ** 20, 7)]);
			const photo = async (bytes: Buffer, name: string) =>
				await story.time.drive(helpers.prepareBinaryData(bytes, name, 'image/jpeg'));
			const binary = { one: await photo(large, 'one.jpg'), two: await photo(JPEG, 'two.jpg') };
			await runNode({ ...options, items: [{ json: {}, binary }] });

			expect(form().files.map(({ size, sha256 }) => [size, sha256])).toEqual([
				[large.length, hash(large)],
				[JPEG.length, hash(JPEG)],
			]);
		} finally {
			await storage.remove();
		}
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
	const run = await story.image(parameters);

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
		task_id: story.gateway.tasks[0]?.id,
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
		const run = await story.image(parameters, { items: [withFiles(binary)] });

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
		await story.image(editFiles({ imageBinaryPropertyNames }), { items: [item], binaryMode });
		expect(form().files.map(({ field, fileName, sha256 }) => [field, fileName, sha256])).toEqual([
			['image', 'photo.png', hash(RED)],
		]);
	});

	test.each<[string, string, 'separate' | 'combined']>([
		// In memory n8n leaves the bytes out of what an expression sees.
		['what an expression gives', '={{ $binary.data }}', 'separate'],
		['a field of the JSON', 'data', 'combined'],
	])('on disk, also for the mask: %s', async (_name, name, binaryMode) => {
		const storage = await storeBinaryOnDisk();
		try {
			const { context } = await story.image(generateImage({ prompt: 'Setup' }));
			const stored = await context.helpers.prepareBinaryData(MASK, 'photo.png', 'image/png');
			expect(stored.id).toMatch(/^filesystem/);
			const item = binaryMode === 'combined' ? { data: { ...stored } } : {};
			const parameters = editFiles({
				imageBinaryPropertyNames: name,
				options: { maskBinaryPropertyName: name },
			});
			await story.image(parameters, {
				items: [{ json: item, ...(binaryMode === 'separate' && { binary: { data: stored } }) }],
				binaryMode,
			});
			expect(form().files.map(({ field, fileName, sha256 }) => [field, fileName, sha256])).toEqual([
				['image', 'photo.png', hash(MASK)],
				['mask', 'photo.png', hash(MASK)],
			]);
		} finally {
			await storage.remove();
		}
	});
});

test('an item whose files cannot be sent names field and fault, and only the others are sent', async () => {
	const text = file(Buffer.from('words'), 'boat.png');
	const rows: Array<[INodeExecutionData, string]> = [
		[
			withFiles({ other: file(RED) }),
			'Input Binary Field "data" is not a binary field of the item',
		],
		[{ json: {} }, 'Input Binary Field "data" is not a binary field of the item'],
		[
			withFiles({ data: file(RED) }, { names: 'data, second' }),
			'Input Binary Field "second" is not a binary field of the item',
		],
		[withFiles({}, { names: ' , ' }), 'Input Binary Field names no binary field'],
		[withFiles({ data: text }), 'Input Binary Field "data" is not an image'],
		[withFiles({ data: file(Buffer.alloc(0)) }), 'Input Binary Field "data" is empty'],
		[
			withFiles({ data: file(Buffer.from('II*\0rest of it')) }),
			'Input Binary Field "data" is a file of type image/tiff',
		],
		[
			withFiles({ data: file(RED) }, { mask: 'hole' }),
			'Mask Binary Field "hole" is not a binary field of the item',
		],
		[
			withFiles({ data: file(RED), hole: file(Buffer.alloc(0)) }, { mask: 'hole' }),
			'Mask Binary Field "hole" is empty',
		],
		[
			withFiles({ data: file(RED), hole: file(OPAQUE) }, { mask: 'hole' }),
			'Mask Binary Field "hole" is a PNG without transparency',
		],
		[
			withFiles({ data: file(RED), hole: file(JPEG) }, { mask: 'hole' }),
			'Mask Binary Field "hole" is not a PNG',
		],
		[
			withFiles({ data: file(RED), hole: text }, { mask: 'hole' }),
			'Mask Binary Field "hole" is not a PNG',
		],
		[
			withFiles({ data: file(RED), hole: file(MASK) }, { mask: 'hole, data' }),
			'Mask Binary Field names several',
		],
	];
	const run = await story.image(
		editFiles({
			imageBinaryPropertyNames: '={{ $json.names ?? "data" }}',
			waitForCompletion: false,
			options: { maskBinaryPropertyName: '={{ $json.mask ?? "" }}' },
		}),
		{
			items: [...rows.map(([item]) => item), withFiles({ data: file(RED) })],
			onError: 'continueRegularOutput',
		},
	);

	expect(run.items.map(({ json }) => json.error)).toEqual([
		...rows.map(([, message]) => message),
		undefined,
	]);
	expect(run.items.map(({ pairedItem }) => pairedItem)).toEqual(
		run.items.map((_item, item) => ({ item })),
	);
	expect(run.items.at(-1)?.json.status).toBe('processing');
	expect(story.gateway.count()).toBe(1);
});

test.each<[string, IDataObject, string]>([
	[
		'a word as image',
		{ imageUrls: 'boat.png' },
		'Image URLs holds no address of an image at position 1',
	],
	[
		'a word as mask',
		{ options: { maskUrl: 'hole' } },
		'Mask URL holds no address of an image at position 1',
	],
])('%s is no address: nothing is sent', async (_name, given, message) => {
	const { error } = await story.imageError(editImage(given));
	expect(error.message).toBe(message);
	expect(story.gateway.count()).toBe(0);
});
