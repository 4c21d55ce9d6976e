import { PNG } from 'pngjs';
import { sizeOf, type FormRecord } from '../../gateway';
import { storeBinaryOnDisk } from '../../scripts/engine/index';
import { editImage, file, hash, kept, reply, sourceFiles, sourceUrls } from './arrange';
import { useHarness } from './arrange';
import { checkingTasks, expectImages } from './image.arrange';

const harness = useHarness(checkingTasks);

/** A PNG of one color. */
function pngOf(...color: number[]): Buffer {
	const png = new PNG({ width: 20, height: 20 });
	for (let at = 0; at < png.data.length; at += 4) png.data.set(color, at);
	return PNG.sync.write(png, { colorType: 6 });
}

const RED = pngOf(255, 0, 0, 255);
const BLUE = pngOf(0, 0, 255, 255);
const MASK = pngOf(0, 0, 0, 0);

const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex');
const WEBP = Buffer.from('RIFF\x10\0\0\0WEBPVP8 \0\0\0\0', 'latin1');
const GIF = Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1');

/** Parameters of Image → Edit, of files of the item. */
const editFiles = (given: object) => editImage({ ...sourceFiles('data'), ...given });

const edits = () => harness.gateway.requests.filter(({ route }) => route === 'edits');
const form = () => edits()[0]?.body as FormRecord;

/** Each file of the form: its field, name, type and bytes. */
const sentFiles = () =>
	form().files.map((one) => [one.field, one.fileName, one.mimeType, one.sha256]);

describe('The form of an edit', () => {
	test('has the file in the field data, and the edited image comes back', async () => {
		const given = [{ json: {}, binary: { data: file(RED, 'Schiff "blau" – лодка.png') } }];
		const parameters = editFiles({ options: { size: '40x20', n: 2 } });
		const { items } = await harness.image(parameters, { items: given });
		const type = expect.stringMatching(/^multipart\/form-data; boundary=/) as string;
		const headers = { 'content-type': type, 'content-length': String(edits()[0]?.rawLength) };
		expect(edits()).toMatchObject([{ method: 'POST', path: '/v1/images/edits/async', headers }]);
		const model = 'aurora-image-1';
		const prompt = 'More light';
		expect(form().fields).toEqual({ model, prompt, size: '40x20', n: '2' });
		const name = expect.stringMatching(/^Schiff .*blau.* – лодка\.png$/) as string;
		expect(sentFiles()).toEqual([['image', name, 'image/png', hash(RED)]]);
		const [png] = await expectImages(items, [prompt, prompt]);
		expect(sizeOf(png!)).toEqual({ width: 40, height: 20 });
		expect(items[0]).toMatchObject({ json: { status: 'completed', model, prompt } });
	});

	test('has several files in their order, each with its own name and the type of its bytes', async () => {
		const binary = {
			...{ a: file(RED, 'a.png', 'application/octet-stream'), b: file(JPEG, 'photo.png') },
			...{ c: file(WEBP, 'c.webp', 'image/webp'), d: file(GIF, 'd', 'text/plain') },
			hole: file(MASK, 'hole.png'),
		};
		const options = {
			maskBinaryPropertyName: 'hole',
			quality: 'high',
			extraBody: '{ "meta": { "tags": ["a"] }, "prompt": "Rather this" }',
		};
		const names = ['b', 'a', '={{ Object.keys($binary).slice(2, 4) }}'];
		const items = [{ json: {}, binary }];
		await harness.image(editFiles({ ...sourceFiles(...names), options }), { items });
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
		const items = [{ json: {}, binary: { a: file(RED), b: file(BLUE), hole: file(MASK) } }];
		await harness.image(editFiles({ ...sourceFiles('a', 'b'), options }), { items });
		expect(form().files).toHaveLength(3);
		expect(harness.bodies('edits')).toEqual(Array(3).fill(form()));
		expect(harness.gateway.tasks).toHaveLength(1);
	});
});

test('an edit of addresses is JSON, and the node fetches nothing itself', async () => {
	const dataUrl = `data:image/png;base64,${RED.toString('base64')}`;
	const address = 'https://a.example/1.png?size=1,2';
	const list = `={{ ["${dataUrl}", "${address}"] }}`;
	const maskUrl = 'https://a.example/mask.png';
	const options = { size: '40x20', maskUrl };
	const given = { ...sourceUrls(address, list), waitForCompletion: false, options };
	await harness.image(editImage(given));
	const { headers, body } = edits()[0]!;
	expect(headers['content-type']).toMatch(/^application\/json/);
	const all = [maskUrl, address, dataUrl, address];
	const [mask, ...images] = all.map((image_url) => ({ image_url }));
	const sent = { model: 'aurora-image-1', prompt: 'More light', images, mask, size: '40x20' };
	expect(body).toEqual(sent);
	expect(harness.gateway.count()).toBe(1);
});

test('files on disk may be larger than the 10 MB that the HTTP library takes without being asked', async () => {
	const storage = await storeBinaryOnDisk();
	const type = 'image/jpeg';
	const large = Buffer.concat([JPEG, Buffer.alloc(11 * 2 ** 20, 7)]);
	const [one, two] = [await kept(large, 'a.jpg', type), await kept(JPEG, 'b.jpg', type)];
	const given = { ...sourceFiles('one', 'two'), waitForCompletion: false };
	await harness.image(editFiles(given), { items: [{ json: {}, binary: { one, two } }] });
	expect(form().files.map(({ sha256 }) => sha256)).toEqual([hash(large), hash(JPEG)]);
	await storage.remove();
});
