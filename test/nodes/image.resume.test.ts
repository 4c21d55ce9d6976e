import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { drawPicture, pictureBelongsTo, type FormRecord } from '../../gateway';
import { readBinary, storeBinaryInMemory, storeBinaryOnDisk } from '../../scripts/engine/index';
import {
	cancelledAfter,
	editImage,
	generateImage,
	getTask,
	itemsOf,
	numbered,
	shown,
	startStory,
	waitForTask,
	type ShownError,
	type Story,
} from './arrange';
import { TaskBooks, type Placed } from './image.arrange';

const books = new TaskBooks();
let story: Story;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = books.follow(await startStory());
});
afterEach(async () => await story.close());

/** Parameters of Image → Generate, with a prompt for each item: `Picture 0`, `Picture 1`, … */
const pictures = (given: IDataObject = {}) =>
	generateImage({ prompt: '=Picture {{ $json.n }}', ...given });

/** A node called Draw that n8n tries again. */
const tried = (parameters: IDataObject, given: Partial<Placed> = {}): Placed => ({
	name: 'Draw',
	parameters,
	retryOnFail: true,
	maxTries: 3,
	...given,
});

const submits = () =>
	story.gateway.count({ route: 'generations' }) + story.gateway.count({ route: 'edits' });

/** The prompt that a task was submitted with. */
const promptOf = (taskId: unknown) =>
	story.gateway.tasks.find(({ id }) => id === taskId)?.request.prompt;

const taskOf = (prompt: string) =>
	story.gateway.tasks.find(({ request }) => request.prompt === prompt)!.id;

/** Refuses what `when` picks, for so many times. */
function refuse(
	times: number,
	when: (request: { route: string; prompt?: string; path: string }) => boolean,
	status = 400,
) {
	let left = times;
	story.gateway.settings.intercept = ({ stage, route, record }) => {
		const { prompt } = (record.body ?? {}) as { prompt?: string };
		if (stage !== 'before' || !when({ route, prompt, path: record.path })) return undefined;
		return left-- > 0 ? { kind: 'reply', status } : undefined;
	};
}

const isPoll = ({ route }: { route: string }) => route === 'task';

/** What the node keeps from one try to the next. */
const kept = (run: { data: { executionData?: { contextData: IDataObject } } }) =>
	run.data.executionData?.contextData['node:Draw'] ?? {};

