import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { pictureBelongsTo } from '../../gateway';
import {
	readBinary,
	runWorkflow,
	storeBinaryInMemory,
	type WorkflowRun,
} from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import {
	cancelledAfter,
	createResponse,
	generateImage,
	imageNode,
	itemsOf,
	numbered,
	startStory,
	textNode,
	waitForTask,
	type Story,
} from './arrange';

let story: Story;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = await startStory();
});
afterEach(async () => await story.close());

type Placed = Pick<Partial<INode>, 'onError' | 'retryOnFail' | 'maxTries'> & {
	name: string;
	parameters: IDataObject;
};

const typeOf = ({ resource }: IDataObject) =>
	`n8n-nodes-model-access.${resource === 'response' ? 'modelAccess' : 'modelAccessImage'}`;

/** Runs our nodes one after the other behind a trigger, in n8n's engine. */
async function runChain(
	items: INodeExecutionData[],
	chain: Placed[],
	{ signal }: { signal?: AbortSignal } = {},
): Promise<WorkflowRun> {
	const names = ['Start', ...chain.map(({ name }) => name)];
	const run = await runWorkflow({
		workflow: {
			nodes: [
				{
					name: 'Start',
					type: 'n8n-nodes-base.manualTrigger',
					typeVersion: 1,
					position: [0, 0],
					parameters: {},
				},
				...chain.map((node) => ({
					type: typeOf(node.parameters),
					typeVersion: 1,
					position: [0, 0],
					...node,
				})),
			],
			connections: Object.fromEntries(
				names
					.slice(0, -1)
					.map((name, index) => [
						name,
						{ main: [[{ node: names[index + 1], type: 'main', index: 0 }]] },
					]),
			),
		},
		nodeTypes: {
			'n8n-nodes-model-access.modelAccess': textNode(story.time),
			'n8n-nodes-model-access.modelAccessImage': imageNode(story.time),
		},
		triggerItems: items,
		credentials: { modelAccessApi: { ...story.access } },
		credentialTypes: [new ModelAccessApi()],
		time: story.time,
		signal,
	});
	expectNoSecret(story.access.apiKey, run.data, run.logs, run.uiMessages, run.error);
	return run;
}

const imagesOf = async (run: WorkflowRun, name: string) =>
	await Promise.all(run.items(name).map(async ({ binary }) => await readBinary(binary?.data)));

test('a model’s answer becomes the prompt of a picture', async () => {
	const run = await runChain(itemsOf({ what: 'boat' }, { what: 'tree' }), [
		{ name: 'Write', parameters: createResponse({ prompt: '=Say {{ $json.what }}' }) },
		{ name: 'Draw', parameters: generateImage({ prompt: '={{ $json.text }}' }) },
	]);

	expect(run.error).toBeUndefined();
	const texts = run.items('Write').map(({ json }) => json.text as string);
	expect(run.items('Draw').map(({ json }) => json.prompt)).toEqual(texts);
	const files = await imagesOf(run, 'Draw');
	expect(files.map((file, index) => pictureBelongsTo(texts[index]!, file))).toEqual([true, true]);
});

test('tasks that are submitted without waiting are collected by Task → Wait', async () => {
	const run = await runChain(numbered(3), [
		{
			name: 'Submit',
			parameters: generateImage({ prompt: '=Picture {{ $json.n }}', waitForCompletion: false }),
		},
		{ name: 'Collect', parameters: waitForTask('={{ $json.task_id }}') },
	]);

	expect(run.error).toBeUndefined();
	expect(run.items('Collect').map(({ json }) => json.task_id)).toEqual(
		run.items('Submit').map(({ json }) => json.task_id),
	);
	const files = await imagesOf(run, 'Collect');
	expect(files.map((file, n) => pictureBelongsTo(`Picture ${n}`, file))).toEqual([
		true,
		true,
		true,
	]);
	expect(story.gateway.tasks).toHaveLength(3);
});

