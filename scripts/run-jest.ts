import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { askedToEnd } from './ending';
import { CHILDREN_LIST, endChildren } from './n8n/children';
import { dataFolder } from './n8n/folders';
import { PROJECT } from './n8n/package';

/** The path of jest's command. */
export const JEST = join(PROJECT, 'node_modules', 'jest', 'bin', 'jest.js');

/**
 * Runs jest after `prepare`. A signal to this process also ends the child process: the preparation,
 * or jest. When jest ends, all processes that its tests started end too.
 * @param prepare returns additional environment variables for jest
 * @returns jest's exit code
 * @throws what `prepare` throws
 */
export async function runJest(
	args: string[],
	prepare: () => Promise<NodeJS.ProcessEnv>,
): Promise<number> {
	const asked = askedToEnd();
	let preparing = true;
	void asked.then(() => preparing && process.exit(1));
	const env = await prepare();
	const list = join(await dataFolder(), `children.${process.pid}`);
	preparing = false;
	const child: ChildProcess = spawn(process.execPath, [JEST, ...args], {
		cwd: PROJECT,
		env: { ...process.env, ...env, [CHILDREN_LIST]: list },
		stdio: 'inherit',
	});
	void asked.then((signal) => child.kill(signal));
	try {
		return await new Promise<number>((resolve, reject) => {
			child.once('error', reject).once('close', (code) => resolve(code ?? 1));
		});
	} finally {
		endChildren(list);
	}
}