describe('Retry On Fail', () => {
	test('takes a task up in every further try', async () => {
		refuse(2, isPoll);
		const run = await books.workflow(story, [tried(pictures())], { items: numbered(1) });

		expect(run.error).toBeUndefined();
		expect(submits()).toBe(1);
		expect(story.gateway.count({ route: 'task', status: 400 })).toBe(2);
		expect(run.items('Draw')[0]?.json).toMatchObject({
			task_id: story.gateway.tasks[0]?.id,
			status: 'completed',
			image_index: 0,
		});
	});

	test('submits only the items of a large batch that have no task yet', async () => {
		refuse(1, ({ route, prompt }) => route === 'generations' && prompt === 'Picture 5');
		const run = await books.workflow(story, [tried(pictures({ options: { concurrency: 2 } }))], {
			items: numbered(8),
		});

		expect(run.error).toBeUndefined();
		// Each once, and the refused one once more.
		expect(submits()).toBe(9);
		expect(story.gateway.tasks).toHaveLength(8);
		expect(run.items('Draw').map(({ json }) => promptOf(json.task_id))).toEqual(
			numbered(8).map((_item, n) => `Picture ${n}`),
		);
		const files = await Promise.all(
			run.items('Draw').map(async ({ binary }) => await readBinary(binary?.data)),
		);
		expect(files.every((file, n) => pictureBelongsTo(`Picture ${n}`, file))).toBe(true);
	});

	test('fetches all pictures of a task of which one could not be had', async () => {
		story.gateway.settings.storageIntercept = ({ record, attempt }) =>
			record.path.includes('/1.png') && attempt <= 2 ? { kind: 'reply', status: 404 } : undefined;
		const run = await books.workflow(story, [tried(pictures({ options: { n: 3 } }))], {
			items: numbered(1),
		});

		expect(run.error).toBeUndefined();
		expect(submits()).toBe(1);
		expect(run.items('Draw').map(({ json }) => json.image_index)).toEqual([0, 1, 2]);
	});

	test('does not submit anew what the gateway no longer knows', async () => {
		refuse(Infinity, isPoll, 404);
		const run = await books.workflow(story, [tried(pictures())], { items: numbered(1) });

		expect(submits()).toBe(1);
		expect(story.gateway.count({ route: 'task' })).toBe(3);
		expect(run.error?.message).toMatch(/^The gateway knows no image task "imgtask_/);
		expect(run.error?.description).toContain(`Task ID: ${story.gateway.tasks[0]?.id}.`);
	});

	test('does not submit anew what was not done within Max Wait, but waits again', async () => {
		story.gateway.settings.taskSeconds = 25;
		const run = await books.workflow(story, [tried(pictures({ options: { maxWait: 10 } }))], {
			items: numbered(1),
		});

		expect(run.error).toBeUndefined();
		expect(submits()).toBe(1);
		expect(run.items('Draw')[0]?.json.status).toBe('completed');
	});

	test('submits a failed task anew, and only that', async () => {
		let failures = 1;
		story.gateway.settings.failTask = ({ prompt }) =>
			prompt === 'Picture 1' && failures-- > 0 ? { httpStatus: 500 } : undefined;
		const run = await books.workflow(story, [tried(pictures())], { items: numbered(3) });

		expect(run.error).toBeUndefined();
		expect(story.gateway.tasks.map(({ request }) => request.prompt).sort()).toEqual([
			'Picture 0',
			'Picture 1',
			'Picture 1',
			'Picture 2',
		]);
		const again = story.gateway.tasks.findLast(({ request }) => request.prompt === 'Picture 1');
		expect(run.items('Draw')[1]?.json.task_id).toBe(again?.id);
	});

	test.each(['memory', 'disk'] as const)('takes up an edit, its file in %s', async (where) => {
		const storage = where === 'disk' ? await storeBinaryOnDisk() : undefined;
		try {
			const draw = generateImage({ prompt: 'A tree' });
			const change = editImage({ imageSource: 'binary', prompt: 'Add birds' });
			const polls = { ofEdits: 0 };
			story.gateway.settings.intercept = ({ stage, route, record }) => {
				if (stage !== 'before' || route !== 'task') return undefined;
				if (promptOf(record.path.split('/').at(-1)) !== 'Add birds') return undefined;
				return polls.ofEdits++ < 2 ? { kind: 'reply', status: 400 } : undefined;
			};
			const run = await books.workflow(story, [{ name: 'Make', parameters: draw }, tried(change)]);

			expect(run.error).toBeUndefined();
			expect(story.gateway.count({ route: 'edits' })).toBe(1);
			expect(polls.ofEdits).toBeGreaterThan(2);
			const png = await readBinary(run.items('Draw')[0]?.binary?.data);
			expect(pictureBelongsTo('Add birds', png)).toBe(true);
		} finally {
			await storage?.remove();
		}
	});

	test('of an edit tells items apart that differ in their file only', async () => {
		const fileOf = (prompt: string) => ({
			data: drawPicture({ prompt, index: 0, width: 16, height: 16 }).toString('base64'),
			mimeType: 'image/png',
		});
		const items: INodeExecutionData[] = [
			{ json: {}, binary: { data: fileOf('one') } },
			{ json: {}, binary: { data: fileOf('two') } },
		];
		refuse(1, isPoll);
		const run = await books.workflow(
			story,
			[tried(editImage({ imageSource: 'binary', options: { concurrency: 1 } }))],
			{ items },
		);

		expect(run.error).toBeUndefined();
		const sent = story.gateway.requests
			.filter(({ route }) => route === 'edits')
			.map(({ body }) => (body as FormRecord).files[0]?.sha256);
		expect(sent).toHaveLength(2);
		expect(new Set(sent).size).toBe(2);
	});

	test('names tasks of an earlier try that the last one did not come to', async () => {
		// Items 0 and 1 are done when item 2 fails; later tries end at item 0 already.
		let polls = 0;
		story.gateway.settings.intercept = ({ stage, route, record }) => {
			if (stage !== 'before') return undefined;
			if ((record.body as { prompt?: string })?.prompt === 'Picture 2') {
				return { kind: 'reply', status: 400 };
			}
			return route === 'task' && polls++ >= 4 ? { kind: 'reply', status: 401 } : undefined;
		};
		const run = await books.workflow(story, [tried(pictures({ options: { concurrency: 1 } }))], {
			items: numbered(3),
		});

		expect(run.status).toBe('error');
		expect(run.error?.message).toMatch(/HTTP 401/);
		expect(story.gateway.tasks).toHaveLength(2);
		expect(run.error?.description).toContain(`Task ID: ${taskOf('Picture 0')}.`);
		expect(run.error?.description).toContain(taskOf('Picture 1'));
	});

	test.each<[string, IDataObject]>([
		['generate', pictures()],
		['edit', editImage()],
	])('does not submit again where a submission may have arrived: %s', async (_name, parameters) => {
		story.gateway.settings.intercept = ({ stage, route }) =>
			stage === 'before' && route !== 'task' ? { kind: 'destroy' } : undefined;
		const run = await books.workflow(story, [tried(parameters)], { items: numbered(1) });

		expect(run.status).toBe('error');
		expect(submits()).toBe(1);
		expect(run.error?.description).toMatch(/An image task may exist and be charged/);
	});

	test('submits again, and the other items once only, where nothing can have arrived', async () => {
		refuse(2, ({ route, prompt }) => route === 'generations' && prompt === 'Picture 1', 403);
		const run = await books.workflow(story, [tried(pictures())], { items: numbered(2) });

		expect(run.error).toBeUndefined();
		expect(submits()).toBe(4);
		expect(story.gateway.tasks).toHaveLength(2);
	});

	test('leaves nothing in the node’s context once all is delivered', async () => {
		refuse(1, isPoll);
		const run = await books.workflow(story, [tried(pictures())], { items: numbered(3) });

		expect(run.error).toBeUndefined();
		expect(kept(run)).toEqual({});
	});

	test('keeps the tasks of a run that has failed for good, and no prompt or key with them', async () => {
		refuse(Infinity, isPoll);
		const run = await books.workflow(
			story,
			[tried(generateImage({ prompt: 'A secret garden' }), { maxTries: 2 })],
			{ items: numbered(1) },
		);

		expect(run.status).toBe('error');
		const saved = JSON.stringify(kept(run));
		expect(saved).toContain(story.gateway.tasks[0]?.id);
		expect(saved).not.toMatch(/secret garden/);
	});

	test('sends nothing after a cancel, although n8n goes on with its tries', async () => {
		story.gateway.settings.taskSeconds = 3600;
		const signal = cancelledAfter(story.time, 4000);
		let sent = 0;
		signal.addEventListener('abort', () => {
			sent = story.gateway.count();
		});
		const { time } = story;
		const before = time.now();
		const run = await books.workflow(story, [tried(pictures())], { items: numbered(2), signal });

		expect(run.status).toBe('canceled');
		expect(time.now() - before).toBeLessThanOrEqual(5000);
		await time.advance(600_000);
		expect(story.gateway.count()).toBe(sent);
		expect(submits()).toBe(2);
		// The last of the tries, which found the execution canceled, has them from the first.
		for (const { id } of story.gateway.tasks) expect(run.error?.description).toContain(id);
	});
});

describe('Retry On Fail beside Continue', () => {
	test('n8n tries again where the first item failed: nothing is submitted twice', async () => {
		refuse(
			1,
			({ route, path }) => route === 'task' && promptOf(path.split('/').at(-1)) === 'Picture 0',
		);
		const run = await books.workflow(
			story,
			[tried(pictures(), { onError: 'continueRegularOutput' })],
			{ items: numbered(3) },
		);

		expect(run.error).toBeUndefined();
		expect(submits()).toBe(3);
		expect(run.items('Draw').map(({ json }) => json.status)).toEqual(Array(3).fill('completed'));
		expect(kept(run)).toEqual({});
	});

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'%s: an item that fails in each try is one error item with its task',
		async (onError) => {
			refuse(
				Infinity,
				({ route, path }) => route === 'task' && promptOf(path.split('/').at(-1)) === 'Picture 0',
			);
			const run = await books.workflow(story, [tried(pictures(), { onError })], {
				items: numbered(3),
			});

			expect(run.error).toBeUndefined();
			expect(submits()).toBe(3);
			const all = [...run.items('Draw', 0), ...run.items('Draw', 1)];
			expect(all).toHaveLength(3);
			const failed = all.filter(({ json }) => json.error !== undefined);
			expect(failed.map(({ json }) => (json.error_details as IDataObject).task_id)).toEqual([
				taskOf('Picture 0'),
			]);
		},
	);

	test('an item behind the first one that failed is not tried again by n8n', async () => {
		refuse(
			Infinity,
			({ route, path }) => route === 'task' && promptOf(path.split('/').at(-1)) === 'Picture 1',
		);
		const run = await books.workflow(
			story,
			[tried(pictures(), { onError: 'continueRegularOutput' })],
			{ items: numbered(2) },
		);
		expect(submits()).toBe(2);
		expect(run.items('Draw')[1]?.json.error_details).toMatchObject({
			task_id: taskOf('Picture 1'),
		});
		expect(kept(run)).toEqual({});
	});
});

