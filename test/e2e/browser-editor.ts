import type { Locator, Page } from 'playwright-core';
import { clearNotes } from '../../scripts/n8n/browser';
import { until } from '../../scripts/n8n/until';
import type { Area, Browser } from './browser';

/** n8n's editor as its users see it: a canvas, the panel of nodes, an open node. */
export class Editor {
	constructor(
		private readonly browser: Browser,
		private readonly page = browser.page,
	) {}

	at(id: string): Locator {
		return this.page.getByTestId(id);
	}

	async openNew(): Promise<void> {
		const canvas = this.at('canvas-plus-button');
		await until('a new workflow is open', async () => {
			await begin(this.page, 'New workflow');
			// Right after the sign-in n8n may be on its way to its start page, and forget the click.
			const opened = canvas.waitFor({ timeout: 15_000 }).then(() => true);
			return await opened.catch(() => false);
		});
	}

	async open(id: string): Promise<void> {
		await this.page.goto(`${this.browser.address}/workflow/${id}`);
		await this.at('canvas-node').first().waitFor();
	}

	/** Opens the panel of nodes by the + behind the last node, and searches it for a text. */
	async search(text?: string): Promise<Locator> {
		const first = this.at('canvas-plus-button');
		await first.or(this.at('canvas-handle-plus').last()).first().click();
		if (text !== undefined) await this.at('node-creator-search-bar').fill(text);
		await this.entry().first().waitFor();
		return this.entry();
	}

	/** The names of the entries that the open panel finds by another text. */
	async searchAgain(text: string): Promise<string[]> {
		const bar = this.at('node-creator-search-bar');
		// Nothing is called so: what is found afterwards is of this search, not of the one before.
		await bar.fill('#'.repeat(20));
		await until('nothing is found', async () => (await this.entry().count()) === 0);
		await bar.fill(text);
		await this.entry().first().waitFor();
		return await this.entry().allInnerTexts();
	}

	/** The panel's entries, or those that are called so. */
	entry(name?: string): Locator {
		const entries = this.at('node-creator').getByTestId('node-creator-item-name');
		return name === undefined ? entries : entries.and(this.page.getByText(name, { exact: true }));
	}

	async leavePanel(): Promise<void> {
		await this.page.keyboard.press('Escape');
		await this.at('node-creator').waitFor({ state: 'hidden' });
	}

	/** Puts a node on the canvas by the panel: its entry, then what the node should do. */
	async add(search: string | undefined, ...path: string[]): Promise<void> {
		const nodes = await this.at('canvas-node').count();
		await this.search(search);
		for (const name of path) await this.entry(name).first().click();
		await until(`${path.join(', ')} is on the canvas`, async () => {
			return (await this.at('canvas-node').count()) > nodes;
		});
	}

	/** Where the canvas has nodes: the part of a screenshot without the empty space around them. */
	async canvasArea(): Promise<Area> {
		await this.at('zoom-to-fit').click();
		const shown = [await this.at('canvas-node').all(), await this.at('sticky').all()].flat();
		const boxes = await Promise.all(shown.map(boxOf));
		const left = Math.min(...boxes.map(({ x }) => x)) - 60;
		const top = Math.min(...boxes.map(({ y }) => y)) - 40;
		const right = Math.max(...boxes.map(({ x, width }) => x + width)) + 150;
		const bottom = Math.max(...boxes.map(({ y, height }) => y + height)) + 70;
		return { x: left, y: top, width: right - left, height: bottom - top };
	}

	node(name: string): Locator {
		return this.page.locator(`[data-test-id=canvas-node][data-node-name="${name}"]`);
	}

	async openNode(name: string): Promise<void> {
		await this.node(name).dblclick();
		await this.at('ndv').waitFor();
	}

	async closeNode(): Promise<void> {
		await this.at('ndv-close-button').click();
		await this.at('ndv').waitFor({ state: 'hidden' });
	}

	field(name: string): Locator {
		return this.at(`parameter-input-${name}`);
	}

	async fill(name: string, text: string): Promise<void> {
		await this.field(name).locator('input, textarea, .cm-content').first().fill(text);
	}

	/** Types an expression into a field, below which n8n then shows its value. */
	async fillExpression(name: string, text: string, preview: RegExp): Promise<void> {
		await this.field(name).hover();
		const switches = this.at(`${name}-parameter-input-options-container`);
		await switches.getByTestId('radio-button-expression').click();
		await this.field(name).locator('.cm-content').fill(text);
		await this.at('node-parameters').getByText(preview).first().waitFor();
	}

	/** Waits until the open node shows these fields in this order, and no other field of `known`. */
	async fieldsAre(shown: string[], known = shown): Promise<void> {
		await until('the fields are there', async () => {
			const labels = await this.at('node-parameters').locator('label').allInnerTexts();
			// Below the name stand the switches of the field.
			const first = labels.map((label) => label.trim().split('\n')[0]?.trim() ?? '');
			return first.filter((label) => known.includes(label)).join() === shown.join();
		});
	}

