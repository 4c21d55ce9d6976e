import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { drawImage, type FormRecord } from '../../gateway';

import { canceledAfter, itemsOf, numbered, type ShownError, useHarness } from './arrange';
import { expectImages, runChecked, type Placed, type WorkflowOptions } from './image.arrange';
import { editImage, generateImage, getTask, sourceFiles, waitForTask } from './parameters';

const harness = useHarness();

/** Parameters of Image → Generate, with a prompt for each item: `Picture 0`, `Picture 1`, … */
const images = (given: IDataObject = {}) =>
	generateImage({ prompt: '=Picture {{ $json.n }}', ...given });

const prompts = (...numbers: number[]) => numbers.map((n) => `Picture ${n}`);

/** A node called Draw that n8n tries again. */
const tried = (parameters: IDataObject, given: Partial<Placed> = {}): Placed => ({
	name: 'Draw',
	parameters,
	retryOnFail: true,
	maxTries: 3,
	...given,
});

const run = async (nodes: Placed[], options: WorkflowOptions & { repeats?: number } = {}) =>
	await runChecked(harness, nodes, { items: numbered(1), ...options });

const submits = () =>
	harness.gateway.count({ route: 'generations' }) + harness.gateway.count({ route: 'edits' });

const polls = () => harness.gateway.count({ route: 'task' });

/** The prompt that a task was submitted with. */
const promptOf = (taskId: unknown) =>
	harness.gateway.tasks.find(({ id }) => id === taskId)?.request.prompt;

const taskOf = (prompt: string) =>
	harness.gateway.tasks.find(({ request }) => request.prompt === prompt)!.id;

/** Refuses requests of a route whose prompt, or whose task's, is this one, for so many times. */
function refuse(times: number, ofRoute: string, prompt?: string, status = 400) {
	let left = times;
	harness.gateway.settings.intercept = ({ stage, route, record }) => {
		if (stage !== 'before' || route !== ofRoute) return undefined;
		const { prompt: sent } = (record.body ?? {}) as { prompt?: string };
		const own = sent ?? promptOf(record.path.split('/').at(-1));
		if (prompt !== undefined && own !== prompt) return undefined;
		return left-- > 0 ? { kind: 'reply', status } : undefined;
	};
}

/** What the node keeps from one try to the next. */
const kept = (ended: { data: { executionData?: { contextData: IDataObject } } }) =>
	ended.data.executionData?.contextData['node:Draw'] ?? {};

