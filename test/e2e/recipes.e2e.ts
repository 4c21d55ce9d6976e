import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { IDataObject } from 'n8n-workflow';
import { drawImage, errorReply, imageBelongsTo } from '../../gateway';
import { arrange, tablesPath, until } from './arrange';
import { openBrowser, browserTest, type Browser } from './browser';
import { Editor } from './browser-editor';
import type { Execution } from '../../scripts/n8n/rest';
import { parseRun } from '../../scripts/n8n/saved-run';
import * as server from '../../scripts/n8n/n8n-server';
import { followed, saved } from '../../scripts/n8n/workflows';

/** The workflows of docs/recipes.md, in its order. */
const RECIPES = [
	...['rows-to-images', 'webhook-to-image', 'edit-photos-with-mask', 'nightly-report'],
	...['edit-uploaded-image', 'chat-agent', 'submit-now-collect-later', 'durable-wait'],
	...['watch-models', 'retry-failed-execution'],
];

/** Images of each recipe go to files, behind the node that a builder would replace by a storage. */
const KEEPERS: Record<string, string> = {
	'durable-wait': 'Use the Image',
	'edit-photos-with-mask': 'Keep the Edited Photo',
	'retry-failed-execution': 'Keep the Images',
};

/** The editor's buttons lie over the canvas, and over nodes of a large workflow. */
const WITHOUT_BUTTONS = `
	[class*=executionButtons] *, [data-test-id^=execute-workflow-button],
	.vue-flow__controls *, [class*=nodeButtonsWrapper] * { visibility: hidden !important; }
`;

/** As large as the mask of the recipe. */
const PHOTO = drawImage({ prompt: 'a cup', index: 0, width: 640, height: 480 });

/** Seconds that n8n saves the execution for: little more than it takes to do so at all. */
const WAIT = { resume: 'timeInterval', amount: 66, unit: 'seconds' };

/** Seconds that a task takes: one that is not done after the first wait, and others. */
const SLOW = 90;
const QUICK = 2;

const n8nServer = arrange(() => ({
	name: 'recipes',
	gateway: { taskSeconds: ({ prompt }) => (prompt.includes('fog') ? SLOW : QUICK) },
}));
let web: Server;
let examples: server.WorkflowFile[];

beforeAll(async () => {
	web = createServer((_request, reply) => reply.setHeader('content-type', 'image/png').end(PHOTO));
	await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
	examples = await server.exampleWorkflows();
	for (const id of Object.keys(KEEPERS)) await mkdir(folderOf(id), { recursive: true });
	const asTheyAre = examples.map((example) => ({ ...example, id: untouched(example.id) }));
	await server.importWorkflows(n8nServer.n8n, [...examples.map(forThisTest), ...asTheyAre]);
	await n8nServer.start();
}, 300_000);

afterAll(() => web?.close());

const folderOf = (id: string) => join(n8nServer.n8n.userFolder, server.FILES, id);

const untouched = (id?: string) => `${id}-untouched`;

/** An example whose photos come from this machine, whose wait is short, and whose images are kept. */
function forThisTest(workflow: server.WorkflowFile): server.WorkflowFile {
	const { id = '' } = workflow;
	const here = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
	const nodes = workflow.nodes.map((node) => {
		if (node.type === 'n8n-nodes-base.wait') return { ...node, parameters: WAIT };
		const text = JSON.stringify(node.parameters).replaceAll('https://picsum.photos', here);
		return { ...node, parameters: JSON.parse(text) as Record<string, unknown> };
	});
	const keeper = KEEPERS[id];
	const changed = { ...workflow, nodes };
	return keeper ? followed(changed, keeper, saved('Save', folderOf(id))) : changed;
}

async function images(id: string) {
	const names = (await readdir(folderOf(id))).sort();
	const files = await Promise.all(names.map((name) => readFile(join(folderOf(id), name))));
	return { names, show: (prompt: string) => files.map((bytes) => imageBelongsTo(prompt, bytes)) };
}

async function begin(id: string, trigger: string): Promise<string> {
	const from = { triggerToStartFrom: { name: trigger } };
	const path = `/workflows/${id}/run`;
	return (await n8nServer.main.rest.call<{ executionId: string }>('POST', path, from)).executionId;
}

