import type { IDataObject } from 'n8n-workflow';
import type { GatewaySwitches, TaskEndName } from '../../gateway';
import {
	editImage,
	generateImage,
	getTask,
	numbered,
	shown,
	submitted,
	useHarness,
	waitForTask,
} from './arrange';
import { expectPictures, runChecked } from './image.arrange';

/* What real gateways do with image tasks beyond the contract. */

const harness = useHarness();
const set = (switches: GatewaySwitches & { taskSeconds?: number }) =>
	Object.assign(harness.gateway.settings, switches);
const polls = () => harness.gateway.count({ route: 'task' });
const submits = () => harness.gateway.count({ route: 'generations' });
const failure = async (parameters: IDataObject) => shown(await harness.imageError(parameters));

/** A run of Image → Generate that n8n tries three times. */
const tried = async (given: IDataObject = {}) =>
	await runChecked(harness, [
		{ name: 'Draw', parameters: generateImage(given), retryOnFail: true, maxTries: 3 },
	]);

describe('Under Retry On Fail', () => {
	const LOOK =
		'The image may have been made and charged, although it cannot be fetched. Check the usage in the gateway’s console before you submit it again.';
	const DOUBTS: TaskEndName[] = [
		'not stored',
		'too slow',
		'server error',
		'timed out',
		'no status',
		'provider 500',
	];

	test.each(DOUBTS)('a task that may be charged is submitted once: %s', async (taskEnd) => {
		set({ taskEnd });
		const { error } = await tried({ options: { maxWait: 3600 } });
		const [task] = harness.gateway.tasks;

		expect(submits()).toBe(1);
		expect(error?.message).toMatch(/^The image task failed/);
		expect(error?.description).toContain(LOOK);
		expect(error?.description).toContain(`Task ID: ${task?.id}.`);
		expect(/has an outage\. Try again later/.test(error?.description ?? '')).toBe(
			taskEnd === 'provider 500',
		);
	});

	test('a task that the gateway lost is submitted once, and the error says since when', async () => {
		set({ taskEnd: 'lost' });
		const { error } = await tried();

		expect(submits()).toBe(1);
		expect(error?.message).toBe('The gateway has lost the image task (HTTP 404)');
		expect(error?.description).toContain(
			'The gateway accepted it at 2026-01-01T00:00:00.000Z and no longer knows it. The task may be charged.',
		);
		const typed = await failure(waitForTask(harness.gateway.tasks[0]!.id));
		expect(typed.description).toMatch(
			/^The task ID is wrong, the task has expired, or another API key submitted it/,
		);
	});
});

describe('The reason of a task without an image', () => {
	test.each<[TaskEndName, RegExp, RegExp]>([
		[
			'error in the result',
			/moderation_blocked\): Your request was rejected by the safety/,
			/Nothing was made\./,
		],
		['refused by the provider', /HTTP 400, moderation_blocked\)/, /Nothing was made\./],
		[
			'no account has the model',
			/HTTP 404\)/,
			/The key’s list has the model .*no account of the group takes it/,
		],
		['no balance', /HTTP 403\).*insufficient balance/, /Top up the balance/],
		['quota used up', /HTTP 429, insufficient_quota\)/, /Raise or reset the quota/],
	])('is told, and nothing is sent again: %s', async (taskEnd, message, advice) => {
		set({ taskEnd });
		const error = await failure(generateImage());
		expect(error.message).toMatch(message);
		expect(error.description).toMatch(advice);
		expect(error.description).not.toMatch(/charged\. Do not submit|check the Base URL/i);
		expect(error.context.details?.retryable).toBe(false);
		expect(submits()).toBe(1);

		const { id } = harness.gateway.tasks[0]!;
		expect((await failure(waitForTask(id))).message).toBe(error.message);
		expect((await harness.image(getTask(id))).items[0]?.json).toMatchObject({ task_id: id });
	});

	test('is told as a refusal of the provider, its words bounded', async () => {
		set({ taskEnd: 'refused by the model' });
		const error = await failure(generateImage());
		expect(error.message).toMatch(
			/^The model’s provider refused the prompt or an image \(HTTP 400, content_policy_violation\): I can’t help/,
		);
		expect(error.message.length).toBeLessThan(700);
		expect(error.description).toMatch(/^Change the prompt .* Nothing was made\./);
	});

	test('stands in a completed task as Task → Get hands it on', async () => {
		set({ taskEnd: 'error in the result' });
		const { id } = await submitted(harness);
		await harness.time.advance(6000);
		expect((await harness.image(getTask(id))).items[0]?.json).toMatchObject({
			status: 'completed',
			error: { code: 'moderation_blocked' },
		});
	});
});

