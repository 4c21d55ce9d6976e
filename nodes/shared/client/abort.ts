/**
 * Settles as `work` does, or rejects as soon as the signal is aborted; what `work` still brings is
 * nobody's then. Not `Promise.race` with one promise for all: that keeps something of each race.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
	return await new Promise<T>((resolve, reject) => {
		const onAbort = () => reject(signal.reason as Error);
		if (signal.aborted) onAbort();
		signal.addEventListener('abort', onAbort, { once: true });
		work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
	});
}
