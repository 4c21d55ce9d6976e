import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import type { SourceMapPayload } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import packageJson from '../../package.json';

export const project = path.resolve(__dirname, '../..');

export const manifest: Omit<typeof packageJson, 'devDependencies' | 'scripts'> & {
	devDependencies: Record<string, string>;
	scripts: Record<string, string>;
} = packageJson;

/** The built files that hold a class for n8n, by its name. */
export const classFiles = Object.fromEntries(
	[...manifest.n8n.nodes, ...manifest.n8n.credentials].map((file) => {
		return [path.basename(file).split('.')[0] ?? '', file] as const;
	}),
);

/** @throws {Error} where the package is not built, with what to do */
function requireBuild() {
	const missing = Object.values(classFiles).filter((file) => !existsSync(path.join(project, file)));
	if (missing.length === 0) return;
	throw new Error(`Run "npm run build" first. Not built: ${missing.join(', ')}`);
}

/** Every file below a folder of the project. */
export async function filesBelow(folder: string): Promise<string[]> {
	const all = { recursive: true, withFileTypes: true } as const;
	const entries = await readdir(path.join(project, folder), all);
	return entries
		.filter((entry) => entry.isFile())
		.map((entry) => path.relative(project, path.join(entry.parentPath, entry.name)))
		.sort();
}

export async function readBuilt() {
	requireBuild();
	const files = await filesBelow('dist');
	const texts = files.map(async (file) => [file, await readFile(path.join(project, file), 'utf8')]);
	return Object.fromEntries(await Promise.all(texts)) as Record<string, string>;
}

/** Which sources the bundle has, and which of their lines lie where in it. */
export function readSourceMap(): SourceMapPayload {
	const text = readFileSync(path.join(project, 'reports/bundle.js.map'), 'utf8');
	return JSON.parse(text) as SourceMapPayload;
}

/**
 * The package as it lies in a host's `node_modules`: beside n8n-workflow, away from its sources.
 * @param workflowPackage the module of ours that is the host's n8n-workflow
 */
export async function install(workflowPackage = 'n8n-workflow') {
	requireBuild();
	const host = await mkdtemp(path.join(os.tmpdir(), 'host-'));
	const modules = path.join(host, 'node_modules');
	const folder = path.join(modules, manifest.name);
	await mkdir(folder, { recursive: true });
	const workflow = path.join(project, 'node_modules', workflowPackage);
	await symlink(workflow, path.join(modules, 'n8n-workflow'));
	for (const shipped of ['package.json', ...manifest.files]) {
		await cp(path.join(project, shipped), path.join(folder, shipped), { recursive: true });
	}
	return { folder, remove: async () => await rm(host, { recursive: true, force: true }) };
}
