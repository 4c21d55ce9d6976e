import type { IDataObject } from 'n8n-workflow';
import { pictureBelongsTo } from '../../gateway';
import {
	newRecord,
	readBinary,
	storeBinaryInMemory,
	storeBinaryOnDisk,
} from '../../scripts/engine/index';
import {
	cancelledAfter,
	generateImage,
	numbered,
	shown,
	startStory,
	submitted,
	waitForTask,
	type Story,
} from './arrange';

let story: Story;
let start: number;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = await startStory();
	start = story.time.now();
});
afterEach(async () => await story.close());

/** Seconds from the start at which the task was looked at. */
const polledAt = () =>
	story.gateway.requests
		.filter(({ route }) => route === 'task')
		.map(({ startedAt }) => (startedAt - start) / 1000);

const seconds = () => (story.time.now() - start) / 1000;

/** Rewrites the bodies and headers of polls. */
function onPolls(change: (body: IDataObject, headers: Record<string, string>) => void) {
	story.gateway.settings.intercept = ({ reply, route }) => {
		if (reply && route === 'task') {
			const body = JSON.parse(String(reply.body)) as IDataObject;
			change(body, reply.headers);
			reply.body = JSON.stringify(body);
		}
		return undefined;
	};
}

describe('When a task is looked at', () => {
	test('after the Retry-After of the 202, then after that of each reply', async () => {
		story.gateway.settings.taskSeconds = 10;
		await story.image(generateImage());

		expect(polledAt()).toEqual([3, 6, 9, 12]);
		expect(seconds()).toBe(12);
	});

	test('at the poll interval where that is longer', async () => {
		story.gateway.settings.taskSeconds = 10;
		await story.image(generateImage({ options: { pollInterval: 4 } }));

		expect(polledAt()).toEqual([4, 8, 12]);
	});

	test('at the Retry-After where the poll interval is shorter', async () => {
		await story.image(generateImage({ options: { pollInterval: 1 } }));

		expect(polledAt()).toEqual([3, 6]);
	});

	test('at a poll interval given as text by an expression', async () => {
		await story.image(generateImage({ options: { pollInterval: '={{ "5" }}' } }));

		expect(polledAt()).toEqual([5, 10]);
	});

	test('when each reply asks for it, with other times for each', async () => {
		story.gateway.settings.taskSeconds = 30;
		const asked = ['1', '20', '0'];
		onPolls((body, headers) => {
			if (body.status === 'processing') headers['Retry-After'] = asked.shift() ?? '3';
		});
		await story.image(generateImage());

		expect(polledAt()).toEqual([3, 6, 26, 29, 32]);
	});

	test('when an HTTP date in Retry-After says so', async () => {
		onPolls((body, headers) => {
			if (body.status !== 'processing') return;
			headers['Retry-After'] = new Date(story.time.now() + 8000).toUTCString();
		});
		await story.image(generateImage());

		expect(polledAt()).toEqual([3, 11]);
	});

	test('less and less often, up to every 15 s, where no reply names a time', async () => {
		story.gateway.settings.taskSeconds = 50;
		story.gateway.settings.intercept = ({ reply }) => {
			if (reply) delete reply.headers['Retry-After'];
			return undefined;
		};
		await story.image(generateImage());

		const times = [0, ...polledAt()];
		const waits = times.slice(1).map((time, index) => time - times[index]!);
		expect(waits).toEqual([3, 4.5, 6.75, 10.125, 15, 15]);
	});

	test('also while its state is one that the contract does not know', async () => {
		onPolls((body) => {
			if (body.status === 'processing') body.status = 'queued';
		});
		const run = await story.image(generateImage());

		expect(run.items[0]?.json.status).toBe('completed');
		expect(polledAt()).toEqual([3, 6]);
	});

	test('at an address that is built from its ID, whatever poll_url and Location say', async () => {
		story.gateway.settings.intercept = ({ reply, route }) => {
			if (reply && route === 'generations') {
				reply.headers.Location = 'https://evil.example.com/steal';
				reply.body = String(reply.body).replace(/"poll_url":"[^"]*"/, '"poll_url":"/v1/models"');
			}
			return undefined;
		};
		const run = await story.image(generateImage());

		expect(run.items).toHaveLength(1);
		expect(story.gateway.requests.slice(1).every(({ route }) => route === 'task')).toBe(true);
	});

	test('again after a fault of one poll', async () => {
		story.gateway.settings.intercept = ({ route, attempt, stage }) =>
			route === 'task' && attempt === 1 && stage === 'before' ? { kind: 'destroy' } : undefined;
		const run = await story.image(generateImage());

		expect(run.items).toHaveLength(1);
		expect(story.gateway.count({ route: 'generations' })).toBe(1);
	});

	test('under the ID of the Location where the 202 cannot be read', async () => {
		story.gateway.settings.intercept = ({ reply, route }) => {
			if (reply && route === 'generations') reply.body = '{"status": 1}';
			return undefined;
		};
		const run = await story.image(generateImage());

		const [task] = story.gateway.tasks;
		expect(run.items[0]?.json.task_id).toBe(task?.id);
		expect(pictureBelongsTo('A boat', await readBinary(run.items[0]?.binary?.data))).toBe(true);
	});
});

