import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './command';
import { mirror } from './mirror';

/** The project's own folder. */
export const PROJECT = join(__dirname, '..', '..');

/** The package's name, which n8n puts before the names of its nodes. */
export const PACKAGE = 'n8n-nodes-model-access';

/**
 * Builds the package and packs it as it would be published.
 * @param folder the folder for the tarball
 * @returns the tarball's path
 */
export async function packPackage(folder: string): Promise<string> {
	await mkdir(folder, { recursive: true });
	await runCommand('npm', ['run', 'build'], { cwd: PROJECT });
	return await packFolder(PROJECT, folder);
}

/** The options of n8n's own installer of community packages for npm: n8n provides the peers. */
const NPM_FLAGS = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'];

/**
 * Repacks the tarball under another version.
 * @param folder the folder for the new tarball and the unpacked package
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
	const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
	const [packed] = JSON.parse(await runCommand('npm', args, { cwd })) as Array<{
		filename: string;
	}>;
	if (!packed) throw new Error('npm pack made nothing');
	return join(folder, packed.filename);
}

/**
 * Installs the tarball as the only package in n8n, if it is not installed yet.
 * @param userFolder n8n's user folder
 */
export async function installPackage(userFolder: string, tarball: string): Promise<void> {
	const note = noteIn(userFolder);
	if (existsSync(note) && (await readFile(note, 'utf8')) === (await markOf(tarball))) return;
	await rm(nodesFolder(userFolder), { recursive: true, force: true });
	await installOver(userFolder, tarball);
}

/**
 * Installs the tarball over any other version, as n8n's own installer of community packages does.
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
 * @returns the sorted written or removed files, relative to `dist`
 * @throws {Error} the package is not installed
 */
export async function copyBuild(
	userFolder: string,
	built = join(PROJECT, 'dist'),
): Promise<string[]> {
	const installed = join(nodesFolder(userFolder), 'node_modules', PACKAGE);
	if (!existsSync(installed)) throw new Error(`${PACKAGE} is not installed in ${userFolder}`);
	// The installed files now differ from the tarball.
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

/** The folder where n8n looks for community packages. */
const nodesFolder = (userFolder: string) => join(userFolder, '.n8n', 'nodes');

/** The file that names the installed tarball. */
const noteIn = (userFolder: string) => join(nodesFolder(userFolder), 'installed');

/** The identity of a tarball, also among tarballs at the same path. */
async function markOf(tarball: string): Promise<string> {
	const { mtimeMs, size } = await stat(tarball);
	return `${tarball} ${mtimeMs} ${size}`;
}
