import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './command';

/** The project's own folder. */
export const PROJECT = join(__dirname, '..', '..', '..');

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
	const output = await runCommand('npm', ['pack', '--json', '--pack-destination', folder], {
		cwd: PROJECT,
	});
	const [packed] = JSON.parse(output) as Array<{ filename: string }>;
	if (!packed) throw new Error('npm pack made nothing');
	return join(folder, packed.filename);
}

/**
 * Installs the tarball as n8n's own installer of community packages does: into the folder of its
 * nodes, without what the package names as peers, which n8n provides.
 * @param userFolder n8n's user folder
 */
export async function installPackage(userFolder: string, tarball: string): Promise<void> {
	const folder = join(userFolder, '.n8n', 'nodes');
	const note = join(folder, 'installed');
	const { mtimeMs, size } = await stat(tarball);
	const mark = `${tarball} ${mtimeMs} ${size}`;
	if (existsSync(note) && (await readFile(note, 'utf8')) === mark) return;
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	await writeFile(
		join(folder, 'package.json'),
		JSON.stringify({ name: 'installed-nodes', private: true }),
	);
	await runCommand(
		'npm',
		['install', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', tarball],
		{ cwd: folder },
	);
	await writeFile(note, mark);
}
