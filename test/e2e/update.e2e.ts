import { join } from 'node:path';
import manifest from '../../package.json';
import { imageBelongsTo } from '../../gateway';
import { answering, arrange, drawing, servedBy } from './arrange';
import { openBrowser, browserTest } from './browser';
import { Editor } from './browser-editor';
import { dataFolder } from '../../scripts/n8n/folders';
import type { StartOptions } from '../../scripts/n8n/n8n';
import { PACKAGE, removePackage, repackPackage, installOver } from '../../scripts/n8n/package';
import { withCredential } from '../../scripts/n8n/n8n-server';
import { chatModel, inARow, webhook } from '../../scripts/n8n/workflows';

const LOWER = manifest.version;
const HIGHER = '999.0.0';

const ANSWER = inARow('answer', [
	webhook('Question', 'answer', { responseMode: 'lastNode' }),
	answering('={{ $json.body.text }}'),
]);

const AGENT = servedBy(
	inARow('agent', [
		webhook('Message', 'agent', { responseMode: 'lastNode' }),
		{
			name: 'AI Agent',
			type: '@n8n/n8n-nodes-langchain.agent',
			typeVersion: 3,
			parameters: { promptType: 'define', text: '={{ $json.body.text }}', options: {} },
			position: [0, 0],
		},
	]),
	'AI Agent',
	{ ai_languageModel: chatModel('Model', [220, 220]) },
);

const NODES = { draw: 'modelAccessImage', answer: 'modelAccess', agent: 'lmChatModelAccess' };

// A test here may start n8n, which takes a while on a machine with other work.
jest.setTimeout(300_000);

const n8nServer = arrange(() => ({ name: 'update', gateway: { taskSeconds: 1 } }));
let higher: string;

const saved = new Map<string, string>();

beforeAll(async () => {
	const folder = join(await dataFolder(), 'packed', HIGHER);
	higher = await repackPackage(n8nServer.tarball, HIGHER, folder);
	await n8nServer.start();
});

/** What n8n has saved of a workflow, to the byte. */
async function savedText(id: string): Promise<string> {
	const { nodes, connections, settings, versionId, activeVersionId, updatedAt } =
		await n8nServer.main.rest.call<Record<string, unknown>>('GET', `/workflows/${id}`);
	return JSON.stringify({ nodes, connections, settings, versionId, activeVersionId, updatedAt });
}

async function restart(
	change: (userFolder: string) => Promise<void>,
	options?: Partial<StartOptions>,
) {
	await n8nServer.main.stop();
	await change(n8nServer.n8n.userFolder);
	await n8nServer.start(options);
}

const post = async (path: string, text: string) => await n8nServer.post(path, { text });

/** Calls each workflow, which has to answer rightly by one request of its own. */
async function expectAllRun(text: string): Promise<void> {
	const { gateway } = n8nServer;
	const counts = () =>
		(['generations', 'responses'] as const).map((route) => gateway.count({ route }));
	const [generations = 0, responses = 0] = counts();
	const png = Buffer.from(await (await post('draw', text)).arrayBuffer());
	expect(imageBelongsTo(text, png)).toBe(true);
	expect(await (await post('answer', text)).json()).toMatchObject({ text: `You said: ${text}` });
	expect(await (await post('agent', text)).json()).toEqual({ output: `You said: ${text}` });
	expect(counts()).toEqual([generations + 1, responses + 2]);
}

/** The versions that n8n has of the package's nodes. */
async function knownVersions(): Promise<string[]> {
	type Known = { name: string; communityNodePackageVersion?: string };
	const types = (await n8nServer.main.rest.nodeTypes()) as Known[];
	const ours = types.filter(({ name }) => name.startsWith(`${PACKAGE}.`));
	return [...new Set(ours.map((one) => one.communityNodePackageVersion ?? 'none'))];
}

async function expectUnchanged(): Promise<void> {
	for (const [id, text] of saved) expect(await savedText(id)).toBe(text);
}

/** Installs the higher version; the workflows have to run with it, and to stay as they are. */
async function expectHigherRuns(text: string): Promise<void> {
	await restart(async (userFolder) => await installOver(userFolder, higher));
	expect(await knownVersions()).toEqual([HIGHER]);
	await expectAllRun(text);
	await expectUnchanged();
}

describe('workflows that were saved with one version of the package', () => {
	test('run with that version', async () => {
		expect(await knownVersions()).toEqual([LOWER]);
		for (const workflow of [drawing('={{ $json.body.text }}'), ANSWER, AGENT]) {
			const given = { ...withCredential(workflow), id: undefined };
			const { id } = await n8nServer.main.rest.create(given);
			await n8nServer.main.rest.activate(id);
			saved.set(id, await savedText(id));
		}
		await expectAllRun('a lighthouse');
	});

	test('run unchanged after a higher version was installed over it', async () => {
		await expectHigherRuns('a boat');
	});

	browserTest('tell which package is missing after it was removed', async () => {
		await restart(removePackage, { hasPackage: false });
		expect(await knownVersions()).toEqual([]);
		const requests = n8nServer.gateway.requests.length;
		for (const [path, node] of Object.entries(NODES)) {
			const reply = await post(path, 'a lost boat');
			expect(reply.status).toBe(400);
			const { message } = (await reply.json()) as { message: string };
			expect(message).toBe(`Unrecognized node type: ${PACKAGE}.${node}`);
		}
		const editor = new Editor(await openBrowser(n8nServer.main, n8nServer.n8n.owner));
		await editor.open([...saved.keys()][0] ?? '');
		await editor.node('Draw').getByText('?', { exact: true }).waitFor();
		await editor.openNode('Draw');
		await editor.at('ndv').getByText('Install this node to use it').waitFor();
		const said = `This node is not currently installed. It's part of the ${PACKAGE} community package.`;
		expect(await editor.at('ndv').innerText()).toContain(said);
		expect(n8nServer.gateway.requests).toHaveLength(requests);
		await expectUnchanged();
	});

	test('run unchanged after it was installed again', async () => {
		await expectHigherRuns('a kite');
	});
});
