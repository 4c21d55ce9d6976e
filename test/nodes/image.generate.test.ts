import { sizeOf } from '../../gateway';
import { byId, generateImage, itemsOf, useHarness, type IDataObject } from './arrange';
import { checkingTasks, expectImages } from './image.arrange';

const harness = useHarness(checkingTasks);

const submits = () => harness.bodies('generations');

describe('What Image → Generate sends', () => {
	test('is model and prompt only, where nothing else is set', async () => {
		await harness.image(generateImage());
		const [submit, ...polls] = harness.gateway.requests;
		const accept = 'application/json';
		const type = expect.stringMatching(/^application\/json/) as string;
		const headers = { accept, 'content-type': type };
		const path = '/v1/images/generations/async';
		expect(submit).toMatchObject({ method: 'POST', path, headers });
		expect(submit?.body).toEqual({ model: 'aurora-image-1', prompt: 'A boat' });
		const look = { method: 'GET', path: `/v1/images/tasks/${harness.gateway.tasks[0]?.id}` };
		expect(polls).toMatchObject([look, look]);
	});

	const same = { size: 'auto', n: 3, quality: 'high', background: 'transparent' };
	const extra = { size: '32x32', stream: false, style: 'vivid' };
	const extraBody = JSON.stringify(extra);
	const node = { fileName: 'x', maxFileSize: 1, maxWait: 9, pollInterval: 9, timeout: 9 };
	test.each<[string, IDataObject, object]>([
		['each option', { ...same, outputFormat: 'webp' }, { ...same, output_format: 'webp' }],
		['a number of images as text', { n: '={{ "2" }}' }, { n: 2 }],
		['an extra body, which wins over the fields above it', { size: '64x64', extraBody }, extra],
		['an extra body of an expression', { extraBody: '={{ { user: $json.user } }}' }, { user: 'u' }],
		['nothing that is empty', { size: '', extraBody: '' }, {}],
		['nothing for the node', { ...node, onTimeout: 'error', maxRetries: 1, concurrency: 1 }, {}],
	])('carries %s', async (_name, options, expected) => {
		const parameters = generateImage({ waitForCompletion: false, options });
		await harness.image(parameters, { items: itemsOf({ user: 'u' }) });
		expect(submits()).toEqual([{ model: 'aurora-image-1', prompt: 'A boat', ...expected }]);
	});
});

describe('What Image → Generate returns', () => {
	test('is an item with the image, its facts and its file', async () => {
		const { items } = await harness.image(generateImage({ options: { size: '40x30' } }));
		const { id, createdAt } = harness.gateway.tasks[0]!;
		const [png] = await expectImages(items, ['A boat']);
		expect(sizeOf(png!)).toEqual({ width: 40, height: 30 });
		const url = `${harness.gateway.storageUrl}${harness.gateway.storageRequests[0]?.path}`;
		const fileName = `a-boat-${id.slice(-4)}.png`;
		const data = { fileName, mimeType: 'image/png', fileExtension: 'png' };
		expect(items).toEqual([
			{
				json: {
					...{ task_id: id, status: 'completed', model: 'aurora-image-1', prompt: 'A boat' },
					...{ image_url: url, image_index: 0, image_count: 1 },
					expires_at: new Date(createdAt + 24 * 3600_000).toISOString(),
					file: { name: fileName, mime_type: 'image/png', size: png?.length },
				},
				binary: { data: expect.objectContaining(data) as object },
				pairedItem: { item: 0 },
			},
		]);
	});

	test('is the accepted task if Wait for Completion is off; without Simplify the 202 and the time to wait', async () => {
		const run = await harness.image(generateImage({ waitForCompletion: false }));
		const { id, createdAt } = harness.gateway.tasks[0]!;
		const task = { task_id: id, status: 'processing', retry_after: 3 };
		const asked = { model: 'aurora-image-1', prompt: 'A boat' };
		const expires_at = new Date(createdAt + 24 * 3600_000).toISOString();
		const json = { ...task, ...asked, expires_at };
		expect(run.items).toEqual([{ json, pairedItem: { item: 0 } }]);
		expect(run.uiMessages).toEqual([[`Image task ${id}: processing`]]);
		expect(harness.gateway.count()).toBe(1);
		expect(harness.time.waits).toEqual([]);

		const raw = generateImage({ waitForCompletion: false, simplify: false });
		const { items } = await harness.image(raw);
		const other = harness.gateway.tasks[1]!.id;
		const [created_at, until] = [createdAt / 1000, createdAt / 1000 + 24 * 3600];
		const sent = {
			...{ ...task, id: other, task_id: other, object: 'image.generation.task' },
			...{ created_at, expires_at: until, poll_url: `/v1/images/tasks/${other}` },
		};
		expect(items).toEqual([{ json: sent, pairedItem: { item: 0 } }]);
	});

	test('follows expressions for each item, also for field and name of the file', async () => {
		const fileName = '=boat-{{ $json.sku }}-{index}';
		const parameters = generateImage({
			model: byId('={{ $json.model }}'),
			prompt: '=A boat for {{ $json.sku }}',
			options: { n: 2, concurrency: 1, fileName, binaryPropertyName: '={{ $json.field }}' },
		});
		const first = { model: 'aurora-image-1', sku: 'A', field: 'cover' };
		const second = { model: 'aurora-omni-1', sku: 'B', field: ' back ' };
		const { items } = await harness.image(parameters, { items: itemsOf(first, second) });
		expect(submits()).toEqual([
			{ model: 'aurora-image-1', prompt: 'A boat for A', n: 2 },
			{ model: 'aurora-omni-1', prompt: 'A boat for B', n: 2 },
		]);
		const files = ['cover A-0', 'cover A-1', 'back B-0', 'back B-1'].map((one) => one.split(' '));
		const named = files.map(([field, name]) => ({ [field!]: { fileName: `boat-${name}.png` } }));
		expect(items).toMatchObject(named.map((binary) => ({ binary })));
	});
});