test('a later node finds the input item that a picture came from', async () => {
	const run = await runChain(itemsOf({ sku: 'A' }, { sku: 'B' }), [
		{ name: 'Draw', parameters: generateImage({ options: { n: 2 } }) },
		{
			name: 'Say',
			parameters: createResponse({ prompt: '={{ $("Start").item.json.sku }}' }),
		},
	]);

	expect(run.error).toBeUndefined();
	expect(run.items('Say').map(({ json }) => json.text)).toEqual(
		['A', 'A', 'B', 'B'].map((sku) => expect.stringContaining(sku) as string),
	);
});

describe('With n8n’s own setting on a node', () => {
	const draw = generateImage({ prompt: '={{ $json.n === 1 ? "x [[fail:400]]" : "Fine" }}' });

	test('Continue: the failed item goes on as an error item', async () => {
		const run = await runChain(numbered(3), [
			{ name: 'Draw', parameters: draw, onError: 'continueRegularOutput' },
		]);

		expect(run.error).toBeUndefined();
		expect(run.items('Draw').map(({ json }) => Object.keys(json)[0])).toEqual([
			'task_id',
			'error',
			'task_id',
		]);
		expect(Object.keys(run.items('Draw')[1]!.json)).toEqual(['error', 'error_details']);
	});

	test('Continue (using error output): the failed item leaves by the second output, whole', async () => {
		const run = await runChain(numbered(3), [
			{ name: 'Draw', parameters: draw, onError: 'continueErrorOutput' },
		]);

		expect(run.error).toBeUndefined();
		expect(run.items('Draw', 0).map(({ json }) => json.status)).toEqual(['completed', 'completed']);
		expect(run.items('Draw', 1)).toHaveLength(1);
		expect(run.items('Draw', 1)[0]?.json).toMatchObject({
			error: 'The image task failed: the picture could not be made',
			error_details: {
				http_status: 400,
				task_id: story.gateway.tasks.find(({ failure }) => failure)?.id,
				retryable: false,
				advice: expect.stringMatching(/\.$/) as string,
			},
		});
	});

	test('Stop: the execution ends with an error that names item and task', async () => {
		const run = await runChain(numbered(3), [{ name: 'Draw', parameters: draw }]);

		expect(run.status).toBe('error');
		expect(run.error?.message).toContain('The image task failed: the picture could not be made');
		expect(run.error?.description).toContain(
			`Task ID: ${story.gateway.tasks.find(({ failure }) => failure)?.id}.`,
		);
	});
});

