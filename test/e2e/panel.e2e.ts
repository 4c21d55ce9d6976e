import { arrange, until } from './arrange';
import { openBrowser, browserTest, type Browser } from './browser';
import { Editor } from './browser-editor';

const n8nServer = arrange(() => ({ name: 'panel', credential: false }));
let browser: Browser;
let editor: Editor;

beforeAll(async () => {
	await n8nServer.start();
	browser = await openBrowser(n8nServer.main, n8nServer.n8n.owner);
	editor = new Editor(browser);
	await editor.openNew();
	await editor.add(undefined, 'Trigger manually');
}, 300_000);

const TEXT = 'Model Access';
const IMAGE = 'Model Access Image';
const CHAT_MODEL = 'Model Access Chat Model';

/** What a builder types, the node that is meant, and among how many first entries it has to be. */
const SEARCHES: Array<[text: string, node: string, first: number]> = [
	['generate an image', IMAGE, 5],
	['edit an image', IMAGE, 5],
	['create image', IMAGE, 5],
	['image to image', IMAGE, 5],
	['wait for image', IMAGE, 5],
	['create a response', TEXT, 5],
	['message a model', TEXT, 5],
	['analyze image', TEXT, 5],
	['describe image', TEXT, 5],
	['list models', TEXT, 5],
	['get models', TEXT, 5],
	['openai compatible', TEXT, 5],
	['gpt', TEXT, 5],
	['llm', TEXT, 5],
	['chat model', CHAT_MODEL, 10],
];

/** Fields and options of an image that is waited for, in the order of the panel. */
const IMAGE_FIELDS = ['Model', 'Prompt', 'Wait for Completion', 'Simplify', 'Options', 'Advanced'];
const IMAGE_OPTIONS = [
	...['Background', 'File Name', 'Number of Images', 'Output Format', 'Quality', 'Size'],
];
const IMAGE_ADVANCED = [
	...['Concurrency', 'Download Images', 'Extra Body (JSON)', 'Max File Size (MB)', 'Max Retries'],
	...['Max Wait (Seconds)', 'On Timeout', 'Poll Interval (Seconds)', 'Put Output File in Field'],
	'Timeout (Seconds)',
];

browserTest('an image shows few fields, and offers no option without effect', async () => {
	await editor.add('model access', IMAGE, 'Generate an image');
	await editor.at('ndv').waitFor();
	await until('the fields are there, in this order', async () => {
		return (await editor.fieldNames(IMAGE_FIELDS)).join() === IMAGE_FIELDS.join();
	});
	expect(await editor.offered(0)).toEqual(IMAGE_OPTIONS);
	expect(await editor.offered(1)).toEqual(IMAGE_ADVANCED);
	await editor.field('waitForCompletion').locator('.el-switch').click();
	expect(await editor.offered(0)).not.toContain('File Name');
	const left = await editor.offered(1);
	for (const name of ['Download Images', 'Poll Interval (Seconds)', 'On Timeout']) {
		expect(left).not.toContain(name);
	}
	expect(left).toContain('Max Wait (Seconds)');
	await editor.closeNode();
});

browserTest('the nodes panel finds each node by what a builder wants to do', async () => {
	const missed: unknown[] = [];
	await editor.search();
	for (const [text, node, first] of SEARCHES) {
		const found = (await editor.searchAgain(text)).slice(0, first);
		if (!found.includes(node)) missed.push({ text, node, found });
	}
	expect(missed).toEqual([]);
});
