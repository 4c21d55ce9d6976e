import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { errorReply } from '../../gateway';
import { runWorkflow, storeBinaryInMemory } from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import {
	createResponse,
	generateImage,
	imageNode,
	itemsOf,
	numbered,
	startHarness,
	textNode,
	type Harness,
} from './arrange';

let harness: Harness;
beforeEach(async () => {
	await storeBinaryInMemory();
	harness = await startHarness();
});
afterEach(async () => await harness.close());

type Settings = Pick<Partial<INode>, 'onError' | 'retryOnFail'>;
type Placed = Settings & { name: string; type: string; parameters: IDataObject };

const write = (name: string, parameters: IDataObject): Placed => ({
	name,
	type: 'n8n-nodes-model-access.modelAccess',
	parameters: createResponse(parameters),
});
const draw = (name: string, parameters: IDataObject = {}, more: Settings = {}): Placed => ({
	name,
	type: 'n8n-nodes-model-access.modelAccessImage',
	...more,
	parameters: generateImage(parameters),
});

/** Runs our nodes one after the other behind a trigger called Start, in n8n's engine. */
async function runChain(items: INodeExecutionData[], ...chain: Placed[]) {
	const start = { name: 'Start', type: 'n8n-nodes-base.manualTrigger', parameters: {} };
	const nodes = [start, ...chain];
	const run = await runWorkflow({
		workflow: {
			nodes: nodes.map((node) => ({ typeVersion: 1, position: [0, 0], ...node })),
			connections: Object.fromEntries(
				chain.map(({ name: node }, index) => [
					nodes[index]!.name,
					{ main: [[{ node, type: 'main', index: 0 }]] },
				]),
			),
		},
		nodeTypes: {
			'n8n-nodes-model-access.modelAccess': textNode(harness.time),
			'n8n-nodes-model-access.modelAccessImage': imageNode(harness.time),
		},
		triggerItems: items,
		credentials: { modelAccessApi: { ...harness.access } },
		credentialTypes: [new ModelAccessApi()],
		time: harness.time,
	});
	expectNoSecret(harness.access.apiKey, run.data, run.logs, run.uiMessages, run.error);
	return run;
}

test('a model’s answer becomes the prompt of a picture', async () => {
	const run = await runChain(
		itemsOf({ what: 'boat' }, { what: 'tree' }),
		write('Write', { prompt: '=Say {{ $json.what }}' }),
		draw('Draw', { prompt: '={{ $json.text }}' }),
	);

	expect(run.error).toBeUndefined();
	const texts = run.items('Write').map(({ json }) => json.text as string);
	expect(run.items('Draw').map(({ json }) => json.prompt)).toEqual(texts);
	expect(texts).toEqual([expect.stringContaining('boat'), expect.stringContaining('tree')]);
});

test('a later node finds the input item that a picture came from', async () => {
	const run = await runChain(
		itemsOf({ sku: 'A' }, { sku: 'B' }),
		draw('Draw', { options: { n: 2 } }),
		write('Say', { prompt: '={{ $("Start").item.json.sku }}' }),
	);

	expect(run.error).toBeUndefined();
	expect(run.items('Say').map(({ json }) => json.text)).toEqual(
		['A', 'A', 'B', 'B'].map((sku) => expect.stringContaining(sku) as string),
	);
});

test('two items and two nodes with the same request each get a picture of their own', async () => {
	const run = await runChain(numbered(2), draw('First'), draw('Second'));

	const ids = [...run.items('First'), ...run.items('Second')].map(({ json }) => json.task_id);
	expect(new Set(ids).size).toBe(4);
	expect(harness.gateway.tasks).toHaveLength(4);
});

describe('With n8n’s own setting on a node', () => {
	test('Continue (using error output): the failed item leaves by the second output, whole', async () => {
		const prompt = '={{ $json.n === 1 ? "x [[fail:429]]" : "Fine" }}';
		const onError = 'continueErrorOutput';
		const run = await runChain(numbered(3), draw('Draw', { prompt }, { onError }));

		expect(run.error).toBeUndefined();
		expect(run.items('Draw', 0).map(({ json }) => json.status)).toEqual(['completed', 'completed']);
		expect(run.items('Draw', 1).map(({ json }) => json)).toEqual([
			{
				n: 1,
				error: 'The image task failed: the picture could not be made',
				error_details: {
					http_status: 429,
					type: 'image_generation_error',
					task_id: harness.gateway.tasks.find(({ failure }) => failure)?.id,
					retryable: true,
					advice: expect.stringMatching(/submit a new task/) as string,
				},
			},
		]);
	});

	// What else a second try takes up is in image.resume.test.ts.
	test('Retry On Fail: a node that does not wait returns the task of the try before', async () => {
		let refusals = 1;
		harness.gateway.settings.intercept = ({ record, stage }) =>
			stage === 'before' && (record.body as IDataObject).prompt === 'bad' && refusals-- > 0
				? { kind: 'delay', ms: 1000, then: errorReply(400) }
				: undefined;
		const parameters = {
			prompt: '={{ $json.n === 0 ? "good" : "bad" }}',
			waitForCompletion: false,
		};
		const run = await runChain(numbered(2), draw('Draw', parameters, { retryOnFail: true }));

		expect(run.error).toBeUndefined();
		expect(harness.gateway.tasks).toHaveLength(2);
		expect(run.items('Draw')[0]?.json).toMatchObject({
			task_id: harness.gateway.tasks[0]?.id,
			status: 'processing',
			retry_after: 3,
		});
	});
});
