import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { copyBuild, PACKAGE } from '../../scripts/n8n/package';

/*
 * `npm run dev` copies what was built into the n8n that runs. n8n loads the package again after each
 * change of its files, so that only files that differ may be written.
 */

let folder: string;
let built: string;
let installed: string;
let note: string;

async function writeFiles(where: string, files: Record<string, string>): Promise<void> {
	for (const [file, text] of Object.entries(files)) {
		await mkdir(dirname(join(where, file)), { recursive: true });
		await writeFile(join(where, file), text);
	}
}

beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'copy-build-'));
	built = join(folder, 'built');
	const nodes = join(folder, '.n8n', 'nodes');
	installed = join(nodes, 'node_modules', PACKAGE);
	note = join(nodes, 'installed');
	await writeFiles(nodes, { installed: 'a tarball' });
	await writeFiles(installed, {
		'package.json': '{}',
		'dist/bundle.js': 'old',
		'dist/nodes/A/A.node.js': 'same',
		'dist/nodes/A/gone.svg': '<svg/>',
	});
	const fresh = { 'nodes/A/A.node.js': 'same', 'nodes/B/B.node.js': 'added' };
	await writeFiles(built, { 'bundle.js': 'new', ...fresh });
});

afterEach(async () => await rm(folder, { recursive: true, force: true }));

test('the installed package gets what was built, and loses what is no longer built', async () => {
	const files = await copyBuild(folder, built);
	expect(files).toEqual(['bundle.js', 'nodes/A/gone.svg', 'nodes/B/B.node.js']);
	expect(await readFile(join(installed, 'dist/bundle.js'), 'utf8')).toBe('new');
	expect(await readFile(join(installed, 'dist/nodes/B/B.node.js'), 'utf8')).toBe('added');
	expect(existsSync(join(installed, 'dist/nodes/A/gone.svg'))).toBe(false);
	expect(existsSync(join(installed, 'package.json'))).toBe(true);
	// The next start installs the package anew.
	expect(existsSync(note)).toBe(false);
});

test('a file that is the same already is not written', async () => {
	const file = join(installed, 'dist/nodes/A/A.node.js');
	const before = await stat(file);
	await copyBuild(folder, built);
	expect(await stat(file)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
	expect(await copyBuild(folder, built)).toEqual([]);
});

test('a package that is not installed is not half installed', async () => {
	await rm(installed, { recursive: true });
	await expect(copyBuild(folder, built)).rejects.toThrow(`${PACKAGE} is not installed`);
	expect(existsSync(installed)).toBe(false);
});
