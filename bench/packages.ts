import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../scripts/n8n/command';

/** Well-known community packages from npm, for comparison with ours. */
export const OTHER_PACKAGES = [
	{ name: 'n8n-nodes-mcp', version: '0.1.37' },
	{ name: 'n8n-nodes-evolution-api', version: '1.0.4' },
	{ name: '@mendable/n8n-nodes-firecrawl', version: '2.1.2' },
];

/** A package as n8n's installer leaves it. */
export interface InstalledPackage {
	/** Its folder. */
	folder: string;
	/** Bytes of its tarball. */
	tarballBytes: number;
	/** Bytes of all installed files, dependencies included. */
	installedBytes: number;
	files: number;
}

/**
 * Installs a package as n8n's own installer of community packages does: with its dependencies,
 * without its peers. An existing installation is kept.
 * @param place the target folder
 * @param name the name of the package and of its folder
 * @param wanted a name with a version, or the path of a tarball
 */
export async function installedPackage(
	place: string,
	name: string,
	wanted: string,
): Promise<InstalledPackage> {
	const whole = join(place, 'complete');
	const modules = join(place, 'node_modules');
	if (!existsSync(whole)) {
		await rm(place, { recursive: true, force: true });
		await mkdir(place, { recursive: true });
		await writeFile(join(place, 'package.json'), JSON.stringify({ private: true }));
		await runCommand('npm', ['pack', '--pack-destination', place, wanted], { cwd: place });
		await runCommand(
			'npm',
			['install', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', wanted],
			{ cwd: place },
		);
		await writeFile(whole, '');
	}
	const [tarball] = (await readdir(place)).filter((file) => file.endsWith('.tgz'));
	const { bytes, files } = await sizeOf(modules);
	return {
		folder: join(modules, name),
		tarballBytes: (await stat(join(place, tarball ?? ''))).size,
		installedBytes: bytes,
		files,
	};
}

async function sizeOf(folder: string): Promise<{ bytes: number; files: number }> {
	const found = await readdir(folder, { recursive: true, withFileTypes: true });
	const files = found.filter((entry) => entry.isFile());
	const sizes = await Promise.all(
		files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
	);
	return { bytes: sizes.reduce((sum, size) => sum + size, 0), files: files.length };
}

/**
 * Measures the time to load all node and credential files of a package in a fresh process.
 * @param modules the folder of n8n's own modules
 * @returns milliseconds
 */
export async function loadingTime(node: string, modules: string, folder: string): Promise<number> {
	const output = await runCommand(node, [join(__dirname, 'loading.js'), folder], {
		env: { NODE_PATH: modules, NODE_OPTIONS: '' },
	});
	return Number(output.trim().split('\n').at(-1));
}