/** The end of an execution, and what its nodes handed on. */
async function ended(executionId: string, seconds?: number) {
	const look = async () => {
		const execution = await n8nServer.main.rest.execution(executionId);
		return !['new', 'running', 'waiting'].includes(execution.status) && execution;
	};
	const { data = '', status } = await until(`execution ${executionId} ends`, look, seconds);
	const { runData, error } = parseRun(n8nServer.n8n.installation, data).resultData;
	const items = (node: string, output = 0): IDataObject[] =>
		(runData[node] ?? []).flatMap((run) => run.data?.main?.[output] ?? []).map(({ json }) => json);
	return { status, error, items };
}

/** Runs a workflow from the editor, to an end that is a good one. */
async function run(id: string, trigger: string) {
	const execution = await ended(await begin(id, trigger));
	expect([execution.status, execution.error]).toEqual(['success', undefined]);
	return execution;
}

/** The latest execution of a workflow, once it has ended. */
async function latest(id: string): Promise<Execution> {
	return await until(`${id} ends`, async () => {
		const [execution] = await n8nServer.main.rest.executions(id);
		return execution?.stoppedAt !== undefined && execution.status !== 'running' && execution;
	});
}

const submitted = () => n8nServer.gateway.tasks.length;

/** The execution that waits while the other recipes run. */
let waiting: string;

test('durable-wait: n8n saves the execution while it waits, and is killed meanwhile', async () => {
	waiting = await begin('durable-wait', 'Start');
	await until('n8n has saved the execution', async () => {
		return (await n8nServer.main.rest.execution(waiting)).status === 'waiting';
	});
	const prompts = n8nServer.gateway.tasks.map(({ request }) => request.prompt);
	const both = ['A harbor in fog, watercolor', 'A lighthouse at dusk, watercolor'];
	expect(prompts.sort()).toEqual(both);
	await n8nServer.main.kill();
	await n8nServer.start();
}, 200_000);

describe('webhook-to-image', () => {
	beforeAll(async () => await n8nServer.main.rest.activate('webhook-to-image'));

	test('answers with the image of the prompt', async () => {
		const reply = await n8nServer.post('image', { prompt: 'A red boat' });
		expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'image/png']);
		const bytes = Buffer.from(await reply.arrayBuffer());
		expect(imageBelongsTo('A red boat', bytes)).toBe(true);
	});

	test('answers with 502, the reason and the ID of the task where there is no image', async () => {
		const reply = await n8nServer.post('image', { prompt: 'A red boat [[fail]]' });
		expect(reply.status).toBe(502);
		const error = expect.stringContaining('the image could not be made') as string;
		const task_id = n8nServer.gateway.tasks.at(-1)?.id;
		expect(await reply.json()).toEqual({ error, task_id });
	});
});

test('edit-photos-with-mask: each photo is sent with the mask; one that fails does not stop the others', async () => {
	let edits = 0;
	n8nServer.gateway.settings.failTask = ({ kind }) =>
		kind === 'edit' && ++edits === 2 ? { httpStatus: 400 } : undefined;
	const { items } = await run('edit-photos-with-mask', 'Start');
	n8nServer.gateway.settings.failTask = undefined;
	const forms = n8nServer.gateway.requests.filter(({ route }) => route === 'edits');
	const mask = { field: 'mask', fileName: 'mask.png', mimeType: 'image/png' };
	const form = { body: { files: [{ size: PHOTO.length }, mask] } };
	expect(forms).toMatchObject([form, form, form]);
	const kept = items('Keep the Edited Photo').map(({ sku }) => sku as string);
	const [failed, ...others] = items('List What Failed');
	expect(others).toEqual([]);
	expect(failed?.reason).toMatch(/^The gateway refused the image task \(HTTP 400\)/);
	expect([...kept, failed?.sku].sort()).toEqual(['CAM-02', 'CUP-03', 'DOG-01']);
	const { names, show } = await images('edit-photos-with-mask');
	expect(names).toEqual(kept.map((sku, n) => `${n}-${sku}.png`));
	expect(show(n8nServer.gateway.tasks.at(-1)?.request.prompt ?? '')).toEqual([true, true]);
});

