import fc from '../../support/fast-check';
import { Turnstile, type Place } from '../../../nodes/shared/client/turnstile';
import { VirtualTime } from '../../../scripts/engine/virtual-time';

const time = new VirtualTime();

/** Asks for a place, and tells whether it has come in by now. */
async function asks(place: Place, signal?: AbortSignal, deadline = Infinity) {
	const seen = { inside: false, late: false };
	const entered = place.enter({ time, deadline, signal }).then((inside) => {
		seen.inside = inside;
		seen.late = !inside;
	});
	entered.catch(() => {});
	await settled();
	return { seen, entered };
}

const settled = async () => await new Promise<void>((resolve) => setImmediate(resolve));

/** Two that went in, of which the gateway took the first and refused the second. */
async function oneTooMany(turnstile: Turnstile) {
	const [first, second] = [turnstile.place(), turnstile.place()];
	await asks(first);
	await asks(second);
	first.accepted();
	second.refused();
	return { first, second };
}

describe('Turnstile', () => {
	it('holds nobody back before a refusal', async () => {
		const turnstile = new Turnstile();
		for (let n = 0; n < 50; n++) {
			expect((await asks(turnstile.place())).seen.inside).toBe(true);
		}
	});

	it('gives the place of one that was accepted to one that was refused, not to a newcomer', async () => {
		const turnstile = new Turnstile();
		const { first, second } = await oneTooMany(turnstile);
		const newcomer = await asks(turnstile.place());
		const again = await asks(second);
		expect([newcomer.seen.inside, again.seen.inside]).toEqual([false, false]);
		first.leave();
		await settled();
		// Nobody who was refused is left in line: nobody is held back.
		expect([newcomer.seen.inside, again.seen.inside]).toEqual([true, true]);
	});

	it('lets a newcomer have a free place while the refused one waits as it was asked to', async () => {
		const turnstile = new Turnstile();
		const { first, second } = await oneTooMany(turnstile);
		const third = turnstile.place();
		const newcomer = await asks(third);
		first.leave();
		await settled();
		expect(newcomer.seen.inside).toBe(true);
		const again = await asks(second);
		expect(again.seen.inside).toBe(false);
		third.accepted();
		third.leave();
		await settled();
		expect(again.seen.inside).toBe(true);
	});

	it('takes the failure of another for no free place', async () => {
		const turnstile = new Turnstile();
		const [first, second, third] = [turnstile.place(), turnstile.place(), turnstile.place()];
		for (const place of [first, second, third]) await asks(place);
		first.accepted();
		second.refused();
		const again = await asks(second);
		third.leave();
		await settled();
		expect(again.seen.inside).toBe(false);
		first.leave();
		await settled();
		expect(again.seen.inside).toBe(true);
	});

	it('lets one try where nobody is inside whose leaving would tell', async () => {
		const turnstile = new Turnstile();
		const places = [turnstile.place(), turnstile.place(), turnstile.place()];
		for (const place of places) await asks(place);
		for (const place of places) place.refused();
		const seen = await Promise.all(places.map(async (place) => await asks(place)));
		expect(seen.map(({ seen: { inside } }) => inside)).toEqual([true, false, false]);
	});

	it('keeps a place until it is left, however often it is asked for', async () => {
		const turnstile = new Turnstile();
		const place = turnstile.place();
		await asks(place);
		expect((await asks(place)).seen.inside).toBe(true);
		place.leave();
		place.leave();
		expect((await asks(turnstile.place())).seen.inside).toBe(true);
	});

	it('lets those go who are cancelled or late, and others take their turn', async () => {
		const turnstile = new Turnstile();
		const { second } = await oneTooMany(turnstile);
		const cancel = new AbortController();
		const cancelled = await asks(second, cancel.signal);
		const late = await asks(turnstile.place(), undefined, time.now() + 5000);
		const patient = await asks(turnstile.place());
		await time.advance(5000);
		expect(late.seen).toEqual({ inside: false, late: true });
		expect(patient.seen.inside).toBe(false);
		cancel.abort();
		await expect(cancelled.entered).rejects.toBe(cancel.signal.reason);
		await settled();
		expect(patient.seen.inside).toBe(true);
	});

	it('leads everybody to the end, whoever is refused, fails or gives up', async () => {
		const fate = fc.constantFrom('accepted', 'refused', 'failed', 'givesUp');
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.array(fate, { maxLength: 4 }), { maxLength: 12 }),
				async (all) => {
					const turnstile = new Turnstile();
					let ended = 0;
					const go = async (fates: string[]) => {
						const place = turnstile.place();
						for (const what of fates) {
							await place.enter({ time, deadline: Infinity });
							await settled();
							if (what === 'refused') place.refused();
							if (what === 'accepted') place.accepted();
							if (what === 'failed' || what === 'givesUp') break;
							await settled();
						}
						place.leave();
						ended++;
					};
					await Promise.all(all.map(go));
					expect(ended).toBe(all.length);
				},
			),
		);
	});
});