describe('What a gateway says of an image', () => {
	beforeEach(() => set({ fullTasks: true, requestIds: 'twice' }));
	const usage = { output_tokens: 4160, input_tokens_details: { image_tokens: 0 } };

	test.each(['generate', 'edit', 'get', 'wait'])(
		'is short with Simplify: %s',
		async (operation) => {
			const { id } = await submitted(harness);
			await harness.time.advance(6000);
			const makes = { generate: generateImage(), edit: editImage(), get: getTask(id) };
			const given = { wait: waitForTask(id), ...makes }[operation]!;
			const { json } = (await harness.image(given)).items[0]!;
			expect(json).toMatchObject({ status: 'completed', usage });
			expect(Object.keys(json).length).toBeLessThanOrEqual(10);
			expect(Object.keys(json)).not.toContain('request_id');
		},
	);

	test('is all there with Simplify off, fields that nobody knows and request IDs included', async () => {
		harness.gateway.settings.intercept = ({ route, reply }) => {
			if (reply && route === 'task') {
				reply.body = String(reply.body).replace('"object"', '"color":"blue","object"');
			}
			return undefined;
		};
		const { json } = (await harness.image(generateImage({ simplify: false }))).items[0]!;
		const { requests, tasks } = harness.gateway;
		expect(json).toMatchObject({
			task_id: tasks[0]?.id,
			color: 'blue',
			http_status: 200,
			created_at: tasks[0]!.createdAt / 1000,
			expires_at: tasks[0]!.expiresAt / 1000,
			result: { usage, size: '32x24', quality: 'high', output_format: 'png' },
			image: { revised_prompt: 'A boat, in soft light' },
			image_index: 0,
			image_count: 1,
			file: { mime_type: 'image/png' },
			request_id: requests.at(-1)?.id,
		});
		expect(`client:${json.client_request_id as string}`).toBe(requests.at(-1)?.clientId);
	});

	test('is hinted at once a run where it is not what was asked for', async () => {
		set({ maxImages: 1, imageSize: '64x48' });
		const options = { n: 3, outputFormat: 'webp', size: '1024x1024' };
		const { items, hints } = await harness.image(generateImage({ options }), {
			items: numbered(2),
		});
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
	test.each([403, 404, 410] as const)('with %i is replaced by a fresh one', async (linkDeath) => {
		set({ linkSeconds: 1, linkDeath, linkRenewal: 'fresh' });
		let isLate = true;
		harness.gateway.settings.storageIntercept = () => {
			const fault = isLate ? ({ kind: 'delay', ms: 2000 } as const) : undefined;
			isLate = false;
			return fault;
		};
		await expectPictures((await harness.image(generateImage())).items, ['A boat']);
		expect([submits(), polls()]).toEqual([1, 3]);
	});

	test.each([403, 404, 410] as const)(
		'with %i, and has no successor, is told',
		async (linkDeath) => {
			// Looked at 2 s after the image was done.
			set({ taskSeconds: 7, linkSeconds: 1, linkDeath });
			const error = await failure(generateImage());
			expect(error.message).toMatch(`HTTP ${linkDeath}, the link no longer works`);
			expect(error.description).toMatch(
				/^The link expired before its task, which the gateway keeps until 2026-01-02T00:00:00.000Z\. The image is paid for, but the task names no other link/,
			);
			expect(error.description).not.toMatch(/fetch it with Task → Get/);
			expect([submits(), polls()]).toEqual([1, 4]);
		},
	);
});

describe('A task that is', () => {
	const WORKING = [
		'queued',
		'pending',
		'in_progress',
		'RUNNING',
		'submitted',
		'In Queue',
		'baking',
	];

	test.each([
		...['Completed', 'SUCCESS', 'succeeded', 'done'].map((completed) => ({ completed })),
		...WORKING.map((processing) => ({ processing })),
	])('%j comes to its image', async (statusWords) => {
		set({ statusWords });
		const { items } = await harness.image(generateImage());
		expect(items[0]?.json.status).toBe('completed');
		await expectPictures(items, ['A boat']);
		expect(polls()).toBe(2);
	});

	test.each(['cancelled', 'canceled', 'error', 'FAILURE', 'expired', 'kaput'])(
		'%s has failed',
		async (failed) => {
			set({ statusWords: { failed } });
			const error = await failure(generateImage({ prompt: '[[fail:400]]' }));
			expect(error.message).toBe(
				'The gateway refused the image task (HTTP 400): the image could not be made',
			);
			expect(polls()).toBe(2);
		},
	);

	test.each(WORKING)('%s at the end of Max Wait is told so', async (processing) => {
		set({ statusWords: { processing }, taskSeconds: 600 });
		const error = await failure(generateImage({ options: { maxWait: 10 } }));
		expect(error.description).toContain(
			`Its last status was ${processing}, 9 s after it was accepted.`,
		);
	});

	test('never done was probably lost, says Task → Wait an hour later', async () => {
		harness.gateway.settings.taskSeconds = 60;
		const { id } = await submitted(harness);
		harness.gateway.restart();
		const options = { maxWait: 90 };
		expect((await failure(waitForTask(id, { options }))).description).toMatch(
			/^Its last status was processing, 90 s after it was accepted\..* The task goes on/,
		);
		await harness.time.advance(3600_000);
		const error = await failure(waitForTask(id, { options }));
		expect(error.description).toMatch(
			/^Its last status was processing, 63 min after .* probably lost this one\. Check the usage/,
		);
		expect(error.context.details).toMatchObject({ task_id: id, retryable: false });
	});
});

describe('A poll', () => {
	test.each<[string, GatewaySwitches]>([
		['that comes back as a page or an error', { strayPollEvery: 2 }],
		['that a cache would answer', { pollCacheSeconds: 3600 }],
		['and a submit that are wrapped as data', { envelope: 'data' }],
		['and a submit that are wrapped as a list', { envelope: 'list' }],
	])('%s does not keep the image from coming', async (_name, switches) => {
		set(switches);
		const { items } = await harness.image(generateImage());
		await expectPictures(items, ['A boat']);
		const { id } = harness.gateway.tasks[0]!;
		expect(items[0]?.json).toMatchObject({ task_id: id, status: 'completed', image_count: 1 });
		for (const given of [getTask(id), waitForTask(id)]) {
			await expectPictures((await harness.image(given)).items, ['A boat']);
		}
		expect(submits()).toBe(1);
	});

	test('that never is a task ends after Max Retries, with the task ID', async () => {
		set({ strayPollEvery: 1 });
		const error = await failure(generateImage({ options: { maxRetries: 2 } }));
		expect(polls()).toBe(3);
		expect(error.description).toContain(`Task ID: ${harness.gateway.tasks[0]?.id}.`);
		expect(error.description).toMatch(/Do not submit it again: fetch it with Task → Wait/);
	});
});

test('a key that is refused in the middle is sent no more; tasks stand in the errors, and downloads go on', async () => {
	const refusedAt = harness.time.now() + 6000;
	harness.gateway.settings.taskSeconds = ({ prompt }) => (prompt === 'Picture 0' ? 3 : 60);
	harness.gateway.settings.intercept = ({ stage }) =>
		stage === 'before' && harness.time.now() >= refusedAt
			? { kind: 'reply', status: 401 }
			: undefined;
	harness.gateway.settings.storageIntercept = ({ stage }) =>
		stage === 'before' ? { kind: 'delay', ms: 5000 } : undefined;
	const { items } = await harness.image(
		generateImage({ prompt: '=Picture {{ $json.n }}', options: { concurrency: 3 } }),
		{ items: numbered(8), onError: 'continueRegularOutput' },
	);

	const { requests, tasks } = harness.gateway;
	expect(requests.filter(({ startedAt }) => startedAt > refusedAt)).toEqual([]);
	expect(requests.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(2);
	await expectPictures(items.slice(0, 1), ['Picture 0']);
	expect(tasks).toHaveLength(3);
	const errors = items.slice(1).map(({ json }) => json.error_details as IDataObject);
	expect(errors.map(({ task_id }) => task_id)).toEqual([
		...tasks.slice(1).map(({ id }) => id),
		...Array<undefined>(5).fill(undefined),
	]);
	expect(errors.every(({ http_status }) => http_status === 401)).toBe(true);
});