describe('Continue (using error output)', () => {
	test('finished pictures leave by the first output, failures by the second, each linked to its input', async () => {
		story.gateway.settings.failTask = ({ prompt }) =>
			/[13]$/.test(prompt) ? { httpStatus: 400 } : undefined;
		const items = itemsOf(...[0, 1, 2, 3, 4].map((n) => ({ n, sku: `sku-${n}` })));
		const run = await books.workflow(
			story,
			[
				{ name: 'Draw', parameters: pictures(), onError: 'continueErrorOutput' },
				{ name: 'Keep', type: 'n8n-nodes-base.set', typeVersion: 3.4, parameters: SKU },
				{ name: 'Note', type: 'n8n-nodes-base.set', typeVersion: 3.4, parameters: SKU },
			],
			{ items, wires: { Start: [['Draw']], Draw: [['Keep'], ['Note']] } },
		);

		expect(run.error).toBeUndefined();
		expect(run.items('Draw', 0).map(({ pairedItem }) => pairedItem)).toEqual(
			[0, 2, 4].map((item) => ({ item })),
		);
		expect(run.items('Draw', 1).map(({ pairedItem }) => pairedItem)).toEqual(
			[1, 3].map((item) => expect.objectContaining({ item }) as object),
		);
		expect(run.items('Draw', 0).every(({ binary }) => binary?.data !== undefined)).toBe(true);
		expect(run.items('Keep').map(({ json }) => json.sku)).toEqual(['sku-0', 'sku-2', 'sku-4']);
		expect(run.items('Note').map(({ json }) => json.sku)).toEqual(['sku-1', 'sku-3']);
	});

	test('a picture whose download failed is fetched on the error branch, without a new submission', async () => {
		story.gateway.settings.storageIntercept = ({ attempt }) =>
			attempt === 1 ? { kind: 'reply', status: 403 } : undefined;
		const run = await books.workflow(
			story,
			[
				{ name: 'Draw', parameters: pictures(), onError: 'continueErrorOutput' },
				{ name: 'Fetch', parameters: getTask('={{ $json.error_details.task_id }}') },
			],
			{ items: numbered(2), wires: { Start: [['Draw']], Draw: [[], ['Fetch']] } },
		);

		expect(run.error).toBeUndefined();
		expect(submits()).toBe(2);
		for (const { json } of run.items('Draw', 1)) {
			const { task_id, image_urls } = json.error_details as {
				task_id: string;
				image_urls: string[];
			};
			expect(image_urls).toEqual([expect.stringContaining(`/images/${task_id}/0.png?`)]);
		}
		const files = await Promise.all(
			run.items('Fetch').map(async ({ binary }) => await readBinary(binary?.data)),
		);
		expect(files.map((file, n) => pictureBelongsTo(`Picture ${n}`, file))).toEqual([true, true]);
	});
});

