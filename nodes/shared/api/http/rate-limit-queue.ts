import { unlessAborted } from './abort';
import type { Clock } from './clock';

/** How long a request may wait in the queue. */
export interface QueueLimits {
	/** Milliseconds since the epoch; no wait for a later moment is begun. */
	deadline: number;
	signal?: AbortSignal;
}

/** The slot of one item in a {@link RateLimitQueue}. */
export interface Slot {
	/**
	 * Resolves as soon as the request may be sent; at once if the slot is acquired already.
	 * @returns false if the deadline came first
	 * @throws the signal's reason
	 */
	acquire(limits: QueueLimits): Promise<boolean>;
	/**
	 * The gateway refused the request because of its rate limit (429). The slot has to be acquired
	 * again.
	 * @param retryAfterMs how long it asked to wait
	 */
	onRateLimited(retryAfterMs?: number): void;
	/**
	 * The gateway had no capacity for the request (503). The slot has to be acquired again.
	 * @param waitMs how long the queue waits if the gateway did not ask for a time
	 * @param retryAfterMs how long it asked to wait
	 */
	onUnavailable(waitMs: number, retryAfterMs?: number): void;
	/** The item is not sent again, because the gateway has no capacity (503). */
	onGivenUp(): void;
	/** Whether an item was given up, and none succeeded since. */
	readonly hasGivenUp: boolean;
	/** The gateway did what was asked. */
	onSucceeded(): void;
	/** The item's work at the gateway is over, or it does not come. */
	release(): void;
}

/** What a queue has seen. */
export interface QueueSummary {
	/** How few requests were sent side by side at the lowest. */
	fewest: number;
	/** How many the gateway refused. */
	refused: number;
}

enum State {
	/** Has not come yet, was refused, or has left. */
	Outside,
	/** Is sent as soon as a slot is free. */
	Waiting,
	/** Has been sent, or its task is at work. */
	Inside,
}

interface QueueEntry {
	readonly index: number;
	state: State;
	/** Ends its wait. */
	wake: () => void;
}

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;
/** A shorter time that a gateway asks for is no pause: it is told again and again at once. */
const SHORTEST_ASKED_MS = 1_000;
/** Refusals in a row after which a time that the gateway asks for may be too short. */
const OBEYED_IN_VAIN = 20;

/**
 * The queue of one run's requests that the gateway may refuse as too many. It refuses them by 429
 * or 503 on the submit, or by a task that ends in this way later. It learns how many the gateway
 * takes at once: each refusal takes a slot away, each success gives one back. After a refusal the
 * whole queue pauses; then the lowest index goes first.
 *
 * @see contract, "Errors" (429: concurrency; 503)
 */
export class RateLimitQueue {
	private slots: number;
	private inside = 0;
	private waiting: QueueEntry[] = [];
	/** Nothing is sent before this moment. */
	private opensAt = -Infinity;
	/** The part of the pause that the gateway asked for. */
	private askedUntil = -Infinity;
	/** Refusals since the last success. */
	private pauses = 0;
	private hasGivenUp = false;
	private readonly seen: QueueSummary;

	/** @param most requests side by side, at least 1 */
	constructor(
		private readonly time: Clock,
		private readonly most: number,
	) {
		this.slots = most;
		this.seen = { fewest: most, refused: 0 };
	}

	/** @returns undefined if the gateway took as many as were sent */
	get summary(): QueueSummary | undefined {
		return this.seen.fewest < this.most ? { ...this.seen } : undefined;
	}

	/**
	 * A slot for one item. The caller releases it when all that the item asked for is over.
	 * @param index the item's position in the input
	 */
	slot(index: number): Slot {
		const entry: QueueEntry = { index, state: State.Outside, wake: () => {} };
		const hasGivenUp = () => this.hasGivenUp;
		return {
			acquire: async (limits) => await this.acquire(entry, limits),
			onRateLimited: (retryAfterMs) => this.onRateLimited(entry, retryAfterMs),
			onUnavailable: (waitMs, retryAfterMs) => this.onRefused(entry, waitMs, retryAfterMs),
			onGivenUp: () => {
				this.hasGivenUp = true;
			},
			get hasGivenUp() {
				return hasGivenUp();
			},
			onSucceeded: () => this.onSucceeded(),
			release: () => this.release(entry),
		};
	}

