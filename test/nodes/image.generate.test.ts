import type { IDataObject } from 'n8n-workflow';
import { sizeOf } from '../../gateway';
import { storeBinaryInMemory } from '../../scripts/engine/index';
import { byId, generateImage, itemsOf, numbered, startHarness, type Harness } from './arrange';
import { checkingTasks, expectPictures } from './image.arrange';

let harness: Harness;
beforeEach(async () => {
	await storeBinaryInMemory();
	harness = checkingTasks(await startHarness());
});
afterEach(async () => await harness.close());

/** The bodies of the submits that reached the gateway. */
const submits = () =>
	harness.gateway.requests.filter(({ route }) => route === 'generations').map(({ body }) => body);

describe('What Image → Generate sends', () => {
	test('is model and prompt only, where nothing else is set', async () => {
		await harness.image(generateImage());

		const [submit, ...polls] = harness.gateway.requests;
		expect(submit).toMatchObject({ method: 'POST', path: '/v1/images/generations/async' });
		expect(submit?.headers['content-type']).toMatch(/^application\/json/);
		expect(submit?.headers.accept).toBe('application/json');
		expect(submit?.body).toEqual({ model: 'aurora-image-1', prompt: 'A boat' });
		expect(polls.map(({ method, path }) => `${method} ${path}`)).toEqual(
			Array(2).fill(`GET /v1/images/tasks/${harness.gateway.tasks[0]?.id}`),
		);
	});

	test.each<[string, IDataObject, object]>([
		[
			'each option',
			{ size: 'auto', n: 3, quality: 'high', background: 'transparent', outputFormat: 'webp' },
			{ size: 'auto', n: 3, quality: 'high', background: 'transparent', output_format: 'webp' },
		],
		['a number of images as text', { n: '={{ "2" }}' }, { n: 2 }],
		[
			'an extra body, which wins over the fields above it',
			{ size: '64x64', extraBody: '{ "size": "32x32", "stream": false, "style": "vivid" }' },
			{ size: '32x32', stream: false, style: 'vivid' },
		],
		['an extra body of an expression', { extraBody: '={{ { user: $json.user } }}' }, { user: 'u' }],
		['nothing that is empty', { size: '', extraBody: '' }, {}],
		[
			'nothing that only concerns the node',
			{
				fileName: 'x',
				maxFileSize: 1,
				maxWait: 9,
				pollInterval: 9,
				onTimeout: 'returnTask',
				timeout: 9,
				maxRetries: 1,
				concurrency: 1,
			},
			{},
		],
	])('carries %s', async (_name, options, expected) => {
		const parameters = generateImage({ waitForCompletion: false, options });
		await harness.image(parameters, { items: itemsOf({ user: 'u' }) });
		expect(submits()).toEqual([{ model: 'aurora-image-1', prompt: 'A boat', ...expected }]);
	});
});

test('a bad value of a field or option is named, and its item is not sent', async () => {
	// Each item has one bad value; what the parts of the client refuse is in rare-errors.test.ts.
	const rows: Array<[IDataObject, string]> = [
		[{ prompt: '' }, 'Prompt is empty'],
		[{ prompt: [7] }, 'Prompt is a list, not a text'],
		[{ extraBody: '{ "size": "big" }' }, 'Size is neither auto nor <width>x<height>'],
		[{ n: 0 }, 'Number of Images is below 1'],
		[{ n: 'two' }, 'Number of Images is not a number'],
		[{ pollInterval: 'soon' }, 'Poll Interval is not a number'],
		[{ pollInterval: 0.5 }, 'Poll Interval is below 1'],
		[{ maxWait: 'long' }, 'Max Wait is not a number'],
		[{ maxWait: -1 }, 'Max Wait is below 0'],
		[{ maxFileSize: 'big' }, 'Max File Size is not a number'],
		[{ maxFileSize: -1 }, 'Max File Size is below 0'],
		[{ timeout: 'x' }, 'Timeout is not a number'],
		[{ maxRetries: -1 }, 'Max Retries is below 0'],
	];
	const names = [
		'extraBody',
		'n',
		'pollInterval',
		'maxWait',
		'maxFileSize',
		'timeout',
		'maxRetries',
	];
	const run = await harness.image(
		generateImage({
			prompt: '={{ $json.prompt ?? "A boat" }}',
			options: Object.fromEntries(names.map((name) => [name, `={{ $json.${name} }}`])),
		}),
		{ items: itemsOf(...rows.map(([json]) => json)), onError: 'continueRegularOutput' },
	);

	expect(run.items.map(({ json }) => json.error)).toEqual(rows.map(([, message]) => message));
	expect(run.items.map(({ pairedItem }) => pairedItem)).toEqual(
		rows.map((_row, item) => ({ item })),
	);
	expect(harness.gateway.count()).toBe(0);
});

