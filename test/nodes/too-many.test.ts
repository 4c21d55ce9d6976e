import type { IDataObject } from 'n8n-workflow';
import { errorReply } from '../../gateway';
import { createResponse, generateImage, numbered, startStory, type Story } from './arrange';

/*
 * A gateway that takes only so many at once, and more items than that side by side. Who was refused
 * must not lose each place that gets free to an item that comes later, until its retries are used up.
 */

const KEY = 'mak-test-few-at-once-0101';
const PROMPT = '=Number {{ $json.n }}';
const access = { apiKey: KEY };

let story: Story;
afterEach(async () => await story.close());

const minutes = (since: number) => (story.time.now() - since) / 60_000;

test.each([
	{ taskSeconds: 6, retryAfter: 1, concurrency: 12, refusals: 8 },
	{ taskSeconds: 6, retryAfter: 10, concurrency: 12, refusals: 8 },
	{ taskSeconds: 60, retryAfter: 3, concurrency: 12, refusals: 8 },
	{ taskSeconds: 3, retryAfter: undefined, concurrency: 12, refusals: 8 },
	{ taskSeconds: 6, retryAfter: 6, concurrency: 4, refusals: 0 },
])(
	'12 images all arrive where 4 at once are taken: $taskSeconds s each, Retry-After $retryAfter s, $concurrency side by side',
	async ({ taskSeconds, retryAfter, concurrency, refusals }) => {
		story = await startStory({
			taskSeconds,
			keys: { few: { key: KEY, maxConcurrentTasks: 4 } },
			intercept: ({ stage, reply }) => {
				if (stage !== 'after' || reply?.status !== 429) return undefined;
				delete reply.headers['Retry-After'];
				if (retryAfter !== undefined) reply.headers['Retry-After'] = String(retryAfter);
				return undefined;
			},
		});
		const { gateway, time } = story;
		const began = time.now();
		const { items } = await story.image(
			generateImage({
				prompt: PROMPT,
				downloadImages: false,
				options: { concurrency, maxWait: 3600, pollInterval: Math.ceil(taskSeconds / 3) },
			}),
			{ items: numbered(12), access },
		);

		expect(items).toHaveLength(12);
		expect(gateway.tasks).toHaveLength(12);
		// Each is refused once at most, and none waits for longer than the gateway asked.
		expect(gateway.count({ route: 'generations', status: 429 })).toBeLessThanOrEqual(refusals);
		const least = (12 / 4) * taskSeconds;
		expect((time.now() - began) / 1000).toBeLessThanOrEqual(least + (retryAfter ?? 0));
	},
);

test('a place is free as soon as the task is over, not after its picture is downloaded', async () => {
	story = await startStory({
		keys: { few: { key: KEY, maxConcurrentTasks: 1 } },
		storageIntercept: async ({ stage }) => {
			if (stage === 'before') await story.time.gateway.sleep(50_000);
			return undefined;
		},
	});
	const began = story.time.now();
	await story.image(generateImage({ prompt: PROMPT }), { items: numbered(2), access });

	expect((story.time.now() - began) / 1000).toBe(6 + 6 + 50);
});

test('20 images all arrive where 15 requests a minute are taken, polls among them', async () => {
	story = await startStory({ keys: { few: { key: KEY, requestsPerMinute: 15 } } });
	const { items } = await story.image(
		generateImage({ prompt: PROMPT, downloadImages: false, options: { concurrency: 10 } }),
		{ items: numbered(20), access },
	);

	expect(items).toHaveLength(20);
	expect(story.gateway.tasks).toHaveLength(20);
});

describe('20 responses', () => {
	const ask = async (given: IDataObject = {}) =>
		await story.text(
			createResponse({ prompt: PROMPT, options: { concurrency: 10, timeout: 900 }, ...given }),
			{ items: numbered(20), access },
		);

	test.each([false, true])(
		'all arrive where 3 at once are taken (streamed: %s)',
		async (stream) => {
			let refused = 0;
			story = await startStory({
				keys: { few: { key: KEY } },
				responseMs: 20_000,
				deltaMs: 1000,
				intercept: ({ stage }) => {
					if (stage !== 'before' || story.gateway.inFlight <= 3) return undefined;
					refused++;
					return errorReply(429, { retryAfter: 2 });
				},
			});
			const began = story.time.now();

			expect((await ask({ stream })).items).toHaveLength(20);
			expect(refused).toBeGreaterThan(0);
			expect(refused).toBeLessThanOrEqual(20);
			// Each takes 20 s, and streamed a few seconds more.
			expect(minutes(began)).toBeLessThanOrEqual((Math.ceil(20 / 3) * 25) / 60);
		},
	);

	test('all arrive where 8 a minute are taken, in no more minutes than that takes', async () => {
		story = await startStory({ keys: { few: { key: KEY, requestsPerMinute: 8 } } });
		const began = story.time.now();

		expect((await ask()).items).toHaveLength(20);
		expect(minutes(began)).toBeLessThanOrEqual(2);
	});
});

test('an item whose turn does not come within its Max Wait is not sent, and says so', async () => {
	// The first takes long, the second is refused, the third fails and makes room for the fourth.
	story = await startStory({
		taskSeconds: 1000,
		keys: { few: { key: KEY, maxConcurrentTasks: 1 } },
		intercept: async ({ stage, reply, record: { body } }) => {
			if (stage === 'before' && (body as IDataObject | undefined)?.prompt === 'Number 2') {
				await story.time.gateway.sleep(5000);
				return errorReply(400);
			}
			if (stage === 'after' && reply?.status === 429) reply.headers['Retry-After'] = '1';
			return undefined;
		},
	});
	const maxWait = '={{ [2000, 100, 30, 30][$json.n] }}';
	const options = { concurrency: 3, maxWait, pollInterval: 500 };
	const { items } = await story.image(generateImage({ prompt: PROMPT, options }), {
		items: numbered(4),
		access,
		onError: 'continueRegularOutput',
	});

	expect(items.map(({ json }) => json.error)).toEqual([
		undefined,
		expect.stringContaining('more than 1 image tasks at once'),
		expect.stringContaining('HTTP 400'),
		'The gateway asks to slow down (HTTP 429): the turn of this item did not come',
	]);
	expect(items[3]?.json.error_details).toMatchObject({
		http_status: 429,
		retryable: true,
		advice:
			'No time was left to try again. Nothing was sent for this item. A queue, concurrency, rate or quota limit is reached. Wait, or raise the limit in the gateway’s console. Work on fewer items at once by the option Concurrency.',
	});
	const prompts = story.gateway.requests
		.filter(({ route }) => route === 'generations')
		.map(({ body }) => (body as IDataObject).prompt);
	expect(prompts.sort()).toEqual(['Number 0', 'Number 1', 'Number 2']);
	expect(story.gateway.tasks).toHaveLength(1);
});
