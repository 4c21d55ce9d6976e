import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** An unfinished installation: its name ends with the ID of the process that made it. */
const UNFINISHED = /^(?:n8n|litellm)-.*\.(\d+)$/;

/** An installation and its place. */
interface Once {
	/** Its name for the user: "n8n 2.41.1", "LiteLLM". */
	name: string;
	/** Its folder in the cache, for finished installations only. */
	folder: string;
	/** Its size on the disk: "3 GB". */
	size: string;
	/** Called with each line of progress. */
	say: (text: string) => void;
}

/**
 * Installs something into the cache, if it is not there. An unfinished installation is never used.
 * @param install fills the given folder, which is then moved
 * @throws what `install` throws
 */
export async function installOnce(
	{ name, folder, size, say }: Once,
	install: (folder: string, say: (text: string) => void) => Promise<void>,
): Promise<void> {
	if (existsSync(join(folder, 'complete'))) return;
	say(`Installing ${name} into ${folder} (${size}; this is done once)`);
	const began = Date.now();
	const seconds = () => `${Math.round((Date.now() - began) / 1000)} s`;
	await sweep(dirname(folder));
	const unfinished = `${folder}.${process.pid}`;
	await mkdir(unfinished, { recursive: true });
	try {
		await install(unfinished, (text) => say(`  ${seconds()}: ${text}`));
		await writeFile(join(unfinished, 'complete'), `${new Date().toISOString()}\n`);
		await rename(unfinished, folder).catch((error: unknown) => {
			// Another process was faster.
			if (!existsSync(join(folder, 'complete'))) throw error;
		});
	} finally {
		await rm(unfinished, { recursive: true, force: true });
	}
	say(`  ${seconds()}: done`);
}

/** Removes the files of killed installations. */
async function sweep(cache: string) {
	for (const name of await readdir(cache)) {
		const [, id] = UNFINISHED.exec(name) ?? [];
		if (id !== undefined && !isRunning(Number(id))) {
			await rm(join(cache, name), { recursive: true, force: true });
		}
	}
}

function isRunning(id: number): boolean {
	try {
		return process.kill(id, 0);
	} catch {
		return false;
	}
}
