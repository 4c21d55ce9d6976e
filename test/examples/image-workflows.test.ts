import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { drawPicture, pictureBelongsTo, type FormRecord } from '../../gateway';
import { imageNode, startStory, textNode, type Story } from '../nodes/arrange';
import { TaskBooks } from '../nodes/image.arrange';
import {
	readBinary,
	runWorkflow,
	storeBinaryInMemory,
	storeBinaryOnDisk,
	type BinaryStorage,
	type RunWorkflowOptions,
	type WorkflowJson,
	type WorkflowRun,
} from '../../scripts/engine/index';

const books = new TaskBooks();
let story: Story;
let storage: BinaryStorage;
beforeEach(async () => {
	storage = await storeBinaryOnDisk();
	story = await startStory();
});
afterEach(async () => {
	await story.close();
	await storage.remove();
	await storeBinaryInMemory();
});

interface SavedNode {
	id: string;
	name: string;
	type: string;
	credentials?: object;
}

const exampleOf = (file: string) =>
	JSON.parse(readFileSync(join(__dirname, '../../examples', file), 'utf8')) as Omit<
		WorkflowJson,
		'nodes'
	> & { nodes: SavedNode[] };

/** Runs an example as a user imports it, with the credential set up. */
async function runExample(
	file: string,
	given: Pick<RunWorkflowOptions, 'startNode' | 'triggerItems' | 'mode' | 'tables'> = {},
): Promise<WorkflowRun> {
	return await books.over(
		story.gateway,
		async () =>
			await runWorkflow({
				workflow: exampleOf(file),
				nodeTypes: {
					'n8n-nodes-model-access.modelAccess': textNode(story.time),
					'n8n-nodes-model-access.modelAccessImage': imageNode(story.time),
				},
				credentials: { modelAccessApi: { ...story.access } },
				credentialTypes: [new ModelAccessApi()],
				time: story.time,
				...given,
			}),
		({ data }) => data.resultData,
	);
}

const filesOf = async (items: INodeExecutionData[]) =>
	await Promise.all(items.map(async ({ binary }) => await readBinary(binary?.data)));

const prompts = () => story.gateway.tasks.map(({ request }) => request.prompt);

describe.each([
	'rows-to-images.json',
	'edit-uploaded-picture.json',
	'submit-now-collect-later.json',
])('%s', (file) => {
	test('names each node once, and the example credential where one is needed', () => {
		const { nodes, connections } = exampleOf(file);
		const names = nodes.map(({ name }) => name);
		expect(new Set(names).size).toBe(names.length);
		expect(new Set(nodes.map(({ id }) => id)).size).toBe(nodes.length);
		const targets = JSON.stringify(connections).matchAll(/"node":"([^"]+)"/g);
		const connected = [...Object.keys(connections), ...[...targets].map(([, name]) => name!)];
		for (const name of connected) expect(names).toContain(name);
		for (const { type, credentials } of nodes) {
			expect(credentials).toEqual(
				type.startsWith('n8n-nodes-model-access.')
					? { modelAccessApi: { id: 'modelAccessExample', name: 'Model Access API' } }
					: undefined,
			);
		}
	});
});

describe('rows-to-images.json', () => {
	test('makes a picture of each row, side by side, each with its row', async () => {
		const before = story.time.now();
		const run = await runExample('rows-to-images.json');

		expect(run.error).toBeUndefined();
		expect(story.time.now() - before).toBe(6000);
		const items = run.items('Pictures');
		expect(items.map(({ json }) => json.sku)).toEqual(['LAMP-01', 'MUG-07', 'CHAIR-12']);
		expect(items.map(({ binary }) => binary?.data?.fileName)).toEqual([
			'LAMP-01.png',
			'MUG-07.png',
			'CHAIR-12.png',
		]);
		const files = await filesOf(items);
		expect(
			files.map((png, index) => pictureBelongsTo(items[index]?.json.prompt as string, png)),
		).toEqual([true, true, true]);
		expect(run.items('Failed Rows')).toEqual([]);
	});

	test('lists a row that failed on the error branch, with its task, and goes on with the others', async () => {
		story.gateway.settings.failTask = ({ prompt }) =>
			prompt.includes('mug') ? { httpStatus: 400, message: 'mugs are not allowed' } : undefined;
		const run = await runExample('rows-to-images.json');

		expect(run.error).toBeUndefined();
		expect(run.items('Pictures').map(({ json }) => json.sku)).toEqual(['LAMP-01', 'CHAIR-12']);
		expect(run.items('Failed Rows').map(({ json }) => json)).toEqual([
			{
				sku: 'MUG-07',
				reason: 'The image task failed: mugs are not allowed',
				advice: expect.stringMatching(/submit a new task/) as string,
				task_id: story.gateway.tasks.find(({ failure }) => failure)?.id,
			},
		]);
	});
});

