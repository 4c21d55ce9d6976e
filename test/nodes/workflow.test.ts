import type { IDataObject } from 'n8n-workflow';
import { errorReply } from '../../gateway';
import { createResponse, generateImage, itemsOf, numbered, useHarness } from './arrange';
import { runChecked, type Placed } from './image.arrange';

const harness = useHarness();

const write = (name: string, prompt: string): Placed => ({
	name,
	type: 'n8n-nodes-model-access.modelAccess',
	parameters: createResponse({ prompt }),
});
const draw = (given: IDataObject = {}, settings: Partial<Placed> = {}): Placed => ({
	name: 'Draw',
	...settings,
	parameters: generateImage(given),
});

test('a model’s answer becomes the prompt of a picture', async () => {
	const nodes = [write('Write', '=Say {{ $json.what }}'), draw({ prompt: '={{ $json.text }}' })];
	const items = itemsOf({ what: 'boat' }, { what: 'tree' });
	const run = await runChecked(harness, nodes, { items });
	expect(run.error).toBeUndefined();
	const texts = run.items('Write').map(({ json }) => json.text as string);
	expect(run.items('Draw').map(({ json }) => json.prompt)).toEqual(texts);
	expect(texts).toEqual([expect.stringContaining('boat'), expect.stringContaining('tree')]);
});

test('a later node finds the input item that a picture came from', async () => {
	const nodes = [draw({ options: { n: 2 } }), write('Say', '={{ $("Start").item.json.sku }}')];
	const items = itemsOf({ sku: 'A' }, { sku: 'B' });
	const run = await runChecked(harness, nodes, { items, repeats: 2 });
	expect(run.error).toBeUndefined();
	const texts = run.items('Say').map(({ json }) => json.text);
	expect(texts).toEqual(['A', 'A', 'B', 'B'].map((sku) => `You said: ${sku}`));
});

test('two items and two nodes with the same request each get a picture of their own', async () => {
	const nodes = [draw(), draw({}, { name: 'Again' })];
	const run = await runChecked(harness, nodes, { items: numbered(2), repeats: 4 });
	const ids = [...run.items('Draw'), ...run.items('Again')].map(({ json }) => json.task_id);
	expect(new Set(ids).size).toBe(4);
	expect(harness.gateway.tasks).toHaveLength(4);
});

test('Continue (using error output): the failed item leaves by the second output, whole', async () => {
	const prompt = '={{ $json.n === 1 ? "x [[fail:400]]" : "Fine" }}';
	const nodes = [draw({ prompt }, { onError: 'continueErrorOutput' })];
	const run = await runChecked(harness, nodes, { items: numbered(3), repeats: 2 });
	expect(run.error).toBeUndefined();
	expect(run.items('Draw', 0).map(({ json }) => json.status)).toEqual(['completed', 'completed']);
	expect(run.items('Draw', 1).map(({ json }) => json)).toEqual([
		{
			n: 1,
			error: 'The gateway refused the image task (HTTP 400): the image could not be made',
			error_details: {
				http_status: 400,
				type: 'image_generation_error',
				task_id: harness.gateway.tasks.find(({ failure }) => failure)?.id,
				retryable: false,
				advice: expect.stringMatching(/Nothing was made/) as string,
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
	const given = { prompt: '={{ $json.n === 0 ? "good" : "bad" }}', waitForCompletion: false };
	const nodes = [draw(given, { retryOnFail: true })];
	const run = await runChecked(harness, nodes, { items: numbered(2) });
	expect(run.error).toBeUndefined();
	expect(harness.gateway.tasks).toHaveLength(2);
	const task_id = harness.gateway.tasks[0]?.id;
	const json = { task_id, status: 'processing', retry_after: 3 };
	expect(run.items('Draw')[0]?.json).toMatchObject(json);
});
