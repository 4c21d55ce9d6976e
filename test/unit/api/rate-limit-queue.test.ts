import fc from '../../support/fast-check';
import { RateLimitQueue, type Slot } from '../../../nodes/shared/api/http/rate-limit-queue';
import { VirtualTime } from '../../../scripts/engine/virtual-time';
import { arrange, expectError, failureOf, reply, sending, START, type Exchange } from './arrange';

/** A queue on a clock that the test drives; chance asks for the longest jitter. */
function queueOf(most: number, chance = 1) {
	const time = new VirtualTime(START, () => chance);
	const queue = new RateLimitQueue(time, most);
	let items = 0;

	/** Asks for a slot, and tells what became of it, and when. */
	const asks = (slot: Slot, limits: { signal?: AbortSignal; deadline?: number } = {}) => {
		const seen: { inside?: boolean; after?: number; entered: Promise<boolean> } = {
			entered: slot.acquire({ deadline: Infinity, ...limits }).then((inside) => {
				Object.assign(seen, { inside, after: (time.now() - START) / 1000 });
				return inside;
			}),
		};
		seen.entered.catch(() => {});
		return seen;
	};
	return {
		time,
		queue,
		asks,
		slot: () => queue.slot(items++),
		/** So many items whose requests are under way. */
		sent: async (count: number) => {
			const slots = Array.from({ length: count }, () => queue.slot(items++));
			slots.forEach((slot) => asks(slot));
			await time.advance(0);
			return slots as [Slot, ...Slot[]];
		},
	};
}

