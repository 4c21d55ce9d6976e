import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drawImage, imageBelongsTo } from '../../gateway';
import { arrange, drawing, tablesPath, until } from './arrange';
import { runCommand } from '../../scripts/n8n/command';
import { PROJECT } from '../../scripts/n8n/package';
import * as server from '../../scripts/n8n/n8n-server';
import { served } from '../../scripts/n8n/webhook';
import { followed, inARow, MANUAL, saved } from '../../scripts/n8n/workflows';

/** Nodes of n8n that builders put beside ours, and that need more than n8n's own code. */
const NEIGHBORS = (
	[
		['Rows', 'code', 2, { jsCode: "return [{ sku: 'LAMP-01', price: 6 * 7 }];" }],
		['Spreadsheet', 'convertToFile', 1.1, { operation: 'xlsx' }],
		['Rows Again', 'extractFromFile', 1, { operation: 'xlsx' }],
	] as const
).map(([name, type, typeVersion, more]) => ({
	...{ name, type: `n8n-nodes-base.${type}`, typeVersion, position: MANUAL.position },
	parameters: { options: {}, ...more },
}));

const COLLECTED_LATER = 'submit-now-collect-later';

/** Seconds that a task takes: longer than n8n needs to start again, so that it is open meanwhile. */
const SLOW = 25;

const n8nServer = arrange(() => ({
	name: 'triggers',
	// This process draws. Meanwhile it reads no socket, and n8n closes one that is idle for 5 s.
	gateway: { taskSeconds: 1, defaultSize: '256x256' },
}));
const folder = () => join(n8nServer.n8n.userFolder, server.FILES);

beforeAll(async () => {
	const examples = (await server.exampleWorkflows()).map((workflow) => {
		if (workflow.id === COLLECTED_LATER) return server.everySeconds(2)(workflow);
		const isKept = workflow.id === 'rows-to-images';
		return isKept ? followed(workflow, 'Images', saved('Save', folder())) : workflow;
	});
	const own = [inARow('neighbors', [MANUAL, ...NEIGHBORS]), drawing('={{ $json.body.prompt }}')];
	await server.importWorkflows(n8nServer.n8n, [...examples, ...own]);
});

/** What nodes handed on in a run by `n8n execute`, which has to go well. */
async function run(id: string) {
	const { error, items } = await n8nServer.n8n.execute(id);
	expect(error).toBeUndefined();
	return items;
}

test('n8n’s own nodes all load, run code, and read the files that they make', async () => {
	const { node, folder: installed } = n8nServer.n8n.installation;
	const output = await runCommand(node, [join(PROJECT, 'scripts/n8n/load-nodes.js'), installed]);
	const seen = JSON.parse(output.trim().split('\n').at(-1) ?? '') as { count: number };
	expect(seen).toMatchObject({ faults: [] });
	expect(seen.count).toBeGreaterThan(900);
	const items = await run('neighbors');
	expect(items('Rows Again').map(({ json }) => json)).toEqual([{ sku: 'LAMP-01', price: 42 }]);
}, 180_000);

test('n8n execute leaves an image of each row in a file under the name of its row', async () => {
	const images = (await run('rows-to-images'))('Images');
	const names = (await readdir(folder())).sort();
	expect(names).toEqual(['0-LAMP-01.png', '1-MUG-07.png', '2-CHAIR-12.png']);
	for (const [index, name] of names.entries()) {
		const png = await readFile(join(folder(), name));
		expect(imageBelongsTo(images[index]?.json.prompt as string, png)).toBe(true);
	}
});

