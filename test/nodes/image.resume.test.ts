import { drawImage, type Fault, type FormRecord } from '../../gateway';
import type { WorkflowRun } from '../../scripts/engine/index';
import { canceledAfter, CONTINUE, editImage, file, generateImage, getTask } from './arrange';
import { numbered, reply, sourceFiles, useHarness, type IDataObject } from './arrange';
import { expectImages, runChecked, type Placed, type WorkflowOptions } from './image.arrange';

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

const run = async (nodes: Placed[], options: WorkflowOptions = {}) =>
	await runChecked(harness, nodes, { items: numbered(1), ...options });

const submits = () =>
	harness.gateway.count({ route: 'generations' }) + harness.gateway.count({ route: 'edits' });

/** The prompt that a task was submitted with. */
const promptOf = (taskId: unknown) =>
	harness.gateway.tasks.find(({ id }) => id === taskId)?.request.prompt;

const taskOf = (prompt: string) =>
	harness.gateway.tasks.find(({ request }) => request.prompt === prompt)!.id;

/** Refuses requests of a route whose prompt, or whose task's, is this one, for so many times. */
function refuse(times: number, ofRoute: string, prompt?: string, fault: Fault = reply(400)) {
	harness.gateway.settings.intercept = ({ stage, route, record }) => {
		if (stage !== 'before' || route !== ofRoute) return undefined;
		const { prompt: sent } = (record.body ?? {}) as { prompt?: string };
		const own = sent ?? promptOf(record.path.split('/').at(-1));
		return (prompt === undefined || own === prompt) && times-- > 0 ? fault : undefined;
	};
}

/** What the node keeps from one try to the next. */
const kept = ({ data }: WorkflowRun) => data.executionData?.contextData['node:Draw'] ?? {};

describe('Retry On Fail', () => {
	test('takes a task up in every further try, and keeps nothing once it is delivered', async () => {
		refuse(2, 'task');
		const ended = await run([tried(images())]);
		expect([ended.error, submits()]).toEqual([undefined, 1]);
		expect(harness.gateway.count({ route: 'task', status: 400 })).toBe(2);
		expect(ended.items('Draw')[0]?.json.task_id).toBe(harness.gateway.tasks[0]?.id);
		expect(kept(ended)).toEqual({});
	});

	test('submits only the items of a large batch that have no task yet', async () => {
		refuse(1, 'generations', 'Picture 5');
		const draw = images({ options: { concurrency: 2 } });
		const ended = await run([tried(draw)], { items: numbered(8) });
		// Each once, and the refused one once more.
		expect([ended.error, submits(), harness.gateway.tasks.length]).toEqual([undefined, 9, 8]);
		await expectImages(ended.items('Draw'), prompts(0, 1, 2, 3, 4, 5, 6, 7));
	});

	test('fetches all images of a task of which one could not be had', async () => {
		harness.gateway.settings.storageIntercept = ({ record, attempt }) =>
			record.path.includes('/1.png') && attempt <= 2 ? reply(404) : undefined;
		const ended = await run([tried(images({ options: { n: 3 } }))]);
		expect([ended.error, submits()]).toEqual([undefined, 1]);
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
		const message = expect.stringContaining(`submitted image task ${first} with another`) as string;
		expect(ended.data.resultData.runData.Draw?.[0]?.hints).toMatchObject([{ message }]);
		expect(kept(ended)).toEqual({});
	});

	test('does not submit anew what the gateway no longer knows, and keeps its ID but no prompt', async () => {
		refuse(Infinity, 'task', undefined, reply(404));
		const ended = await run([tried(images())]);
		const id = harness.gateway.tasks[0]!.id;
		expect([submits(), harness.gateway.count({ route: 'task' })]).toEqual([1, 1]);
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
		expect(harness.gateway.tasks.map(({ id }) => promptOf(id)).sort()).toEqual(prompts(0, 1, 1, 2));
		const again = harness.gateway.tasks.findLast(({ id }) => promptOf(id) === 'Picture 1');
		expect(ended.items('Draw')[1]?.json.task_id).toBe(again?.id);
	});

	test('of an edit tells items apart that differ in their file only', async () => {
		const drawn = { index: 0, width: 16, height: 16 };
		const data = ['one', 'two'].map((prompt) => file(drawImage({ ...drawn, prompt })));
		const items = data.map((one) => ({ json: {}, binary: { data: one } }));
		refuse(1, 'task');
		const edit = editImage({ ...sourceFiles('data'), options: { concurrency: 1 } });
		const ended = await run([tried(edit)], { items });
		expect(ended.error).toBeUndefined();
		const forms = harness.bodies('edits') as unknown as FormRecord[];
		const sent = forms.map(({ files }) => files[0]?.sha256);
		expect([sent.length, new Set(sent).size]).toEqual([2, 2]);
	});

	test('does not submit again where a submission may have arrived', async () => {
		refuse(Infinity, 'generations', undefined, { kind: 'destroy' });
		const ended = await run([tried(images())]);
		expect([ended.status, submits()]).toEqual(['error', 1]);
		expect(ended.error?.description).toMatch(/An image task may exist and be charged/);
	});

	test('sends nothing after a cancel, although n8n goes on with its tries', async () => {
		harness.gateway.settings.taskSeconds = 3600;
		const signal = canceledAfter(harness.time, 4000);
		let sent = 0;
		signal.addEventListener('abort', () => (sent = harness.gateway.count()));
		const ended = await run([tried(images())], { items: numbered(2), signal });
		expect(ended.status).toBe('canceled');
		await harness.time.advance(600_000);
		expect(harness.gateway.count()).toBe(sent);
		expect(submits()).toBe(2);
		// The last of the tries, which found the execution canceled, has them from the first.
		for (const { id } of harness.gateway.tasks) expect(ended.error?.description).toContain(id);
	});
});

