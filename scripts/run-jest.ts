import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { askedToEnd } from './ending';
import { CHILDREN_LIST, endChildren } from './n8n/children';
import { dataFolder } from './n8n/folders';
import { PROJECT } from './n8n/package';

/** The file of jest's command. */
export const JEST = join(PROJECT, 'node_modules', 'jest', 'bin', 'jest.js');

/**
 * Runs jest; what asks this process to end asks jest. However jest ends, what its tests started ends
 * with it. Resolves with its exit code.
 */
export async function runJest(words: string[], env: NodeJS.ProcessEnv): Promise<number> {
	const list = join(await dataFolder(), `children.${process.pid}`);
	const child: ChildProcess = spawn(process.execPath, [JEST, ...words], {
		cwd: PROJECT,
		env: { ...process.env, ...env, [CHILDREN_LIST]: list },
		stdio: 'inherit',
	});
	void askedToEnd().then((signal) => child.kill(signal));
	try {
		return await new Promise<number>((resolve, reject) => {
			child.once('error', reject).once('close', (code) => resolve(code ?? 1));
		});
	} finally {
		endChildren(list);
	}
}
