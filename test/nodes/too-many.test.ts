import type { IDataObject } from 'n8n-workflow';
import { errorReply } from '../../gateway';
import { createResponse, generateImage, numbered, startHarness, type Harness } from './arrange';

/*
 * A gateway that takes only so many at once, and more items than that side by side. Who was refused
 * must not lose each place that gets free to an item that comes later, until its retries are used up.
 */

const KEY = 'mak-test-few-at-once-0101';
const PROMPT = '=Number {{ $json.n }}';
const access = { apiKey: KEY };

let harness: Harness;
afterEach(async () => await harness.close());

const minutes = (since: number) => (harness.time.now() - since) / 60_000;

test.each<[concurrency: number, taskSeconds: number, retryAfter: string, refusals: number]>([
	[12, 6, '1', 12],
	[12, 6, '10', 12],
	[12, 60, '3', 12],
	[12, 3, '', 12],
	[4, 6, '6', 0],
])(
	'12 images, %i side by side, all arrive where 4 at once are taken: %i s each, Retry-After: %s',
	async (concurrency, taskSeconds, retryAfter, refusals) => {
		harness = await startHarness({
			taskSeconds,
			keys: { few: { key: KEY, maxConcurrentTasks: 4 } },
			intercept: ({ stage, reply }) => {
				if (stage === 'after' && reply?.status === 429) reply.headers['Retry-After'] = retryAfter;
				return undefined;
			},
		});
		const { gateway, time } = harness;
		const began = time.now();
		const often = { maxWait: 3600, pollInterval: Math.ceil(taskSeconds / 3) };
		const options = { concurrency, ...often, downloadImages: false };
		const given = generateImage({ prompt: PROMPT, options });
		const { items, hints } = await harness.image(given, { items: numbered(12), access });

		expect([items.length, gateway.tasks.length]).toEqual([12, 12]);
		const hint =
			/^The gateway took 4 images at a time and refused \d+ submits\. Set Concurrency to 4 to avoid them\.$/;
		expect(hints.map(({ message }) => message)).toEqual(
			refusals > 0 ? [expect.stringMatching(hint)] : [],
		);
		// 8 are too many at first, and 4 more as the first 4 that are done give their places back. None
		// waits for longer than the gateway asked.
		expect(gateway.count({ route: 'generations', status: 429 })).toBeLessThanOrEqual(refusals);
		const least = (12 / 4) * taskSeconds;
		expect((time.now() - began) / 1000).toBeLessThanOrEqual(least + Number(retryAfter));
	},
);

test('a place is free as soon as the task is over, not after its image is downloaded', async () => {
	harness = await startHarness({
		keys: { few: { key: KEY, maxConcurrentTasks: 1 } },
		storageIntercept: async ({ stage }) => {
			if (stage === 'before') await harness.time.gateway.sleep(50_000);
			return undefined;
		},
	});
	const began = harness.time.now();
	const given = generateImage({ prompt: PROMPT });
	const { hints } = await harness.image(given, { items: numbered(2), access });
	expect((harness.time.now() - began) / 1000).toBe(6 + 6 + 50);
	expect(hints.map(({ message }) => message)).toEqual([
		'The gateway took 1 image at a time and refused 1 submit. Set Concurrency to 1 to avoid them.',
	]);
});

describe('20 responses', () => {
	const ask = async (given: IDataObject = {}) =>
		await harness.text(
			createResponse({ prompt: PROMPT, options: { concurrency: 10, timeout: 900 }, ...given }),
			{ items: numbered(20), access },
		);

	test.each([false, true])(
		'all arrive where 3 at once are taken (streamed: %s)',
		async (stream) => {
			let refused = 0;
			harness = await startHarness({
				keys: { few: { key: KEY } },
				responseMs: 20_000,
				deltaMs: 1000,
				intercept: ({ stage }) => {
					if (stage !== 'before' || harness.gateway.inFlight <= 3) return undefined;
					refused++;
					return errorReply(429, { retryAfter: 2 });
				},
			});
			const began = harness.time.now();

			expect((await ask({ stream })).items).toHaveLength(20);
			expect(refused).toBeGreaterThan(0);
			// Each of the first 10 that is too many, and one more as each answer gives a place back.
			expect(refused).toBeLessThanOrEqual(7 + 20);
			// Each takes 20 s, and streamed a few seconds more.
			expect(minutes(began)).toBeLessThanOrEqual((Math.ceil(20 / 3) * 25) / 60);
		},
	);

	test('all arrive where 8 a minute are taken, in no more minutes than that takes', async () => {
		harness = await startHarness({ keys: { few: { key: KEY, requestsPerMinute: 8 } } });
		const began = harness.time.now();

		expect((await ask()).items).toHaveLength(20);
		expect(minutes(began)).toBeLessThanOrEqual(2);
	});
});
