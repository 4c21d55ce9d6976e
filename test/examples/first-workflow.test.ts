import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
	IDataObject,
	INode,
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeType,
} from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { LmChatModelAccess } from '../../nodes/LmChatModelAccess/LmChatModelAccess.node';
import { pictureBelongsTo, sizeOf } from '../../gateway';
import { imageNode, startStory, textNode, type Story } from '../nodes/arrange';
import {
	readBinary,
	runWorkflow,
	storeBinaryOnDisk,
	type BinaryStorage,
	type WorkflowJson,
	type WorkflowRun,
} from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';

let story: Story;
let storage: BinaryStorage;
beforeEach(async () => {
	storage = await storeBinaryOnDisk();
	story = await startStory();
});
afterEach(async () => {
	await story.close();
	await storage.remove();
});

type Example = Omit<WorkflowJson, 'nodes'> & { nodes: INode[] };

const folder = join(__dirname, '../../examples');
const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
const exampleOf = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Example;

const nodeTypes = (): Record<string, INodeType> => ({
	'n8n-nodes-model-access.modelAccess': textNode(story.time),
	'n8n-nodes-model-access.modelAccessImage': imageNode(story.time),
	'n8n-nodes-model-access.lmChatModelAccess': new LmChatModelAccess(),
});

/** What n8n adds to a node where an agent has it as a tool; the node's type then ends in "Tool". */
const OF_A_TOOL: INodeProperties[] = [
	{
		displayName: 'Tool Description',
		name: 'descriptionType',
		type: 'options',
		options: [
			{ name: 'Set Automatically', value: 'auto' },
			{ name: 'Set Manually', value: 'manual' },
		],
		default: 'auto',
	},
	{ displayName: 'Description', name: 'toolDescription', type: 'string', default: '' },
];

/** Runs the example as a user imports it, with the credential set up. */
async function runFirst(): Promise<WorkflowRun> {
	const run = await runWorkflow({
		workflow: exampleOf('first-workflow.json'),
		nodeTypes: nodeTypes(),
		credentials: { modelAccessApi: { ...story.access } },
		credentialTypes: [new ModelAccessApi()],
		time: story.time,
	});
	expectNoSecret(story.access.apiKey, run.data.resultData, run.chunks, run.logs);
	return run;
}

describe('first-workflow.json', () => {
	test('goes from the list of models to a picture of the prompt that the model wrote', async () => {
		const run = await runFirst();

		expect(run.error).toBeUndefined();
		const models = run.items('List Models').map(({ json }) => json.id as string);
		expect(models.length).toBeGreaterThan(1);
		const [written, ...others] = run.items('Write Image Prompt');
		expect(others).toEqual([]);
		const prompt = written?.json.text as string;
		expect(prompt).toMatch(/lighthouse at dusk/);

		const [picture, ...further] = run.items('Generate Image');
		expect(further).toEqual([]);
		expect(picture?.json).toMatchObject({
			status: 'completed',
			prompt,
			model: models.find((id) => id.includes('image')),
		});
		expect(picture?.binary?.data).toMatchObject({
			fileName: 'lighthouse.png',
			mimeType: 'image/png',
		});
		const png = await readBinary(picture?.binary?.data);
		expect(sizeOf(png)).toEqual({ width: 1024, height: 1024 });
		expect(pictureBelongsTo(prompt, png)).toBe(true);
		expect(pictureBelongsTo('A lighthouse at dusk', png)).toBe(false);
	});

	test('asks for each thing once, of models that the key may use', async () => {
		const run = await runFirst();

		const models = run.items('List Models').map(({ json }) => json.id);
		const { gateway } = story;
		expect(gateway.count({ route: 'models' })).toBe(1);
		for (const route of ['responses', 'generations'] as const) {
			const sent = gateway.requests.filter((request) => request.route === route);
			expect(sent).toHaveLength(1);
			expect(models).toContain((sent[0]?.body as IDataObject).model);
		}
		expect(gateway.tasks).toHaveLength(1);
	});
});