describe('Retry On Fail', () => {
	test('takes a task up in every further try, and keeps nothing once it is delivered', async () => {
		refuse(2, 'task');
		const ended = await run([tried(images())]);

		expect(ended.error).toBeUndefined();
		expect(submits()).toBe(1);
		expect(harness.gateway.count({ route: 'task', status: 400 })).toBe(2);
		expect(ended.items('Draw')[0]?.json.task_id).toBe(harness.gateway.tasks[0]?.id);
		expect(kept(ended)).toEqual({});
	});

	test('submits only the items of a large batch that have no task yet', async () => {
		refuse(1, 'generations', 'Picture 5');
		const ended = await run([tried(images({ options: { concurrency: 2 } }))], {
			items: numbered(8),
		});

		expect(ended.error).toBeUndefined();
		// Each once, and the refused one once more.
		expect(submits()).toBe(9);
		expect(harness.gateway.tasks).toHaveLength(8);
		await expectImages(ended.items('Draw'), prompts(0, 1, 2, 3, 4, 5, 6, 7));
	});

	test('fetches all images of a task of which one could not be had', async () => {
		harness.gateway.settings.storageIntercept = ({ record, attempt }) =>
			record.path.includes('/1.png') && attempt <= 2 ? { kind: 'reply', status: 404 } : undefined;
		const ended = await run([tried(images({ options: { n: 3 } }))]);

		expect(ended.error).toBeUndefined();
		expect(submits()).toBe(1);
		expect(ended.items('Draw').map(({ json }) => json.image_index)).toEqual([0, 1, 2]);
	});

	test('returns the task of the try before where the node does not wait', async () => {
		refuse(1, 'generations', 'Picture 1');
		const draw = images({ waitForCompletion: false, options: { concurrency: 1 } });
		const ended = await run([tried(draw)], { items: numbered(2) });

		expect(harness.gateway.tasks).toHaveLength(2);
		const json = { task_id: harness.gateway.tasks[0]?.id, status: 'processing', retry_after: 3 };
		expect(ended.items('Draw')[0]?.json).toMatchObject(json);
	});

	test('hints at the task of an earlier try whose request was another one', async () => {
		refuse(1, 'task');
		const ended = await run([tried(generateImage({ prompt: '=Picture {{ Math.random() }}' }))]);

		const [first, second] = harness.gateway.tasks.map(({ id }) => id);
		expect(ended.items('Draw').map(({ json }) => json.task_id)).toEqual([second]);
		expect(ended.data.resultData.runData.Draw?.[0]?.hints).toEqual([
			{
				message: `Item 0: an earlier try submitted image task ${first} with another request. It may be charged; Task → Wait fetches it.`,
				type: 'warning',
				location: 'outputPane',
			},
		]);
		expect(kept(ended)).toEqual({});
	});

	test('does not submit anew what the gateway no longer knows, and keeps its ID but no prompt', async () => {
		refuse(Infinity, 'task', undefined, 404);
		const ended = await run([tried(images())]);

		const id = harness.gateway.tasks[0]!.id;
		expect([submits(), polls()]).toEqual([1, 1]);
		expect(ended.error?.message).toMatch(/^The gateway has lost the image task/);
		expect(ended.error?.description).toContain(`Task ID: ${id}.`);
		expect(JSON.stringify(kept(ended))).toContain(id);
		expect(JSON.stringify(kept(ended))).not.toMatch(/Picture/);
	});

	test('submits a task that was refused anew, and only that', async () => {
		let failures = 1;
		harness.gateway.settings.failTask = ({ prompt }) =>
			prompt === 'Picture 1' && failures-- > 0 ? { httpStatus: 400 } : undefined;
		const ended = await run([tried(images())], { items: numbered(3) });

		expect(harness.gateway.tasks.map(({ request }) => request.prompt).sort()).toEqual(
			prompts(0, 1, 1, 2),
		);
		const again = harness.gateway.tasks.findLast(({ request }) => request.prompt === 'Picture 1');
		expect(ended.items('Draw')[1]?.json.task_id).toBe(again?.id);
	});

	test('of an edit tells items apart that differ in their file only', async () => {
		const items = ['one', 'two'].map((prompt): INodeExecutionData => {
			const bytes = drawImage({ prompt, index: 0, width: 16, height: 16 });
			return {
				json: {},
				binary: { data: { data: bytes.toString('base64'), mimeType: 'image/png' } },
			};
		});
		refuse(1, 'task');
		const edit = editImage({ ...sourceFiles('data'), options: { concurrency: 1 } });
		const ended = await run([tried(edit)], { items });

		expect(ended.error).toBeUndefined();
		const sent = harness.gateway.requests
			.filter(({ route }) => route === 'edits')
			.map(({ body }) => (body as FormRecord).files[0]?.sha256);
		expect(sent).toHaveLength(2);
		expect(new Set(sent).size).toBe(2);
	});

	test('names tasks of an earlier try that the last one did not come to', async () => {
		// Items 0 and 1 are done when item 2 fails; later tries end at item 0 already.
		let looks = 0;
		harness.gateway.settings.intercept = ({ stage, route, record }) => {
			if (stage !== 'before') return undefined;
			if ((record.body as { prompt?: string })?.prompt === 'Picture 2') {
				return { kind: 'reply', status: 400 };
			}
			return route === 'task' && looks++ >= 4 ? { kind: 'reply', status: 401 } : undefined;
		};
		const ended = await run([tried(images({ options: { concurrency: 1 } }))], {
			items: numbered(3),
		});

		expect(ended.error?.message).toMatch(/HTTP 401/);
		expect(harness.gateway.tasks).toHaveLength(2);
		expect(ended.error?.description).toContain(`Task ID: ${taskOf('Picture 0')}.`);
		expect(ended.error?.description).toContain(`Item 1: ${taskOf('Picture 1')}`);
	});

	test('does not submit again where a submission may have arrived', async () => {
		harness.gateway.settings.intercept = ({ stage, route }) =>
			stage === 'before' && route === 'generations' ? { kind: 'destroy' } : undefined;
		const ended = await run([tried(images())]);

		expect(ended.status).toBe('error');
		expect(submits()).toBe(1);
		expect(ended.error?.description).toMatch(/An image task may exist and be charged/);
	});

	test('sends nothing after a cancel, although n8n goes on with its tries', async () => {
		harness.gateway.settings.taskSeconds = 3600;
		const { time } = harness;
		const signal = canceledAfter(time, 4000);
		let sent = 0;
		signal.addEventListener('abort', () => {
			sent = harness.gateway.count();
		});
		const ended = await run([tried(images())], { items: numbered(2), signal });

		expect(ended.status).toBe('canceled');
		await time.advance(600_000);
		expect(harness.gateway.count()).toBe(sent);
		expect(submits()).toBe(2);
		// The last of the tries, which found the execution canceled, has them from the first.
		for (const { id } of harness.gateway.tasks) expect(ended.error?.description).toContain(id);
	});
});

