import { unlessAborted } from './abort';
import type { Time } from './clock';

/**
 * Where the requests of one run stand that the gateway may refuse as too many (HTTP 429). It keeps
 * those that were refused from losing each freed place to a newcomer, until their retries are used
 * up: while one of them stands in line, a place that others have left is theirs first, and a newcomer
 * only gets one that is known to be free. Nothing is held back before the first refusal, nor after
 * the last of the refused has gone in.
 *
 * @see contract, "Errors" (429: concurrency)
 */
export class Turnstile {
	private line: Stand[] = [];
	private inside = 0;
	/** How many more the gateway is known to take. */
	private free = Infinity;

	/** A place for one item, to be left when all that it asked for is over. */
	place(): Place {
		const stand: Stand = { refused: false };
		return {
			enter: async (until) => await this.enter(stand, until),
			refused: () => this.refused(stand),
			accepted: () => {
				stand.accepted = true;
			},
			leave: () => this.leave(stand),
		};
	}

	private async enter(
		stand: Stand,
		{ time, deadline, signal }: { time: Time; deadline: number; signal?: AbortSignal },
	): Promise<boolean> {
		if (stand.inside) return true;
		if (!this.line.includes(stand)) this.line.push(stand);
		const admitted = new Promise<boolean>((resolve) => {
			stand.admit = () => resolve(true);
		});
		this.admit();
		if (stand.inside) return true;
		const timer = new AbortController();
		const late = async () => {
			await time.sleep(deadline - time.now(), timer.signal);
			return false;
		};
		try {
			const first = Promise.race([admitted, late()]);
			return await (signal ? unlessAborted(first, signal) : first);
		} finally {
			timer.abort();
			if (!stand.inside) this.leave(stand);
		}
	}

	private refused(stand: Stand) {
		if (!stand.inside) return;
		this.inside--;
		this.free = 0;
		stand.inside = false;
		stand.refused = true;
		stand.admit = undefined;
		this.line.push(stand);
	}

	private leave(stand: Stand) {
		if (stand.inside) {
			this.inside--;
			if (stand.accepted) this.free++;
		}
		stand.inside = false;
		stand.admit = undefined;
		this.line = this.line.filter((other) => other !== stand);
		this.admit();
	}

	private admit() {
		for (;;) {
			if (!this.line.some(({ refused }) => refused)) this.free = Infinity;
			// Nobody's leaving will tell that there is a place again: somebody has to try.
			if (this.inside === 0) this.free = Math.max(this.free, 1);
			if (this.free <= 0) return;
			const ready = this.line.filter(({ admit }) => admit !== undefined);
			const next = ready.find(({ refused }) => refused) ?? ready[0];
			if (!next) return;
			this.line = this.line.filter((other) => other !== next);
			this.inside++;
			this.free--;
			next.inside = true;
			next.refused = false;
			next.admit?.();
		}
	}
}

/** Somebody's place at a {@link Turnstile}. */
export interface Place {
	/**
	 * Resolves as soon as the request may be sent.
	 * @returns false where the deadline (milliseconds since the epoch) came first
	 * @throws the signal's reason
	 */
	enter(until: { time: Time; deadline: number; signal?: AbortSignal }): Promise<boolean>;
	/** The gateway refused the request as one too many; it stands in line until it enters again. */
	refused(): void;
	/** The gateway took the request: once it is over, there is room for another. */
	accepted(): void;
	/** All is over that it asked for, or it does not come. */
	leave(): void;
}

interface Stand {
	inside?: boolean;
	accepted?: boolean;
	/** Whether it was refused, and has not gone in again. */
	refused: boolean;
	/** Set while it waits to go in; not while it waits as long as the gateway asked it to. */
	admit?: () => void;
}
