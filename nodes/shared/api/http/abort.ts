/** A request or a transfer that its caller canceled. */
export class RequestAborted extends Error {
	constructor() {
		super('The request was canceled');
		this.name = 'RequestAborted';
	}
}

/**
 * Settles as `work` does, or rejects as soon as the signal is aborted. The result of `work` is then
 * ignored. `Promise.race` with one promise for all waits would keep something of each race.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
	return await new Promise<T>((resolve, reject) => {
		const onAbort = () => reject(signal.reason as Error);
		if (signal.aborted) onAbort();
		signal.addEventListener('abort', onAbort, { once: true });
		work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
	});
}

/**
 * A signal that is aborted as soon as one of several is. Not `AbortSignal.any`, which a signal that
 * lives as long as the execution would remember for as long.
 * @returns the signal, and what ends its listening to the others
 */
export function joinSignals(signals: Array<AbortSignal | undefined>) {
	const joined = new AbortController();
	const abort = () => joined.abort();
	const others = signals.filter((signal) => signal !== undefined);
	for (const signal of others) {
		if (signal.aborted) abort();
		signal.addEventListener('abort', abort, { once: true });
	}
	return {
		signal: joined.signal,
		release: () => others.forEach((signal) => signal.removeEventListener('abort', abort)),
	};
}
