import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorReply, imageBelongsTo } from '../../gateway';
import { arrange, until } from './arrange';
import { openBrowser, browserTest, type Browser } from './browser';
import { boxOf, CredentialWindow, drawn, Editor } from './browser-editor';
import { runCommand } from '../../scripts/n8n/command';
import { PACKAGE, PROJECT } from '../../scripts/n8n/package';
import { FILES, type WorkflowFile } from '../../scripts/n8n/n8n-server';
import { byId, inARow, MANUAL, ours } from '../../scripts/n8n/workflows';

const QUICK = { taskSeconds: 2 };
const n8nServer = arrange(() => ({ name: 'editor', credential: false, gateway: QUICK }));
let browser: Browser;
let editor: Editor;
let credential: CredentialWindow;

beforeAll(async () => {
	await installAsWritten();
	await n8nServer.start();
	browser = await openBrowser(n8nServer.main, n8nServer.n8n.owner);
	editor = new Editor(browser);
	credential = new CredentialWindow(browser);
}, 300_000);

/** Installs the package by the command that the README names, with the tarball in the name's place. */
async function installAsWritten(): Promise<void> {
	const readme = await readFile(join(PROJECT, 'README.md'), 'utf8');
	const line = /^npm install (--prefix .*) n8n-nodes-model-access$/m.exec(readme)?.[1];
	const folder = join(n8nServer.n8n.userFolder, '.n8n', 'nodes');
	await rm(folder, { recursive: true });
	await mkdir(folder);
	const args = ['install', ...(line ?? '').split(' '), n8nServer.tarball];
	await runCommand('npm', args, { cwd: folder });
	expect(await readdir(join(folder, 'node_modules'))).toContain(PACKAGE);
}

const NO_MODELS = /^The address answers, but not with a list of models\. .* Base URL/;
const UNENCRYPTED = /^Base URL uses http, which would send the key unencrypted\. Use https/;
const PROMPT = 'A lighthouse at dusk, watercolor';

/** A node, among how many first entries it has to be, and what a builder types who means it. */
const SEARCHES: Array<[node: string, first: number, ...texts: string[]]> = [
	['Model Access Image', 5, 'generate an image', 'edit an image', 'create image'],
	['Model Access Image', 5, 'image to image', 'wait for image'],
	['Model Access', 5, 'create a response', 'message a model', 'analyze image', 'describe image'],
	['Model Access', 5, 'gpt', 'llm', 'list models', 'get models', 'openai compatible'],
	['Model Access Chat Model', 10, 'chat model'],
];

