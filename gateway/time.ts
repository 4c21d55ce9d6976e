/** The gateway's only source of time. Tests pass one that they drive. */
export interface GatewayTime {
	/** Milliseconds since the Unix epoch. */
	now(): number;
	/**
	 * Waits `ms` milliseconds. It may end early when `signal` aborts. A clock may also ignore the
	 * signal, since the gateway does not wait for it.
	 */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Real time. Its waits do not keep the process alive; the listening socket does. */
export const realTime: GatewayTime = {
	now: () => Date.now(),
	sleep: async (ms, signal) =>
		await new Promise<void>((resolve) => {
			const timer = setTimeout(done, ms).unref();
			function done() {
				clearTimeout(timer);
				signal?.removeEventListener('abort', done);
				resolve();
			}
			signal?.addEventListener('abort', done, { once: true });
		}),
};

/** The client closed the connection before its reply was complete (the contract's 499). */
export class ClientGone extends Error {
	constructor() {
		super('the client closed the connection');
	}
}

/**
 * Waits `ms` milliseconds of the gateway's time, or until the client is gone.
 * @throws ClientGone as soon as `gone` aborts
 */
export async function pause(time: GatewayTime, ms: number, gone: AbortSignal) {
	if (gone.aborted) throw new ClientGone();
	if (ms <= 0) return;
	let leave = () => {};
	const left = new Promise<never>((_resolve, reject) => {
		leave = () => reject(new ClientGone());
		gone.addEventListener('abort', leave, { once: true });
	});
	try {
		await Promise.race([time.sleep(ms, gone), left]);
		if (gone.aborted) throw new ClientGone();
	} finally {
		gone.removeEventListener('abort', leave);
	}
}

/** Unix seconds, as the contract writes times. */
export const seconds = (ms: number) => Math.floor(ms / 1000);
