import { RequestAborted, unlessAborted } from './abort';
import type { Client } from './request';
import { TransportFault } from './transport';

export interface IdleTimeoutLimits {
	/** Milliseconds in which something has to arrive. */
	idleMs: number;
	/** When all has to be here: milliseconds since the epoch. */
	endsAt?: number;
}

/** The part of the idle limit after which a connection that ends has ended by it. */
const ALL_BUT = 0.9;

/**
 * Ends a transfer on which nothing happens, or which takes too long. It is one watchdog for the
 * whole of it, not a timer for each chunk: a wait that lost its race keeps its timer until it
 * fires.
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
	 * Whether the idle limit is reached, or all but: the connection has a timer of its own for it,
	 * which may be first to end what is silent.
	 */
	get isSilent(): boolean {
		return this.client.time.now() - this.last >= this.limits.idleMs * ALL_BUT;
	}

	/** Something arrived. */
	reset() {
		this.last = this.client.time.now();
	}

	/**
	 * The chunks, each noted as it arrives. They end by an error as soon as the signal is aborted,
	 * also where the connection itself does not: its result is then ignored.
	 */
	async *track(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
		const iterator = chunks[Symbol.asyncIterator]();
		try {
			for (;;) {
				const { done, value } = await unlessAborted(iterator.next(), this.signal);
				if (done) return;
				this.reset();
				yield value;
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
			// The transfer has ended; there is nothing to watch.
		}
	}

	private due(): number {
		return Math.min(this.last + this.limits.idleMs, this.limits.endsAt ?? Infinity);
	}

	private reached(): 'idle' | 'total' {
		return this.due() === this.limits.endsAt ? 'total' : 'idle';
	}
}