describe('from nothing to a saved image, in the steps of the README', () => {
	browserTest('1: n8n offers to install community nodes by name', async () => {
		const { page, address } = browser;
		await page.goto(`${address}/settings/community-nodes`);
		await page.getByRole('button', { name: 'Install a community node' }).click();
		const dialog = page.getByTestId('communityPackageInstall-modal');
		const name = dialog.getByTestId('package-name-input').or(dialog.locator('input[type=text]'));
		await name.first().fill(PACKAGE);
		await dialog.getByText('I understand the risks').first().click();
		expect(await dialog.getByRole('button', { name: 'Install' }).isEnabled()).toBe(true);
		await page.keyboard.press('Escape');
	});

	browserTest('2: a credential says what is wrong with it until all is right', async () => {
		const { baseUrl, origin, keys } = n8nServer.gateway;
		await browser.page.goto(n8nServer.main.address);
		await credential.create('Model Access API');
		for (const [key, address, said] of [
			['mak-wrong', baseUrl, /^The gateway did not accept the API key\. Fix the credential/],
			[keys.active, `${n8nServer.main.address}/v1`, NO_MODELS],
			[keys.active, 'http://127.0.0.1:9/v1', 'ECONNREFUSED'],
			[keys.active, 'http://api.example.com/v1', UNENCRYPTED],
			[`Bearer ${keys.active}`, origin, 'Connection tested successfully'],
		] as const) {
			await credential.save(key, address);
			await credential.said(said);
		}
		await browser.screenshot('credential', credential.window);
		await credential.close();
	});

	browserTest('3: each node is found by what a builder wants to do', async () => {
		await editor.openNew();
		await editor.add(undefined, 'Trigger manually');
		const missed: unknown[] = [];
		await editor.search();
		for (const [node, first, ...texts] of SEARCHES) {
			for (const text of texts) {
				const found = (await editor.searchAgain(text)).slice(0, first);
				if (!found.includes(node)) missed.push({ text, node, found });
			}
		}
		expect(missed).toEqual([]);
		await editor.leavePanel();
	});

	browserTest('3: the nodes are found by "model access", with what each can do', async () => {
		const found = await editor.search('model access');
		await until('all three are found', async () => (await found.count()) === 3);
		const names = ['Model Access', 'Model Access Image', 'Model Access Chat Model'];
		expect(await found.allInnerTexts()).toEqual(names);
		const panel = editor.at('node-creator');
		const text = await panel.innerText();
		expect(text).toContain('List models and get their answers through a Model Access gateway');
		expect(text).toContain('images through a Model Access gateway');
		await drawn(panel.locator('img[src*="n8n-nodes-model-access"]'), 3);
		await browser.screenshot('nodes-panel', { ...(await boxOf(panel)), height: 360 });
		await editor.entry('Model Access').click();
		await editor.entry('Create a response').waitFor();
		await editor.entry('Get many models').waitFor();
		await editor.leavePanel();
		await editor.search('model access');
		await editor.entry('Model Access Image').click();
		const actions = 'Generate an image,Edit an image,Get a task,Wait for a task';
		await until('the actions of the image node are listed', async () => {
			return (await editor.entry().allInnerTexts()).join() === actions;
		});
	});

	browserTest(
		'3: an action becomes a node with few fields, and no option without effect',
		async () => {
			await editor.entry('Generate an image').click();
			await editor.at('ndv').waitFor();
			const fields = ['Model', 'Prompt', 'Wait for Completion', 'Simplify', 'Options', 'Advanced'];
			await editor.fieldsAre(fields);
			const ofFiles = ['Download Images', 'On Timeout', 'Poll Interval (Seconds)'];
			const options = async () => [...(await editor.offered(0)), ...(await editor.offered(1))];
			expect(await options()).toEqual(expect.arrayContaining(['File Name', 'Size', ...ofFiles]));
			const wait = editor.field('waitForCompletion').locator('.el-switch');
			await wait.click();
			const left = await options();
			expect(left).toEqual(expect.arrayContaining(['Size', 'Max Wait (Seconds)']));
			expect(left.filter((name) => ['File Name', ...ofFiles].includes(name))).toEqual([]);
			await wait.click();
			await editor.chooseModel('aurora-image-1');
			await editor.fill('prompt', PROMPT);
		},
	);

	browserTest('4: the run shows the image', async () => {
		await editor.execute('node-execute-button');
		await editor.viewImage();
		await browser.screenshot('image-output');
		await editor.output.getByText('Back to list').click();
	});

	browserTest('5: the image is saved: by Download once, by a node in every run', async () => {
		const saving = browser.page.waitForEvent('download');
		await editor.output.getByTestId('ndv-download-binary-data').click();
		const saved = await saving;
		expect(imageBelongsTo(PROMPT, await readFile(await saved.path()))).toBe(true);
		expect(saved.suggestedFilename()).toMatch(/^a-lighthouse-at-dusk-watercolor-\w{4}\.png$/);
		await editor.closeNode();

		const folder = join(n8nServer.n8n.userFolder, FILES);
		await editor.add('read/write files', 'Read/Write Files from Disk', 'Write File to Disk');
		await editor.at('ndv').waitFor();
		const path = `${folder}/{{ $binary.data.fileName }}`;
		const shown = /\.n8n-files\/a-lighthouse-at-dusk-watercolor-\w{4}\.png/;
		await editor.fillExpression('fileName', path, shown);
		await editor.closeNode();
		await editor.execute();
		const [name = ''] = await readdir(folder);
		const file = await readFile(join(folder, name));
		expect(imageBelongsTo(PROMPT, file)).toBe(true);
		await browser.screenshot('first-image', await editor.canvasArea());
	});
});

