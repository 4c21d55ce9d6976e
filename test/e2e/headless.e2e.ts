import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { drawImage, imageBelongsTo, sizeOf } from '../../gateway';
import { arrange } from './arrange';
import { runCommand } from '../../scripts/n8n/command';
import { PROJECT } from '../../scripts/n8n/package';
import { exampleWorkflows, FILES, importWorkflows } from '../../scripts/n8n/n8n-server';
import { followed, inARow, MANUAL, saved } from '../../scripts/n8n/workflows';

const PHOTO = drawImage({ prompt: 'a boat', index: 0, width: 64, height: 48 });

const DAY = { start: '2026-01-02T10:00:00', end: '2026-01-02T11:00:00' };

/** Nodes of n8n that builders put beside ours, and that need more than n8n's own code. */
const SHIPPED = inARow('shipped', [
	MANUAL,
	...(
		[
			['Rows', 'code', 2, { jsCode: "return [{ sku: 'LAMP-01', price: 6 * 7 }];" }],
			['Spreadsheet', 'convertToFile', 1.1, { operation: 'xlsx' }],
			['Rows Again', 'extractFromFile', 1, { operation: 'xlsx' }],
			['Calendar', 'convertToFile', 1.1, { operation: 'iCal', title: 'Session', ...DAY }],
			['Calendar Again', 'extractFromFile', 1, { operation: 'fromIcs' }],
		] as const
	).map(([name, type, typeVersion, more]) => ({
		...{ name, type: `n8n-nodes-base.${type}`, typeVersion, position: MANUAL.position },
		parameters: { options: {}, ...more },
	})),
]);

const n8nServer = arrange(() => ({ name: 'headless', gateway: { taskSeconds: 3 } }));
let web: Server;
let folder: string;

/** The examples that start by hand, as `execute` runs them. Their images also go to files. */
beforeAll(async () => {
	web = createServer((_request, reply) => reply.setHeader('content-type', 'image/png').end(PHOTO));
	await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
	const photoUrl = `http://127.0.0.1:${(web.address() as AddressInfo).port}/boat.png`;
	folder = join(n8nServer.n8n.userFolder, FILES);
	const last = new Map([
		['first-workflow', 'Generate Image'],
		['rows-to-images', 'Images'],
	]);
	const workflows = (await exampleWorkflows()).map((workflow) => {
		const fetching = workflow.nodes.find(({ name }) => name === 'Fetch Image');
		if (fetching) fetching.parameters.url = photoUrl;
		const after = last.get(workflow.id ?? '');
		return after ? followed(workflow, after, saved('Save', folder)) : workflow;
	});
	await importWorkflows(n8nServer.n8n, [...workflows, SHIPPED]);
});

afterAll(() => web?.close());

beforeEach(async () => {
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
});

/** Runs a workflow, which has to go well, and returns what its nodes handed on. */
async function run(id: string) {
	const { error, items } = await n8nServer.n8n.execute(id);
	expect(error).toBeUndefined();
	return (node: string) => items(node);
}

const files = async () =>
	await Promise.all(
		(await readdir(folder)).sort().map(async (name) => await readFile(join(folder, name))),
	);

// The examples that wait for a webhook, a form, a chat or a schedule run in other files here.
describe('n8n execute', () => {
	test('first-workflow: lists models, writes a prompt, and leaves an image in a file', async () => {
		const items = await run('first-workflow');
		expect(items('List Models').length).toBeGreaterThan(3);
		const [image] = items('Generate Image');
		expect(image?.json).toMatchObject({ status: 'completed', image_index: 0, image_count: 1 });
		const [png] = await files();
		expect(png && sizeOf(png)).toEqual({ width: 1024, height: 1024 });
		expect(png && imageBelongsTo(image?.json.prompt as string, png)).toBe(true);
	});

	test('rows-to-images: an image of each row, in a file under the name of its row', async () => {
		const images = (await run('rows-to-images'))('Images');
		expect(images.map(({ json }) => json.sku)).toEqual(['LAMP-01', 'MUG-07', 'CHAIR-12']);
		const written = await files();
		expect(
			written.map((png, index) => imageBelongsTo(images[index]?.json.prompt as string, png)),
		).toEqual([true, true, true]);
	});

	test('classify-rows: JSON by the schema, and a branch that goes by it', async () => {
		const items = await run('classify-rows');
		const rows = items('Classify');
		expect(rows.length).toBeGreaterThan(1);
		for (const { json } of rows) expect(json.parsed).toEqual(expect.any(Object));
		expect(items('Bugs').length).toBeGreaterThan(0);
		expect(items('Bugs').length + items('Others').length).toBe(rows.length);
	});

	test('describe-image: a file of an item is shown to the model', async () => {
		const items = await run('describe-image');
		expect(items('Description').map(({ json }) => json.alt)).toEqual([
			expect.stringMatching(/^I see an image \(image\/png, 64x48/),
		]);
	});
});

test('the nodes that ship with n8n all load, as in its container', async () => {
	const { node, folder: installed } = n8nServer.n8n.installation;
	const script = join(PROJECT, 'scripts/n8n/load-nodes.js');
	const output = await runCommand(node, [script, installed]);
	const seen = JSON.parse(output.trim().split('\n').at(-1) ?? '') as { count: number };
	expect(seen).toMatchObject({ faults: [] });
	expect(seen.count).toBeGreaterThan(900);
}, 180_000);

test('n8n’s own nodes run code, make a spreadsheet and a calendar, and read both again', async () => {
	const items = await run('shipped');
	expect(items('Rows Again').map(({ json }) => json)).toEqual([{ sku: 'LAMP-01', price: 42 }]);
	expect(JSON.stringify(items('Calendar Again')[0]?.json.data)).toContain('Session');
});