	private async acquire(entry: QueueEntry, { deadline, signal }: QueueLimits): Promise<boolean> {
		if (entry.state === State.Inside) return true;
		this.waiting = [...this.waiting, entry].sort((a, b) => a.index - b.index);
		entry.state = State.Waiting;
		try {
			while (!this.isAdmitted(entry)) {
				const now = this.time.now();
				if (now >= deadline || this.opensAt > deadline) return false;
				await this.sleep(entry, this.opensAt > now ? this.opensAt : deadline, signal);
			}
			return true;
		} finally {
			if (entry.state === State.Waiting) this.release(entry);
		}
	}

	private isAdmitted(entry: QueueEntry): boolean {
		this.admit();
		return entry.state === State.Inside;
	}

	/** Waits until the entry is woken, or the moment has come. */
	private async sleep(entry: QueueEntry, until: number, signal?: AbortSignal): Promise<void> {
		const timer = new AbortController();
		const woken = new Promise<void>((resolve) => {
			entry.wake = resolve;
		});
		// Both ways take as long, so that the lowest index is also the first to send.
		const due = Number.isFinite(until)
			? this.time.sleep(until - this.time.now(), timer.signal)
			: new Promise<void>(() => {});
		try {
			const first = Promise.race([woken, due]);
			await (signal ? unlessAborted(first, signal) : first);
		} finally {
			timer.abort();
		}
	}

	private onRateLimited(entry: QueueEntry, retryAfterMs?: number) {
		const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.pauses);
		this.onRefused(entry, longest * (0.5 + this.time.random() / 2), retryAfterMs);
	}

	/** @param askedMs counts instead of the pause where the gateway asked for a time */
	private onRefused(entry: QueueEntry, pauseMs: number, askedMs?: number) {
		if (entry.state !== State.Inside) return;
		entry.state = State.Outside;
		this.inside--;
		this.pauses++;
		this.slots = Math.max(1, this.slots - 1);
		this.seen.fewest = Math.min(this.seen.fewest, this.slots);
		this.seen.refused++;
		const now = this.time.now();
		const isAsked = askedMs !== undefined && askedMs >= SHORTEST_ASKED_MS;
		if (isAsked) this.askedUntil = Math.max(this.askedUntil, now + askedMs);
		const waitMs = isAsked ? Math.max(askedMs, this.pauseInVainMs()) : pauseMs;
		this.moveOpening(Math.max(this.opensAt, now + waitMs));
	}

	/** A gateway that asks for a short time again and again is not asked each time. */
	private pauseInVainMs(): number {
		const inVain = this.pauses - OBEYED_IN_VAIN;
		return inVain > 0 ? Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (inVain - 1)) : 0;
	}

	/** All that wait now wait for another moment. */
	private moveOpening(opensAt: number) {
		this.opensAt = opensAt;
		this.admit();
		for (const { wake } of this.waiting) wake();
	}

	/** Another request has ended, which leaves room for one more, unless the gateway named a time. */
	private onSucceeded() {
		this.slots = Math.min(this.most, this.slots + 1);
		this.pauses = 0;
		this.hasGivenUp = false;
		this.moveOpening(Math.min(this.opensAt, this.askedUntil));
	}

	private release(entry: QueueEntry) {
		if (entry.state === State.Inside) this.inside--;
		if (entry.state === State.Waiting) {
			this.waiting = this.waiting.filter((other) => other !== entry);
		}
		entry.state = State.Outside;
		this.admit();
	}

	private admit() {
		while (this.inside < this.slots && this.time.now() >= this.opensAt) {
			const next = this.waiting.shift();
			if (!next) return;
			next.state = State.Inside;
			this.inside++;
			next.wake();
		}
	}
}
