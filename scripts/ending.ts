/** Milliseconds between two looks at whether what runs this process is still there. */
const LOOK_MS = 500;

/**
 * Resolves when this process is asked to end: by Ctrl-C, by SIGTERM or SIGHUP, or because the
 * process that runs it has ended. npm ends its shell at SIGTERM, and the shell passes nothing on.
 * @returns the signal, or SIGTERM
 */
export async function askedToEnd(): Promise<NodeJS.Signals> {
	const parent = process.ppid;
	return await new Promise((resolve) => {
		// The handlers stay: npm passes on what the terminal has sent already, and a second signal
		// must not break off what the first one began.
		for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, resolve);
		setInterval(() => {
			if (process.ppid !== parent) resolve('SIGTERM');
		}, LOOK_MS).unref();
	});
}
