import { copyFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/**
 * Copies the files of a folder to another one. Only files that differ are written. Each file is
 * replaced in one step, so that a reader sees the old content or the new one.
 * @returns the sorted paths of the written or removed files, relative to the folder
 */
export async function mirror(from: string, to: string): Promise<string[]> {
	await mkdir(to, { recursive: true });
	const [wanted, present] = await Promise.all([filesBelow(from), filesBelow(to)]);
	const removed = present.filter((file) => !wanted.includes(file));
	const written: string[] = [];
	for (const file of wanted) {
		if (await replaceFile(join(from, file), join(to, file))) written.push(file);
	}
	for (const file of removed) await rm(join(to, file));
	return [...written, ...removed].sort();
}

/** Writes the target if it differs from the source. Returns whether it did. */
async function replaceFile(source: string, target: string): Promise<boolean> {
	const old = await readFile(target).catch(() => undefined);
	if (old?.equals(await readFile(source))) return false;
	await mkdir(dirname(target), { recursive: true });
	const unfinished = `${target}.unfinished`;
	await copyFile(source, unfinished);
	await rename(unfinished, target);
	return true;
}

/** The files below a folder, relative to it. */
async function filesBelow(folder: string): Promise<string[]> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	return entries
		.filter((entry) => entry.isFile())
		.map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