describe('edit-uploaded-picture.json', () => {
	/** What the form trigger delivers for an upload. */
	async function uploaded(bytes: Buffer): Promise<INodeExecutionData> {
		const { context } = await story.image(
			{ resource: 'task', operation: 'get', taskId: 'x' },
			{ onError: 'continueRegularOutput' },
		);
		const Picture = await context.helpers.prepareBinaryData(bytes, 'boat.png', 'image/png');
		const json = {
			Picture: { filename: 'boat.png', mimetype: 'image/png', size: bytes.length },
			Change: 'Add a sail',
			submittedAt: '2026-01-01T00:00:00.000Z',
			formMode: 'production',
		};
		return { json, binary: { Picture } };
	}

	test('edits the upload as its sender said, and hands the picture over', async () => {
		const boat = drawPicture({ prompt: 'boat', index: 0, width: 40, height: 30 });
		const run = await runExample('edit-uploaded-picture.json', {
			triggerItems: [await uploaded(boat)],
			mode: 'webhook',
		});

		expect(run.error).toBeUndefined();
		const sent = story.gateway.requests.find(({ route }) => route === 'edits')?.body as FormRecord;
		expect(sent.fields).toMatchObject({ prompt: 'Add a sail' });
		expect(sent.files).toEqual([
			expect.objectContaining({ field: 'image', fileName: 'boat.png', size: boat.length }),
		]);
		const handedOver = run.items('Hand Over Picture');
		expect(handedOver.map(({ binary }) => binary?.data?.fileName)).toEqual(['edited.png']);
		expect((await filesOf(handedOver)).map((png) => pictureBelongsTo('Add a sail', png))).toEqual([
			true,
		]);
	});

	test('says what is wrong with a file that is no picture, and sends nothing', async () => {
		const run = await runExample('edit-uploaded-picture.json', {
			triggerItems: [await uploaded(Buffer.from('just words'))],
			mode: 'webhook',
		});
		expect(run.error?.message).toMatch(/"Picture" is not an image/);
		expect(story.gateway.count({ route: 'edits' })).toBe(0);
	});
});

describe('submit-now-collect-later.json', () => {
	const FILE = 'submit-now-collect-later.json';
	const submit = async (tables: Record<string, IDataObject[]>) =>
		await runExample(FILE, { startNode: 'Submit Now', tables });
	const collect = async (tables: Record<string, IDataObject[]>) =>
		await runExample(FILE, { startNode: 'Every 10 Minutes', mode: 'trigger', tables });

	test('remembers the tasks at once, and collects their pictures by a later execution', async () => {
		const tables: Record<string, IDataObject[]> = { 'Image tasks': [] };
		const before = story.time.now();
		const first = await submit(tables);

		expect(first.error).toBeUndefined();
		expect(story.time.now()).toBe(before);
		expect(story.gateway.count({ route: 'task' })).toBe(0);
		const ids = story.gateway.tasks.map(({ id }) => id);
		expect(tables['Image tasks']).toEqual(
			prompts().map((prompt, index) => ({ id: index + 1, task_id: ids[index], prompt })),
		);

		await story.time.advance(600_000);
		const second = await collect(JSON.parse(JSON.stringify(tables)) as typeof tables);
		expect(second.error).toBeUndefined();
		const files = await filesOf(second.items('Picture Is Here'));
		expect(files.map((png, index) => pictureBelongsTo(prompts()[index]!, png))).toEqual([
			true,
			true,
		]);
		expect(second.items('Picture Is Here')[0]?.binary?.data?.fileName).toBe(
			'A lighthouse at dusk, watercolor-0.png',
		);
		expect(second.items('Forget Task').map(({ json }) => json.task_id)).toEqual(ids);
		expect(story.gateway.tasks).toHaveLength(2);
	});

	test('forgets what was collected, and leaves what is not done for the next time', async () => {
		story.gateway.settings.taskSeconds = ({ prompt }) => (prompt.includes('fog') ? 1000 : 6);
		const tables: Record<string, IDataObject[]> = { 'Image tasks': [] };
		await submit(tables);
		await story.time.advance(600_000);
		const first = await collect(tables);

		expect(first.error).toBeUndefined();
		expect(first.items('Picture Is Here')).toHaveLength(1);
		expect(tables['Image tasks']?.map(({ prompt }) => prompt)).toEqual([
			'A harbour in fog, watercolor',
		]);
		await story.time.advance(600_000);
		const second = await collect(tables);
		expect(second.items('Picture Is Here')).toHaveLength(1);
		expect(tables['Image tasks']).toEqual([]);
		expect(story.gateway.tasks).toHaveLength(2);
	});

	test('forgets a task that failed, and keeps one whose download may work later', async () => {
		story.gateway.settings.failTask = ({ prompt }) =>
			prompt.includes('fog') ? { httpStatus: 400 } : undefined;
		story.gateway.settings.storageIntercept = ({ attempt }) =>
			attempt <= 4 ? { kind: 'reply', status: 500 } : undefined;
		const tables: Record<string, IDataObject[]> = { 'Image tasks': [] };
		await submit(tables);
		await story.time.advance(600_000);
		const first = await collect(tables);

		expect(first.error).toBeUndefined();
		expect(first.items('Lost Task').map(({ json }) => json.reason)).toEqual([
			'The image task failed: the picture could not be made',
		]);
		expect(tables['Image tasks']?.map(({ prompt }) => prompt)).toEqual([
			'A lighthouse at dusk, watercolor',
		]);
		const second = await collect(tables);
		expect(second.items('Picture Is Here')).toHaveLength(1);
		expect(tables['Image tasks']).toEqual([]);
	});

	test('does nothing where no task is open', async () => {
		const run = await collect({ 'Image tasks': [] });
		expect(run.error).toBeUndefined();
		expect(story.gateway.count()).toBe(0);
	});
});

test('over all examples no task was submitted twice, and none was lost', () => {
	expect(books.problems).toEqual([]);
	expect(books.accepted).toBeGreaterThan(10);
});
