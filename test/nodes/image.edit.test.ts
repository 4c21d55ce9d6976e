import { createHash } from 'node:crypto';
import type { IBinaryData, IDataObject } from 'n8n-workflow';
import { PNG } from 'pngjs';
import { sizeOf, type FormRecord } from '../../gateway';
import {
	editImage,
	file,
	getTask,
	reply,
	sourceFiles,
	sourceUrls,
	useDisk,
	useHarness,
} from './arrange';
import { checkingTasks, expectPictures } from './image.arrange';

const harness = useHarness(checkingTasks);

/** A PNG of one color. */
function picture(...color: number[]): Buffer {
	const png = new PNG({ width: 20, height: 20 });
	for (let at = 0; at < png.data.length; at += 4) png.data.set(color, at);
	return PNG.sync.write(png, { colorType: 6 });
}

const RED = picture(255, 0, 0, 255);
const BLUE = picture(0, 0, 255, 255);
const MASK = picture(0, 0, 0, 0);
const OPAQUE = PNG.sync.write(PNG.sync.read(RED), { colorType: 2 });
const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex');
const WEBP = Buffer.from('RIFF\x10\0\0\0WEBPVP8 \0\0\0\0', 'latin1');
const GIF = Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1');
const TIFF = Buffer.from('II*\0rest of it');

/** Parameters of Image → Edit, of files of the item. */
const editFiles = (given: IDataObject = {}) => editImage({ ...sourceFiles('data'), ...given });

const edits = () => harness.gateway.requests.filter(({ route }) => route === 'edits');
const form = () => edits()[0]?.body as FormRecord;
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Each file of the form: its field, name, type and bytes. */
const sentFiles = () =>
	form().files.map(({ field, fileName, mimeType, sha256 }) => [field, fileName, mimeType, sha256]);

describe('The form of an edit', () => {
	test('has the file in the field data, and the edited picture comes back', async () => {
		const { items } = await harness.image(editFiles({ options: { size: '40x20', n: 2 } }), {
			items: [{ json: {}, binary: { data: file(RED, 'Schiff "blau" – лодка.png') } }],
		});
		expect(edits()).toMatchObject([{ method: 'POST', path: '/v1/images/edits/async' }]);
		expect(edits()[0]?.headers).toMatchObject({
			'content-type': expect.stringMatching(/^multipart\/form-data; boundary=/) as string,
			'content-length': String(edits()[0]?.rawLength),
		});
		const model = 'aurora-image-1';
		const prompt = 'More light';
		expect(form().fields).toEqual({ model, prompt, size: '40x20', n: '2' });
		const name = expect.stringMatching(/^Schiff .*blau.* – лодка\.png$/) as string;
		expect(sentFiles()).toEqual([['image', name, 'image/png', hash(RED)]]);
		const [png] = await expectPictures(items, [prompt, prompt]);
		expect(sizeOf(png!)).toEqual({ width: 40, height: 20 });
		expect(items[0]).toMatchObject({ json: { status: 'completed', model, prompt } });
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
		await harness.image(editFiles({ ...sourceFiles('b', 'a', 'c', 'd'), options }), {
			items: [{ json: {}, binary }],
		});
		expect(sentFiles()).toEqual([
			['image[]', 'photo.jpg', 'image/jpeg', hash(JPEG)],
			['image[]', 'a.png', 'image/png', hash(RED)],
			['image[]', 'c.webp', 'image/webp', hash(WEBP)],
			['image[]', 'd.gif', 'image/gif', hash(GIF)],
			['mask', 'hole.png', 'image/png', hash(MASK)],
		]);
		const prompt = 'Rather this';
		const meta = '{"tags":["a"]}';
		expect(form().fields).toEqual({ model: 'aurora-image-1', prompt, quality: 'high', meta });
	});

	test('is the whole of it again after 429 and 503', async () => {
		const refusals = [429, 503];
		harness.gateway.settings.intercept = ({ route, stage }) => {
			if (route !== 'edits' || stage !== 'before' || refusals.length === 0) return undefined;
			return reply(refusals.shift()!, '', { 'Retry-After': '1' });
		};
		const options = { maskBinaryPropertyName: 'hole' };
		await harness.image(editFiles({ ...sourceFiles('a', 'b'), options }), {
			items: [{ json: {}, binary: { a: file(RED), b: file(BLUE), hole: file(MASK) } }],
		});
		expect(form().files).toHaveLength(3);
		expect(harness.bodies('edits')).toEqual(Array(3).fill(form()));
		expect(harness.gateway.tasks).toHaveLength(1);
	});
});

