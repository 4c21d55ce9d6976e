import type { ProfileName } from '../../gateway';
import { storeBinaryInMemory } from '../../scripts/engine/index';
import { runChaos } from './chaos';

afterAll(async () => await storeBinaryInMemory());

const MEGABYTE = 2 ** 20;

test.each<ProfileName | undefined>([undefined, 'real'])(
	'in chaos no request is paid twice, no task is lost and no image is mistaken (profile: %s)',
	async (profile) => {
		const items = 240;
		const seed = 20260101;
		const report = await runChaos({ items, seed, profile });

		const repeat = `npm run chaos -- --items ${items} --seed ${seed} --profile ${profile}`;
		expect({ repeat, violations: report.violations }).toEqual({ repeat, violations: [] });
		expect(report.growth).toBeLessThan(24 * MEGABYTE);
		// Enough went wrong, and enough went well, for this to mean something.
		const happened = Object.values(report.faults).reduce((sum, count) => sum + count, 0);
		expect(happened / report.exchanges).toBeGreaterThan(0.25);
		expect(Object.keys(report.faults).length).toBeGreaterThan(40);
		expect(report.fulfilled).toBeGreaterThan(items / 3);
		expect(report.failed).toBeGreaterThan(items / 10);
	},
	120_000,
);
