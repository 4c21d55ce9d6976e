import { fork } from 'node:child_process';
import { join } from 'node:path';
import { endWithUs } from './children';
import type { N8n, Running } from './n8n';
import { copyBuild, PROJECT } from './package';

/** The environment in which n8n loads a package again after its files have changed. */
export const RELOADING = { N8N_DEV_RELOAD: 'true' };

const GULP = join(PROJECT, 'node_modules', 'gulp', 'bin', 'gulp.js');

/** The lines in which n8n says that it loads a package again, or why it cannot. */
const RELOAD_LINES = /^.*hot reload.*$/gim;

/**
 * Builds the package after each change of a source, and copies it into a running n8n. That n8n was
 * started with {@link RELOADING}: it loads the package again by itself.
 * @param say told what is going on, a line each
 * @returns what ends it
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
			// The builder waits for this before it builds again.
			.finally(() => builder.connected && builder.send('copied'));
	});
	builder.once('exit', (code, signal) => {
		if (signal === null) say(`The builder has ended (${code}): changes are no longer built`);
	});
	return () => builder.kill();
}
