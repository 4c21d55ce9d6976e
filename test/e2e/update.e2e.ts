import { join } from 'node:path';
import manifest from '../../package.json';
import { pictureBelongsTo } from '../../gateway';
import { arrange, type Stage } from './arrange';
import { openBrowser, story, type Browser } from './browser';
import { Editor } from './browser-editor';
import { dataFolder } from '../../scripts/n8n/folders';
import type { Running, StartOptions } from '../../scripts/n8n/n8n';
import {
	PACKAGE,
	packPackage,
	removePackage,
	repackPackage,
	installOver,
} from '../../scripts/n8n/package';
import type { Rest } from '../../scripts/n8n/rest';
import { withCredential, type WorkflowFile } from '../../scripts/n8n/stage';
import { posted } from '../../scripts/n8n/webhook';
import { byId, image, inARow, ours, respondedWithFile, webhook } from '../../scripts/n8n/workflows';

const LOWER = manifest.version;

const HIGHER = '999.0.0';

const DRAW = inARow('draw', [
	webhook('Wish', 'draw', { responseMode: 'responseNode' }),
	image('Draw', '={{ $json.body.text }}'),
	respondedWithFile('Respond'),
]);

const ANSWER = inARow('answer', [
	webhook('Question', 'answer', { responseMode: 'lastNode' }),
	ours('Answer', 'modelAccess', {
		resource: 'response',
		operation: 'create',
		model: byId('aurora-text-1'),
		prompt: '={{ $json.body.text }}',
	}),
]);

const AGENT: WorkflowFile = (() => {
	const row = inARow('agent', [
		webhook('Message', 'agent', { responseMode: 'lastNode' }),
		{
			name: 'AI Agent',
			type: '@n8n/n8n-nodes-langchain.agent',
			typeVersion: 3,
			parameters: { promptType: 'define', text: '={{ $json.body.text }}', options: {} },
			position: [0, 0],
		},
	]);
	return {
		...row,
		nodes: [
			...row.nodes,
			{
				id: 'agent-model',
				name: 'Model',
				type: `${PACKAGE}.lmChatModelAccess`,
				typeVersion: 1,
				parameters: { model: byId('aurora-text-1'), options: {} },
				position: [220, 220],
			},
		],
		connections: {
			...row.connections,
			Model: { ai_languageModel: [[{ node: 'AI Agent', type: 'ai_languageModel', index: 0 }]] },
		},
	};
})();

/** The package's node in each workflow. */
const NODES = { draw: 'modelAccessImage', answer: 'modelAccess', agent: 'lmChatModelAccess' };

// A test here may start n8n, which takes a while on a machine with other work.
jest.setTimeout(300_000);

let stage: Stage;
let n8n: Running & { rest: Rest };
let lower: string;
let higher: string;
let browser: Browser | undefined;

/** The workflows as n8n saved them, by ID. */
const saved = new Map<string, string>();

beforeAll(async () => {
	const folder = await dataFolder();
	lower = process.env.E2E_TARBALL ?? (await packPackage(join(folder, 'packed')));
	higher = await repackPackage(lower, HIGHER, join(folder, 'packed', HIGHER));
	stage = await arrange({ name: 'update', tarball: lower, gateway: { taskSeconds: 1 } });
	n8n = await stage.start();
}, 900_000);

afterAll(async () => {
	await browser?.close();
	await stage?.close();
});

/** What n8n has saved of a workflow, to the byte. */
async function savedText(id: string): Promise<string> {
	const { nodes, connections, settings, versionId, activeVersionId, updatedAt } =
		await n8n.rest.call<Record<string, unknown>>('GET', `/workflows/${id}`);
	return JSON.stringify({ nodes, connections, settings, versionId, activeVersionId, updatedAt });
}

/** Stops n8n, changes what is installed in it, and starts it again. */
async function restart(
	change: (userFolder: string) => Promise<void>,
	options?: Partial<StartOptions>,
) {
	await n8n.stop();
	await change(stage.n8n.userFolder);
	n8n = await stage.start(options);
}

const post = async (path: string, text: string) =>
	await posted(`${n8n.address}/webhook/${path}`, { text });

/** Calls each workflow, which has to answer rightly by one request of its own. */
async function expectAllRun(text: string): Promise<void> {
	const { gateway } = stage;
	const counts = () => [
		gateway.count({ route: 'generations' }),
		gateway.count({ route: 'responses' }),
	];
	const [generations = 0, responses = 0] = counts();
	const picture = Buffer.from(await (await post('draw', text)).arrayBuffer());
	expect(pictureBelongsTo(text, picture)).toBe(true);
	expect(await (await post('answer', text)).json()).toMatchObject({ text: `You said: ${text}` });
	expect(await (await post('agent', text)).json()).toEqual({ output: `You said: ${text}` });
	expect(counts()).toEqual([generations + 1, responses + 2]);
}

/** The versions that n8n has of the package's nodes. */
async function knownVersions(): Promise<string[]> {
	const types = (await n8n.rest.nodeTypes()) as Array<{
		name: string;
		communityNodePackageVersion?: string;
	}>;
	const ours = types.filter(({ name }) => name.startsWith(`${PACKAGE}.`));
	return [...new Set(ours.map((one) => one.communityNodePackageVersion ?? 'none'))];
}

async function expectUnchanged(): Promise<void> {
	for (const [id, text] of saved) expect(await savedText(id)).toBe(text);
}

describe('workflows that were saved with one version of the package', () => {
	test('run with that version', async () => {
		expect(await knownVersions()).toEqual([LOWER]);
		for (const workflow of [DRAW, ANSWER, AGENT]) {
			const { id } = await n8n.rest.create({ ...withCredential(workflow), id: undefined });
			await n8n.rest.activate(id);
			saved.set(id, await savedText(id));
		}
		await expectAllRun('a lighthouse');
	});

	test('run unchanged after a higher version was installed over it', async () => {
		await restart(async (userFolder) => await installOver(userFolder, higher));
		expect(await knownVersions()).toEqual([HIGHER]);
		await expectAllRun('a boat');
		await expectUnchanged();
	});

	story('tell which package is missing after it was removed', async () => {
		await restart(removePackage, { hasPackage: false });
		expect(await knownVersions()).toEqual([]);
		const requests = stage.gateway.requests.length;
		for (const [path, node] of Object.entries(NODES)) {
			const reply = await post(path, 'a lost boat');
			expect(reply.status).toBe(400);
			const { message } = (await reply.json()) as { message: string };
			expect(message).toBe(`Unrecognized node type: ${PACKAGE}.${node}`);
		}
		browser = await openBrowser(n8n, stage.n8n.owner);
		const editor = new Editor(browser);
		await editor.open([...saved.keys()][0] ?? '');
		await editor.node('Draw').getByText('?', { exact: true }).waitFor();
		await editor.openNode('Draw');
		await editor.at('ndv').getByText('Install this node to use it').waitFor();
		const text = await editor.at('ndv').innerText();
		expect(text).toContain(
			`This node is not currently installed. It's part of the ${PACKAGE} community package.`,
		);
		await browser.close();
		expect(stage.gateway.requests).toHaveLength(requests);
		await expectUnchanged();
	});

	test('run unchanged after it was installed again', async () => {
		await restart(async (userFolder) => await installOver(userFolder, higher));
		expect(await knownVersions()).toEqual([HIGHER]);
		await expectAllRun('a kite');
		await expectUnchanged();
	});
});
