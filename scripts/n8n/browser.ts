import { chromium, selectors, type Page } from 'playwright-core';
import { CHROMIUM } from './chromium';
import type { Owner } from './n8n';
import { until } from './until';

const FLAGS = [
	'--no-sandbox',
	'--disable-gpu',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

/** Wide enough for the three panes of an open node. */
const WINDOW = { width: 1440, height: 820 };

/** Milliseconds that one look or click waits for what it is about. */
const PATIENCE_MS = 45_000;

/** Opens a browser with an empty page. */
export async function openPage(): Promise<{ page: Page; close: () => Promise<void> }> {
	selectors.setTestIdAttribute('data-test-id');
	const chrome = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
	const page = await chrome.newPage({ viewport: WINDOW });
	page.setDefaultTimeout(PATIENCE_MS);
	// A page that asks whether to leave it is left.
	page.on('dialog', (dialog) => void dialog.accept().catch(() => {}));
	return { page, close: async () => await chrome.close() };
}

/** Signs in by the form of an n8n. */
export async function signIn(page: Page, address: string, owner: Owner): Promise<void> {
	await page.goto(`${address}/signin`);
	await page.locator('input[name=emailOrLdapLoginId]').fill(owner.email);
	await page.locator('input[name=password]').fill(owner.password);
	await page.getByTestId('form-submit-button').click();
	await page.waitForURL(/\/(home|workflow)/);
}

/** Closes the notes at the edge of the window, so that none is in the way or taken for a new one. */
export async function clearNotes(page: Page): Promise<void> {
	const notes = page.locator('.el-notification');
	await until('no note is left', async () => {
		if ((await notes.count()) === 0) return true;
		// One that the pointer rests on stays.
		await page.mouse.move(0, 0);
		await notes
			.locator('.el-notification__closeBtn')
			.first()
			.click({ timeout: 1_000 })
			.catch(() => {});
		return false;
	});
}
