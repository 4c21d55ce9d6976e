import { RequestAborted, unlessAborted } from './abort';
import type { Client } from './request';
import { TransportFault } from './transport';

export interface IdleTimeoutLimits {
	/** Longest silence, in milliseconds. */
	idleMs: number;
	/** When the transfer has to be complete: milliseconds since the epoch. */
	endsAt?: number;
}

/** The part of the idle limit after which a connection that ends has ended by it. */
const ALL_BUT = 0.9;

/**
 * Ends a transfer on which nothing happens, or which takes too long. One watchdog covers the whole
 * transfer. A timer for each chunk would stay until it fires, even after its wait has ended.
 */
export class IdleTimeout {
	/** Which limit was reached, if one was. */
	expired?: 'idle' | 'total';
	private readonly controller = new AbortController();
	private readonly ended = new AbortController();
	private last: number;

	constructor(
		private readonly client: Pick<Client, 'time' | 'signal'>,
		readonly limits: IdleTimeoutLimits,
	) {
		this.last = client.time.now();
	}

	/** Aborted when a limit is reached, and when the client is canceled. */
	get signal(): AbortSignal {
		return this.controller.signal;
	}

	/**
	 * Whether the idle limit is reached, or almost. The connection has its own timer for this limit,
	 * which may end a silent transfer first.
	 */
	get isSilent(): boolean {
		return this.client.time.now() - this.last >= this.limits.idleMs * ALL_BUT;
	}

	/** Something arrived. */
	reset() {
		this.last = this.client.time.now();
	}

	/**
	 * The chunks, each noted as it arrives. They end with an error as soon as the signal is aborted,
	 * even if the connection itself does not. Its result is then ignored.
	 */
	async *track(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
		const iterator = chunks[Symbol.asyncIterator]();
		try {
			for (;;) {
				const next = await unlessAborted(iterator.next(), this.signal);
				if (next.done) return;
				this.reset();
				yield next.value;
			}
		} finally {
			void iterator.return?.().catch(() => {});
		}
	}

	/** Watches over `work` until it settles. */
	async run<T>(work: () => Promise<T>): Promise<T> {
		const { signal } = this.client;
		const cancel = () => this.controller.abort(new RequestAborted());
		signal?.addEventListener('abort', cancel, { once: true });
		if (signal?.aborted) cancel();
		void this.watch();
		try {
			return await work();
		} finally {
			signal?.removeEventListener('abort', cancel);
			this.ended.abort();
		}
	}

	private async watch() {
		const { time } = this.client;
		try {
			while (this.expired === undefined) {
				await time.sleep(Math.max(1, this.due() - time.now()), this.ended.signal);
				if (time.now() >= this.due()) this.expired = this.reached();
			}
			this.controller.abort(new TransportFault('timeout'));
		} catch {
			// The transfer has ended, so nothing is left to watch.
		}
	}

	private due(): number {
		return Math.min(this.last + this.limits.idleMs, this.limits.endsAt ?? Infinity);
	}

	private reached(): 'idle' | 'total' {
		return this.due() === this.limits.endsAt ? 'total' : 'idle';
	}
}
