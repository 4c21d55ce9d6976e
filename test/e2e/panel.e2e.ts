import { arrange } from './arrange';
import { openBrowser, browserTest } from './browser';
import { Editor } from './browser-editor';

const n8nServer = arrange(() => ({ name: 'panel', credential: false }));
let editor: Editor;

beforeAll(async () => {
	await n8nServer.start();
	editor = new Editor(await openBrowser(n8nServer.main, n8nServer.n8n.owner));
	await editor.openNew();
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

browserTest('the nodes panel finds each node by what a builder wants to do', async () => {
	const missed: unknown[] = [];
	await editor.add(undefined, 'Trigger manually');
	await editor.search();
	for (const [text, node, first] of SEARCHES) {
		const found = (await editor.searchAgain(text)).slice(0, first);
		if (!found.includes(node)) missed.push({ text, node, found });
	}
	expect(missed).toEqual([]);
});
