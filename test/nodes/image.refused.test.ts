import type { IDataObject } from 'n8n-workflow';
import type { GatewayOptions } from '../../gateway';
import { chanceOf } from '../../gateway/faults/catalogue';
import {
	generateImage,
	getTask,
	numbered,
	shown,
	startHarness,
	submitted,
	useHarness,
	waitForTask,
	type Harness,
} from './arrange';
import { runChecked } from './image.arrange';

/*
 * Gateways that take each submit with 202 and check their limits afterwards: a refusal is a task
 * that fails with 429, or with 503. A batch has to come through, and nothing is made twice.
 */

const PROMPT = '=Number {{ $json.n }}';

/** What became of a batch, by the gateway's own books. */
async function batch(
	count: number,
	gateway: GatewayOptions,
	{ options = {}, phase = 0, seed }: { options?: IDataObject; phase?: number; seed?: number } = {},
) {
	const harness = await startHarness({ backgroundLimits: true, taskSeconds: 40, ...gateway });
	try {
		const { time } = harness;
		await time.advance(phase * 1000);
		let drawn = 0;
		if (seed !== undefined) time.chance = () => chanceOf(seed, 'jitter', drawn++);
		const began = time.now();
		const ended = await harness.image(
			generateImage({ prompt: PROMPT, downloadImages: false, options }),
			{ items: numbered(count), onError: 'continueRegularOutput' },
		);
		const { tasks, charges } = harness.gateway;
		const errors = ended.items.filter(({ json }) => json.error !== undefined);
		return {
			seconds: (time.now() - began) / 1000,
			refused: tasks.filter(({ failure }) => failure).length,
			charged: charges.length,
			arrived: ended.items.length - errors.length,
			prompts: ended.items.map(({ json }) => json.prompt),
			advice: errors.map(({ json }) => (json.error_details as IDataObject).advice as string),
			hints: ended.hints.map(({ message }) => message),
		};
	} finally {
		await harness.close();
	}
}

test('8 images of 40 s arrive at one place within 350 s by default options, none made twice', async () => {
	const { seconds, refused, ...ended } = await batch(8, { places: 1 });
	console.log({ seconds, refused, ended });
	expect(ended).toEqual({
		arrived: 8,
		charged: 8,
		prompts: Array.from({ length: 8 }, (_unused, n) => `Number ${n}`),
		advice: [],
		hints: [
			'The gateway took 1 image at a time and refused 9 submits. Set Concurrency to 1 to avoid them.',
		],
	});
	expect(seconds).toBeLessThanOrEqual(350);
	expect(refused).toBeLessThanOrEqual(16);
});

describe('Two requests a minute of the clock', () => {
	const cases = [0, 7, 20, 31, 45, 59].flatMap((phase) =>
		[1, 2, 3].map((seed) => [phase, seed] as const),
	);

	test.each(cases)(
		'let 5 images arrive hardly later than they could: second %i, jitter %i',
		async (phase, seed) => {
			const { arrived, charged, seconds, refused } = await batch(
				5,
				{ requestsPerClockMinute: 2, taskSeconds: 6 },
				{ phase, seed },
			);
			console.log({ phase, seed, seconds, refused });
			expect([arrived, charged]).toEqual([5, 5]);
			// Two go at once, two with the next minute, and one with the minute after.
			expect(seconds).toBeLessThanOrEqual(120 - phase + 6 + 60);
			expect(refused).toBeLessThanOrEqual(15);
		},
	);
});

test('100 images for which the gateway has nobody are given up within 10 minutes, and cost nothing', async () => {
	const { seconds, arrived, charged, advice } = await batch(100, { noAccounts: true });
	console.log({ seconds, a: advice[0], b: advice[99] });
	expect([arrived, charged]).toEqual([0, 0]);
	expect(seconds).toBeLessThanOrEqual(600);
	expect(advice).toHaveLength(100);
	expect(advice.filter((text) => !text.includes('Nothing was made or charged.'))).toEqual([]);
});
