import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './command';
import { mirror } from './mirror';

/** The project's own folder. */
export const PROJECT = join(__dirname, '..', '..');

/** The package's name, as n8n puts it before the names of its nodes. */
export const PACKAGE = 'n8n-nodes-model-access';

/**
 * Builds the package and packs it as it would be published.
 * @param folder where the tarball goes
 * @returns the tarball's path
 */
export async function packPackage(folder: string): Promise<string> {
	await mkdir(folder, { recursive: true });
	await runCommand('npm', ['run', 'build'], { cwd: PROJECT });
	return await packFolder(PROJECT, folder);
}

/** What n8n's own installer of community packages tells npm: n8n provides the package's peers. */
const NPM_FLAGS = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'];

/**
 * Makes the package as it would be published under another version: its content is the tarball's.
 * @param folder where the new tarball goes, and the unpacked package
 * @returns the new tarball's path
 */
export async function repackPackage(
	tarball: string,
	version: string,
	folder: string,
): Promise<string> {
	const unpacked = join(folder, 'package');
	await rm(unpacked, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	await runCommand('tar', ['-xzf', tarball, '-C', folder]);
	const file = join(unpacked, 'package.json');
	const manifest = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
	await writeFile(file, JSON.stringify({ ...manifest, version }, null, 2));
	return await packFolder(unpacked, folder);
}

async function packFolder(cwd: string, folder: string): Promise<string> {
	const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
	const [packed] = JSON.parse(await runCommand('npm', words, { cwd })) as Array<{
		filename: string;
	}>;
	if (!packed) throw new Error('npm pack made nothing');
	return join(folder, packed.filename);
}

/**
 * Makes the tarball the one package that is installed in n8n. Does nothing if it is already.
 * @param userFolder n8n's user folder
 */
export async function installPackage(userFolder: string, tarball: string): Promise<void> {
	const note = noteIn(userFolder);
	if (existsSync(note) && (await readFile(note, 'utf8')) === (await markOf(tarball))) return;
	await rm(nodesFolder(userFolder), { recursive: true, force: true });
	await installOver(userFolder, tarball);
}

/**
 * Installs the tarball as n8n's own installer of community packages does, over any other version.
 * @param userFolder n8n's user folder
 */
export async function installOver(userFolder: string, tarball: string): Promise<void> {
	const folder = nodesFolder(userFolder);
	const manifest = join(folder, 'package.json');
	await mkdir(folder, { recursive: true });
	if (!existsSync(manifest)) {
		await writeFile(manifest, JSON.stringify({ name: 'installed-nodes', private: true }));
	}
	await runCommand('npm', ['install', ...NPM_FLAGS, tarball], { cwd: folder });
	await writeFile(noteIn(userFolder), await markOf(tarball));
}

/**
 * Replaces the built files of the package that is installed in n8n, without npm.
 * @param userFolder n8n's user folder
 * @param built the folder of the built files
 * @returns the files that were written or removed, relative to `dist`, sorted
 * @throws {Error} the package is not installed
 */
export async function copyBuild(
	userFolder: string,
	built = join(PROJECT, 'dist'),
): Promise<string[]> {
	const installed = join(nodesFolder(userFolder), 'node_modules', PACKAGE);
	if (!existsSync(installed)) throw new Error(`${PACKAGE} is not installed in ${userFolder}`);
	// From now on, what is installed is not what the tarball holds.
	await rm(noteIn(userFolder), { force: true });
	return await mirror(built, join(installed, 'dist'));
}

/**
 * Removes the package from n8n.
 * @param userFolder n8n's user folder
 */
export async function removePackage(userFolder: string): Promise<void> {
	await rm(noteIn(userFolder), { force: true });
	await runCommand('npm', ['uninstall', ...NPM_FLAGS, PACKAGE], { cwd: nodesFolder(userFolder) });
}

/** Where n8n looks for community packages. */
const nodesFolder = (userFolder: string) => join(userFolder, '.n8n', 'nodes');

/** The file that says which tarball is installed. */
const noteIn = (userFolder: string) => join(nodesFolder(userFolder), 'installed');

/** What tells a tarball from an earlier one at the same path. */
async function markOf(tarball: string): Promise<string> {
	const { mtimeMs, size } = await stat(tarball);
	return `${tarball} ${mtimeMs} ${size}`;
}
