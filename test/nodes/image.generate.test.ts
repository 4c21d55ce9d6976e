import type { IDataObject } from 'n8n-workflow';
import { pictureBelongsTo, sizeOf } from '../../gateway';
import { readBinary, storeBinaryInMemory, storeBinaryOnDisk } from '../../scripts/engine/index';
import { byId, generateImage, itemsOf, startStory, type Story } from './arrange';

let story: Story;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = await startStory();
});
afterEach(async () => await story.close());

/** The bodies of the submits that reached the gateway. */
const submits = () =>
	story.gateway.requests.filter(({ route }) => route === 'generations').map(({ body }) => body);

/** Submits once with these options, without waiting, and returns the one body that was sent. */
async function sentWith(options: IDataObject, given: IDataObject = {}, json: IDataObject = {}) {
	const parameters = generateImage({ waitForCompletion: false, ...given, options });
	await story.image(parameters, { items: itemsOf(json) });
	expect(story.gateway.count()).toBe(1);
	return submits()[0];
}

describe('What Image → Generate sends', () => {
	test('is model and prompt only, where nothing else is set', async () => {
		await story.image(generateImage());

		const [submit, ...polls] = story.gateway.requests;
		expect(submit).toMatchObject({ method: 'POST', path: '/v1/images/generations/async' });
		expect(submit?.headers['content-type']).toMatch(/^application\/json/);
		expect(submit?.body).toEqual({ model: 'aurora-image-1', prompt: 'A boat' });
		expect(polls.map(({ method, path }) => `${method} ${path}`)).toEqual(
			Array(2).fill(`GET /v1/images/tasks/${story.gateway.tasks[0]?.id}`),
		);
	});

	test.each<[string, IDataObject, object]>([
		['a size', { size: '640x480' }, { size: '640x480' }],
		['the size auto', { size: 'auto' }, { size: 'auto' }],
		['a quality', { quality: 'high' }, { quality: 'high' }],
		['a background', { background: 'transparent' }, { background: 'transparent' }],
		['a file format', { outputFormat: 'webp' }, { output_format: 'webp' }],
		['a number of images', { n: 3 }, { n: 3 }],
		['a number of images as text', { n: '={{ "2" }}' }, { n: 2 }],
		['an extra body', { extraBody: '{ "style": "vivid" }' }, { style: 'vivid' }],
		[
			'an extra body of an expression',
			{ extraBody: '={{ { user: $json.user } }}' },
			{ user: 'u1' },
		],
		['an empty size', { size: '' }, {}],
		['an empty extra body', { extraBody: '' }, {}],
		['stream switched off', { extraBody: '{ "stream": false }' }, { stream: false }],
		[
			'what only concerns the node',
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
		expect(await sentWith(options, {}, { user: 'u1' })).toEqual({
			model: 'aurora-image-1',
			prompt: 'A boat',
			...expected,
		});
	});

	test('lets the extra body win over the fields above it', async () => {
		const body = await sentWith({ size: '64x64', extraBody: '{ "size": "32x32", "n": 2 }' });
		expect(body).toEqual({ model: 'aurora-image-1', prompt: 'A boat', size: '32x32', n: 2 });
	});

	test('follows expressions for each item', async () => {
		await story.image(
			generateImage({
				model: byId('={{ $json.model }}'),
				prompt: '=A {{ $json.what }}',
				waitForCompletion: false,
				options: { size: '={{ $json.size }}', concurrency: 1 },
			}),
			{
				items: itemsOf(
					{ model: 'aurora-image-1', what: 'boat', size: '16x16' },
					{ model: 'aurora-omni-1', what: 'tree', size: 'auto' },
				),
			},
		);
		expect(submits()).toEqual([
			{ model: 'aurora-image-1', prompt: 'A boat', size: '16x16' },
			{ model: 'aurora-omni-1', prompt: 'A tree', size: 'auto' },
		]);
	});
});

describe('What Image → Generate refuses before anything is sent', () => {
	const size = /^Size is neither auto nor <width>x<height>$/;

	test.each<[string, IDataObject, RegExp]>([
		['no model', { model: byId('') }, /^Model is empty$/],
		['an empty prompt', { prompt: '' }, /^Prompt is empty$/],
		['a prompt of white space', { prompt: ' \n ' }, /^Prompt is empty$/],
		['a prompt that is not there', { prompt: '={{ $json.missing }}' }, /^Prompt is empty$/],
		['a prompt that is a number', { prompt: '={{ 7 }}' }, /^Prompt is not a text$/],
		['a size in words', { options: { size: 'large' } }, size],
		['a size of one side', { options: { size: '1024' } }, size],
		['a size with spaces', { options: { size: '64 x 64' } }, size],
		['a size with a zero', { options: { size: '0x64' } }, size],
		['a size of a product', { options: { size: '64*64' } }, size],
		['a size in the extra body', { options: { extraBody: '{ "size": "big" }' } }, size],
		[
			'a demand to stream',
			{ options: { extraBody: '{ "stream": true }' } },
			/^Extra Body asks to stream/,
		],
		[
			'a demand to stream as text',
			{ options: { extraBody: '{ "stream": "true" }' } },
			/^Extra Body asks to stream/,
		],
		['a broken extra body', { options: { extraBody: '{ x }' } }, /^Extra Body is not valid JSON/],
		['a number of images of 0', { options: { n: '={{ 0 }}' } }, /^Number of Images is below 1$/],
		[
			'a number of images in words',
			{ options: { n: '={{ "two" }}' } },
			/^Number of Images is not a number$/,
		],
		['an empty binary field', { binaryPropertyName: ' ' }, /^Put Output File in Field is empty$/],
		[
			'a poll interval in words',
			{ options: { pollInterval: '={{ "soon" }}' } },
			/^Poll Interval is not a number$/,
		],
		[
			'a poll interval below 0',
			{ options: { pollInterval: '={{ -1 }}' } },
			/^Poll Interval is below/,
		],
		[
			'a longest wait in words',
			{ options: { maxWait: '={{ "long" }}' } },
			/^Max Wait is not a number$/,
		],
		['a longest wait below 0', { options: { maxWait: '={{ -1 }}' } }, /^Max Wait is below/],
		[
			'a file size in words',
			{ options: { maxFileSize: '={{ "big" }}' } },
			/^Max File Size is not a number$/,
		],
		['a file size below 0', { options: { maxFileSize: '={{ -1 }}' } }, /^Max File Size is below/],
		['a time-out in words', { options: { timeout: '={{ "x" }}' } }, /^Timeout is not a number$/],
		['a time-out of 0', { options: { timeout: '={{ 0 }}' } }, /^Timeout is 0$/],
		[
			'retries in words',
			{ options: { maxRetries: '={{ "x" }}' } },
			/^Max Retries is not a number$/,
		],
		['retries below 0', { options: { maxRetries: '={{ -1 }}' } }, /^Max Retries is below 0$/],
		['a concurrency of 0', { options: { concurrency: '={{ 0 }}' } }, /^Concurrency is below 1$/],
	])('%s, naming the field', async (_name, given, message) => {
		const run = await story.imageError(generateImage(given));

		expect(run.error.message).toMatch(message);
		expect(run.error).toMatchObject({
			name: 'NodeOperationError',
			context: { itemIndex: 0 },
			description: expect.stringMatching(/\w{3,}.*\.$/) as string,
		});
		expect(story.gateway.count()).toBe(0);
		expect(story.gateway.tasks).toHaveLength(0);
	});
});

describe('What Image → Generate returns', () => {
	test('is an item with the picture, its facts and its file', async () => {
		const run = await story.image(generateImage({ options: { size: '40x30' } }));

		const task = story.gateway.tasks[0]!;
		const [item] = run.items;
		const png = await readBinary(item?.binary?.data);
		const url = `${story.gateway.storageUrl}${story.gateway.storageRequests[0]?.path}`;
		const created = task.createdAt / 1000;
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
			file: { name: `${task.id}.png`, mime_type: 'image/png', size: png.length },
		});
		expect(Object.keys(item?.binary ?? {})).toEqual(['data']);
		expect(item?.binary?.data).toMatchObject({
			fileName: `${task.id}.png`,
			mimeType: 'image/png',
			fileExtension: 'png',
		});
		expect(sizeOf(png)).toEqual({ width: 40, height: 30 });
		expect(pictureBelongsTo('A boat', png)).toBe(true);
	});

	test('is an item for each of several pictures', async () => {
		const run = await story.image(generateImage({ options: { n: 3 } }));

		const id = story.gateway.tasks[0]?.id;
		const files = await Promise.all(run.items.map(({ binary }) => readBinary(binary?.data)));
		expect(run.items.map(({ json }) => [json.image_index, json.image_count])).toEqual([
			[0, 3],
			[1, 3],
			[2, 3],
		]);
		expect(run.items.map(({ binary }) => binary?.data?.fileName)).toEqual(
			[0, 1, 2].map((index) => `${id}-${index}.png`),
		);
		expect(new Set(run.items.map(({ json }) => json.image_url)).size).toBe(3);
		expect(new Set(files.map((file) => file.toString('base64'))).size).toBe(3);
		expect(files.every((file) => pictureBelongsTo('A boat', file))).toBe(true);
		expect(run.items.every(({ pairedItem }) => JSON.stringify(pairedItem) === '{"item":0}')).toBe(
			true,
		);
	});

	test('is the 202 and the time to wait where Wait for Completion is off', async () => {
		const run = await story.image(generateImage({ waitForCompletion: false }));

		const [task] = story.gateway.tasks;
		const created = task!.createdAt / 1000;
		expect(run.items).toEqual([
			{
				json: {
					id: task?.id,
					task_id: task?.id,
					object: 'image.generation.task',
					status: 'processing',
					created_at: created,
					expires_at: created + 24 * 3600,
					poll_url: `/v1/images/tasks/${task?.id}`,
					retry_after: 3,
				},
				pairedItem: { item: 0 },
			},
		]);
		expect(story.gateway.count()).toBe(1);
		expect(story.time.waits).toEqual([]);
	});

	test('has no retry_after where the gateway named none', async () => {
		story.gateway.settings.intercept = ({ reply }) => {
			if (reply) delete reply.headers['Retry-After'];
			return undefined;
		};
		const run = await story.image(generateImage({ waitForCompletion: false }));
		expect(run.items[0]?.json).not.toHaveProperty('retry_after');
	});

	test('is the URL alone where Download Images is off', async () => {
		const run = await story.image(generateImage({ downloadImages: false, options: { n: 2 } }));

		expect(run.items).toHaveLength(2);
		for (const [index, item] of run.items.entries()) {
			expect(item.binary).toBeUndefined();
			expect(item.json).not.toHaveProperty('file');
			expect(item.json).toMatchObject({
				status: 'completed',
				image_index: index,
				image_url: expect.stringContaining(`/${index}.png?`) as string,
			});
		}
		expect(story.gateway.storageRequests).toHaveLength(0);
	});

	test('has the file in the field that was asked for', async () => {
		const run = await story.image(generateImage({ binaryPropertyName: '={{ $json.field }}' }), {
			items: itemsOf({ field: 'cover' }, { field: ' back ' }),
		});
		expect(run.items.map(({ binary }) => Object.keys(binary ?? {}))).toEqual([['cover'], ['back']]);
	});

	test('takes image_url where the result lists no picture', async () => {
		story.gateway.settings.intercept = ({ reply, route }) => {
			if (reply && route === 'task') {
				const body = JSON.parse(String(reply.body)) as IDataObject;
				delete body.result;
				reply.body = JSON.stringify(body);
			}
			return undefined;
		};
		const { items } = await story.image(generateImage());

		expect(items).toHaveLength(1);
		expect(pictureBelongsTo('A boat', await readBinary(items[0]?.binary?.data))).toBe(true);
	});

	test('keeps the gateway’s own fields of a picture', async () => {
		story.gateway.settings.intercept = ({ reply, route }) => {
			if (reply && route === 'task') {
				reply.body = String(reply.body).replaceAll(
					'"revised_prompt":',
					'"seed":7,"revised_prompt":',
				);
			}
			return undefined;
		};
		const { items } = await story.image(generateImage());
		expect(items[0]?.json.image).toMatchObject({
			seed: 7,
			revised_prompt: 'A boat, in soft light',
		});
	});
});

