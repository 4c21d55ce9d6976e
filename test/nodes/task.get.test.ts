import type { IDataObject } from 'n8n-workflow';
import { pictureBelongsTo, sizeOf } from '../../gateway';
import { readBinary, storeBinaryInMemory } from '../../scripts/engine/index';
import { getTask, itemsOf, startStory, submitted, waitForTask, type Story } from './arrange';

let story: Story;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = await startStory();
});
afterEach(async () => await story.close());

const polls = () => story.gateway.requests.filter(({ route }) => route === 'task');

describe('Task → Get', () => {
	test('looks once at a task that is processing and returns it with the time to wait', async () => {
		const task = await submitted(story);
		const run = await story.image(getTask(task.id));

		expect(run.items).toEqual([
			{
				json: {
					id: task.id,
					task_id: task.id,
					object: 'image.generation.task',
					status: 'processing',
					created_at: task.createdAt / 1000,
					expires_at: task.expiresAt / 1000,
					retry_after: 3,
				},
				pairedItem: { item: 0 },
			},
		]);
		expect(polls().map(({ method, path, rawLength }) => [method, path, rawLength])).toEqual([
			['GET', `/v1/images/tasks/${task.id}`, 0],
		]);
		expect(story.time.waits).toEqual([]);
	});

	test('downloads the pictures of a task that is done', async () => {
		const task = await submitted(story, { prompt: 'A tree', options: { n: 2, size: '20x10' } });
		await story.time.advance(6000);
		const run = await story.image(getTask(task.id, { binaryPropertyName: 'file' }));

		expect(run.items.map(({ json }) => json)).toEqual(
			[0, 1].map(
				(index) =>
					expect.objectContaining({
						task_id: task.id,
						status: 'completed',
						image_index: index,
						image_count: 2,
						http_status: 200,
						completed_at: task.completesAt / 1000,
					}) as object,
			),
		);
		for (const { binary, json } of run.items) {
			const png = await readBinary(binary?.file);
			expect(sizeOf(png)).toEqual({ width: 20, height: 10 });
			expect(pictureBelongsTo('A tree', png)).toBe(true);
			expect(json.file).toMatchObject({ mime_type: 'image/png', size: png.length });
			// What was asked for is not known here.
			expect(json).not.toHaveProperty('model');
			expect(json).not.toHaveProperty('prompt');
		}
		expect(polls()).toHaveLength(1);
	});

	test('returns the address alone where Download Images is off', async () => {
		const task = await submitted(story);
		await story.time.advance(6000);
		const run = await story.image(getTask(task.id, { downloadImages: false }));

		expect(run.items).toHaveLength(1);
		expect(run.items[0]?.binary).toBeUndefined();
		expect(run.items[0]?.json.image_url).toMatch(/^http.*signature=/);
		expect(story.gateway.storageRequests).toHaveLength(0);
	});

	test('returns a failed task as an item: looking is not failing', async () => {
		const task = await submitted(story, { prompt: 'A tree [[fail:429]]' });
		await story.time.advance(6000);
		const run = await story.image(getTask(task.id));

		expect(run.items.map(({ json }) => json)).toEqual([
			expect.objectContaining({
				task_id: task.id,
				status: 'failed',
				http_status: 429,
				error: { type: 'image_generation_error', message: 'the picture could not be made' },
			}),
		]);
	});

	test('returns a task whose state the contract does not know', async () => {
		const task = await submitted(story);
		story.gateway.settings.intercept = ({ reply }) => {
			if (reply) reply.body = String(reply.body).replace('"processing"', '"queued"');
			return undefined;
		};
		const run = await story.image(getTask(task.id));
		expect(run.items[0]?.json).toMatchObject({ status: 'queued', task_id: task.id });
	});

	test('obeys fileName and maxFileSize', async () => {
		const task = await submitted(story);
		await story.time.advance(6000);
		const run = await story.image(getTask(task.id, { options: { fileName: 'kept-{index}' } }));
		expect(run.items[0]?.binary?.data?.fileName).toBe('kept-0.png');

		const { error } = await story.imageError(
			getTask(task.id, { options: { maxFileSize: '={{ 0.0001 }}' } }),
		);
		expect(error.message).toMatch(/larger than Max File Size/);
	});

	test('reads each item’s own task', async () => {
		const first = await submitted(story, { prompt: 'One' });
		const second = await submitted(story, { prompt: 'Two' });
		const run = await story.image(getTask('={{ $json.task_id }}'), {
			items: itemsOf({ task_id: second.id }, { task_id: first.id }),
		});
		expect(run.items.map(({ json, pairedItem }) => [json.task_id, pairedItem])).toEqual([
			[second.id, { item: 0 }],
			[first.id, { item: 1 }],
		]);
	});
});

describe('Task ID', () => {
	test.each<[string, (id: string, origin: string) => string]>([
		['the ID', (id) => id],
		['the ID with spaces around', (id) => ` ${id}\n`],
		['the poll_url', (id) => `/v1/images/tasks/${id}`],
		['a whole address of this gateway', (id, origin) => `${origin}/v1/images/tasks/${id}?x=1`],
	])('may be %s', async (_name, typed) => {
		const task = await submitted(story);
		const run = await story.image(getTask(typed(task.id, story.gateway.origin)));

		expect(run.items[0]?.json.task_id).toBe(task.id);
		expect(polls().map(({ path }) => path)).toEqual([`/v1/images/tasks/${task.id}`]);
	});

	test('cannot lead to another endpoint', async () => {
		const { error } = await story.imageError(getTask('..%2f..%2fmodels'));
		expect(error.message).toMatch(/knows no image task/);
		expect(story.gateway.count({ route: 'models' })).toBe(0);
		expect(polls()).toHaveLength(1);
	});

	test.each<[string, string, RegExp]>([
		['nothing', '', /^Task ID is empty$/],
		['white space', '  ', /^Task ID is empty$/],
		['what the item does not have', '={{ $json.task_id }}', /^Task ID is empty$/],
		[
			'an address of another gateway',
			'https://other.example.com/v1/images/tasks/x',
			/^Task ID is an address of another gateway$/,
		],
		['another address', '/v1/models', /^Task ID is not the address of an image task$/],
	])('%s is refused before anything is sent', async (_name, taskId, message) => {
		for (const parameters of [getTask(taskId), waitForTask(taskId)]) {
			const run = await story.imageError(parameters);
			expect(run.error.message).toMatch(message);
			expect(run.error).toMatchObject({ context: { itemIndex: 0 } });
		}
		expect(story.gateway.count()).toBe(0);
	});
});

test.each<[string, IDataObject, RegExp]>([
	['an empty binary field', { binaryPropertyName: '' }, /^Put Output File in Field is empty$/],
	[
		'a bad file size',
		{ options: { maxFileSize: '={{ "x" }}' } },
		/^Max File Size is not a number$/,
	],
	['a bad time-out', { options: { timeout: '={{ "x" }}' } }, /^Timeout is not a number$/],
	['bad retries', { options: { maxRetries: '={{ "x" }}' } }, /^Max Retries is not a number$/],
])('Task → Get and Wait refuse %s before anything is sent', async (_name, given, message) => {
	for (const parameters of [getTask('task', given), waitForTask('task', given)]) {
		const { error } = await story.imageError(parameters);
		expect(error.message).toMatch(message);
	}
	expect(story.gateway.count()).toBe(0);
});
