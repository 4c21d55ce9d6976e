/** Milliseconds between two checks of the parent process. */
const LOOK_MS = 500;

/**
 * Resolves when this process has to end: at Ctrl-C, SIGTERM or SIGHUP, or after its parent process.
 * npm ends its shell at SIGTERM, and the shell does not pass the signal on.
 * @returns the signal, or SIGTERM
 */
export async function askedToEnd(): Promise<NodeJS.Signals> {
	const parent = process.ppid;
	return await new Promise((resolve) => {
		// The handlers stay, because npm sends the terminal's signal a second time. It must not
		// interrupt the work of the first one.
		for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, resolve);
		setInterval(() => {
			if (process.ppid !== parent) resolve('SIGTERM');
		}, LOOK_MS).unref();
	});
}
