import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { PROJECT } from './package';

/** Prefixes of the folders of installations in the cache: of n8n, and of others. */
const INSTALLATIONS = /^(n8n|bench|litellm)-/;

/** The file in the data of a checkout that names the checkout. */
const CHECKOUT = 'checkout';

/**
 * The folder for installations of n8n and for its user folders, outside the checkout. It is
 * `$N8N_STAGE_CACHE`, else the user's cache folder, else the folder for temporary files.
 * @throws {Error} it is not writable, or has `node_modules` above it
 */
export async function cacheFolder(): Promise<string> {
	const given = process.env.N8N_STAGE_CACHE;
	if (given !== undefined && given !== '') {
		const fault = await faultOf(resolve(given));
		if (fault !== undefined) throw new Error(`N8N_STAGE_CACHE cannot be used: ${fault}`);
		return resolve(given);
	}
	const own = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'n8n-stage');
	const faults: string[] = [];
	for (const folder of [own, join(tmpdir(), 'n8n-stage')]) {
		const fault = await faultOf(folder);
		if (fault === undefined) return folder;
		faults.push(fault);
	}
	throw new Error(`Set N8N_STAGE_CACHE to a folder for n8n: ${faults.join('; ')}`);
}

/**
 * The folder for the data of n8n, one for each checkout, next to the installations. The package in
 * it finds n8n's modules, as on a user's machine, and never those of the checkout.
 */
export async function dataFolder(): Promise<string> {
	const checkout = realpathSync(PROJECT);
	const hash = createHash('sha256').update(checkout).digest('hex');
	const cache = await cacheFolder();
	const folder = join(cache, `data-${hash.slice(0, 8)}`);
	await mkdir(folder, { recursive: true });
	await writeFile(join(folder, CHECKOUT), checkout);
	await removeOrphans(cache);
	return folder;
}

/** Removes the data of deleted checkouts. */
async function removeOrphans(cache: string): Promise<void> {
	for (const name of await readdir(cache)) {
		const note = join(cache, name, CHECKOUT);
		const checkout = await readFile(note, 'utf8').catch(() => '');
		if (checkout !== '' && !existsSync(checkout)) {
			await rm(join(cache, name), { recursive: true, force: true });
		}
	}
}

/**
 * Removes the installations and the data of n8n for this checkout.
 * @returns the removed folders
 */
export async function clean(): Promise<string[]> {
	const cache = await cacheFolder();
	const names = (await readdir(cache)).filter((name) => INSTALLATIONS.test(name));
	const folders = [await dataFolder(), ...names.map((name) => join(cache, name))];
	for (const folder of folders) await rm(folder, { recursive: true, force: true });
	return folders;
}

/** The reason why a folder cannot be used; undefined if it can. */
async function faultOf(folder: string): Promise<string | undefined> {
	const modules = modulesAbove(folder);
	if (modules !== undefined) {
		return `${folder} lies below ${modules}, whose modules the package would find before those of n8n`;
	}
	try {
		await mkdir(folder, { recursive: true });
		const probe = join(folder, `.${process.pid}`);
		await writeFile(probe, '');
		await rm(probe);
		return undefined;
	} catch (error) {
		return `${folder} cannot be written to (${(error as Error).message})`;
	}
}

/** The nearest `node_modules` where Node looks for the modules of a folder. */
function modulesAbove(folder: string): string | undefined {
	const found = join(folder, 'node_modules');
	if (existsSync(found)) return found;
	return dirname(folder) === folder ? undefined : modulesAbove(dirname(folder));
}