/** Fields that a later node takes from the item which its own came from. */
const SKU: IDataObject = {
	assignments: {
		assignments: [
			{ id: 'a', name: 'sku', value: '={{ $("Start").item.json.sku }}', type: 'string' },
		],
	},
	includeOtherFields: false,
	options: {},
};

describe('A node inside a loop', () => {
	/** Draws twice: the second time because the If says so. */
	const loop = async (draw: Placed, repeats = 2) =>
		await books.workflow(
			story,
			[
				draw,
				{
					name: 'Again?',
					type: 'n8n-nodes-base.if',
					typeVersion: 2,
					parameters: {
						conditions: {
							options: { caseSensitive: true, leftValue: '', typeValidation: 'strict' },
							conditions: [
								{
									id: 'c',
									leftValue: '={{ $runIndex }}',
									rightValue: 1,
									operator: { type: 'number', operation: 'lt' },
								},
							],
							combinator: 'and',
						},
						options: {},
					},
				},
			],
			{
				items: numbered(1),
				repeats,
				wires: { Start: [['Draw']], Draw: [['Again?']], 'Again?': [['Draw'], []] },
			},
		);

	test('makes a picture in each run of the same request', async () => {
		const run = await loop({ name: 'Draw', parameters: generateImage() });

		expect(run.error).toBeUndefined();
		expect(run.runs('Draw')).toHaveLength(2);
		expect(submits()).toBe(2);
	});

	test('takes up in a run the task of that run only', async () => {
		// The first run gives its task up, the second has to fail once.
		refuse(3, isPoll);
		const run = await loop(
			tried(generateImage(), { maxTries: 2, onError: 'continueRegularOutput' }),
		);

		expect(run.error).toBeUndefined();
		expect(submits()).toBe(2);
		const [first, second] = run
			.runs('Draw')
			.map(({ data }) => data?.main?.[0]?.[0]?.json as IDataObject);
		expect(first?.error_details).toMatchObject({ task_id: story.gateway.tasks[0]?.id });
		expect(second).toMatchObject({
			status: 'completed',
			task_id: story.gateway.tasks[1]?.id,
		});
	});

	test('that fails for good names the task of the run that failed', async () => {
		story.gateway.settings.intercept = ({ stage, route, record }) =>
			stage === 'before' &&
			route === 'task' &&
			record.path.includes(story.gateway.tasks[1]?.id ?? '-')
				? { kind: 'reply', status: 400 }
				: undefined;
		const run = await loop(tried(generateImage(), { maxTries: 2 }));

		expect(run.status).toBe('error');
		expect(submits()).toBe(2);
		expect(run.error?.description).toContain(`Task ID: ${story.gateway.tasks[1]?.id}.`);
		const saved = JSON.stringify(kept(run));
		expect(saved).toContain(story.gateway.tasks[1]?.id);
		expect(saved).not.toContain(story.gateway.tasks[0]?.id);
	});
});