test('nightly-report: makes its table, and keeps one row for each day', async () => {
	await run('nightly-report', 'Every Night');
	await run('nightly-report', 'Every Night');
	const { rest } = n8nServer.main;
	const path = await tablesPath(rest);
	const listed = async (at: string) => (await rest.call<{ data: IDataObject[] }>('GET', at)).data;
	const tables = await listed(path);
	expect(tables.map(({ name }) => name)).toEqual(['Daily reports']);
	const rows = await listed(`${path}/${tables[0]?.id as string}/rows`);
	const counted = expect.any(Number) as number;
	const date = new Date().toISOString().slice(0, 10);
	expect(rows).toMatchObject([{ date, bugs: counted, wishes: counted }]);
	expect(rows[0]?.headline).toContain('the export stops');
	expect(rows[0]?.summary).toContain('dark theme');
	expect(rows[0]?.tokens).toBeGreaterThan(10);
});

test('watch-models: hands on all models once, then the new ones', async () => {
	const messages = async () =>
		(await run('watch-models', 'Every Hour')).items('Write the Message').map(({ text }) => text);
	const { models } = n8nServer.gateway.settings;
	const known = Object.keys(models).map((id) => `New model: ${id}`);
	expect((await messages()).sort()).toEqual(known.sort());
	expect(await messages()).toEqual([]);
	models['aurora-text-2'] = { text: true };
	expect(await messages()).toEqual(['New model: aurora-text-2']);
	delete models['aurora-text-2'];
});

test('retry-failed-execution: Retry fetches the paid tasks and submits nothing that was accepted', async () => {
	const { rest } = n8nServer.main;
	const before = submitted();
	await rest.activate('retry-failed-execution');
	n8nServer.gateway.settings.intercept = ({ route }) =>
		route === 'task' ? errorReply(401) : undefined;
	const rows = ['LAMP-01', 'MUG-07'].map((sku) => ({ sku, prompt: `A product photo of ${sku}` }));
	expect((await n8nServer.post('rows', { rows })).status).toBe(200);
	const failed = await latest('retry-failed-execution');
	expect([failed.status, submitted() - before]).toEqual(['error', 2]);
	n8nServer.gateway.settings.intercept = undefined;

	const path = `/executions/${failed.id}/retry`;
	const { id } = await rest.call<{ id: string }>('POST', path, { loadWorkflow: false });
	expect((await ended(id)).status).toBe('success');
	expect(submitted() - before).toBe(2);
	const { names, show } = await images('retry-failed-execution');
	expect(names).toEqual(['0-LAMP-01.png', '1-MUG-07.png']);
	expect(rows.map(({ prompt }, n) => show(prompt)[n])).toEqual([true, true]);
});

describe('on the canvas', () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await openBrowser(n8nServer.main, n8nServer.n8n.owner);
	});

	for (const id of RECIPES) {
		browserTest(`${id} has its note, and nodes that lack nothing`, async () => {
			const editor = new Editor(browser);
			await editor.open(untouched(id));
			const { nodes = [] } = examples.find((example) => example.id === id) ?? {};
			for (const { name, type } of nodes) {
				await (type.endsWith('.stickyNote') ? editor.at('sticky') : editor.node(name)).waitFor();
			}
			expect(await editor.at('node-issues').count()).toBe(0);
			const area = await editor.canvasArea();
			await browser.page.addStyleTag({ content: WITHOUT_BUTTONS });
			await browser.screenshot(`recipe-${id}`, area);
		});
	}
});

test('durable-wait: goes on after the restart, waits again for the slow task, and has both images', async () => {
	const { status, items } = await ended(waiting, 180);
	expect(status).toBe('success');
	const seen = items('Look at the Task').map((task) => task.status);
	expect(seen).toEqual(['completed', 'processing', 'completed']);
	expect((await images('durable-wait')).show('A harbor in fog, watercolor')).toContain(true);
	expect(items('List What Failed')).toEqual([]);
	const prompts = n8nServer.gateway.tasks.map(({ request }) => request.prompt);
	expect(prompts.filter((prompt) => prompt.includes('watercolor'))).toHaveLength(2);
}, 240_000);
