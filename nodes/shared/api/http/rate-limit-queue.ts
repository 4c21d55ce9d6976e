import { unlessAborted } from './abort';
import type { Clock } from './clock';

/** How long a request may wait in the queue. */
export interface QueueLimits {
	time: Clock;
	/** Milliseconds since the epoch. */
	deadline: number;
	signal?: AbortSignal;
}

/** The slot of one item in a {@link RateLimitQueue}. */
export interface Slot {
	/**
	 * Resolves as soon as the request may be sent.
	 * @returns false if the deadline came first
	 * @throws the signal's reason
	 */
	acquire(limits: QueueLimits): Promise<boolean>;
	/** The gateway refused the request as one too many; it stays in the queue until it enters again. */
	onRateLimited(): void;
	/** The gateway took the request: once it is over, there is room for another. */
	onAccepted(): void;
	/** The item's work is over, or it does not come. */
	release(): void;
}

enum State {
	/** Has not come yet, or has left. */
	Outside,
	/** May be sent as soon as there is room. */
	Waiting,
	/** Has been sent, or its task is at work. */
	Inside,
	/** Was refused, and waits as long as the gateway asked for. */
	Pausing,
}

type Event = 'enter' | 'admit' | 'refuse' | 'leave';

/** What each event makes of each state; an event that is not listed changes nothing. */
const TRANSITIONS: Record<Event, Partial<Record<State, State>>> = {
	enter: { [State.Outside]: State.Waiting, [State.Pausing]: State.Waiting },
	admit: { [State.Waiting]: State.Inside },
	refuse: { [State.Inside]: State.Pausing },
	leave: {
		[State.Waiting]: State.Outside,
		[State.Inside]: State.Outside,
		[State.Pausing]: State.Outside,
	},
};

interface QueueEntry {
	state: State;
	/** Whether it was refused, and has not been sent again. */
	wasRefused: boolean;
	/** Whether the gateway has taken one of its requests. */
	wasAccepted: boolean;
	/** Ends its wait. */
	onAdmitted?: () => void;
}

/**
 * The queue of one run's requests that the gateway may refuse as too many (HTTP 429). It keeps
 * refused requests from losing each freed slot to new ones until their retries are used up. While
 * a refused request is in the queue, it gets a freed slot first, and a new one gets only a slot
 * that is known to be free. Before the first refusal, and after the last refused request was sent
 * again, nothing is held back.
 *
 * @see contract, "Errors" (429: concurrency)
 */
export class RateLimitQueue {
	/** Slots that wait or pause, in the order in which they came. */
	private line: QueueEntry[] = [];
	private inside = 0;
	/** How many more requests the gateway is known to take. */
	private free = Infinity;

	/** A slot for one item. The caller leaves it when all that the item asked for is over. */
	slot(): Slot {
		const slot: QueueEntry = { state: State.Outside, wasRefused: false, wasAccepted: false };
		return {
			acquire: async (limits) => await this.enter(slot, limits),
			onRateLimited: () => this.refused(slot),
			onAccepted: () => {
				slot.wasAccepted = true;
			},
			release: () => this.leave(slot),
		};
	}

	private async enter(slot: QueueEntry, limits: QueueLimits): Promise<boolean> {
		const admitted = new Promise<true>((resolve) => {
			slot.onAdmitted = () => resolve(true);
		});
		this.move(slot, 'enter');
		this.admit();
		if (slot.state === State.Inside) return true;
		try {
			return await inTime(admitted, limits);
		} finally {
			if (slot.state === State.Waiting) this.leave(slot);
		}
	}

	private refused(slot: QueueEntry) {
		if (!this.move(slot, 'refuse')) return;
		slot.wasRefused = true;
		this.free = 0;
	}

	private leave(slot: QueueEntry) {
		const wasInside = slot.state === State.Inside;
		this.move(slot, 'leave');
		if (wasInside && slot.wasAccepted) this.free++;
		this.admit();
	}

	private admit() {
		for (let next = this.next(); next; next = this.next()) {
			this.move(next, 'admit');
			this.free--;
			next.wasRefused = false;
			next.onAdmitted?.();
		}
	}

	/** The slot that is sent now, if there is room for it. */
	private next(): QueueEntry | undefined {
		if (!this.line.some(({ wasRefused }) => wasRefused)) this.free = Infinity;
		// No request under way will tell that there is room again: one has to try.
		if (this.inside === 0) this.free = Math.max(this.free, 1);
		if (this.free <= 0) return undefined;
		const waiting = this.line.filter(({ state }) => state === State.Waiting);
		return waiting.find(({ wasRefused }) => wasRefused) ?? waiting[0];
	}

	/** @returns whether the event changed the slot's state */
	private move(slot: QueueEntry, event: Event): boolean {
		const before = slot.state;
		const after = TRANSITIONS[event][before];
		if (after === undefined) return false;
		slot.state = after;
		this.inside += Number(after === State.Inside) - Number(before === State.Inside);
		if (isInLine(after) && !isInLine(before)) this.line.push(slot);
		if (!isInLine(after)) this.line = this.line.filter((other) => other !== slot);
		return true;
	}
}

const isInLine = (state: State) => state === State.Waiting || state === State.Pausing;

/** @returns false if the deadline came first */
async function inTime(
	admitted: Promise<true>,
	{ time, deadline, signal }: QueueLimits,
): Promise<boolean> {
	const timer = new AbortController();
	const isLate = async () => {
		await time.sleep(deadline - time.now(), timer.signal);
		return false;
	};
	try {
		const first = Promise.race([admitted, isLate()]);
		return await (signal ? unlessAborted(first, signal) : first);
	} finally {
		timer.abort();
	}
}
