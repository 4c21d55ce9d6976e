import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INode, INodeExecutionData } from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { generateImage, startStory, textNode, type Story } from '../nodes/arrange';
import {
	newRecord,
	runWorkflow,
	storeBinaryInMemory,
	storeBinaryOnDisk,
	type RunWorkflowOptions,
	type WorkflowJson,
	type WorkflowRun,
} from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';

let story: Story;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = await startStory();
});
afterEach(async () => await story.close());

type Example = Omit<WorkflowJson, 'nodes'> & { nodes: INode[] };

const exampleOf = (file: string) =>
	JSON.parse(readFileSync(join(__dirname, '../../examples', file), 'utf8')) as Example;

/** Runs an example as a user imports it, with the credential set up. */
async function runExample(
	workflow: Example,
	given: Partial<RunWorkflowOptions> = {},
): Promise<WorkflowRun> {
	const run = await runWorkflow({
		workflow,
		nodeTypes: { 'n8n-nodes-model-access.modelAccess': textNode(story.time) },
		credentials: { modelAccessApi: { ...story.access } },
		credentialTypes: [new ModelAccessApi()],
		time: story.time,
		...given,
	});
	expectNoSecret(story.access.apiKey, run.data.resultData, run.chunks, run.logs);
	return run;
}

const FILES = ['stream-to-webhook.json', 'classify-rows.json', 'describe-picture.json'];

describe.each(FILES)('%s', (file) => {
	test('names each node once, connects only those, and has the example credential', () => {
		const { nodes, connections } = exampleOf(file);
		const names = nodes.map(({ name }) => name);
		expect(new Set(names).size).toBe(names.length);
		expect(new Set(nodes.map(({ id }) => id)).size).toBe(nodes.length);
		const targets = [...JSON.stringify(connections).matchAll(/"node":"([^"]+)"/g)];
		expect(targets).toHaveLength(names.length - 1);
		for (const [, name] of targets) expect(names).toContain(name);
		for (const name of Object.keys(connections)) expect(names).toContain(name);
		for (const { type, credentials } of nodes) {
			expect(credentials).toEqual(
				type.startsWith('n8n-nodes-model-access.')
					? { modelAccessApi: { id: 'modelAccessExample', name: 'Model Access API' } }
					: undefined,
			);
		}
	});

	test('sets only what our node has', () => {
		const { properties } = textNode(story.time).description;
		for (const { type, parameters } of exampleOf(file).nodes) {
			if (!type.startsWith('n8n-nodes-model-access.')) continue;
			const known = new Set(properties.map(({ name }) => name));
			for (const name of Object.keys(parameters)) expect([...known]).toContain(name);
			const options = properties.filter(({ name }) => name === 'options');
			const names = options.flatMap((one) => (one.options ?? []).map(({ name }) => name));
			for (const name of Object.keys((parameters.options ?? {}) as object))
				expect(names).toContain(name);
		}
	});
});

describe('stream-to-webhook.json', () => {
	const asked = (question: string): INodeExecutionData[] => [
		{ json: { headers: {}, params: {}, query: {}, body: { question } } },
	];

	test('tells the caller the answer as it is written, and the tokens at the end', async () => {
		const run = await runExample(exampleOf('stream-to-webhook.json'), {
			mode: 'webhook',
			streaming: true,
			triggerItems: asked('How tall is the tower?'),
		});

		expect(run.error).toBeUndefined();
		const of = (name: string) => run.chunks.filter(({ metadata }) => metadata.nodeName === name);
		const answer = of('Answer');
		expect(answer[0]?.type).toBe('begin');
		expect(answer.at(-1)?.type).toBe('end');
		const pieces = answer.slice(1, -1);
		expect(pieces.length).toBeGreaterThan(5);
		const text = 'You said: How tall is the tower?\nI keep to: Answer in plain words.';
		expect(pieces.map(({ content }) => content).join('')).toBe(text);
		expect(run.items('Answer')[0]?.json.text).toBe(text);

		expect(of('Respond').map(({ type }) => type)).toEqual(['begin', 'item', 'end']);
		expect(JSON.parse(of('Respond')[1]?.content ?? '')).toEqual({
			model: 'aurora-text-1',
			tokens: expect.any(Number) as number,
		});
		expect(run.chunks.slice(0, answer.length)).toEqual(answer);
	});

	test('tells the caller what went wrong', async () => {
		const record = newRecord();
		const run = await runExample(exampleOf('stream-to-webhook.json'), {
			mode: 'webhook',
			streaming: true,
			triggerItems: asked('[[error]] Tell me much more'),
			record,
		});
		const said = 'The model’s response failed: The model failed on purpose.';
		expect(run.error?.message).toBe(said);
		// The last one is n8n's own: it tells of a node that ended the workflow.
		expect(record.chunks.slice(-3).map(({ type, content }) => [type, content])).toEqual([
			['error', said],
			['end', undefined],
			['error', expect.stringMatching(/may have been executed and charged/)],
		]);
	});
});

describe('classify-rows.json', () => {
	test('gives each row JSON of the schema, and takes its branch', async () => {
		const run = await runExample(exampleOf('classify-rows.json'));

		expect(run.error).toBeUndefined();
		expect(run.items('Bugs').map(({ json }) => json)).toEqual([
			{
				id: 1,
				category: 'bug',
				summary: 'Since yesterday there is a bug: the export stops at row 100.',
			},
		]);
		expect(run.items('Others').map(({ json }) => [json.id, json.category])).toEqual([
			[2, 'wish'],
			[3, 'praise'],
		]);
		expect(story.gateway.charges).toHaveLength(3);
		expect(story.gateway.requests[0]?.body).toMatchObject({
			text: { format: { type: 'json_schema', name: 'classification', strict: true } },
		});
	});
});

describe('describe-picture.json', () => {
	test.each([
		['in memory', storeBinaryInMemory],
		['on disk', storeBinaryOnDisk],
	])('describes the picture that it fetched (%s)', async (_name, store) => {
		const storage = await store();
		try {
			const { items } = await story.image(generateImage({ downloadImages: false }));
			const workflow = exampleOf('describe-picture.json');
			for (const node of workflow.nodes) {
				if (node.name !== 'Fetch Picture') continue;
				expect(node.parameters.url).toMatch(/^https:\/\/.*\.jpg$/);
				node.parameters.url = items[0]?.json.image_url as string;
			}
			const run = await runExample(workflow);

			expect(run.error).toBeUndefined();
			expect(run.items('Description')[0]?.json).toMatchObject({
				alt: expect.stringMatching(
					/^I see a picture \(image\/png, 32x24, .*\)\. You asked: Describe this picture\.$/,
				) as string,
			});
			expect(JSON.stringify(story.gateway.requests.at(-1)?.body)).toContain('"detail":"low"');
		} finally {
			await storage.remove();
		}
	});
});