describe('A failure without Continue', () => {
	test('names the tasks of all other items in message, description and context, as n8n saves them', async () => {
		story.gateway.settings.taskSeconds = ({ prompt }) => (prompt === 'Picture 0' ? 3 : 9);
		story.gateway.settings.failTask = ({ prompt }) =>
			prompt === 'Picture 3' ? { httpStatus: 400 } : undefined;
		const run = await books.workflow(story, [{ name: 'Draw', parameters: pictures() }], {
			items: numbered(6),
		});

		const error = JSON.parse(JSON.stringify(run.error)) as ShownError;
		const failed = taskOf('Picture 3');
		const others = story.gateway.tasks.map(({ id }) => id).filter((id) => id !== failed);
		// Picture 0 was complete, its file in n8n's storage.
		expect(others).toContain(taskOf('Picture 0'));
		expect(others).toHaveLength(5);
		for (const id of others) {
			expect(error.message).toContain(id);
			expect(error.description).toContain(id);
		}
		expect(error.description).toMatch(/do not submit them again, fetch each with Task → Wait/);
		expect(error.context.acceptedTasks?.map(({ task_id }) => task_id).sort()).toEqual(
			others.sort(),
		);
		expect(error.context.details?.task_id).toBe(failed);
	});

	test('after which Task → Wait in a later execution brings what was paid for', async () => {
		story.gateway.settings.failTask = ({ prompt }) =>
			prompt === 'Picture 2' ? { httpStatus: 400 } : undefined;
		const run = await story.imageError(pictures(), { items: numbered(3) });
		const listed = shown(run).context.acceptedTasks ?? [];
		const later = await story.image(waitForTask('={{ $json.task_id }}'), {
			items: listed.map(({ task_id }) => ({ json: { task_id } })),
		});

		const files = await Promise.all(
			later.items.map(async ({ binary }) => await readBinary(binary?.data)),
		);
		expect(listed).toHaveLength(2);
		expect(
			files.map((file, index) => pictureBelongsTo(promptOf(listed[index]?.task_id)!, file)),
		).toEqual([true, true]);
		expect(submits()).toBe(3);
	});
});

