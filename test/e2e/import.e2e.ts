import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pictureBelongsTo, startGateway, type Gateway } from '../../gateway';
import { arrange } from './arrange';
import { openBrowser, browserTest, type Browser } from './browser';
import { Editor } from './browser-editor';
import { PROJECT } from '../../scripts/n8n/package';
import { CREDENTIAL, type WorkflowFile } from '../../scripts/n8n/stage';

const EXAMPLE = join(PROJECT, 'examples', 'first-workflow.json');

const stage = arrange(() => ({ name: 'import', gateway: { taskSeconds: 1 } }));
let browser: Browser;
let editor: Editor;
/** The gateway of the user's other credential. */
let other: Gateway;

beforeAll(async () => {
	other = await startGateway({ taskSeconds: 1 });
	await stage.start();
	browser = await openBrowser(stage.main, stage.n8n.owner);
	editor = new Editor(browser);
}, 300_000);

afterAll(async () => await other?.close());

/** The requests that a gateway got, but for its looks at the task, whose number is a matter of time. */
const sentTo = ({ requests }: Gateway) =>
	requests.map(({ route }) => route).filter((route) => route !== 'task');

/** Imports the example into a new workflow and runs it, with no node opened; it has to go well. */
async function importAndRun(): Promise<void> {
	await editor.openNew();
	await editor.importFile(EXAMPLE);
	await editor.execute();
	for (const { name } of (JSON.parse(readFileSync(EXAMPLE, 'utf8')) as WorkflowFile).nodes) {
		await editor.node(name).getByTestId('canvas-node-status-success').waitFor();
	}
}

describe('an example that is imported from its file runs to its picture, with no node opened', () => {
	browserTest('with the credential that it names', async () => {
		await importAndRun();
		expect(sentTo(stage.gateway)).toEqual(['models', 'responses', 'generations']);
		const [task] = stage.gateway.tasks;
		expect(stage.gateway.tasks).toHaveLength(1);
		await editor.openNode('Generate Image');
		await editor.showOutput('binary');
		const { bytes } = await editor.download();
		expect(pictureBelongsTo(task?.request.prompt ?? '', bytes)).toBe(true);
		await editor.closeNode();
	});

	browserTest('beside another credential of the same name, which it leaves alone', async () => {
		await stage.main.rest.call('POST', '/credentials', {
			name: CREDENTIAL.name,
			type: 'modelAccessApi',
			data: { apiKey: other.keys.active, baseUrl: other.baseUrl },
		});
		await browser.page.reload();
		const before = sentTo(stage.gateway).length;
		await importAndRun();
		expect(sentTo(stage.gateway).slice(before)).toEqual(['models', 'responses', 'generations']);
		expect(other.requests).toEqual([]);
	});
});
