import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { copyBuild, PACKAGE } from '../../scripts/n8n/package';

/*
 * `npm run dev` copies what was built into the n8n that runs. n8n loads the package again after each
 * change of its files, so that only files that differ may be written.
 */

async function writeFiles(where: string, files: Record<string, string>) {
	for (const [file, text] of Object.entries(files)) {
		await mkdir(dirname(join(where, file)), { recursive: true });
		await writeFile(join(where, file), text);
	}
}

let folder: string;
let installed: string;
beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'copy-build-'));
	installed = join(folder, '.n8n/nodes/node_modules', PACKAGE);
	const [a, b] = ['nodes/A/A.node.js', 'nodes/B/B.node.js'];
	const old = { 'dist/bundle.js': 'old', [`dist/${a}`]: 'same', 'dist/nodes/A/gone.svg': '<svg/>' };
	await writeFiles(installed, { ...old, 'package.json': '{}', '../../installed': 'a tarball' });
	await writeFiles(join(folder, 'built'), { 'bundle.js': 'new', [a]: 'same', [b]: 'added' });
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

const copy = async () => await copyBuild(folder, join(folder, 'built'));
const textOf = async (file: string) => await readFile(join(installed, file), 'utf8');

test('the installed package gets what was built anew, and loses what is no longer built', async () => {
	const same = join(installed, 'dist/nodes/A/A.node.js');
	const before = await stat(same);
	expect(await copy()).toEqual(['bundle.js', 'nodes/A/gone.svg', 'nodes/B/B.node.js']);
	expect(await textOf('dist/bundle.js')).toBe('new');
	expect(await textOf('dist/nodes/B/B.node.js')).toBe('added');
	expect(await textOf('package.json')).toBe('{}');
	expect(existsSync(join(installed, 'dist/nodes/A/gone.svg'))).toBe(false);
	expect(await stat(same)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
	// The next start installs the package anew.
	expect(existsSync(join(folder, '.n8n/nodes/installed'))).toBe(false);
	expect(await copy()).toEqual([]);
});

test('a package that is not installed is not half installed', async () => {
	await rm(installed, { recursive: true });
	await expect(copy()).rejects.toThrow(`${PACKAGE} is not installed`);
	expect(existsSync(installed)).toBe(false);
});