describe('Retry On Fail', () => {
	const tried = (parameters: IDataObject, maxTries = 3): Placed => ({
		name: 'Draw',
		parameters,
		retryOnFail: true,
		maxTries,
	});

	test('takes up the task of the try before, and pays for it once', async () => {
		let failures = 1;
		story.gateway.settings.intercept = ({ route, stage }) =>
			route === 'task' && stage === 'before' && failures-- > 0
				? { kind: 'reply', status: 400 }
				: undefined;
		const run = await runChain(numbered(1), [tried(generateImage())]);

		expect(run.error).toBeUndefined();
		expect(story.gateway.tasks).toHaveLength(1);
		expect(story.gateway.charges).toHaveLength(1);
		expect(run.items('Draw')[0]?.json).toMatchObject({
			task_id: story.gateway.tasks[0]?.id,
			status: 'completed',
			prompt: 'A boat',
		});
		expect(run.items('Draw')[0]?.binary?.data?.fileName).toMatch(/\.png$/);
	});

	test('takes up the tasks of all items, and submits only those that were not accepted', async () => {
		let refusals = 1;
		story.gateway.settings.intercept = ({ record, route, stage }) =>
			route === 'generations' &&
			stage === 'before' &&
			(record.body as IDataObject).prompt === 'Picture 2' &&
			refusals-- > 0
				? { kind: 'delay', ms: 1000, then: { kind: 'reply', status: 400 } }
				: undefined;
		const run = await runChain(numbered(4), [
			tried(generateImage({ prompt: '=Picture {{ $json.n }}' })),
		]);

		expect(run.error).toBeUndefined();
		expect(story.gateway.tasks).toHaveLength(4);
		expect(run.items('Draw').map(({ json }) => json.prompt)).toEqual(
			[0, 1, 2, 3].map((n) => `Picture ${n}`),
		);
		expect(run.items('Draw').map(({ json }) => json.task_id)).toEqual(
			[0, 1, 2, 3].map(
				(n) => story.gateway.tasks.find(({ request }) => request.prompt === `Picture ${n}`)?.id,
			),
		);
	});

	test('takes up a task whose download failed, without submitting again', async () => {
		story.gateway.settings.storageIntercept = ({ attempt }) =>
			attempt <= 2 ? { kind: 'reply', status: 403 } : undefined;
		const run = await runChain(numbered(1), [tried(generateImage())]);

		expect(run.error).toBeUndefined();
		expect(story.gateway.tasks).toHaveLength(1);
		expect(story.gateway.storageRequests).toHaveLength(3);
	});

	test('submits anew what failed for good', async () => {
		let failures = 1;
		story.gateway.settings.failTask = () => (failures-- > 0 ? { httpStatus: 500 } : undefined);
		const run = await runChain(numbered(1), [tried(generateImage())]);

		expect(run.error).toBeUndefined();
		expect(story.gateway.tasks).toHaveLength(2);
		expect(run.items('Draw')[0]?.json.task_id).toBe(story.gateway.tasks[1]?.id);
	});

	test('of a node that does not wait returns the task of the try before', async () => {
		story.gateway.settings.intercept = ({ record, stage, attempt }) =>
			stage === 'before' && (record.body as IDataObject)?.prompt === 'bad' && attempt === 1
				? { kind: 'delay', ms: 1000, then: { kind: 'reply', status: 400 } }
				: undefined;
		const run = await runChain(numbered(2), [
			tried(
				generateImage({
					prompt: '={{ $json.n === 0 ? "good" : "bad" }}',
					waitForCompletion: false,
				}),
			),
		]);

		expect(run.error).toBeUndefined();
		expect(story.gateway.tasks).toHaveLength(2);
		expect(run.items('Draw')[0]?.json).toMatchObject({
			task_id: story.gateway.tasks[0]?.id,
			status: 'processing',
			retry_after: 3,
		});
	});

	test('forgets what it has delivered: the next execution submits anew', async () => {
		await runChain(numbered(1), [tried(generateImage())]);
		await runChain(numbered(1), [tried(generateImage())]);
		expect(story.gateway.tasks).toHaveLength(2);
	});

	test('that gives up names the task', async () => {
		story.gateway.settings.intercept = ({ route }) =>
			route === 'task' ? { kind: 'reply', status: 400 } : undefined;
		const run = await runChain(numbered(1), [tried(generateImage(), 2)]);

		expect(run.status).toBe('error');
		expect(story.gateway.tasks).toHaveLength(1);
		expect(run.error?.description).toContain(`Task ID: ${story.gateway.tasks[0]?.id}.`);
	});
});

test('two nodes with the same request each get a picture of their own', async () => {
	const run = await runChain(numbered(1), [
		{ name: 'First', parameters: generateImage() },
		{ name: 'Second', parameters: generateImage() },
	]);
	expect(run.error).toBeUndefined();
	expect(story.gateway.tasks).toHaveLength(2);
});

test('two items with the same request each get a picture of their own', async () => {
	const run = await runChain(numbered(2), [{ name: 'Draw', parameters: generateImage() }]);
	expect(new Set(run.items('Draw').map(({ json }) => json.task_id)).size).toBe(2);
});

test('cancelling the execution ends it at once, and sends nothing more', async () => {
	story.gateway.settings.taskSeconds = 3600;
	const before = story.time.now();
	const run = await runChain(numbered(2), [{ name: 'Draw', parameters: generateImage() }], {
		signal: cancelledAfter(story.time, 10_000),
	});

	expect(run.status).toBe('canceled');
	expect(story.time.now() - before).toBeLessThanOrEqual(11_000);
	const sent = story.gateway.count();
	await story.time.advance(60_000);
	expect(story.gateway.count()).toBe(sent);
});
