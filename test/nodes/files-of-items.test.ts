import type { IDataObject } from 'n8n-workflow';
import { PNG } from 'pngjs';
import { drawImage, type FormRecord } from '../../gateway';
import { storeBinaryInMemory, storeBinaryOnDisk } from '../../scripts/engine/index';
import { CONTINUE, hash, itemsOf, kept, shown, useHarness } from './arrange';
import { createResponse, editImage, sourceFiles } from './parameters';

const harness = useHarness();

const pngOf = (prompt: string) => {
	const drawn = drawImage({ prompt, index: 0, width: 24, height: 16 });
	// With an alpha channel, as a mask needs it.
	const png = PNG.sync.write(PNG.sync.read(drawn), { colorType: 6 });
	return { png, url: `data:image/png;base64,${png.toString('base64')}` };
};
const [boat, tree] = [pngOf('boat'), pngOf('tree')];

/** Parameters of Response → Create, with a message for each reference. */
function looking(...references: string[]) {
	const image = { role: 'user', type: 'image' };
	const message = references.map((binaryPropertyNames) => ({ ...image, binaryPropertyNames }));
	return createResponse({ inputType: 'messages', messages: { message } });
}

/** Parameters of Image → Edit, of an image and a mask by the same reference. */
const editing = (reference: string) =>
	editImage({
		...sourceFiles(reference),
		waitForCompletion: false,
		options: { maskBinaryPropertyName: reference },
	});

/** The images of each message of each response that was asked for. */
const seen = () => {
	const bodies = harness.bodies('responses') as Array<{ input: Array<{ content: IDataObject[] }> }>;
	const urls = (content: IDataObject[]) => content.map(({ image_url }) => image_url);
	return bodies.map(({ input }) => input.map(({ content }) => urls(content)));
};

const uploaded = () => {
	const forms = harness.bodies('edits') as unknown as FormRecord[];
	return forms.map(({ files }) => files.map(({ sha256 }) => sha256));
};

describe.each([
	['in memory', storeBinaryInMemory],
	['on disk', storeBinaryOnDisk],
])('A file that n8n keeps %s is found by', (_, store) => {
	let storage: Awaited<ReturnType<typeof store>>;
	beforeEach(async () => void (storage = await store()));
	afterEach(async () => await storage.remove());

	test('its name, an expression of it, or as the file itself, in the item and in the node before', async () => {
		const references = [
			...['photo', '={{ "photo" }}', '={{ $binary.photo }}', '={{ $input.item.binary.photo }}'],
			...['={{ $("Input").item.binary.photo }}', '={{ $node["Input"].binary.photo }}'],
			'={{ Object.values($input.item.binary) }}',
		];
		const binary = { other: await kept(tree.png), photo: await kept(boat.png, 'b.png') };
		await harness.text(looking(...references), { items: [{ json: {}, binary }] });
		expect(seen()).toEqual([[...Array<unknown>(6).fill([boat.url]), [tree.url, boat.url]]]);
	});

	test('$binary of each item, also where Image → Edit uploads it', async () => {
		const items = await Promise.all(
			[boat, tree].map(async ({ png }) => ({ json: {}, binary: { photo: await kept(png) } })),
		);
		await harness.image(editing('={{ $binary.photo }}'), { items });
		const expected = [boat, tree].map(({ png }) => [hash(png), hash(png)]);
		expect(uploaded().sort()).toEqual(expected.sort());
	});

	test('its path in the JSON of its own item, where n8n keeps it there', async () => {
		const photos = await Promise.all([boat, tree].map(async ({ png }) => await kept(png)));
		const items = itemsOf(...photos.map((one) => ({ photos: { one: { ...one } } })));
		const given = { items, binaryMode: 'combined' } as const;
		await harness.text(looking('photos.one', '={{ $json.photos.one }}'), given);
		const expected = [boat, tree].map(({ url }) => [[url], [url]]);
		expect(seen()).toEqual(expect.arrayContaining(expected));
		await harness.image(editing('photos.one'), { ...given, items: items.slice(0, 1) });
		expect(uploaded()).toEqual([[hash(boat.png), hash(boat.png)]]);
	});
});

describe('A file in memory, of which $binary has no bytes,', () => {
	const WITHOUT_BYTES = 'Input Binary Field got the file "a.png" without its bytes';

	test('is sent where several fields hold that very file', async () => {
		const photo = await kept(boat.png);
		const items = [{ json: {}, binary: { photo, copy: { ...photo } } }];
		await harness.text(looking('={{ $binary.copy }}'), { items });
		expect(seen()).toEqual([[[boat.url]]]);
	});

	test('is refused where it may be one of several files: none is sent by chance', async () => {
		const photo = await kept(boat.png);
		const other = { ...photo, data: tree.png.toString('base64') };
		const items = [{ json: {}, binary: { photo, other } }];
		const error = shown(await harness.textError(looking('={{ $binary.photo }}'), { items }));
		expect(error.message).toBe(`Message 1: ${WITHOUT_BYTES}`);
		expect(error.description).toBe(
			'n8n leaves the bytes out of $binary. Write the name of the field, such as photo, or the file itself: {{ $input.item.binary.photo }}.',
		);
		expect(harness.gateway.count()).toBe(0);
	});

	test('is refused where the item does not have it', async () => {
		const { data, ...photo } = await kept(boat.png);
		const json = { photo: photo as unknown as IDataObject };
		const items = [{ json, binary: { photo: { ...photo, data, fileName: 'b.png' } } }, { json }];
		const run = await harness.image(editing('={{ $json.photo }}'), { items, ...CONTINUE });
		const error = `Image 1: ${WITHOUT_BYTES}`;
		expect(run.items.map(({ json: { error: told } }) => told)).toEqual([error, error]);
		expect(harness.gateway.count()).toBe(0);
	});
});
