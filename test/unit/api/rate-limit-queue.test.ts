import fc from '../../support/fast-check';
import { CanceledError, ApiError } from '../../../nodes/shared/api/errors/errors';
import { request, type Client } from '../../../nodes/shared/api/http/request';
import { RateLimitQueue, type Slot } from '../../../nodes/shared/api/http/rate-limit-queue';
import { VirtualTime } from '../../../scripts/engine/virtual-time';
import { arrange, failureOf, reply, START } from './arrange';

const time = new VirtualTime();

const settled = async () => await new Promise<void>((resolve) => setImmediate(resolve));

/** Asks for a slot, and tells whether it has got one by now. */
async function asks(slot: Slot, signal?: AbortSignal, deadline = Infinity) {
	const seen = { inside: false, late: false };
	const entered = slot.acquire({ time, deadline, signal }).then((inside) => {
		seen.inside = inside;
		seen.late = !inside;
	});
	entered.catch(() => {});
	await settled();
	return { seen, entered };
}

/** Requests that were sent, of which the gateway took the first and refused the second. */
async function oneTooMany(more = 0) {
	const queue = new RateLimitQueue();
	const [first, second, ...others] = Array.from({ length: 2 + more }, () => queue.slot());
	for (const slot of [first!, second!, ...others]) await asks(slot);
	first!.onAccepted();
	second!.onRateLimited();
	return { queue, first: first!, second: second!, others };
}

describe('The rate-limit queue', () => {
	test('holds no request back before a refusal', async () => {
		const queue = new RateLimitQueue();
		for (let n = 0; n < 50; n++) expect((await asks(queue.slot())).seen.inside).toBe(true);
	});

	test('gives the slot of a request that is over to one that was refused, not to a new one', async () => {
		const { queue, first, second, others } = await oneTooMany(1);
		others[0]!.release();
		const newcomer = await asks(queue.slot());
		// A slot that is used a second time is new again.
		const reused = await asks(others[0]!);
		const again = await asks(second);
		const inside = () => [newcomer, reused, again].map(({ seen }) => seen.inside);
		expect(inside()).toEqual([false, false, false]);
		first.release();
		await settled();
		// No refused request is left in the queue: none is held back.
		expect(inside()).toEqual([true, true, true]);
	});

	test('gives a slot to a request that was refused before one that has waited for longer', async () => {
		const { queue, first, second, others } = await oneTooMany(2);
		const newcomer = await asks(queue.slot());
		others[0]!.onRateLimited();
		others[1]!.onRateLimited();
		await asks(second);
		const again = await asks(others[0]!);
		first.release();
		second.onAccepted();
		second.release();
		await settled();
		expect([newcomer.seen.inside, again.seen.inside]).toEqual([false, true]);
	});

	test('hears nothing of a slot that was released', async () => {
		const { queue, first, others } = await oneTooMany(2);
		first.release();
		others[0]!.release();
		others[0]!.onRateLimited();
		expect((await asks(queue.slot())).seen.inside).toBe(true);
	});

	test('leaves no timer behind', async () => {
		const { queue, first } = await oneTooMany();
		const timers: Array<AbortSignal | undefined> = [];
		const sleep = async (_: number, signal?: AbortSignal) => {
			timers.push(signal);
			await new Promise(() => {});
		};
		const clock = { now: () => START, random: () => 1, sleep };
		const admitted = queue.slot().acquire({ time: clock, deadline: Infinity });
		first.release();
		await expect(admitted).resolves.toBe(true);
		expect(timers.map((signal) => signal?.aborted)).toEqual([true]);
	});

	test('sends a new request while the refused one waits as long as it was asked to', async () => {
		const { queue, first, second, others } = await oneTooMany(1);
		const third = queue.slot();
		const newcomer = await asks(third);
		first.release();
		await settled();
		expect(newcomer.seen.inside).toBe(true);
		const again = await asks(second);
		// One that fails tells of no free slot.
		others[0]!.release();
		await settled();
		expect(again.seen.inside).toBe(false);
		third.onAccepted();
		third.release();
		await settled();
		expect(again.seen.inside).toBe(true);
	});

	test('has as many free slots as accepted requests are over', async () => {
		const { queue, first, second, others } = await oneTooMany(2);
		for (const slot of others) slot.onAccepted();
		others[1]!.onRateLimited();
		const waiting = [await asks(second), await asks(others[1]!), await asks(queue.slot())];
		expect(waiting.map(({ seen }) => seen.inside)).toEqual([false, false, false]);
		first.release();
		await settled();
		expect(waiting.map(({ seen }) => seen.inside)).toEqual([true, false, false]);
		others[0]!.release();
		await settled();
		expect(waiting.map(({ seen }) => seen.inside)).toEqual([true, true, true]);
	});

	test('lets one request try if none is under way whose end would free a slot', async () => {
		const queue = new RateLimitQueue();
		const slots = [queue.slot(), queue.slot(), queue.slot()];
		for (const slot of slots) await asks(slot);
		for (const slot of slots) slot.onRateLimited();
		const seen = await Promise.all(slots.map(async (slot) => await asks(slot)));
		expect(seen.map(({ seen: { inside } }) => inside)).toEqual([true, false, false]);
	});

	test('keeps a slot until it is released, however often it is asked for', async () => {
		const queue = new RateLimitQueue();
		const slot = queue.slot();
		await asks(slot);
		expect((await asks(slot)).seen.inside).toBe(true);
		slot.release();
		slot.release();
		slot.onRateLimited();
		expect((await asks(queue.slot())).seen.inside).toBe(true);
	});

	test('goes on without requests that are canceled or late', async () => {
		const { queue, second } = await oneTooMany();
		const cancel = new AbortController();
		const canceled = await asks(second, cancel.signal);
		const late = await asks(queue.slot(), undefined, time.now() + 5000);
		const patient = await asks(queue.slot());
		await time.advance(5000);
		expect(late.seen).toEqual({ inside: false, late: true });
		expect(patient.seen.inside).toBe(false);
		cancel.abort();
		await expect(canceled.entered).rejects.toBe(cancel.signal.reason);
		await settled();
		expect(patient.seen.inside).toBe(true);
	});

	test('leads every request to its end, whichever is refused, fails or gives up', async () => {
		const fate = fc.constantFrom('accepted', 'refused', 'failed');
		const fates = fc.array(fc.array(fate, { maxLength: 4 }), { maxLength: 12 });
		const follow = async (queue: RateLimitQueue, fates: string[]) => {
			const slot = queue.slot();
			for (const what of fates) {
				await slot.acquire({ time, deadline: Infinity });
				await settled();
				if (what === 'refused') slot.onRateLimited();
				if (what === 'accepted') slot.onAccepted();
				if (what === 'failed') break;
				await settled();
			}
			slot.release();
			return 'ended';
		};
		await fc.assert(
			fc.asyncProperty(fates, async (all) => {
				const queue = new RateLimitQueue();
				const ends = await Promise.all(all.map(async (fates) => await follow(queue, fates)));
				expect(ends).toEqual(all.map(() => 'ended'));
			}),
		);
	});
});

