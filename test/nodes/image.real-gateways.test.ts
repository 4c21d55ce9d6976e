import type { GatewaySwitches, ImageTask, TaskEndName } from '../../gateway';
import { CONTINUE, editImage, generateImage, getTask, numbered, reply, shown } from './arrange';
import { submitted, useHarness, waitForTask, type IDataObject } from './arrange';
import { expectImages, runChecked } from './image.arrange';

/* What real gateways do with image tasks beyond the contract. */

const harness = useHarness();
const set = (switches: GatewaySwitches & { taskSeconds?: number }) =>
	Object.assign(harness.gateway.settings, switches);
const polls = () => harness.gateway.count({ route: 'task' });
const submits = () => harness.gateway.count({ route: 'generations' });
const failure = async (parameters: IDataObject) => shown(await harness.imageError(parameters));

// What each end of a task comes to is in test/faults/task-ends.ts.
test.each<[TaskEndName, RegExp, RegExp]>([
	['not stored', /^The image task failed/, /may have been made and charged, .*before you submit/],
	['too slow', /^The image task failed/, /may have been made and charged, .*before you submit/],
	['lost', /^The gateway has lost the image task/, /no longer knows it\. The task may be charged/],
])('Retry On Fail: a task that may be charged is not sent again: %s', async (...row) => {
	const [taskEnd, says, advice] = row;
	set({ taskEnd });
	const options = { maxWait: 3600, pollInterval: 600 };
	const draw = { name: 'Draw', parameters: generateImage({ options }) };
	const { error } = await runChecked(harness, [{ ...draw, retryOnFail: true, maxTries: 3 }]);

	expect(submits()).toBe(1);
	expect(error?.message).toMatch(says);
	expect(error?.description).toMatch(advice);
	expect(error?.description).toContain(`Task ID: ${harness.gateway.tasks[0]?.id}.`);
});

describe('The reason of a task without an image', () => {
	test('is told by each operation: Task → Get hands the task on', async () => {
		set({ taskEnd: 'error in the result' });
		const error = await failure(generateImage());
		expect(error.message).toMatch(/moderation_blocked\): Your request was rejected by the safety/);
		const { id } = harness.gateway.tasks[0]!;
		expect((await failure(waitForTask(id))).message).toBe(error.message);
		expect((await harness.image(getTask(id))).items[0]?.json).toMatchObject({
			task_id: id,
			status: 'completed',
			error: { code: 'moderation_blocked' },
		});
	});

	test('is told as a refusal of the provider, its words bounded', async () => {
		set({ taskEnd: 'refused by the model' });
		const error = await failure(generateImage());
		const says = /^The model’s provider refused the prompt or an image.*: I can’t/;
		expect(error.message).toMatch(says);
		expect(error.message.length).toBeLessThan(700);
		expect(error.description).toMatch(/^Change the prompt .* Nothing was made\./);
	});
});

describe('What a gateway says of an image', () => {
	beforeEach(() => set({ fullTasks: true, requestIds: 'twice' }));
	const usage = { output_tokens: 4160, input_tokens_details: { image_tokens: 0 } };

	test('is short with Simplify, in each operation', async () => {
		const { id } = await submitted(harness);
		await harness.time.advance(6000);
		for (const given of [generateImage(), editImage(), getTask(id), waitForTask(id)]) {
			const { json } = (await harness.image(given)).items[0]!;
			expect(json).toMatchObject({ status: 'completed', usage });
			expect(Object.keys(json).length).toBeLessThanOrEqual(10);
			expect(Object.keys(json)).not.toContain('request_id');
		}
	});

	test('is all there with Simplify off, fields that nobody knows and request IDs included', async () => {
		const color = '"color":"blue","object"';
		harness.changeReplies('task', (body) => body.replace('"object"', color));
		const { json } = (await harness.image(generateImage({ simplify: false }))).items[0]!;
		const [{ id, createdAt, expiresAt }] = harness.gateway.tasks as [ImageTask];
		const last = harness.gateway.requests.at(-1)!;
		expect(json).toMatchObject({
			...{ task_id: id, color: 'blue', http_status: 200, request_id: last.id },
			...{ created_at: createdAt / 1000, expires_at: expiresAt / 1000 },
			result: { usage, size: '32x24', quality: 'high', output_format: 'png' },
			image: { revised_prompt: 'A boat, in soft light' },
			...{ image_index: 0, image_count: 1, file: { mime_type: 'image/png' } },
		});
		expect(`client:${json.client_request_id as string}`).toBe(last.clientId);
	});

	test('is hinted at once a run where it is not what was asked for', async () => {
		set({ maxImages: 1, imageSize: '64x48' });
		const options = { n: 3, outputFormat: 'webp', size: '1024x1024' };
		const given = { items: numbered(2) };
		const { items, hints } = await harness.image(generateImage({ options }), given);
		expect(items).toHaveLength(2);
		expect(items[0]?.binary?.data?.fileName).toMatch(/\.png$/);
		expect(hints.map(({ message }) => message)).toEqual([
			'The gateway was asked for 3 images, and 1 came.',
			'The gateway was asked for WebP, and it sent PNG.',
			'The gateway was asked for 1024x1024, and it made 64x48.',
		]);
	});
});

