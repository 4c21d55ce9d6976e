import type { Clock } from '../../nodes/shared/api/http/clock';

interface Sleeper {
	due: number;
	order: number;
	wake: () => void;
}

/** One turn of the event loop, with its events of sockets and files. */
const turn = async () => await new Promise<void>((resolve) => setImmediate(resolve));

/** Number of turns without a change after which nothing more can happen. */
const QUIET_TURNS = 4;

/**
 * Time that a test drives. The nodes and the gateway wait on the same clock. {@link drive} moves to
 * the next end of a wait as soon as nothing else can happen. An hour of polling takes milliseconds,
 * and every wait is exact.
 */
export class VirtualTime implements Clock {
	/** All waits of the client side, in milliseconds, in order. */
	readonly waits: number[] = [];

	private current: number;
	private sleepers: Sleeper[] = [];
	private sequence = 0;
	private inFlight = 0;
	private parked = 0;
	private changes = 0;

	constructor(
		start = Date.UTC(2026, 0, 1),
		/** The result of `random`: 1 is the longest jitter, 0 is none. */
		public chance: () => number = () => 0.999999,
	) {
		this.current = start;
	}

	now() {
		return this.current;
	}

	random() {
		return this.chance();
	}

	async sleep(ms: number, signal?: AbortSignal) {
		this.waits.push(ms);
		await this.wait(ms, signal);
	}

	/** The clock of the gateway. A handler that waits on it does not stop time. */
	readonly gateway = {
		now: () => this.current,
		sleep: async (ms: number, signal?: AbortSignal) => {
			this.parked++;
			try {
				await this.wait(ms, signal);
			} catch {
				// The client has left and waits for no reply.
			} finally {
				this.parked--;
			}
		},
	};

	/** Stops time until `work` (a request, a file) has settled. */
	async track<T>(work: Promise<T>): Promise<T> {
		this.inFlight++;
		this.changes++;
		try {
			return await work;
		} finally {
			this.inFlight--;
			this.changes++;
		}
	}

	/** Moves time forward by `ms`, and ends the waits that are due, in order. */
	async advance(ms: number) {
		const target = this.current + ms;
		for (;;) {
			await this.quiet();
			const next = this.nextSleeper();
			if (!next || next.due > target) break;
			this.jumpTo(next);
		}
		this.current = target;
		await this.quiet();
	}

	/** Runs time until `work` settles. */
	async drive<T>(work: Promise<T>): Promise<T> {
		let settled = false;
		const done = () => {
			settled = true;
		};
		work.then(done, done);
		while (!settled) {
			await this.quiet(() => settled);
			const next = this.nextSleeper();
			if (!settled && next && this.inFlight <= this.parked) this.jumpTo(next);
		}
		return await work;
	}

	private async wait(ms: number, signal?: AbortSignal) {
		signal?.throwIfAborted();
		await new Promise<void>((resolve, reject) => {
			const sleeper: Sleeper = {
				due: this.current + Math.max(0, ms),
				order: this.sequence++,
				wake: () => {
					signal?.removeEventListener('abort', onAbort);
					resolve();
				},
			};
			const onAbort = () => {
				this.sleepers = this.sleepers.filter((other) => other !== sleeper);
				this.changes++;
				reject(signal?.reason as Error);
			};
			signal?.addEventListener('abort', onAbort, { once: true });
			this.sleepers.push(sleeper);
			this.changes++;
		});
	}

	private nextSleeper() {
		return this.sleepers.reduce<Sleeper | undefined>(
			(first, other) =>
				!first || other.due < first.due || (other.due === first.due && other.order < first.order)
					? other
					: first,
			undefined,
		);
	}

	private jumpTo(sleeper: Sleeper) {
		this.current = Math.max(this.current, sleeper.due);
		this.sleepers = this.sleepers.filter((other) => other !== sleeper);
		this.changes++;
		sleeper.wake();
	}

	private async quiet(stop: () => boolean = () => false) {
		let calm = 0;
		while (calm < QUIET_TURNS && !stop()) {
			const seen = this.changes;
			await turn();
			calm = seen === this.changes && this.inFlight <= this.parked ? calm + 1 : 0;
			if (this.inFlight > this.parked) calm = 0;
		}
	}
}