describe('A request behind a full gateway', () => {
	const ask = async (client: Client, kind: 'read' | 'image' = 'image') =>
		await request(client, kind, { method: 'POST', path: '/x', body: {} });

	/** Two items of a run: the first is under way at the gateway, the second is refused. */
	function twoItems(...script: Parameters<typeof arrange>) {
		const queue = new RateLimitQueue();
		const arranged = arrange(...script);
		const item = (more: Partial<Client> = {}) => {
			const slot = queue.slot();
			return { client: { ...arranged.client, slot, ...more }, slot };
		};
		return { ...arranged, item };
	}

	const BUSY = reply(429, '', { 'retry-after': '5' });
	const DONE = reply(200, {});

	test('is sent as soon as another is over', async () => {
		const { item, sent, time } = twoItems([DONE, BUSY, DONE]);
		const first = item();
		await ask(first.client);
		const second = ask(item().client);
		await time.advance(60_000);
		expect(sent).toHaveLength(2);
		first.slot.release();
		await expect(second).resolves.toMatchObject({ json: {} });
		expect(sent.map(({ at }) => at - START)).toEqual([0, 0, 60_000]);
	});

	test('is not sent after its deadline, and the error says why', async () => {
		const { item, sent, time } = twoItems([DONE, BUSY]);
		await ask(item().client);
		const refused = failureOf(ask(item({ deadline: START + 20_000 }).client));
		await time.advance(1);
		const behind = failureOf(ask(item({ deadline: START + 20_000 }).client));
		await time.advance(30_000);
		const errors = [await refused, await behind];
		const SLOW_DOWN = 'The gateway asks to slow down (HTTP 429)';
		expect(errors.map(({ message }) => message)).toEqual([
			SLOW_DOWN,
			`${SLOW_DOWN}: the turn of this item did not come`,
		]);
		for (const error of errors) {
			expect(error).toBeInstanceOf(ApiError);
			expect(error.details).toMatchObject({ httpStatus: 429, retryable: true, outOfTime: true });
		}
		expect(errors[1]!.details.advice).toMatch(
			/^No time was left to try again\. Nothing was sent for this item\. A queue, concurrency/,
		);
		expect(sent).toHaveLength(2);
	});

	test('is not sent after a cancel, and a read waits for none', async () => {
		const { item, sent, cancel, time } = twoItems([DONE, BUSY, DONE]);
		await ask(item().client);
		const refused = failureOf(ask(item().client));
		await time.advance(10_000);
		await ask(item().client, 'read');
		expect(sent).toHaveLength(3);
		cancel();
		await expect(refused).resolves.toBeInstanceOf(CanceledError);
		expect(sent).toHaveLength(3);
	});

	test('waits for none if no request was refused as one too many', async () => {
		const { item, sent, drive } = twoItems([DONE, reply(503), DONE, DONE]);
		await ask(item().client);
		await drive(ask(item().client));
		await ask(item().client);
		expect(sent).toHaveLength(4);
	});
});