describe('a workflow that waits for the world', () => {
	beforeAll(async () => await n8nServer.start(), 300_000);

	test('hands the edited image to whoever uploaded one by its form', async () => {
		await n8nServer.main.rest.activate('edit-uploaded-image');
		const form = (await server.exampleWorkflows()).find(({ id }) => id === 'edit-uploaded-image');
		const id = form?.nodes.find(({ type }) => type.endsWith('.formTrigger'))?.webhookId as string;
		const { address } = n8nServer.main;
		const page = await (await served(`${address}/form/${id}`)).text();
		expect(page).toContain('Change an image');
		const upload = new FormData();
		const boat = drawImage({ prompt: 'boat', index: 0, width: 40, height: 30 });
		upload.set('field-0', new Blob([boat], { type: 'image/png' }), 'boat.png');
		upload.set('field-1', 'Add a sail');
		const answer = await fetch(`${address}/form/${id}`, { method: 'POST', body: upload });
		expect(answer.status).toBe(200);
		const { formWaitingUrl } = (await answer.json()) as { formWaitingUrl: string };
		// As the form's page does: it asks until the workflow has come to its last page.
		const { pathname, search } = new URL(formWaitingUrl);
		await until('the form has a last page', async () => {
			const status = await fetch(`${address}${pathname}/n8n-execution-status${search}`);
			return (await status.text()).includes('form-waiting');
		});
		const last = await (await fetch(formWaitingUrl)).text();
		expect(last).toContain('Your image is done');
		expect(last).toContain('edited.png');
		const sent = n8nServer.gateway.requests.find(({ route }) => route === 'edits');
		const files = [{ fileName: 'boat.png', size: boat.length }];
		expect(sent?.body).toMatchObject({ fields: { prompt: 'Add a sail' }, files });
	});

	/** Draws by a webhook; returns how many more files n8n keeps of binary data then. */
	async function filesFor(prompt: string): Promise<number> {
		const storage = join(n8nServer.n8n.userFolder, '.n8n');
		const count = async () => {
			const all = await readdir(storage, { recursive: true, withFileTypes: true });
			const files = all.filter((entry) => entry.isFile() && !entry.name.endsWith('.metadata'));
			return files.filter(({ parentPath }) => /binary_?data/i.test(parentPath)).length;
		};
		const before = await count();
		const reply = await n8nServer.post('draw', { prompt });
		expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'image/png']);
		expect(imageBelongsTo(prompt, Buffer.from(await reply.arrayBuffer()))).toBe(true);
		return (await count()) - before;
	}

	test('keeps its image as a file, as n8n is set up by itself', async () => {
		await n8nServer.main.rest.activate('draw');
		expect(await filesFor('a file on disk')).toBe(1);
	});

	test('collects the tasks that it remembered, each once, after n8n was killed', async () => {
		const { gateway } = n8nServer;
		const path = await tablesPath(n8nServer.main.rest);
		const columns = ['task_id', 'prompt'].map((name) => ({ name, type: 'string' }));
		const table = { name: 'Image tasks', columns };
		const { id } = await n8nServer.main.rest.call<{ id: string }>('POST', path, table);
		const rows = async () =>
			(await n8nServer.main.rest.call<{ data: unknown[] }>('GET', `${path}/${id}/rows`)).data;
		gateway.settings.taskSeconds = SLOW;
		const before = gateway.tasks.length;
		const from = { triggerToStartFrom: { name: 'Submit Now' } };
		await n8nServer.main.rest.call('POST', `/workflows/${COLLECTED_LATER}/run`, from);
		await until('both tasks are remembered', async () => (await rows()).length === 2);
		await n8nServer.main.rest.activate(COLLECTED_LATER);
		await n8nServer.main.kill();

		await n8nServer.start({ env: { N8N_DEFAULT_BINARY_DATA_MODE: 'database' } });
		await until('both tasks are done with', async () => (await rows()).length === 0, 200);
		await n8nServer.main.rest.deactivate(COLLECTED_LATER);
		const runs = await n8nServer.main.rest.executions(COLLECTED_LATER);
		const kinds = runs.map(({ mode, status }) => `${mode}: ${status}`);
		expect(kinds).toContain('trigger: success');
		const tasks = gateway.tasks.slice(before);
		expect(tasks).toHaveLength(2);
		for (const { id } of tasks) {
			const downloads = gateway.storageRequests.filter(({ path }) => path.includes(id));
			expect(downloads.map(({ status }) => status)).toContain(200);
		}
	}, 300_000);

	test('keeps no file of its image in the modes database and default', async () => {
		n8nServer.gateway.settings.taskSeconds = 1;
		expect(await filesFor('no file: database')).toBe(0);
		await n8nServer.main.stop();
		await n8nServer.start({ env: { N8N_DEFAULT_BINARY_DATA_MODE: 'default' } });
		expect(await filesFor('no file: default')).toBe(0);
	}, 300_000);
});