describe('Task → Wait', () => {
	test('looks at once, then waits until the picture is there', async () => {
		const task = await submitted(story);
		await story.time.advance(1000);
		const run = await story.image(waitForTask(task.id));

		expect(polledAt()).toEqual([1, 4, 7]);
		expect(run.items).toHaveLength(1);
		expect(run.items[0]?.json).toMatchObject({ task_id: task.id, status: 'completed' });
		expect(pictureBelongsTo('A boat', await readBinary(run.items[0]?.binary?.data))).toBe(true);
	});

	test('does not wait for a task that is done', async () => {
		const task = await submitted(story);
		await story.time.advance(60_000);
		await story.image(waitForTask(task.id));

		expect(polledAt()).toEqual([60]);
		expect(seconds()).toBe(60);
	});

	test('obeys the poll interval, the binary field, the file name and Download Images', async () => {
		const task = await submitted(story);
		const options = { pollInterval: 7, fileName: 'x' };
		const run = await story.image(waitForTask(task.id, { binaryPropertyName: 'pic', options }));
		expect(polledAt()).toEqual([0, 7]);
		expect(run.items[0]?.binary?.pic?.fileName).toBe('x.png');

		const other = await story.image(waitForTask(task.id, { downloadImages: false }));
		expect(other.items[0]?.binary).toBeUndefined();
	});

	test('of a failed task is an error that names the task', async () => {
		const task = await submitted(story, { prompt: 'A boat [[fail:503]]' });
		const error = shown(await story.imageError(waitForTask(task.id)));

		expect(error.message).toBe('The image task failed: the picture could not be made');
		expect(error.description).toContain(`Task ID: ${task.id}.`);
		expect(error.context.details).toMatchObject({
			task_id: task.id,
			http_status: 503,
			type: 'image_generation_error',
		});
	});

	test('lets several tasks run side by side and keeps their order', async () => {
		story.gateway.settings.taskSeconds = ({ prompt }) => Number(prompt);
		const run = await story.image(
			generateImage({ prompt: '={{ $json.n === 0 ? "9" : "3" }}', waitForCompletion: false }),
			{ items: numbered(2) },
		);
		const waited = await story.image(waitForTask('={{ $json.task_id }}'), {
			items: run.items.map(({ json }) => ({ json })),
		});
		expect(waited.items.map(({ json }) => json.task_id)).toEqual(
			run.items.map(({ json }) => json.task_id),
		);
		expect(seconds()).toBe(9);
	});
});