/** The properties that are shown for what a node is set to. */
const shownFor = ({ description }: INodeType, { resource, operation }: IDataObject) =>
	description.properties.filter(({ displayOptions }) => {
		const { show = {} } = displayOptions ?? {};
		const isShown = (name: string, value: unknown) =>
			show[name]?.some((one) => one === value) ?? true;
		return isShown('resource', resource) && isShown('operation', operation);
	});

const asObject = (value: unknown) => (value ?? {}) as IDataObject;

/** What of these parameters no property knows, by path: names, and values of choices. */
function unknownOf(parameters: IDataObject, properties: INodeProperties[], above = ''): string[] {
	return Object.entries(parameters).flatMap(([name, value]) => {
		const path = `${above}${name}`;
		const found = properties.filter((property) => property.name === name);
		if (found.length === 0) return [path];
		const [{ type }] = found as [INodeProperties];
		const options = found.flatMap((property) => property.options ?? []);
		switch (type) {
			case 'options': {
				const isExpression = typeof value === 'string' && value.startsWith('=');
				const values = (options as INodePropertyOptions[]).map((option) => option.value);
				return isExpression || values.some((one) => one === value)
					? []
					: [`${path}=${String(value as string)}`];
			}
			case 'collection':
				return unknownOf(asObject(value), options as INodeProperties[], `${path}.`);
			case 'fixedCollection':
				return Object.entries(asObject(value)).flatMap(([group, rows]) => {
					const known = (options as INodePropertyCollection[]).find((one) => one.name === group);
					if (!known) return [`${path}.${group}`];
					return [rows]
						.flat()
						.flatMap((row) => unknownOf(asObject(row), known.values, `${path}.${group}.`));
				});
			default:
				return [];
		}
	});
}

describe('every example', () => {
	test('is looked at', () => {
		expect(files).toContain('first-workflow.json');
		expect(files.length).toBeGreaterThanOrEqual(7);
	});

	test.each(files)('sets only what our nodes have: %s', (file) => {
		const types = nodeTypes();
		const { nodes } = exampleOf(file);
		const ours = nodes.filter(({ type }) => type.startsWith('n8n-nodes-model-access.'));
		expect(ours.length).toBeGreaterThan(0);
		for (const { name, type, typeVersion, parameters } of ours) {
			const isTool = type.endsWith('Tool');
			const node = types[type.replace(/Tool$/, '')];
			if (isTool) expect(node?.description.usableAsTool).toBe(true);
			expect([name, type, node?.description.version]).toEqual([name, type, typeVersion]);
			const properties = [...shownFor(node!, parameters), ...(isTool ? OF_A_TOOL : [])];
			expect([name, unknownOf(parameters, properties)]).toEqual([name, []]);
		}
	});

	test.each(files)('refers to the example credential alone: %s', (file) => {
		for (const { name, type, credentials } of exampleOf(file).nodes) {
			const isOurs = type.startsWith('n8n-nodes-model-access.');
			const expected = { modelAccessApi: { id: 'modelAccessExample', name: 'Model Access API' } };
			if (isOurs || credentials) expect([name, credentials]).toEqual([name, expected]);
		}
		const text = readFileSync(join(folder, file), 'utf8');
		expectNoSecret(story.access.apiKey, text);
		expect(text).not.toMatch(/\b(mak|sk)-\w{8}/);
	});

	test('the check itself sees names and choices that are not there, at every depth', () => {
		const wrong: IDataObject = {
			resource: 'response',
			operation: 'create',
			inputType: 'speech',
			promt: 'Hello',
			waitForCompletion: true,
			messages: { message: [{ role: 'user', txt: 'Hello' }], more: [] },
			options: { size: '1x1', outputFormat: { format: { type: 'xml' } } },
		};
		const properties = shownFor(textNode(story.time), wrong);
		expect(unknownOf(wrong, properties)).toEqual([
			'inputType=speech',
			'promt',
			'waitForCompletion',
			'messages.message.txt',
			'messages.more',
			'options.size',
			'options.outputFormat.format.type=xml',
		]);
	});
});
