import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as n8n from 'n8n-workflow';
import { ModelAccessApi } from '../../credentials/ModelAccessApi.credentials';
import { LmChatModelAccess } from '../../nodes/LmChatModelAccess/LmChatModelAccess.node';
import { drawImage, errorReply, imageBelongsTo, type FormRecord } from '../../gateway';
import * as own from '../nodes/arrange';
import * as engine from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';

const harness = own.useHarness();
own.useDisk();

type Example = Omit<engine.WorkflowJson, 'nodes'> & { nodes: n8n.INode[] };

const folder = join(__dirname, '../../examples');
const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
const readExample = (file: string) =>
	JSON.parse(readFileSync(join(folder, file), 'utf8')) as Example;

const PACKAGE = 'n8n-nodes-model-access.';

const CREDENTIAL = { modelAccessApi: { id: 'modelAccessExample', name: 'Model Access API' } };

const nodeTypes = (): Record<string, n8n.INodeType> => ({
	[`${PACKAGE}modelAccess`]: own.textNode(harness.time),
	[`${PACKAGE}modelAccessImage`]: own.imageNode(harness.time),
	[`${PACKAGE}lmChatModelAccess`]: new LmChatModelAccess(),
});

/** The properties that a panel shows for a resource and an operation. */
const propertiesFor = ({ description }: n8n.INodeType, { resource, operation }: n8n.IDataObject) =>
	description.properties.filter(({ displayOptions: { show = {} } = {} }) =>
		Object.entries({ resource, operation }).every(
			([name, value]) => show[name]?.some((one) => one === value) ?? true,
		),
	);

const asObject = (value: unknown) => (value ?? {}) as n8n.IDataObject;

/** The parameters that no property knows, by path: names, and values of choices. */
const unknownParameters = (
	given: n8n.IDataObject,
	properties: n8n.INodeProperties[],
	above = '',
): string[] =>
	Object.entries(given).flatMap(([name, value]) => {
		const path = `${above}${name}`;
		const found = properties.filter((property) => property.name === name);
		if (found.length === 0) return [path];
		const options = found.flatMap((property) => property.options ?? []);
		const type = found[0]?.type;
		if (type === 'options') {
			const known = (options as n8n.INodePropertyOptions[]).some((one) => one.value === value);
			return known || `${value as string}`.startsWith('=') ? [] : [path];
		}
		if (type === 'collection')
			return unknownParameters(asObject(value), options as n8n.INodeProperties[], `${path}.`);
		if (type !== 'fixedCollection') return [];
		return Object.entries(asObject(value)).flatMap(([group, given]) => {
			const known = (options as n8n.INodePropertyCollection[]).find((one) => one.name === group);
			const read = (row: unknown) =>
				unknownParameters(asObject(row), known?.values ?? [], `${path}.${group}.`);
			return [given].flat().flatMap(read);
		});
	});

test.each(files)('%s imports whole: its nodes, the credential, known parameters', (file) => {
	const { nodes, connections } = readExample(file);
	const names = nodes.map(({ name }) => name);
	expect(new Set(names).size).toBe(names.length);
	expect(new Set(nodes.map(({ id }) => id)).size).toBe(nodes.length);
	const targets = [...JSON.stringify(connections).matchAll(/"node":"([^"]+)"/g)];
	const connected = [...targets.map(([, name]) => name), ...Object.keys(connections)];
	expect(names).toEqual(expect.arrayContaining(connected));
	expect(readFileSync(join(folder, file), 'utf8')).not.toMatch(/\b(mak|sk)-\w{8}/);
	expect(nodes.some(({ type }) => type.startsWith(PACKAGE))).toBe(true);
	for (const { name, type, typeVersion, parameters, credentials } of nodes) {
		const node = nodeTypes()[type.replace(/Tool$/, '')];
		expect([name, type.startsWith(PACKAGE)]).toEqual([name, node !== undefined]);
		expect([name, credentials]).toEqual([name, node && CREDENTIAL]);
		if (!node) continue;
		expect([name, node.description.version]).toEqual([name, typeVersion]);
		if (type.endsWith('Tool')) expect(node.description.usableAsTool).toBe(true);
		const unknown = unknownParameters(parameters, propertiesFor(node, parameters));
		expect([name, unknown]).toEqual([name, []]);
	}
});

test.each(files)('%s says in a note what to choose and what it costs', (file) => {
	const { nodes } = readExample(file);
	const note = nodes.find(({ type }) => type.endsWith('.stickyNote'));
	const text = note?.parameters.content as string;
	expect(text).toMatch(/\*\*Choose\*\* your credential/);
	expect(text).toMatch(/\*\*You pay\*\*/);
	if (file === 'first-workflow.json') return;
	// In nodes of ours a model is chosen by its ID, or the credential alone.
	const own = nodes.filter(({ type }) => type.startsWith(PACKAGE));
	const withModel = own.filter(
		({ parameters: { model } }) => model && !(model as { value: string }).value.includes('='),
	);
	const toChoose = withModel.length > 0 ? withModel : own.slice(0, 1);
	expect(toChoose.filter(({ name }) => !text.includes(`*${name}*`))).toEqual([]);
});