describe('Max Wait', () => {
	beforeEach(() => {
		story.gateway.settings.taskSeconds = 3600;
	});

	test('is 900 s where nothing is set', async () => {
		await story.imageError(generateImage({ options: { pollInterval: 90 } }));
		expect(polledAt().at(-1)).toBe(900);
	});

	test('ends with an error that names the task, before a wait that would pass it', async () => {
		const run = await story.imageError(generateImage({ options: { maxWait: 20 } }));

		const error = shown(run);
		const [task] = story.gateway.tasks;
		expect(polledAt()).toEqual([3, 6, 9, 12, 15, 18]);
		expect(seconds()).toBe(18);
		expect(error.message).toBe('The image was not done within Max Wait');
		expect(error.description).toContain(`Task ID: ${task?.id}.`);
		expect(error.description).toMatch(/do not submit it again.*Task → Wait/);
		expect(error.context).toMatchObject({
			itemIndex: 0,
			details: { task_id: task?.id, retryable: false },
		});
	});

	test('returns the task as it stands where that is asked for', async () => {
		const run = await story.image(
			generateImage({ options: { maxWait: 20, onTimeout: 'returnTask' } }),
		);
		const [task] = story.gateway.tasks;
		expect(run.items).toEqual([
			{
				json: {
					id: task?.id,
					task_id: task?.id,
					object: 'image.generation.task',
					status: 'processing',
					created_at: start / 1000,
					expires_at: task!.expiresAt / 1000,
					retry_after: 3,
				},
				pairedItem: { item: 0 },
			},
		]);
	});

	test('holds for Task → Wait as well, both ways', async () => {
		const task = await submitted(story);
		const options = { maxWait: 4 };
		const error = shown(await story.imageError(waitForTask(task.id, { options })));
		expect(error.message).toBe('The image was not done within Max Wait');
		expect(error.description).toContain(task.id);

		const run = await story.image(
			waitForTask(task.id, { options: { ...options, onTimeout: 'returnTask' } }),
		);
		expect(run.items[0]?.json).toMatchObject({ task_id: task.id, retry_after: 3 });
	});

	test('ends at the task’s expiry where that comes first', async () => {
		story.gateway.settings.taskLifetime = 10;
		const error = shown(await story.imageError(generateImage()));

		expect(seconds()).toBe(9);
		expect(error.message).toBe('The image task is about to expire and is not done');
		expect(error.description).toContain(`Task ID: ${story.gateway.tasks[0]?.id}.`);
	});
});

