import { fork } from 'node:child_process';
import { join } from 'node:path';
import { endWithUs } from './children';
import type { N8n, Running } from './n8n';
import { copyBuild, PROJECT } from './package';

/** The environment that makes n8n load a package again after its files have changed. */
export const RELOADING = { N8N_DEV_RELOAD: 'true' };

const GULP = join(PROJECT, 'node_modules', 'gulp', 'bin', 'gulp.js');

/** The log lines of n8n for a package that it loads again, or cannot load. */
const RELOAD_LINES = /^.*hot reload.*$/gim;

/**
 * Builds the package after each change of a source, and copies it into a running n8n. n8n was
 * started with {@link RELOADING} and loads the package again.
 * @param say called with each line of progress
 * @returns a function that ends it
 */
export function watchPackage(
	n8n: N8n,
	{ process: child }: Running,
	say: (text: string) => void,
): () => void {
	child.stdout?.on('data', (data: Buffer) => {
		for (const [line] of data.toString().matchAll(RELOAD_LINES)) say(`n8n: ${line.trim()}`);
	});
	const builder = fork(GULP, ['watch'], { cwd: PROJECT });
	endWithUs(builder, 'SIGTERM');
	builder.on('message', () => {
		void copyBuild(n8n.userFolder)
			.then((files) => {
				if (files.length > 0) say(`Copied into n8n: ${files.join(', ')}`);
			})
			.catch((error: unknown) => say(`Not copied: ${(error as Error).message}`))
			// The builder waits for this before the next build.
			.finally(() => builder.connected && builder.send('copied'));
	});
	builder.once('exit', (code, signal) => {
		if (signal === null) say(`The builder has ended (${code}): changes are no longer built`);
	});
	return () => builder.kill();
}