describe('The rate-limit queue', () => {
	test('lets in as many as it has places, the lowest index first, also after a pause', async () => {
		const { queue, asks, time } = queueOf(2);
		const slots = [3, 1, 0, 2].map((index) => queue.slot(index));
		const seen = slots.map((slot) => asks(slot));
		const [first, second, third] = slots as [Slot, Slot, Slot];
		await time.advance(0);
		// Those that asked first are inside already; of the others the lowest comes first.
		expect(seen.map(({ inside }) => inside)).toEqual([true, true, undefined, undefined]);
		second.release();
		await time.advance(0);
		expect(seen.map(({ inside }) => inside)).toEqual([true, true, true, undefined]);
		expect(queue.summary).toBeUndefined();
		first.onRateLimited();
		const again = [asks(first), asks(queue.slot(1))];
		third.release();
		await time.advance(2000);
		expect([...again, seen[3]!].map(({ inside }) => inside)).toEqual([undefined, true, undefined]);
	});

	test('takes a place away for each refusal but the last, and gives one back for each success', async () => {
		const { queue, sent, asks, slot, time } = queueOf(4);
		const [first, ...others] = await sent(4);
		for (const other of others) other.onRateLimited();
		expect(queue.summary).toEqual({ fewest: 1, refused: 3 });
		const seen = [...others, slot()].map((other) => asks(other));
		const inside = () => seen.filter(({ inside }) => inside).length;
		await time.advance(3_600_000);
		expect(inside()).toBe(0);
		first.onSucceeded();
		first.release();
		await time.advance(0);
		expect(inside()).toBe(2);
		for (let n = 0; n < 9; n++) first.onSucceeded();
		await time.advance(0);
		expect([inside(), asks(slot()).inside]).toEqual([4, undefined]);
		expect(queue.summary).toEqual({ fewest: 1, refused: 3 });
	});

	test.each([
		['half', 0, [1, 2, 4, 8, 15, 15, 15]],
		['all', 1, [2, 4, 8, 16, 30, 30, 30]],
	])('pauses for %s of 2 s, doubled up to 30 s', async (_, chance, seconds) => {
		const { sent, asks, time } = queueOf(3, chance);
		const [slot] = await sent(1);
		for (const pause of seconds) {
			const before = time.now();
			slot.onRateLimited();
			const seen = asks(slot);
			await time.advance(pause * 1000 - 1);
			expect(seen.inside).toBeUndefined();
			await time.advance(1);
			expect([seen.inside, time.now() - before]).toEqual([true, pause * 1000]);
		}
		slot.onSucceeded();
		slot.onRateLimited();
		const seen = asks(slot);
		await time.advance(seconds[0]! * 1000);
		expect(seen.inside).toBe(true);
	});

	const twice = (slot: Slot) => (slot.onRateLimited(3000), slot.onRateLimited());

	test.each<[string, (slot: Slot) => void, lifted: number, asked: number]>([
		['429', (slot) => slot.onRateLimited(), 1, 2],
		['429 with Retry-After', (slot) => slot.onRateLimited(40_000), 40, 40],
		['429 with a Retry-After of no time', (slot) => slot.onRateLimited(0), 1, 2],
		['503', (slot) => slot.onUnavailable(15_000), 1, 15],
		['503 with Retry-After', (slot) => slot.onUnavailable(15_000, 5000), 5, 5],
		['429 with Retry-After, then without', twice, 3, 3],
	])('after a %s goes on by itself, or by a success unless a time was named', async (...row) => {
		const [, refuse, lifted, asked] = row;
		for (const succeeds of [false, true]) {
			const after = succeeds ? lifted : asked;
			const { sent, asks, slot, time } = queueOf(3);
			const [first, second] = await sent(2);
			refuse(second!);
			const [again, other] = [asks(second!), asks(slot())];
			await time.advance(1000);
			if (succeeds) first.onSucceeded();
			await time.advance(100_000);
			expect([again.inside, again.after]).toEqual([true, after]);
			// The others wait as well: the gateway has not refused one item, but one too many.
			expect(other.inside === undefined || other.after! >= after).toBe(true);
		}
	});

	test('does not obey a short Retry-After each time once it was in vain twenty times in a row', async () => {
		const { time, queue } = queueOf(1);
		const item = queue.slot(0);
		const waits: number[] = [];
		for (let n = 0; n < 28; n++) {
			const before = time.now();
			await time.drive(item.acquire({ deadline: Infinity }));
			waits.push((time.now() - before) / 1000);
			item.onRateLimited(1000);
		}
		expect(waits).toEqual([0, ...Array<number>(20).fill(1), 2, 4, 8, 16, 30, 30, 30]);
	});

	test('keeps a slot until it is released, and hears nothing of it afterwards', async () => {
		const { queue, sent, asks, slot, time } = queueOf(1);
		const [only] = await sent(1);
		const waiting = asks(slot());
		expect(await asks(only).entered).toBe(true);
		only.release();
		only.release();
		only.onRateLimited();
		only.onUnavailable(60_000);
		await time.advance(0);
		expect([waiting.inside, asks(slot()).inside]).toEqual([true, undefined]);
		expect(queue.summary).toBeUndefined();
	});

	test('goes on without requests that are canceled, late, or have ended', async () => {
		const { sent, asks, slot, time } = queueOf(1);
		const [first] = await sent(1);
		const cancel = new AbortController();
		const canceled = asks(slot(), { signal: cancel.signal });
		const late = asks(slot(), { deadline: START + 5000 });
		const ended = slot();
		asks(ended, { signal: cancel.signal });
		const patient = asks(slot());
		await time.advance(5000);
		expect([late.inside, late.after]).toEqual([false, 5]);
		cancel.abort();
		await expect(canceled.entered).rejects.toBe(cancel.signal.reason);
		ended.release();
		first.release();
		await time.advance(0);
		expect(patient.inside).toBe(true);
	});

	test.each([
		[29, false, 0],
		[30, true, 30],
	])('begins no wait of 30 s beyond a deadline in %i s: %p', async (seconds, inside, after) => {
		const { sent, asks, time } = queueOf(1);
		const [slot] = await sent(1);
		slot.onRateLimited(30_000);
		const seen = asks(slot, { deadline: START + seconds * 1000 });
		await time.advance(60_000);
		expect(seen).toMatchObject({ inside, after });
	});

	test('wakes who waits for a place if the one inside is refused and does not come again', async () => {
		const { sent, asks, slot, time } = queueOf(1);
		const [first] = await sent(1);
		const [patient, hurried] = [asks(slot()), asks(slot(), { deadline: START + 9000 })];
		first.onRateLimited(10_000);
		first.release();
		await time.advance(0);
		expect([hurried.inside, hurried.after]).toEqual([false, 0]);
		await time.advance(10_000);
		expect([patient.inside, patient.after]).toEqual([true, 10]);
	});

	test('leaves no timer behind', async () => {
		const timers: Array<AbortSignal | undefined> = [];
		const sleep = async (_: number, signal?: AbortSignal) =>
			await new Promise<void>(() => timers.push(signal));
		const queue = new RateLimitQueue({ now: () => START, random: () => 1, sleep }, 1);
		const [first, second, third] = [0, 1, 2].map((index) => queue.slot(index));
		await first!.acquire({ deadline: Infinity });
		const cancel = new AbortController();
		const admitted = second!.acquire({ deadline: START + 1000 });
		const canceled = third!.acquire({ deadline: START + 1000, signal: cancel.signal });
		cancel.abort();
		await expect(canceled).rejects.toBe(cancel.signal.reason);
		first!.release();
		await expect(admitted).resolves.toBe(true);
		expect(timers.map((signal) => signal?.aborted)).toEqual([true, true]);
	});

	test('leads every request to its end, and has one place at least, at most as many as allowed', async () => {
		const succeed = (slot: Slot) => (slot.onSucceeded(), slot.release());
		const acts = fc.constantFrom(
			succeed,
			(slot: Slot) => slot.release(),
			(slot: Slot) => slot.onRateLimited(),
			(slot: Slot) => slot.onRateLimited(7000),
			(slot: Slot) => slot.onUnavailable(15_000),
		);
		const pasts = fc.array(fc.array(acts, { maxLength: 4 }), { maxLength: 10 });
		const limits = fc.record({ most: fc.integer({ min: 1, max: 4 }), late: fc.boolean() });
		const property = fc.asyncProperty(pasts, limits, async (all, { most, late }) => {
			const { time, queue } = queueOf(most);
			let [inside, highest] = [0, 0];
			const follow = async (past: (typeof all)[number], index: number) => {
				const slot = queue.slot(index);
				const cancel = new AbortController();
				if (index % 3 === 2) void time.sleep(8000).then(() => cancel.abort());
				const deadline = late && index % 3 === 1 ? START + 20_000 : Infinity;
				for (const act of [...past, succeed]) {
					const entered = await slot
						.acquire({ deadline, signal: cancel.signal })
						.catch(() => false);
					if (!entered) return false;
					highest = Math.max(highest, ++inside);
					await time.sleep(3000);
					inside--;
					act(slot);
				}
				return true;
			};
			const ends = await time.drive(Promise.all(all.map(follow)));
			expect(ends.filter((end, index) => !end && index % 3 === 0)).toEqual([]);
			expect(highest).toBeLessThanOrEqual(most);
			expect(queue.summary?.fewest ?? most).toBeGreaterThanOrEqual(1);
			// Whatever happened, the queue still has a place.
			expect(await time.drive(queue.slot(99).acquire({ deadline: Infinity }))).toBe(true);
		});
		await fc.assert(property, { numRuns: 60 });
	});
});