test.each([
	['continueRegularOutput', 0, 1, 1],
	['continueRegularOutput', 0, Infinity, 3],
	['continueErrorOutput', 0, Infinity, 3],
	// n8n looks at the first item only.
	['continueRegularOutput', 1, Infinity, 1],
] as const)(
	'Retry On Fail beside %s: item %i, which fails %d times, is polled in vain %i times, and sent once',
	async (onError, failing, times, looks) => {
		refuse(times, 'task', `Picture ${failing}`);
		const ended = await run([tried(images(), { onError })], { items: numbered(3) });
		expect(submits()).toBe(3);
		expect(harness.gateway.count({ route: 'task', status: 400 })).toBe(looks);
		const all = [...ended.items('Draw', 0), ...ended.items('Draw', 1)].map(({ json }) => json);
		const details = all.flatMap(({ error_details: one }) => one ?? []) as IDataObject[];
		const failed = times === 1 ? [] : [taskOf(`Picture ${failing}`)];
		expect(details.map(({ task_id }) => task_id)).toEqual(failed);
		const done = all.filter(({ status }) => status === 'completed');
		expect([all.length, done.length]).toEqual([3, 3 - failed.length]);
		if (failing > 0 || times === 1) expect(kept(ended)).toEqual({});
	},
);

test('Continue (using error output): images and failures leave linked to their input, and a failed download is fetched there', async () => {
	harness.gateway.settings.storageIntercept = ({ record, attempt }) => {
		const isOdd = /^Picture [13]$/.test(promptOf(record.path.split('/')[2]) ?? '');
		return isOdd && attempt === 1 ? reply(403) : undefined;
	};
	const draw: Placed = { name: 'Draw', parameters: images(), onError: 'continueErrorOutput' };
	const fetch = { name: 'Fetch', parameters: getTask('={{ $json.error_details.task_id }}') };
	const wires = { Start: [['Draw']], Draw: [[], ['Fetch']] };
	const ended = await run([draw, fetch], { items: numbered(5), wires });
	expect([ended.error, submits()]).toEqual([undefined, 5]);
	const linked = (...items: number[]) => items.map((item) => ({ pairedItem: { item } }));
	expect(ended.items('Draw', 0)).toMatchObject(linked(0, 2, 4));
	expect(ended.items('Draw', 1)).toMatchObject(linked(1, 3));
	const failed = ended.items('Draw', 1).map(({ json }) => json.error_details as IDataObject);
	const addresses = prompts(1, 3).map((prompt) => `/images/${taskOf(prompt)}/0.png?`);
	expect(failed.map(({ image_urls }) => image_urls)).toEqual(
		addresses.map((address) => [expect.stringContaining(address) as string]),
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

test('A node inside a loop makes an image in each run of the same request, and takes up the task of that run only', async () => {
	const again = { leftValue: '={{ $runIndex }}', rightValue: 1 };
	const options = { caseSensitive: true, leftValue: '', typeValidation: 'strict' };
	const conditions = [{ id: 'c', ...again, operator: { type: 'number', operation: 'lt' } }];
	const parameters = { conditions: { options, conditions, combinator: 'and' }, options: {} };
	// The first run gives its task up, the second has to fail once.
	refuse(3, 'task');
	const draw = tried(generateImage(), { maxTries: 2, ...CONTINUE });
	const asks = { name: 'Again?', type: 'n8n-nodes-base.if', typeVersion: 2, parameters };
	const wires = { Start: [['Draw']], Draw: [['Again?']], 'Again?': [['Draw'], []] };
	const ended = await run([draw, asks], { repeats: 2, wires });
	expect(submits()).toBe(2);
	const [first, second] = harness.gateway.tasks;
	expect(ended.runs('Draw').map(({ data }) => data?.main?.[0]?.[0]?.json)).toMatchObject([
		{ error_details: { task_id: first?.id } },
		{ status: 'completed', task_id: second?.id },
	]);
});
