import { errorReply, type GatewayOptions } from '../../gateway';
import { createResponse, generateImage, numbered, startHarness, type Harness } from './arrange';

// An item that was refused must not lose each place that gets free to an item that comes later.

const KEY = 'mak-test-few-at-once-0101';
const PROMPT = '=Number {{ $json.n }}';
const access = { apiKey: KEY };

let harness: Harness;
afterEach(async () => await harness.close());

test.each([
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
		const told = refusals > 0 ? [{ message: expect.stringMatching(hint) as string }] : [];
		expect(hints).toMatchObject(told);
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

test.each<[string, stream: boolean, byMinute?: boolean]>([
	['3 at once are taken', false],
	['3 at once are taken, as streams', true],
	['8 a minute are taken', false, true],
])('20 responses all arrive where %s, in hardly more than the least time', async (...row) => {
	const [, stream, byMinute] = row;
	let refused = 0;
	const atOnce: GatewayOptions = {
		keys: { few: { key: KEY } },
		...{ responseMs: 20_000, deltaMs: 1000 },
		intercept: ({ stage }) => {
			if (stage !== 'before' || harness.gateway.inFlight <= 3) return undefined;
			refused++;
			return errorReply(429, { retryAfter: 2 });
		},
	};
	const eight = { keys: { few: { key: KEY, requestsPerMinute: 8 } } };
	harness = await startHarness(byMinute ? eight : atOnce);
	const began = harness.time.now();

	const options = { concurrency: 10, timeout: 900 };
	const given = createResponse({ prompt: PROMPT, options, stream });
	expect((await harness.text(given, { items: numbered(20), access })).items).toHaveLength(20);
	// Each of the first 10 that is too many, and one more as each answer gives a place back.
	if (!byMinute) expect(refused).toBeGreaterThan(0);
	expect(refused).toBeLessThanOrEqual(7 + 20);
	// Each takes 20 s, and streamed a few seconds more.
	const least = byMinute ? 2 : (Math.ceil(20 / 3) * 25) / 60;
	expect((harness.time.now() - began) / 60_000).toBeLessThanOrEqual(least);
});