describe('Submit now, collect in a later execution', () => {
	/** An execution's items as another one has them, after n8n has been started anew. */
	const saved = (items: INodeExecutionData[]) =>
		JSON.parse(JSON.stringify(items.map(({ json }) => ({ json })))) as INodeExecutionData[];

	test.each<[string, string]>([
		['the task’s ID', '={{ $json.task_id }}'],
		['its poll_url', '={{ $json.poll_url }}'],
	])('by %s', async (_name, taskId) => {
		const first = await books.workflow(
			story,
			[{ name: 'Submit', parameters: pictures({ waitForCompletion: false }) }],
			{ items: numbered(3), executionId: '1' },
		);
		expect(first.items('Submit').every(({ json }) => json.status === 'processing')).toBe(true);
		await story.time.advance(3600_000);
		const second = await books.workflow(
			story,
			[{ name: 'Collect', parameters: waitForTask(taskId) }],
			{ items: saved(first.items('Submit')), executionId: '2', mode: 'trigger' },
		);

		expect(second.error).toBeUndefined();
		const files = await Promise.all(
			second.items('Collect').map(async ({ binary }) => await readBinary(binary?.data)),
		);
		expect(files.map((file, n) => pictureBelongsTo(`Picture ${n}`, file))).toEqual([
			true,
			true,
			true,
		]);
		expect(submits()).toBe(3);
	});

	test('also where the task needs longer than the first look', async () => {
		story.gateway.settings.taskSeconds = 20;
		const first = await books.workflow(
			story,
			[{ name: 'Submit', parameters: pictures({ waitForCompletion: false }) }],
			{ items: numbered(1) },
		);
		await story.time.advance(5000);
		const second = await books.workflow(
			story,
			[{ name: 'Collect', parameters: waitForTask('={{ $json.task_id }}') }],
			{ items: saved(first.items('Submit')), executionId: '2', mode: 'trigger' },
		);
		expect(second.items('Collect')[0]?.json.status).toBe('completed');
		expect(story.gateway.count({ route: 'task' })).toBe(6);
	});
});

test('over all stories of this file no task was submitted twice, and none was lost', () => {
	expect(books.problems).toEqual([]);
	expect(books.accepted).toBeGreaterThan(50);
});