describe('Cancelling the execution', () => {
	const promptly = 1000;

	/** Cancels after `ms` and returns the error, having checked that nothing was sent after it. */
	async function cancelledRun(parameters: IDataObject, ms: number) {
		const record = newRecord();
		const signal = cancelledAfter(story.time, ms);
		let sent = 0;
		let fetched = 0;
		signal.addEventListener('abort', () => {
			sent = story.gateway.requests.length;
			fetched = story.gateway.storageRequests.length;
		});
		const before = story.time.now();
		const run = await story.imageError(parameters, { signal, record });
		expect(story.time.now() - before).toBeLessThanOrEqual(ms + promptly);
		await story.time.advance(60_000);
		expect(story.gateway.requests).toHaveLength(sent);
		expect(story.gateway.storageRequests).toHaveLength(fetched);
		expect(run.error.message).toMatch(/^The execution was canceled/);
		return shown(run);
	}

	test('while waiting ends the wait and names the task', async () => {
		story.gateway.settings.taskSeconds = 100;
		const error = await cancelledRun(generateImage(), 4000);

		expect(polledAt()).toEqual([3]);
		expect(`${error.message} ${error.description}`).toContain(story.gateway.tasks[0]!.id);
		expect(error.context.acceptedTasks).toEqual([{ item: 0, task_id: story.gateway.tasks[0]!.id }]);
	});

	test('while Task → Wait waits names its task', async () => {
		story.gateway.settings.taskSeconds = 100;
		const task = await submitted(story);
		const error = await cancelledRun(waitForTask(task.id), 4000);

		expect(`${error.message} ${error.description}`).toContain(task.id);
	});

	test('while a poll is under way ends the poll', async () => {
		story.gateway.settings.intercept = ({ route }) =>
			route === 'task' ? { kind: 'hang' } : undefined;
		const error = await cancelledRun(generateImage(), 5000);

		expect(polledAt()).toEqual([3]);
		expect(`${error.message} ${error.description}`).toContain(story.gateway.tasks[0]!.id);
	});

	test('while a submit is under way ends the submit, and no task is named', async () => {
		story.gateway.settings.submitMs = 30_000;
		const error = await cancelledRun(generateImage(), 2000);

		expect(story.gateway.tasks).toHaveLength(0);
		expect(error.message).toBe('The execution was canceled');
	});

	test('while a response is under way ends the request', async () => {
		story.gateway.settings.responseMs = 30_000;
		const signal = cancelledAfter(story.time, 2000);
		const { error } = await story.textError(
			{ resource: 'response', operation: 'create', model: 'aurora-text-1', prompt: 'Hi' },
			{ signal },
		);
		expect(error.message).toBe('The execution was canceled');
		expect(seconds()).toBeLessThanOrEqual(3);
		expect(story.gateway.count()).toBe(1);
	});

	test('while a picture is downloaded ends the download and leaves no file', async () => {
		const storage = await storeBinaryOnDisk();
		const controller = new AbortController();
		let closed = false;
		story.gateway.settings.storageIntercept = ({ res, gone }) => ({
			kind: 'take',
			write: async () => {
				res.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': 5000 });
				res.write(Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(2000)]));
				await story.time.gateway.sleep(2000);
				const left = new Promise((resolve) => gone.addEventListener('abort', resolve));
				controller.abort();
				await left;
				closed = true;
			},
		});
		try {
			const { signal } = controller;
			const error = shown(await story.imageError(generateImage(), { signal }));

			expect(error.message).toMatch(/^The execution was canceled/);
			expect(`${error.message} ${error.description}`).toContain(story.gateway.tasks[0]!.id);
			expect(seconds()).toBe(8);
			await story.time.advance(120_000);
			expect(closed).toBe(true);
			expect(story.gateway.storageRequests).toHaveLength(1);
			expect(await storage.files()).toEqual([]);
		} finally {
			await storage.remove();
		}
	});

	test('while a request waits to be sent again ends that wait', async () => {
		story.gateway.settings.intercept = () => ({
			kind: 'reply',
			status: 429,
			headers: { 'Retry-After': '30' },
		});
		await cancelledRun(generateImage(), 1000);
		expect(story.gateway.count()).toBe(1);
	});

	test('before the node starts sends nothing', async () => {
		const controller = new AbortController();
		controller.abort();
		const { error } = await story.imageError(generateImage(), { signal: controller.signal });

		expect(error.message).toBe('The execution was canceled');
		expect(story.gateway.count()).toBe(0);
	});

	test('names the accepted tasks of all items, and starts no further item', async () => {
		story.gateway.settings.taskSeconds = 100;
		const signal = cancelledAfter(story.time, 4000);
		const run = await story.imageError(generateImage({ options: { concurrency: 2 } }), {
			items: numbered(6),
			signal,
		});
		expect(story.gateway.tasks).toHaveLength(2);
		for (const { id } of story.gateway.tasks) expect(shown(run).description).toContain(id);
	});

	test('ends the node also under Continue', async () => {
		story.gateway.settings.taskSeconds = 100;
		const signal = cancelledAfter(story.time, 4000);
		const { error } = await story.imageError(generateImage(), {
			signal,
			onError: 'continueRegularOutput',
		});
		expect(error.message).toMatch(/^The execution was canceled/);
	});
});
