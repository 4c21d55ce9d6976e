import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator, Page } from 'playwright-core';
import { drawImage, startGateway } from '../gateway';
import { clearNotes, openPage } from './n8n/browser';
import type { Owner } from './n8n/n8n';
import { setUpN8n } from './n8n/n8n-server';

/**
 * Counts what a newcomer clicks and fills in, from n8n's sign-in to a saved image. Our image node and
 * n8n's OpenAI node go the same way in the real editor. What differs is in {@link Contender}.
 */

const PROMPT = 'A lighthouse at dusk, watercolor';

/** A node that makes an image, and how its panel and its credential are filled in. */
interface Contender {
	who: string;
	/** What the nodes panel is searched for. */
	search: string;
	/** The entry of the nodes panel. */
	node: string;
	/** The fields of the credential, by their saved names. */
	credential: Record<string, string>;
	/** The model to choose from the list; absent if the node has one already. */
	model?: string;
}

/** How many actions a step took. */
type Count = Record<'clicks' | 'fields', number>;

/** The newcomer: each action goes through here, and is counted. */
class Newcomer {
	readonly steps = new Map<string, Count>();
	private current: Count = { clicks: 0, fields: 0 };

	/** Begins a step, to which the actions that follow belong. */
	begin(step: string): void {
		this.current = { clicks: 0, fields: 0 };
		this.steps.set(step, this.current);
	}

	/**
	 * Does an action and counts it. A choice from a list is two clicks; the click into a field that is
	 * filled in is none.
	 * @param text what the field is filled in with; absent: it is clicked
	 */
	async act(on: Locator, text?: string): Promise<void> {
		await (text === undefined ? on.click() : on.fill(text));
		this.current[text === undefined ? 'clicks' : 'fields']++;
	}
}

/** Goes all the way, and returns the actions of each step. */
async function goAllTheWay(
	page: Page,
	address: string,
	owner: Owner,
	{ search, node, credential, model }: Contender,
): Promise<Newcomer['steps']> {
	const newcomer = new Newcomer();
	const at = (id: string) => page.getByTestId(id);
	const text = (name: string) => page.getByText(name, { exact: true }).locator('visible=true');
	const entry = (name: string) => at('node-creator-item-name').and(text(name)).first();

	newcomer.begin('Sign in');
	await page.goto(`${address}/signin`);
	await newcomer.act(page.locator('input[name=emailOrLdapLoginId]'), owner.email);
	await newcomer.act(page.locator('input[name=password]'), owner.password);
	await newcomer.act(at('form-submit-button'));
	await page.waitForURL(/\/(home|workflow)/);
	// Until then n8n is on its way to its start page, and forgets a click.
	await page.waitForLoadState('networkidle');

	newcomer.begin('New workflow with a trigger');
	await newcomer.act(at('universal-add'));
	await newcomer.act(text('New workflow').first());
	await newcomer.act(at('canvas-plus-button'));
	await newcomer.act(entry('Trigger manually'));

	newcomer.begin('Node');
	await newcomer.act(at('canvas-handle-plus').last());
	await newcomer.act(at('node-creator-search-bar'), search);
	await newcomer.act(entry(node));
	await newcomer.act(entry('Generate an image'));

	newcomer.begin('Credential');
	await newcomer.act(at('node-credentials-empty-state').locator('button').first());
	const dialog = at('editCredential-modal');
	for (const [name, value] of Object.entries(credential)) {
		await newcomer.act(dialog.getByTestId(`parameter-input-${name}`).locator('input'), value);
	}
	await newcomer.act(dialog.getByTestId('credential-save-button'));
	// n8n tests the credential, and closes its window if the test succeeds.
	await dialog.waitFor({ state: 'hidden' });

	newcomer.begin('Fields of the node');
	if (model !== undefined) {
		await newcomer.act(at('rlc-input'));
		await newcomer.act(at('rlc-item').getByText(model, { exact: true }).first());
	}
	await newcomer.act(at('parameter-input-prompt').locator('textarea, .cm-content'), PROMPT);

	newcomer.begin('Run and save');
	await clearNotes(page);
	await newcomer.act(at('node-execute-button'));
	await page.locator('.el-notification').getByText('executed successfully').waitFor();
	const save = at('output-panel').getByTestId('ndv-download-binary-data');
	// n8n opens this tab by itself if an item has a file and nothing else.
	if (!(await save.isVisible())) {
		await newcomer.act(at('output-panel').getByTestId('radio-button-binary'));
	}
	await Promise.all([page.waitForEvent('download'), newcomer.act(save)]);
	return newcomer.steps;
}

/** Answers as the API does for which n8n's node is made: a list of models, and an image at once. */
async function startStub(): Promise<{ url: string; close: () => void }> {
	const image = drawImage({ prompt: PROMPT, index: 0, width: 64, height: 64 });
	const replies: Record<string, unknown> = {
		'/v1/models': { object: 'list', data: [{ id: 'gpt-image-1-mini', object: 'model' }] },
		'/v1/images/generations': { created: 0, data: [{ b64_json: image.toString('base64') }] },
	};
	const server = createServer((req, res) => {
		const reply = replies[new URL(req.url ?? '', 'http://localhost').pathname];
		res.writeHead(reply ? 200 : 404, { 'Content-Type': 'application/json' });
		req.resume().once('end', () => res.end(JSON.stringify(reply ?? {})));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	return { url: `http://127.0.0.1:${port}/v1`, close: () => server.close() };
}

/** Prints the steps as rows, with the clicks and fields of each contender. */
function print(results: Array<[who: string, steps: Newcomer['steps']]>): void {
	const row = (cells: string[]) => console.log(`| ${cells.join(' | ')} |`);
	const cell = (counts: Count[]) => {
		const sum = (kind: keyof Count) => counts.reduce((all, count) => all + count[kind], 0);
		return `${sum('clicks')} + ${sum('fields')}`;
	};
	row(['Clicks + fields', ...results.map(([who]) => who)]);
	row(results.map(() => '---').concat('---'));
	for (const step of results[0]?.[1].keys() ?? []) {
		row([step, ...results.map(([, steps]) => cell([steps.get(step)!]))]);
	}
	row(['All', ...results.map(([, steps]) => cell([...steps.values()]))]);
}

async function main() {
	const say = (line: string) => console.error(line);
	const n8n = await setUpN8n({
		name: 'clicks',
		fresh: true,
		tarball: process.env.E2E_TARBALL,
		say,
	});
	const gateway = await startGateway({ taskSeconds: 1 });
	const stub = await startStub();
	const { keys, baseUrl } = gateway;
	const contenders: Contender[] = [
		{
			who: 'these nodes',
			search: 'generate an image',
			node: 'Model Access Image',
			credential: { apiKey: keys.active, baseUrl },
			model: 'aurora-image-1',
		},
		{
			who: 'n8n’s OpenAI node',
			search: 'openai',
			node: 'OpenAI',
			credential: { apiKey: 'sk-test', url: stub.url },
		},
	];
	try {
		const { address } = await n8n.start();
		const results: Parameters<typeof print>[0] = [];
		for (const contender of contenders) {
			const { page, close } = await openPage();
			try {
				results.push([contender.who, await goAllTheWay(page, address, n8n.owner, contender)]);
			} finally {
				await close();
			}
		}
		print(results);
	} finally {
		await n8n.stopAll();
		await gateway.close();
		stub.close();
	}
}

main().catch((error: unknown) => {
	console.error((error as Error).message);
	process.exitCode = 1;
});