describe('Retry On Fail beside Continue', () => {
	test('tries again where the first item failed: nothing is submitted twice', async () => {
		refuse(1, 'task', 'Picture 0');
		const ended = await run([tried(images(), { onError: 'continueRegularOutput' })], {
			items: numbered(3),
		});

		expect(submits()).toBe(3);
		expect(ended.items('Draw').map(({ json }) => json.status)).toEqual(Array(3).fill('completed'));
		expect(kept(ended)).toEqual({});
	});

	test.each([
		['continueRegularOutput', 0, 3],
		['continueErrorOutput', 0, 3],
		// n8n looks at the first item only.
		['continueRegularOutput', 1, 1],
	] as const)(
		'%s: item %i, which fails in each of %i tries, is one error item with its task',
		async (onError, failing, tries) => {
			refuse(Infinity, 'task', `Picture ${failing}`);
			const ended = await run([tried(images(), { onError })], { items: numbered(3) });

			expect(submits()).toBe(3);
			expect(harness.gateway.count({ route: 'task', status: 400 })).toBe(tries);
			const all = [...ended.items('Draw', 0), ...ended.items('Draw', 1)];
			expect(all).toHaveLength(3);
			const failed = all.filter(({ json }) => json.error !== undefined);
			expect(failed.map(({ json }) => (json.error_details as IDataObject).task_id)).toEqual([
				taskOf(`Picture ${failing}`),
			]);
			if (failing > 0) expect(kept(ended)).toEqual({});
		},
	);
});

test('Continue (using error output): images and failures leave linked to their input, and a failed download is fetched there', async () => {
	harness.gateway.settings.storageIntercept = ({ record, attempt }) =>
		attempt === 1 && /^Picture [13]$/.test(promptOf(record.path.split('/')[2]) ?? '')
			? { kind: 'reply', status: 403 }
			: undefined;
	const ended = await run(
		[
			{ name: 'Draw', parameters: images(), onError: 'continueErrorOutput' },
			{ name: 'Fetch', parameters: getTask('={{ $json.error_details.task_id }}') },
		],
		{
			items: numbered(5),
			wires: { Start: [['Draw']], Draw: [[], ['Fetch']] },
		},
	);

	expect(ended.error).toBeUndefined();
	expect(submits()).toBe(5);
	expect(ended.items('Draw', 0).map(({ pairedItem }) => pairedItem)).toEqual(
		[0, 2, 4].map((item) => ({ item })),
	);
	expect(ended.items('Draw', 1)).toMatchObject(
		[1, 3].map((item) => ({
			pairedItem: { item },
			json: {
				error_details: {
					image_urls: [expect.stringContaining(`/images/${taskOf(`Picture ${item}`)}/0.png?`)],
				},
			},
		})),
	);
	await expectImages(ended.items('Draw', 0), prompts(0, 2, 4));
	await expectImages(ended.items('Fetch'), prompts(1, 3));
});