describe('A link that died', () => {
	test('is replaced by a fresh one', async () => {
		set({ linkSeconds: 1, linkDeath: 404, linkRenewal: 'fresh' });
		const faults = [{ kind: 'delay', ms: 2000 } as const];
		harness.gateway.settings.storageIntercept = () => faults.pop();
		await expectImages((await harness.image(generateImage())).items, ['A boat']);
		expect([submits(), polls()]).toEqual([1, 3]);
	});

	test('and has no successor, is told', async () => {
		// Looked at 2 s after the image was done.
		set({ taskSeconds: 7, linkSeconds: 1, linkDeath: 404 });
		const error = await failure(generateImage());
		expect(error.message).toMatch('HTTP 404, the link no longer works');
		expect(error.description).toMatch(/^The link expired before its task, which the gateway keeps/);
		expect([submits(), polls()]).toEqual([1, 4]);
	});
});

test.each<[string, GatewaySwitches]>([
	['A poll that comes back as a page or an error', { strayPollEvery: 2 }],
	['A poll that a cache would answer', { pollCacheSeconds: 3600 }],
	['A submit and polls that are wrapped', { envelope: 'list' }],
	['Other words for a status', { statusWords: { processing: 'RUNNING', completed: 'SUCCESS' } }],
])('%s do not keep the image from coming', async (_name, switches) => {
	set(switches);
	const { items } = await harness.image(generateImage());
	await expectImages(items, ['A boat']);
	const { id } = harness.gateway.tasks[0]!;
	expect(items[0]?.json).toMatchObject({ task_id: id, status: 'completed', image_count: 1 });
	for (const given of [getTask(id), waitForTask(id)]) {
		await expectImages((await harness.image(given)).items, ['A boat']);
	}
	expect(submits()).toBe(1);
});

test('a key that is refused in the middle is sent no more; tasks stand in the errors, and downloads go on', async () => {
	const refusedAt = harness.time.now() + 6000;
	harness.gateway.settings.taskSeconds = ({ prompt }) => (prompt === 'Picture 0' ? 3 : 60);
	harness.gateway.settings.intercept = ({ stage }) =>
		stage === 'before' && harness.time.now() >= refusedAt ? reply(401) : undefined;
	harness.gateway.settings.storageIntercept = ({ stage }) =>
		stage === 'before' ? { kind: 'delay', ms: 5000 } : undefined;
	const { items } = await harness.image(
		generateImage({ prompt: '=Picture {{ $json.n }}', options: { concurrency: 3 } }),
		{ items: numbered(8), ...CONTINUE },
	);

	const { requests, tasks } = harness.gateway;
	expect(requests.filter(({ startedAt }) => startedAt > refusedAt)).toEqual([]);
	expect(requests.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(2);
	await expectImages(items.slice(0, 1), ['Picture 0']);
	expect(tasks).toHaveLength(3);
	const errors = items.slice(1).map(({ json }) => json.error_details as IDataObject);
	const [, second, third] = tasks.map(({ id }) => id);
	expect(errors.map(({ task_id }) => task_id)).toEqual([second, third, ...Array<unknown>(5)]);
	expect(errors.every(({ http_status }) => http_status === 401)).toBe(true);
});
