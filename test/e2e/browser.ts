import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { clearNotes, openPage, signIn } from '../../scripts/n8n/browser';
import { dataFolder } from '../../scripts/n8n/folders';
import type { Owner, Running } from '../../scripts/n8n/n8n';

export type Area = NonNullable<Awaited<ReturnType<Locator['boundingBox']>>>;

export type Browser = Awaited<ReturnType<typeof openBrowser>>;

/** The page of this file's tests; one at a time. */
let shown: Page | undefined;
let closeShown = async () => {};
afterAll(async () => await closeShown());

/** Opens a browser on an n8n and signs in by its form. It closes when the tests of the file end. */
export async function openBrowser({ address }: Running, owner: Owner) {
	const { page, close } = await openPage();
	[shown, closeShown] = [page, close];
	await signIn(page, address, owner);
	/** Keeps a screenshot for the pages, of the window or a part, where they were asked for. */
	const screenshot = async (name: string, part?: Locator | Area): Promise<void> => {
		const folder = process.env.E2E_SCREENSHOTS;
		if (folder !== undefined) await keepScreenshot(page, join(folder, `${name}.png`), part);
	};
	return { page, address, screenshot };
}

/** A test that leaves the page it failed on, and says where. */
export function browserTest(name: string, work: () => Promise<void>): void {
	test(name, async () => {
		await work().catch(async (error: Error) => {
			if (shown) error.message += `\n\nWhat was on the screen: ${await keepFailure(shown, name)}`;
			throw error;
		});
	});
}

async function keepFailure(page: Page, name: string): Promise<string> {
	const folder = join(await dataFolder(), 'failures');
	await mkdir(folder, { recursive: true });
	const file = join(folder, name.replace(/\W+/g, '-').slice(0, 80));
	try {
		await writeFile(`${file}.html`, await page.content());
		await page.screenshot({ path: `${file}.png` });
	} catch (error) {
		return `nothing, since ${(error as Error).message}`;
	}
	return `${file}.png, ${file}.html`;
}

/** 192 colors are enough for a screen, and a fifth of the bytes. */
async function keepScreenshot(page: Page, file: string, part?: Locator | Area): Promise<void> {
	await clearNotes(page);
	await page.mouse.move(0, 0);
	const path = `${file}.full`;
	const taken =
		part && 'screenshot' in part
			? await part.screenshot({ animations: 'disabled' })
			: await page.screenshot({ animations: 'disabled', clip: part });
	await writeFile(path, taken);
	try {
		await promisify(execFile)('pngquant', [
			...['--quality=55-90', '--speed=1', '--strip', '--force', `--output=${file}`],
			...['192', path],
		]);
	} catch {
		await writeFile(file, await readFile(path));
	} finally {
		await rm(path);
	}
}