test('two items and two nodes with the same request each get an image of their own', async () => {
	const nodes = ['Draw', 'Again'].map((name) => ({ name, parameters: generateImage() }));
	const ended = await run(nodes, { items: numbered(2), repeats: 4 });
	const ids = nodes.flatMap(({ name }) => ended.items(name).map(({ json }) => json.task_id));
	expect(new Set(ids).size).toBe(4);
	expect(harness.gateway.tasks).toHaveLength(4);
});

describe('A node inside a loop', () => {
	const again = { leftValue: '={{ $runIndex }}', rightValue: 1 };
	const options = { caseSensitive: true, leftValue: '', typeValidation: 'strict' };
	const conditions = [{ id: 'c', ...again, operator: { type: 'number', operation: 'lt' } }];

	/** Draws twice: the second time because the If says so. */
	const loop = async (draw: Placed) =>
		await run(
			[
				draw,
				{
					name: 'Again?',
					type: 'n8n-nodes-base.if',
					typeVersion: 2,
					parameters: { conditions: { options, conditions, combinator: 'and' }, options: {} },
				},
			],
			{
				repeats: 2,
				wires: { Start: [['Draw']], Draw: [['Again?']], 'Again?': [['Draw'], []] },
			},
		);

	test('makes an image in each run of the same request, and takes up the task of that run only', async () => {
		// The first run gives its task up, the second has to fail once.
		refuse(3, 'task');
		const ended = await loop(
			tried(generateImage(), { maxTries: 2, onError: 'continueRegularOutput' }),
		);

		expect(submits()).toBe(2);
		const [first, second] = harness.gateway.tasks;
		expect(ended.runs('Draw').map(({ data }) => data?.main?.[0]?.[0]?.json)).toMatchObject([
			{ error_details: { task_id: first?.id } },
			{ status: 'completed', task_id: second?.id },
		]);
	});

	test('that fails for good names the task of the run that failed', async () => {
		harness.gateway.settings.intercept = ({ stage, route, record }) =>
			stage === 'before' &&
			route === 'task' &&
			record.path.includes(harness.gateway.tasks[1]?.id ?? '-')
				? { kind: 'reply', status: 400 }
				: undefined;
		const ended = await loop(tried(generateImage(), { maxTries: 2 }));

		const [first, second] = harness.gateway.tasks.map(({ id }) => id);
		expect(submits()).toBe(2);
		expect(ended.error?.description).toContain(`Task ID: ${second}.`);
		expect(JSON.stringify(kept(ended))).toContain(second);
		expect(JSON.stringify(kept(ended))).not.toContain(first);
	});
});

test('a failure without Continue names the tasks of all other items, and a later execution fetches them', async () => {
	harness.gateway.settings.taskSeconds = ({ prompt }) => (prompt === 'Picture 0' ? 3 : 9);
	harness.gateway.settings.failTask = ({ prompt }) =>
		prompt === 'Picture 3' ? { httpStatus: 400 } : undefined;
	const ended = await run([{ name: 'Draw', parameters: images() }], { items: numbered(6) });

	// As n8n saves it.
	const error = JSON.parse(JSON.stringify(ended.error)) as ShownError;
	// The file of Picture 0 was in n8n's storage already.
	const others = prompts(0, 1, 2, 4, 5).map(taskOf);
	for (const id of others) {
		expect(error.description).toContain(id);
	}
	expect(error.description).toMatch(/Do not submit them again: fetch each with Task → Wait/);
	const listed = error.context.acceptedTasks ?? [];
	expect(listed.map(({ task_id }) => task_id).sort()).toEqual(others.sort());
	expect(listed.map(({ item }) => `Picture ${item}`)).toEqual(
		listed.map(({ task_id }) => promptOf(task_id)),
	);
	expect(error.context.details?.task_id).toBe(taskOf('Picture 3'));

	const later = await run([{ name: 'Wait', parameters: waitForTask('={{ $json.task_id }}') }], {
		items: itemsOf(...listed),
		executionId: '2',
	});
	await expectImages(
		later.items('Wait'),
		listed.map(({ item }) => `Picture ${item}`),
	);
	expect(submits()).toBe(6);
});
