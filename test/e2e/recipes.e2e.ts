import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { IDataObject } from 'n8n-workflow';
import { drawImage, errorReply, imageBelongsTo, type FormRecord } from '../../gateway';
import { arrange, until } from './arrange';
import { openBrowser, browserTest, type Browser } from './browser';
import { Editor } from './browser-editor';
import type { Execution } from '../../scripts/n8n/rest';
import { parseRun } from '../../scripts/n8n/saved-run';
import {
	exampleWorkflows,
	FILES,
	importWorkflows,
	type WorkflowFile,
} from '../../scripts/n8n/n8n-server';
import { followed, saved } from '../../scripts/n8n/workflows';

/** The workflows of docs/recipes.md, in its order. */
const RECIPES = [
	'rows-to-images',
	'webhook-to-image',
	'edit-photos-with-mask',
	'nightly-report',
	'edit-uploaded-image',
	'chat-agent',
	'submit-now-collect-later',
	'durable-wait',
	'watch-models',
	'retry-failed-execution',
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
let browser: Browser;
let examples: WorkflowFile[];

beforeAll(async () => {
	web = createServer((_request, reply) => reply.setHeader('content-type', 'image/png').end(PHOTO));
	await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
	examples = await exampleWorkflows();
	await Promise.all(
		Object.keys(KEEPERS).map(async (id) => await mkdir(folderOf(id), { recursive: true })),
	);
	const asTheyAre = examples.map((example) => ({ ...example, id: untouched(example.id) }));
	await importWorkflows(n8nServer.n8n, [...examples.map(forThisTest), ...asTheyAre]);
	await n8nServer.start();
}, 300_000);

afterAll(() => web?.close());

const folderOf = (id: string) => join(n8nServer.n8n.userFolder, FILES, id);

const untouched = (id?: string) => `${id}-untouched`;

/** An example whose photos come from this machine, whose wait is short, and whose images are kept. */
function forThisTest(workflow: WorkflowFile): WorkflowFile {
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

async function images(id: string): Promise<Array<{ name: string; bytes: Buffer }>> {
	const names = (await readdir(folderOf(id))).sort();
	return await Promise.all(
		names.map(async (name) => ({ name, bytes: await readFile(join(folderOf(id), name)) })),
	);
}

async function begin(id: string, trigger: string): Promise<string> {
	const { executionId } = await n8nServer.main.rest.call<{ executionId: string }>(
		'POST',
		`/workflows/${id}/run`,
		{ triggerToStartFrom: { name: trigger } },
	);
	return executionId;
}

/** The end of an execution, and what its nodes handed on. */
async function ended(executionId: string, seconds?: number) {
	const { data = '', status } = await until(
		`execution ${executionId} ends`,
		async () => {
			const execution = await n8nServer.main.rest.execution(executionId);
			return !['new', 'running', 'waiting'].includes(execution.status) && execution;
		},
		seconds,
	);
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
	expect(n8nServer.gateway.tasks.map(({ request }) => request.prompt).sort()).toEqual([
		'A harbor in fog, watercolor',
		'A lighthouse at dusk, watercolor',
	]);
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
		expect(await reply.json()).toEqual({
			error: expect.stringContaining('the image could not be made') as string,
			task_id: n8nServer.gateway.tasks.at(-1)?.id,
		});
	});
});

test('edit-photos-with-mask: each photo is sent with the mask; one that fails does not stop the others', async () => {
	let edits = 0;
	n8nServer.gateway.settings.failTask = ({ kind }) =>
		kind === 'edit' && ++edits === 2 ? { httpStatus: 400 } : undefined;
	const { items } = await run('edit-photos-with-mask', 'Start');
	n8nServer.gateway.settings.failTask = undefined;
	const forms = n8nServer.gateway.requests
		.filter(({ route }) => route === 'edits')
		.map(({ body }) => (body as FormRecord).files);
	expect(forms).toHaveLength(3);
	for (const files of forms) {
		expect(files).toMatchObject([
			{ size: PHOTO.length },
			{ field: 'mask', fileName: 'mask.png', mimeType: 'image/png' },
		]);
	}
	const kept = items('Keep the Edited Photo').map(({ sku }) => sku as string);
	const failed = items('List What Failed');
	expect(failed).toHaveLength(1);
	expect(failed[0]?.reason).toMatch(/^The gateway refused the image task \(HTTP 400\)/);
	expect([...kept, failed[0]?.sku].sort()).toEqual(['CAM-02', 'CUP-03', 'DOG-01']);
	const files = await images('edit-photos-with-mask');
	expect(files.map(({ name }) => name)).toEqual(kept.map((sku, n) => `${n}-${sku}.png`));
	for (const { bytes } of files) {
		expect(imageBelongsTo(n8nServer.gateway.tasks.at(-1)?.request.prompt ?? '', bytes)).toBe(true);
	}
});

test('nightly-report: makes its table, and keeps one row for each day', async () => {
	await run('nightly-report', 'Every Night');
	await run('nightly-report', 'Every Night');
	const { rest } = n8nServer.main;
	const { id: project } = await rest.call<{ id: string }>('GET', '/projects/personal');
	const path = `/projects/${project}/data-tables`;
	const { data: tables } = await rest.call<{ data: Array<{ id: string; name: string }> }>(
		'GET',
		path,
	);
	expect(tables.map(({ name }) => name)).toEqual(['Daily reports']);
	const { data: rows } = await rest.call<{ data: IDataObject[] }>(
		'GET',
		`${path}/${tables[0]?.id}/rows`,
	);
	expect(rows).toMatchObject([
		{
			date: new Date().toISOString().slice(0, 10),
			headline: expect.stringContaining('the export stops') as string,
			summary: expect.stringContaining('dark theme') as string,
			bugs: expect.any(Number) as number,
			wishes: expect.any(Number) as number,
		},
	]);
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

	const { id } = await rest.call<{ id: string }>('POST', `/executions/${failed.id}/retry`, {
		loadWorkflow: false,
	});
	expect((await ended(id)).status).toBe('success');
	expect(submitted() - before).toBe(2);
	const files = await images('retry-failed-execution');
	expect(files.map(({ name }) => name)).toEqual(['0-LAMP-01.png', '1-MUG-07.png']);
	expect(files.map(({ bytes }, n) => imageBelongsTo(rows[n]?.prompt ?? '', bytes))).toEqual([
		true,
		true,
	]);
});

describe('on the canvas', () => {
	let editor: Editor;
	beforeAll(async () => {
		browser = await openBrowser(n8nServer.main, n8nServer.n8n.owner);
		editor = new Editor(browser);
	});

	for (const id of RECIPES) {
		browserTest(`${id} has its note, and nodes that lack nothing`, async () => {
			await editor.open(untouched(id));
			const { nodes = [] } = examples.find((example) => example.id === id) ?? {};
			const isNote = ({ type }: WorkflowFile['nodes'][number]) => type.endsWith('.stickyNote');
			for (const node of nodes) {
				await (isNote(node) ? editor.at('sticky') : editor.node(node.name)).waitFor();
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
	expect(items('Look at the Task').map(({ status: seen }) => seen)).toEqual([
		'completed',
		'processing',
		'completed',
	]);
	const drawn = await images('durable-wait');
	expect(drawn.map(({ bytes }) => imageBelongsTo('A harbor in fog, watercolor', bytes))).toContain(
		true,
	);
	expect(items('List What Failed')).toEqual([]);
	const own = n8nServer.gateway.tasks.filter(({ request }) =>
		request.prompt.includes('watercolor'),
	);
	expect(own).toHaveLength(2);
}, 240_000);