type Given = Partial<Omit<engine.RunWorkflowOptions, 'workflow' | 'nodeTypes' | 'time'>>;

/** Runs an example as a user imports it, with the credential set up. It has to go well. */
async function runExample(
	file: string,
	given: Given = {},
	change: (node: n8n.INode) => void = () => {},
): Promise<engine.WorkflowRun> {
	const workflow = readExample(file);
	workflow.nodes.forEach(change);
	const run = await engine.runWorkflow({
		workflow,
		nodeTypes: nodeTypes(),
		credentials: { modelAccessApi: { ...harness.access } },
		credentialTypes: [new ModelAccessApi()],
		time: harness.time,
		...given,
	});
	expect(run.error).toBeUndefined();
	expectNoSecret(harness.access.apiKey, run.data.resultData, run.chunks, run.logs);
	return run;
}

const json = (run: engine.WorkflowRun, node: string) => run.items(node).map((item) => item.json);

/** The prompts that the files of items were drawn from, in the order of `prompts`; else undefined. */
const promptsOfFiles = async (items: n8n.INodeExecutionData[], prompts: string[]) =>
	await Promise.all(
		items.map(async ({ binary }) => {
			const png = await engine.readBinary(binary?.data);
			return prompts.find((prompt) => imageBelongsTo(prompt, png));
		}),
	);

const COLLECTED = ['A lighthouse at dusk, watercolor', 'A harbour in fog, watercolor'];

/** The data table of an example, and its scheduled part ten minutes later. */
function collecting(file: string) {
	const tables: Record<string, n8n.IDataObject[]> = { 'Image tasks': [] };
	const collect = async () => {
		await harness.time.advance(600_000);
		return await runExample(file, { startNode: 'Every 10 Minutes', mode: 'trigger', tables });
	};
	return { tables, collect };
}