describe('Responses behind a full gateway', () => {
	const ask = sending('response');
	const limited = (after: string) => reply(429, '', { 'retry-after': after });
	const DONE = reply(200, {});

	/** Items of a run that sends so many side by side at most. */
	function items(most: number, script: Exchange[]) {
		const arranged = arrange(script);
		const queue = new RateLimitQueue(arranged.time, most);
		let count = 0;
		const item = (more = {}) => ({ ...arranged.client, slot: queue.slot(count++), ...more });
		return { ...arranged, item };
	}

	test('wait for the time that the gateway named for one of them, a read for none', async () => {
		const { item, sent, time } = items(2, [limited('5'), DONE, DONE, DONE]);
		const refused = ask(item());
		await time.advance(1000);
		await time.drive(Promise.all([refused, ask(item()), sending('read')(item())]));
		expect(sent.map(({ at }) => (at - START) / 1000)).toEqual([0, 1, 5, 5]);
	});

	test('wait no longer than their own deadline, and the error says why', async () => {
		const { item, sent, time } = items(2, [limited('60')]);
		const inTime = { deadline: START + 20_000 };
		const refused = failureOf(ask(item(inTime)));
		await time.advance(1);
		const behind = failureOf(ask(item(inTime)));
		await time.advance(30_000);
		const SLOW_DOWN = 'The gateway’s rate limit is reached (HTTP 429)';
		const details = { httpStatus: 429, retryable: true, outOfTime: true };
		expectError(await refused, 'ApiError', SLOW_DOWN, details);
		const says = `${SLOW_DOWN}: this item was not sent within its time limit`;
		const advice =
			/^The time limit left no time for another attempt\. Nothing was sent for this item\. Wait, or raise/;
		expectError(await behind, 'ApiError', says, { ...details, advice });
		expect(sent).toHaveLength(1);
	});

	test('are not sent after a cancel', async () => {
		const { item, sent, cancel, time } = items(1, [limited('5')]);
		const refused = failureOf(ask(item()));
		await time.advance(1000);
		cancel();
		expectError(await refused, 'CanceledError', /./);
		await time.advance(60_000);
		expect(sent).toHaveLength(1);
	});
});