describe('the model picker', () => {
	browserTest('says what is wrong where it cannot list the models', async () => {
		const { gateway } = n8nServer;
		const node = ours('Write Image Prompt', 'modelAccess', { resource: 'response' });
		await open(inARow(node.name, [MANUAL, node]));
		await editor.openNode(node.name);
		gateway.settings.intercept = ({ route }) => (route === 'models' ? errorReply(401) : undefined);
		await editor.models();
		await browser.page.getByText('Could not load list').waitFor();
		await browser.page.getByText(/^The gateway did not accept the API key \(HTTP 401, /).waitFor();
		gateway.settings.intercept = undefined;
		await browser.page.keyboard.press('Escape');
	});

	browserTest('lists the models of the gateway, and searches them', async () => {
		const all = await editor.models();
		await until('every model is listed', async () => (await all.count()) === 6);
		const { models } = n8nServer.gateway.settings;
		expect((await all.allInnerTexts()).sort()).toEqual(Object.keys(models).sort());
		const found = await editor.models('IMAGE');
		await until('those with "image" are left', async () => (await found.count()) === 2);
		expect(await found.allInnerTexts()).toEqual(['aurora-image-1', 'aurora-image-1-hd']);
		await editor.chooseModel('aurora-text-1');
	});
});

describe('each operation', () => {
	browserTest('Response: Create shows its answer in the table', async () => {
		await editor.fill('prompt', 'Write an image prompt for a lighthouse at dusk');
		await editor.execute('node-execute-button');
		await editor.showOutput('table');
		const table = editor.output.locator('table').first();
		await table.getByText('a lighthouse at dusk, ink drawing').waitFor();
		const heads = (await table.locator('th').allInnerTexts()).map((head) => head.trim());
		// n8n ends the row with an empty column.
		const fields = heads.filter((head) => head !== '');
		expect(fields).toEqual(['text', 'status', 'model', 'usage', 'id', 'request_id']);
		await editor.showOutput('schema');
		await editor.output.getByText('request_id').waitFor();
		await browser.screenshot('response-create');
	});

	browserTest('Image: Generate and Edit, Task: Get and Wait, one after the other', async () => {
		const node = (name: string, given: object) => ours(name, 'modelAccessImage', { ...given });
		const image = { resource: 'image', model: byId('aurora-image-1'), prompt: PROMPT };
		const task = { resource: 'task', taskId: '={{ $json.task_id }}' };
		const nodes = [
			node('Submit', { ...image, operation: 'generate', waitForCompletion: false }),
			node('Get Task', { ...task, operation: 'get' }),
			node('Wait for Task', { ...task, operation: 'wait' }),
			node('Edit Image', { ...image, operation: 'edit' }),
		];
		await open(inARow('Operations', [MANUAL, ...nodes]));
		await editor.execute();
		await editor.openNode('Get Task');
		await editor.showOutput('schema');
		await editor.output.getByText('processing').first().waitFor();
		await browser.screenshot('task-get');
		await editor.closeNode();
		for (const name of ['Wait for Task', 'Edit Image']) {
			await editor.openNode(name);
			await editor.viewImage();
			await browser.screenshot(name === 'Edit Image' ? 'image-edit' : 'task-wait');
			await editor.closeNode();
		}
	});
});

describe('the first workflow from a file', () => {
	browserTest('runs as it is imported: n8n chooses the credential by its name', async () => {
		await editor.openNew();
		await editor.at('workflow-menu').click();
		await browser.page.getByText('Import', { exact: true }).hover();
		const choosing = browser.page.waitForEvent('filechooser');
		await browser.page.getByText('From file', { exact: true }).click();
		await (await choosing).setFiles(join(PROJECT, 'examples', 'first-workflow.json'));
		await editor.at('canvas-node').first().waitFor();
		await editor.execute();
		await editor.node('Generate Image').getByTestId('canvas-node-status-success').waitFor();
		await browser.screenshot('first-workflow', await editor.canvasArea());
	});

	browserTest('Model: Get Many shows the models in the table', async () => {
		await editor.openNode('List Models');
		await editor.showOutput('table');
		await editor.output.getByText('Aurora-Text-2.5-Preview').waitFor();
		expect(await editor.output.locator('tbody tr').count()).toBeGreaterThan(5);
		await browser.screenshot('model-get-many');
		await editor.closeNode();
	});
});

describe('a run that does not go well', () => {
	browserTest('shows in the error panel what happened, and what to do', async () => {
		await editor.openNode('Generate Image');
		await editor.field('prompt').locator('.cm-content').fill('A boat [[fail]]');
		await editor.at('node-parameters').getByText('A boat [[fail]]').nth(1).waitFor();
		await editor.execute('node-execute-button');
		const { message, description } = await editor.errorShown();
		expect(message).toBe('The image task failed (HTTP 500): the image could not be made');
		expect(description).toContain(`Task ID: ${n8nServer.gateway.tasks.at(-1)?.id}`);
		expect(description).toContain('Check the usage in the gateway’s console');
		await browser.screenshot('error');
	});

	browserTest('stops where the builder stops it: no poll leaves afterwards', async () => {
		const { gateway } = n8nServer;
		const before = gateway.settings.taskSeconds;
		gateway.settings.taskSeconds = 600;
		await editor.closeNode();
		const polls = () => gateway.requests.filter(({ path }) => path.includes('/tasks/')).length;
		const earlier = polls();
		await editor.at('execute-workflow-button').first().click();
		await until('the node polls', () => polls() > earlier);
		await editor.at('stop-execution-button').click();
		await editor.at('stop-execution-button').waitFor({ state: 'hidden' });
		const stopped = Date.now();
		const sent = polls();
		// The gateway asks for a look each 3 s.
		await until('another look would have been due', () => Date.now() - stopped > 5_000);
		expect(polls()).toBe(sent);
		expect(gateway.inFlight).toBe(0);
		gateway.settings.taskSeconds = before;
	});
});

/** Saves a workflow, its node of ours with the credential that was made before, and opens it. */
async function open(workflow: WorkflowFile): Promise<void> {
	const { rest } = n8nServer.main;
	type Saved = { id?: string; name?: string };
	const [{ id, name } = {}] = await rest.call<Saved[]>('GET', '/credentials');
	const credentials = { modelAccessApi: { id, name } };
	const nodes = workflow.nodes.map((node) =>
		node.type.startsWith(PACKAGE) ? { ...node, credentials } : node,
	);
	await editor.open((await rest.create({ ...workflow, id: undefined, nodes })).id);
}