/** A run of each example, by its file and what its row in the README promises. */
const RUNS: Record<string, (file: string) => Promise<void>> = {
	'first-workflow.json lists models, writes a prompt, makes the image, each once': async (file) => {
		const run = await runExample(file);
		const models = json(run, 'List Models').map(({ id }) => id as string);
		const [{ text: prompt }] = json(run, 'Write Image Prompt') as [{ text: string }];
		expect(prompt).toMatch(/lighthouse at dusk/);
		const images = run.items('Generate Image');
		const model = models.find((id) => id.includes('image'));
		expect(images.map((item) => item.json)).toMatchObject([{ prompt, model }]);
		expect(images[0]?.binary?.data?.fileName).toBe('lighthouse.png');
		expect(await promptsOfFiles(images, [prompt])).toEqual([prompt]);
		expect(harness.gateway.charges).toHaveLength(2);
	},
	'stream-to-webhook.json passes the answer on as it is written, then the tokens': async (file) => {
		const body = { question: 'How tall is the tower?' };
		const triggerItems = [{ json: { headers: {}, params: {}, query: {}, body } }];
		const run = await runExample(file, { mode: 'webhook', streaming: true, triggerItems });
		const chunksOf = (node: string) =>
			run.chunks.filter(({ metadata }) => metadata.nodeName === node);
		const pieces = chunksOf('Answer').filter(({ type }) => type === 'item');
		expect(pieces.length).toBeGreaterThan(5);
		expect(pieces.map(({ content }) => content).join('')).toBe(
			'You said: How tall is the tower?\nI keep to: Answer in plain words.',
		);
		const [, tokens] = chunksOf('Respond');
		const usage = { model: 'aurora-text-1', tokens: expect.any(Number) as number };
		expect(JSON.parse(tokens?.content ?? '')).toEqual(usage);
		expect(run.chunks.indexOf(tokens!)).toBeGreaterThan(run.chunks.indexOf(pieces.at(-1)!));
	},
	'classify-rows.json classifies each row by the schema, and branches': async (file) => {
		const run = await runExample(file);
		const summary = 'Since yesterday there is a bug: the export stops at row 100.';
		expect(json(run, 'Bugs')).toEqual([{ id: 1, category: 'bug', summary }]);
		const others = json(run, 'Others');
		expect(others.map(({ id }) => id)).toEqual([2, 3]);
		expect(others.map(({ category }) => category)).toEqual(['wish', 'praise']);
		const format = { type: 'json_schema', name: 'classification', strict: true };
		expect(harness.bodies()[0]).toMatchObject({ text: { format } });
	},
	'describe-image.json describes an image from a binary field': async (file) => {
		const image = await harness.image(own.generateImage({ options: { downloadImages: false } }));
		const run = await runExample(file, {}, ({ name, parameters }) => {
			if (name !== 'Fetch Image') return;
			expect(parameters.url).toMatch(/^https:\/\/.*\.jpg$/);
			parameters.url = image.items[0]?.json.image_url as string;
		});
		expect(json(run, 'Description')[0]?.alt).toMatch(
			/^I see an image \(image\/png, 32x24, .*\)\. You asked: Describe this image\.$/,
		);
	},
	'rows-to-images.json makes an image of each row, and lists failed ones': async (file) => {
		harness.gateway.settings.failTask = ({ prompt }) =>
			prompt.includes('mug') ? { httpStatus: 400, message: 'mugs are not allowed' } : undefined;
		const before = harness.time.now();
		const run = await runExample(file);
		expect(harness.time.now() - before).toBe(6000);
		const images = run.items('Images');
		const named = images.map((item) => [item.json.sku, item.binary?.data?.fileName]);
		expect(named).toEqual(['LAMP-01', 'CHAIR-12'].map((sku) => [sku, `${sku}.png`]));
		const prompts = images.map((item) => item.json.prompt as string);
		expect(await promptsOfFiles(images, prompts)).toEqual(prompts);
		const reason = 'The gateway refused the image task (HTTP 400): mugs are not allowed';
		const advice = expect.stringMatching(/^Fix the request: .* Nothing was made\.$/) as string;
		const task_id = harness.gateway.tasks.find(({ failure }) => failure)?.id;
		expect(json(run, 'Failed Rows')).toEqual([{ sku: 'MUG-07', reason, advice, task_id }]);
	},
	'edit-uploaded-image.json edits the form’s image, and hands it over': async (file) => {
		const photo = drawImage({ prompt: 'boat', index: 0, width: 40, height: 30 });
		const { helpers } = (await harness.text(own.getModels())).context;
		const Image = await helpers.prepareBinaryData(photo, 'boat.png', 'image/png');
		const triggerItems = [{ json: { Change: 'Add a sail' }, binary: { Image } }];
		const run = await runExample(file, { triggerItems, mode: 'webhook' });
		const sent = harness.gateway.requests.find(({ route }) => route === 'edits');
		expect((sent!.body as FormRecord).files).toMatchObject([{ size: photo.length }]);
		const handedOver = run.items('Hand Over Image');
		expect(handedOver[0]?.binary?.data?.fileName).toBe('edited.png');
		expect(await promptsOfFiles(handedOver, ['Add a sail'])).toEqual(['Add a sail']);
	},
	'submit-now-collect-later.json keeps task IDs, collects what is done by then': async (file) => {
		harness.gateway.settings.taskSeconds = ({ prompt }) => (prompt.includes('fog') ? 1000 : 6);
		const { tables, collect } = collecting(file);
		const before = harness.time.now();
		await runExample(file, { startNode: 'Submit Now', tables });
		expect(harness.time.now()).toBe(before);
		const tasks = harness.gateway.tasks.map(({ id, request }) => [id, request.prompt]);
		expect(tables['Image tasks']?.map((row) => [row.task_id, row.prompt])).toEqual(tasks);

		const first = await collect();
		const second = await collect();
		const [lighthouse, harbor] = COLLECTED;
		expect(await promptsOfFiles(first.items('Image Is Here'), COLLECTED)).toEqual([lighthouse]);
		expect(await promptsOfFiles(second.items('Image Is Here'), COLLECTED)).toEqual([harbor]);
		expect(tables['Image tasks']).toEqual([]);
		expect(harness.gateway.tasks).toHaveLength(2);
	},
	'submit-now-collect-later.json forgets a failed task, not a failed download': async (file) => {
		// It was refused after the 202, and may be submitted anew: this task still never has an image.
		harness.gateway.settings.failTask = ({ prompt }) =>
			prompt.includes('fog') ? { httpStatus: 429, message: 'too many images' } : undefined;
		harness.gateway.settings.storageIntercept = () => ({ kind: 'reply', status: 500 });
		const { tables, collect } = collecting(file);
		await runExample(file, { startNode: 'Submit Now', tables });
		const run = await collect();
		const [lighthouse, harbor] = COLLECTED;
		expect(json(run, 'Lost Task')).toMatchObject([{ prompt: harbor, reason: 'too many images' }]);
		expect(tables['Image tasks']).toMatchObject([{ prompt: lighthouse }]);
	},
	'submit-now-collect-later.json forgets nothing while the key is refused': async (file) => {
		const { tables, collect } = collecting(file);
		await runExample(file, { startNode: 'Submit Now', tables });
		harness.gateway.settings.intercept = ({ route }) =>
			route === 'task' ? errorReply(401) : undefined;
		expect(json(await collect(), 'Lost Task')).toEqual([]);
		expect(tables['Image tasks']).toHaveLength(2);
	},
};

const fileOf = (title: string) => title.split(' ')[0]!;

test.each(Object.entries(RUNS))('%s', async (title, check) => await check(fileOf(title)));

test('every example runs here or, with nodes that only n8n itself has, in a real n8n', () => {
	const tests = ['agent', 'recipes'].map((name) => join(__dirname, `../e2e/${name}.e2e.ts`));
	const elsewhere = tests.map((file) => readFileSync(file, 'utf8')).join('\n');
	const here = Object.keys(RUNS).map(fileOf);
	const others = files.filter((file) => !here.includes(file));
	const missing = others.filter((file) => !elsewhere.includes(`'${file.replace('.json', '')}'`));
	expect([here.filter((file) => !files.includes(file)), missing]).toEqual([[], []]);
});