	/** What a collection of the open node offers, by its place among the collections. */
	async offered(place: number): Promise<string[]> {
		await this.at('node-parameters').getByPlaceholder('Add option').nth(place).click();
		const visible = this.page.locator('.el-select-dropdown__item').locator('visible=true');
		await visible.first().waitFor();
		const names = await visible.allInnerTexts();
		await this.page.keyboard.press('Escape');
		await visible.first().waitFor({ state: 'hidden' });
		return names.map((name) => name.trim());
	}

	/** Opens the model picker, and searches it. */
	async models(text?: string): Promise<Locator> {
		const search = this.at('rlc-search');
		if (!(await search.isVisible())) await this.at('rlc-input').click();
		if (text !== undefined) await search.fill(text);
		return this.at('rlc-item').locator('visible=true');
	}

	async chooseModel(id: string): Promise<void> {
		const found = await this.models(id);
		await found.getByText(id, { exact: true }).first().click();
	}

	/** Runs the workflow, or the open node by its own button. */
	async execute(button = 'execute-workflow-button'): Promise<void> {
		await clearNotes(this.page);
		await this.at(button).first().click();
		await this.done();
	}

	/** Waits for the end of a run: n8n says whether it went well. */
	async done(): Promise<void> {
		const note = this.page.locator('.el-notification');
		const hasText = /executed successfully|Problem in|Execution stopped/;
		await note.filter({ hasText }).first().waitFor();
	}

	/** The pane with what the open node hands on. */
	get output(): Locator {
		return this.at('output-panel');
	}

	/** Chooses how the output is shown: `schema`, `table`, `json` or `binary`. */
	async showOutput(mode: string): Promise<void> {
		await this.output.getByTestId(`radio-button-${mode}`).click();
	}

	async errorShown(): Promise<{ message: string; description: string }> {
		const text = async (id: string) =>
			await this.output.getByTestId(`node-error-${id}`).innerText();
		return { message: await text('message'), description: await text('description') };
	}

	async viewImage(): Promise<void> {
		await this.showOutput('binary');
		await this.output.getByTestId('ndv-view-binary-data').first().click();
		await drawn(this.output.locator('img[src*="binary-data"]'), 1);
	}
}

/** Begins something new, by the + at the top left of every page. */
async function begin(page: Page, what: string): Promise<void> {
	await page.getByTestId('universal-add').click();
	await page.getByText(what, { exact: true }).locator('visible=true').first().click();
}

export async function boxOf(element: Locator): Promise<Area> {
	const box = await element.boundingBox();
	if (!box) throw new Error('It is not on the screen');
	return box;
}

/** Waits until so many different images are there, and each was loaded. */
export async function drawn(images: Locator, count: number): Promise<void> {
	await until(`${count} images are drawn`, async () => {
		const all = await images.evaluateAll((found: Array<{ src: string; naturalWidth: number }>) =>
			found.map(({ src, naturalWidth }) => ({ src, naturalWidth })),
		);
		const whole = all.filter(({ naturalWidth }) => naturalWidth > 0);
		return whole.length === all.length && new Set(all.map(({ src }) => src)).size === count;
	});
}

/** The window in which a credential is edited. */
export class CredentialWindow {
	constructor(
		private readonly browser: Browser,
		readonly window = browser.page.getByTestId('editCredential-modal'),
	) {}

	async create(type: string): Promise<void> {
		const { page } = this.browser;
		await begin(page, 'New credential');
		await page.getByTestId('new-credential-type-select').locator('input').fill(type);
		const options = page.getByTestId('new-credential-type-select-option');
		await options.locator('visible=true').first().click();
		await page.getByTestId('new-credential-type-button').click();
		await this.window.waitFor();
	}

	async save(apiKey: string, baseUrl: string): Promise<void> {
		await this.window.getByTestId('parameter-input-apiKey').locator('input').fill(apiKey);
		await this.window.getByTestId('parameter-input-baseUrl').locator('input').fill(baseUrl);
		const tested = this.browser.page.waitForResponse((reply) =>
			reply.url().endsWith('/credentials/test'),
		);
		await this.window.getByTestId('credential-save-button').click();
		await (await tested).finished();
	}

	/** What the banner says, in whole, once it shows this text. */
	async said(text: string | RegExp): Promise<void> {
		const more = this.window.getByText('More details');
		const banner = this.window.getByText(text);
		await more.or(banner).first().waitFor();
		if (await more.isVisible()) await more.click();
		await banner.first().waitFor();
	}

	async close(): Promise<void> {
		await this.browser.page.keyboard.press('Escape');
		await this.window.waitFor({ state: 'hidden' });
	}
}
