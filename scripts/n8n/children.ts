import type { ChildProcess } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';

/** The environment variable for the file that lists all started processes. */
export const CHILDREN_LIST = 'N8N_CHILDREN';

/**
 * Ends a process when this one exits. In a test, `process` is jest's copy, which never emits
 * `exit`. For this case, the file of {@link CHILDREN_LIST} lists the process, and {@link
 * endChildren} ends it.
 * @param signal the signal that ends it at once
 */
export function endWithUs(child: ChildProcess, signal: NodeJS.Signals): void {
	const end = () => child.kill(signal);
	process.once('exit', end);
	note('started', child, signal);
	for (const event of ['exit', 'error'] as const) {
		child.once(event, () => {
			process.off('exit', end);
			note('ended', child, signal);
		});
	}
}

function note(what: 'started' | 'ended', { pid }: ChildProcess, signal: NodeJS.Signals): void {
	const list = process.env[CHILDREN_LIST];
	if (list !== undefined && pid !== undefined) appendFileSync(list, `${what} ${pid} ${signal}\n`);
}

/** Ends the listed processes that still run, and removes the list. */
export function endChildren(list: string): void {
	const left = new Map<number, NodeJS.Signals>();
	const text = existsSync(list) ? readFileSync(list, 'utf8') : '';
	for (const [, what, id, signal] of text.matchAll(/^(\w+) (\d+) (\w+)$/gm)) {
		if (what === 'started') left.set(Number(id), signal as NodeJS.Signals);
		else left.delete(Number(id));
	}
	for (const [id, signal] of left) {
		try {
			process.kill(id, signal);
		} catch {
			// It has already ended.
		}
	}
	rmSync(list, { force: true });
}