describe('What Image → Generate returns', () => {
	test('is an item with the picture, its facts and its file', async () => {
		const run = await harness.image(generateImage({ options: { size: '40x30' } }));

		const task = harness.gateway.tasks[0]!;
		const [png] = await expectPictures(run.items, ['A boat']);
		const url = `${harness.gateway.storageUrl}${harness.gateway.storageRequests[0]?.path}`;
		const created = task.createdAt / 1000;
		const [item] = run.items;
		expect(run.items).toHaveLength(1);
		expect(item?.pairedItem).toEqual({ item: 0 });
		expect(item?.json).toEqual({
			task_id: task.id,
			status: 'completed',
			model: 'aurora-image-1',
			prompt: 'A boat',
			image_url: url,
			image_index: 0,
			image_count: 1,
			created_at: created,
			completed_at: created + 6,
			expires_at: created + 24 * 3600,
			http_status: 200,
			image: { url, revised_prompt: 'A boat, in soft light' },
			file: { name: `${task.id}.png`, mime_type: 'image/png', size: png?.length },
		});
		expect(item?.binary).toEqual({
			data: expect.objectContaining({
				fileName: `${task.id}.png`,
				mimeType: 'image/png',
				fileExtension: 'png',
			}) as object,
		});
		expect(sizeOf(png!)).toEqual({ width: 40, height: 30 });
	});

	test('is an item for each of several pictures, each with a file and address of its own', async () => {
		const run = await harness.image(generateImage({ options: { n: 3 } }));

		const id = harness.gateway.tasks[0]?.id;
		expect(
			run.items.map(({ json, binary, pairedItem }) => ({
				place: [json.image_index, json.image_count],
				name: binary?.data?.fileName,
				pairedItem,
			})),
		).toEqual(
			[0, 1, 2].map((index) => ({
				place: [index, 3],
				name: `${id}-${index}.png`,
				pairedItem: { item: 0 },
			})),
		);
		expect(new Set(run.items.map(({ json }) => json.image_url)).size).toBe(3);
		const files = await expectPictures(run.items, ['A boat', 'A boat', 'A boat']);
		expect(new Set(files.map((file) => file.toString('base64'))).size).toBe(3);
	});

	test('is the 202 and the time to wait where Wait for Completion is off', async () => {
		const run = await harness.image(generateImage({ waitForCompletion: false }));

		const { id, createdAt } = harness.gateway.tasks[0]!;
		expect(run.items).toEqual([
			{
				json: {
					id,
					task_id: id,
					object: 'image.generation.task',
					status: 'processing',
					created_at: createdAt / 1000,
					expires_at: createdAt / 1000 + 24 * 3600,
					poll_url: `/v1/images/tasks/${id}`,
					retry_after: 3,
				},
				pairedItem: { item: 0 },
			},
		]);
		expect(run.uiMessages).toEqual([[`Image task ${id}: processing`]]);
		expect(harness.gateway.count()).toBe(1);
		expect(harness.time.waits).toEqual([]);
	});

	test('is the URL alone where Download Images is off', async () => {
		const run = await harness.image(generateImage({ downloadImages: false, options: { n: 2 } }));

		expect(run.items).toHaveLength(2);
		for (const [index, { json, binary }] of run.items.entries()) {
			expect(binary).toBeUndefined();
			expect(json).not.toHaveProperty('file');
			expect([json.status, json.image_index]).toEqual(['completed', index]);
			expect(json.image_url).toContain(`/${index}.png?`);
		}
		expect(harness.gateway.storageRequests).toHaveLength(0);
	});

	test('follows expressions for each item, also for field and name of the file', async () => {
		const run = await harness.image(
			generateImage({
				model: byId('={{ $json.model }}'),
				prompt: '=A boat for {{ $json.sku }}',
				binaryPropertyName: '={{ $json.field }}',
				options: { n: 2, fileName: '=boat-{{ $json.sku }}-{index}', concurrency: 1 },
			}),
			{
				items: itemsOf(
					{ model: 'aurora-image-1', sku: 'A', field: 'cover' },
					{ model: 'aurora-omni-1', sku: 'B', field: ' back ' },
				),
			},
		);
		expect(submits()).toEqual([
			{ model: 'aurora-image-1', prompt: 'A boat for A', n: 2 },
			{ model: 'aurora-omni-1', prompt: 'A boat for B', n: 2 },
		]);
		const expected = ['boat-A-0.png', 'boat-A-1.png', 'boat-B-0.png', 'boat-B-1.png'];
		expect(run.items.map(({ json }) => (json.file as IDataObject).name)).toEqual(expected);
		expect(
			run.items.map(({ binary = {} }) =>
				Object.entries(binary).map(([field, { fileName }]) => [field, fileName]),
			),
		).toEqual(expected.map((name, index) => [[index < 2 ? 'cover' : 'back', name]]));
	});
});

test('the log names each accepted task before its wait begins, since it outlives the process', async () => {
	const prompt = '=Picture {{ $json.n }}';
	const { logs } = await harness.image(generateImage({ prompt }), { items: numbered(2) });

	expect(harness.gateway.tasks).toHaveLength(2);
	for (const { id, request } of harness.gateway.tasks) {
		const [first] = logs.filter(({ message }) => message.includes(id));
		const item = request.prompt.replace('Picture', 'item');
		expect(first?.level).toBe('info');
		expect(first?.message).toMatch(/^Execution \S+, node "[^"]+", /);
		expect(first?.message).toContain(`, ${item}: image task ${id} was accepted`);
	}
	expect(logs.filter(({ message }) => message.endsWith('was accepted'))).toHaveLength(2);
});