describe('File Name', () => {
	test.each<[string, string, number, string[]]>([
		['a plain name', 'boat', 1, ['boat.png']],
		['a name with the right extension', 'boat.png', 1, ['boat.png']],
		['a name with another image extension', 'boat.jpg', 1, ['boat.png']],
		['a dot that is no extension', 'v1.2', 1, ['v1.2.png']],
		['{index}', 'boat-{index}', 2, ['boat-0.png', 'boat-1.png']],
		['{index} and an extension', '{index}_boat.png', 2, ['0_boat.png', '1_boat.png']],
		['several pictures without {index}', 'boat', 2, ['boat-0.png', 'boat-1.png']],
		['an expression', '=boat-{{ $json.sku }}-{index}', 1, ['boat-A7-0.png']],
		['folders', '../etc/passwd', 1, ['_etc_passwd.png']],
	])('may be %s', async (_name, fileName, n, expected) => {
		const run = await story.image(generateImage({ options: { fileName, n } }), {
			items: itemsOf({ sku: 'A7' }),
		});
		expect(run.items.map(({ binary }) => binary?.data?.fileName)).toEqual(expected);
		expect(run.items.map(({ json }) => (json.file as IDataObject).name)).toEqual(expected);
	});
});

describe('The picture in n8n’s storage', () => {
	test('lies on disk in filesystem mode, and the item only points to it', async () => {
		const storage = await storeBinaryOnDisk();
		try {
			const run = await story.image(generateImage({ options: { n: 2, size: '50x20' } }));

			const entries = run.items.map(({ binary }) => binary?.data);
			expect(entries.every((entry) => entry?.id?.startsWith('filesystem'))).toBe(true);
			expect(JSON.stringify(entries).length).toBeLessThan(1000);
			expect((await storage.files()).filter((file) => !file.endsWith('.metadata'))).toHaveLength(2);
			for (const entry of entries) {
				const png = await readBinary(entry);
				expect(sizeOf(png)).toEqual({ width: 50, height: 20 });
				expect(pictureBelongsTo('A boat', png)).toBe(true);
			}
		} finally {
			await storage.remove();
		}
	});
});

test('every step of a task is told to the editor once, and to the log each time', async () => {
	const run = await story.image(generateImage({ options: { pollInterval: 1 } }));

	const id = story.gateway.tasks[0]?.id;
	expect(run.uiMessages).toEqual([
		[`Image task ${id}: processing`],
		[`Image task ${id}: completed`],
	]);
	expect(run.logs.filter(({ message }) => message.includes(`${id} is processing`))).toHaveLength(2);
});

test('the log names each accepted task before its wait begins, since it outlives the process', async () => {
	const run = await story.image(generateImage(), { items: itemsOf({}, {}) });

	const messages = run.logs.map(({ message }) => message);
	const ids = story.gateway.tasks.map(({ id }) => id);
	expect(ids).toHaveLength(2);
	for (const id of ids) {
		const [first] = run.logs.filter(({ message }) => message.includes(id));
		expect(first?.level).toBe('info');
		expect(first?.message).toMatch(
			/^Execution \S+, node "[^"]+", item [01]: image task \S+ was accepted$/,
		);
	}
	expect(messages.filter((message) => message.endsWith('was accepted'))).toHaveLength(2);
});
