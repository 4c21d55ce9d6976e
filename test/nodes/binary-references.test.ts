import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import { drawImage } from '../../gateway';
import {
	storeBinaryInMemory,
	storeBinaryOnDisk,
	prepareNode,
	type BinaryStorage,
} from '../../scripts/engine/index';
import {
	createResponse,
	editImage,
	type Harness,
	imageNode,
	shown,
	sourceFiles,
	startHarness,
} from './arrange';

let harness: Harness;
let storage: BinaryStorage;
beforeEach(async () => {
	storage = await storeBinaryInMemory();
	harness = await startHarness();
});
afterEach(async () => {
	await harness.close();
	await storage.remove();
});

const picture = (prompt: string) => drawImage({ prompt, index: 0, width: 24, height: 16 });

/** A file as n8n's own helper keeps it, in the storage of now. */
async function kept(bytes: Buffer, name?: string): Promise<IBinaryData> {
	const { context } = prepareNode({ node: imageNode(harness.time), parameters: {} });
	return await context.helpers.prepareBinaryData(bytes, name, 'image/png');
}

/** The pictures that messages with these references sent, or the error. */
async function describePicture(
	binaryPropertyNames: string,
	items: INodeExecutionData[],
	more: IDataObject = {},
) {
	const messages = { message: [{ role: 'user', type: 'image', binaryPropertyNames }] };
	const parameters = createResponse({ inputType: 'messages', messages });
	await harness.text(parameters, { items, ...more });
	const body = harness.gateway.requests.at(-1)?.body as {
		input: Array<{ content: Array<{ image_url: string }> }>;
	};
	return body.input[0]?.content.map(({ image_url: url }) => url.slice(url.indexOf(',') + 1));
}

const base64 = (bytes: Buffer) => bytes.toString('base64');

describe.each([
	['in memory', storeBinaryInMemory],
	['on disk', storeBinaryOnDisk],
])('A file that n8n keeps %s is found by', (_, store) => {
	beforeEach(async () => {
		storage = await store();
	});

	test.each([
		['its name', 'photo'],
		['an expression of its name', '={{ "photo" }}'],
		['$binary', '={{ $binary.photo }}'],
		['$input.item.binary', '={{ $input.item.binary.photo }}'],
		['the node before', '={{ $("Input").item.binary.photo }}'],
		['the older form of the node before', '={{ $node["Input"].binary.photo }}'],
	])('%s', async (_name, reference) => {
		const [photo, other] = [picture('boat'), picture('tree')];
		const binary = { other: await kept(other, 'a.png'), photo: await kept(photo, 'b.png') };
		expect(await describePicture(reference, [{ json: {}, binary }])).toEqual([base64(photo)]);
	});

	test('$binary of each item, also where Image → Edit uploads it', async () => {
		const pictures = [picture('boat'), picture('tree')];
		const items = await Promise.all(
			pictures.map(async (bytes) => ({ json: {}, binary: { photo: await kept(bytes, 'a.png') } })),
		);
		await harness.image(editImage(sourceFiles('={{ $binary.photo }}')), { items });
		const edits = harness.gateway.requests.filter(({ route }) => route === 'edits');
		expect(edits).toHaveLength(2);
	});
});

describe('A file in memory, of which $binary has no bytes,', () => {
	test('is sent where several fields hold that very file', async () => {
		const photo = await kept(picture('boat'), 'a.png');
		const items = [{ json: {}, binary: { photo, copy: { ...photo } } }];
		expect(await describePicture('={{ $binary.copy }}', items)).toEqual([photo.data]);
	});

	const WAY_OUT =
		'n8n leaves the bytes out of $binary. Write the name of the field, such as photo, or the file itself: {{ $input.item.binary.photo }}.';

	test('is refused where it may be one of several files: none is sent by chance', async () => {
		const photo = await kept(picture('boat'), 'a.png');
		const other = { ...photo, data: base64(picture('tree')) };
		const messages = {
			message: [{ role: 'user', type: 'image', binaryPropertyNames: '={{ $binary.photo }}' }],
		};
		const items = [{ json: {}, binary: { photo, other } }];
		const parameters = createResponse({ inputType: 'messages', messages });
		const error = shown(await harness.textError(parameters, { items }));
		expect(error.message).toBe(
			'Message 1: Input Binary Field got the file "a.png" without its bytes',
		);
		expect(error.description).toBe(WAY_OUT);
		expect(harness.gateway.count()).toBe(0);
	});

	test('is refused where the item does not have it', async () => {
		const { data, ...photo } = await kept(picture('boat'), 'a.png');
		const items = [
			{
				json: { photo: photo as unknown as IDataObject },
				binary: { photo: { ...photo, data, fileName: 'b.png' } },
			},
			{ json: { photo: photo as unknown as IDataObject } },
		];
		const run = await harness.image(editImage(sourceFiles('={{ $json.photo }}')), {
			items,
			onError: 'continueRegularOutput',
		});
		expect(run.items.map(({ json }) => json.error)).toEqual([
			'Image 1: Input Binary Field got the file "a.png" without its bytes',
			'Image 1: Input Binary Field got the file "a.png" without its bytes',
		]);
		expect(harness.gateway.count()).toBe(0);
	});
});