test('an edit of addresses is JSON, and the node fetches nothing itself', async () => {
	const dataUrl = `data:image/png;base64,${RED.toString('base64')}`;
	const address = 'https://a.example/1.png?size=1,2';
	const maskUrl = 'https://a.example/mask.png';
	const options = { size: '40x20', maskUrl };
	await harness.image(
		editImage({ ...sourceUrls(address, dataUrl), waitForCompletion: false, options }),
	);
	const { headers, body } = edits()[0]!;
	expect(headers['content-type']).toMatch(/^application\/json/);
	expect(body).toEqual({
		model: 'aurora-image-1',
		prompt: 'More light',
		images: [{ image_url: address }, { image_url: dataUrl }],
		mask: { image_url: maskUrl },
		size: '40x20',
	});
	expect(harness.gateway.count()).toBe(1);
});

describe('The file of an edit, and its mask, may be', () => {
	useDisk();

	/** Puts a file into n8n's storage. */
	async function store(bytes: Buffer, name: string): Promise<IBinaryData> {
		const onError = 'continueRegularOutput';
		const { context } = await harness.image(getTask('imgtask_1'), { onError });
		return await context.helpers.prepareBinaryData(bytes, name, 'image/png');
	}

	test.each([
		['separate', 'in memory', 'any of the item, by an expression', '={{ Object.keys($binary) }}'],
		// In memory n8n leaves the bytes out of what an expression sees.
		['separate', 'on disk', 'what an expression gives', '={{ $binary.photo }}'],
		['combined', 'in memory', 'deep in the JSON', 'form.photo'],
		['combined', 'on disk', 'deep in the JSON', 'form.photo'],
		['combined', 'in memory', 'what an expression gives', '={{ $json.form.photo }}'],
	] as const)('%s, %s: %s', async (binaryMode, place, _name, name) => {
		const photo = place === 'on disk' ? await store(MASK, 'photo.png') : file(MASK, 'photo.png');
		const inJson = { json: { form: { photo: { ...photo } } } };
		await harness.image(
			editFiles({ ...sourceFiles(name), options: { maskBinaryPropertyName: name } }),
			{ items: [binaryMode === 'combined' ? inJson : { json: {}, binary: { photo } }], binaryMode },
		);
		expect(sentFiles()).toEqual([
			['image', 'photo.png', 'image/png', hash(MASK)],
			['mask', 'photo.png', 'image/png', hash(MASK)],
		]);
	});

	test('larger than the 10 MB that the HTTP library takes without being asked', async () => {
		const large = Buffer.concat([JPEG, Buffer.alloc(11 * 2 ** 20, 7)]);
		const binary = { one: await store(large, 'one.jpg'), two: await store(JPEG, 'two.jpg') };
		const given = { ...sourceFiles('one', 'two'), waitForCompletion: false };
		await harness.image(editFiles(given), { items: [{ json: {}, binary }] });
		expect(form().files.map(({ sha256 }) => sha256)).toEqual([hash(large), hash(JPEG)]);
	});
});

test('an item whose files cannot be sent names field and fault, and only the others are sent', async () => {
	const data = file(RED);
	const rows: Array<[binary: Record<string, IBinaryData>, IDataObject, problem?: string]> = [
		[
			{ data },
			{ names: ['data', 'b'] },
			'Image 1: Input Binary Field "b" is not a binary field of the item',
		],
		[{ data: file(TIFF) }, {}, 'Image 1: Input Binary Field "data" is a file of type image/tiff'],
		[{ data }, { mask: 'hole' }, 'Mask Binary Field "hole" is not a binary field of the item'],
		[{ data, hole: file(JPEG) }, { mask: 'hole' }, 'Mask Binary Field "hole" is not a PNG'],
		[
			{ data, hole: file(OPAQUE) },
			{ mask: 'hole' },
			'Mask Binary Field "hole" is a PNG without transparency',
		],
		[{ data }, {}],
	];
	const parameters = editFiles({
		...sourceFiles('={{ $json.names ?? "data" }}'),
		waitForCompletion: false,
		options: { maskBinaryPropertyName: '={{ $json.mask ?? "" }}' },
	});
	const { items } = await harness.image(parameters, {
		items: rows.map(([binary, json]) => ({ json, binary })),
		onError: 'continueRegularOutput',
	});
	expect(items.map(({ json }) => json.error)).toEqual(rows.map(([, , problem]) => problem));
	expect(items.at(-1)?.json.status).toBe('processing');
	expect(harness.gateway.count()).toBe(1);
	expect(sentFiles()).toMatchObject([['image', 'file.png', 'image/png', hash(RED)]]);
});
