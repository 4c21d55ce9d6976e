import type { IDataObject } from 'n8n-workflow';
import { errorReply } from '../../gateway/faults';
import { createResponse, generateImage, numbered, startStory, type Story } from './arrange';

/*
 * A gateway that takes only so many at once, and more items than that side by side. Whoever was
 * refused must not lose each place that gets free to an item that comes later, until its retries
 * are used up.
 */

const KEY = 'mak-test-few-at-once-0101';
const PROMPT = '=Number {{ $json.n }}';

let story: Story;

afterEach(async () => {
	await story.close();
});

describe.each([
	{ taskSeconds: 6, retryAfter: 6 },
	{ taskSeconds: 6, retryAfter: 1 },
	{ taskSeconds: 60, retryAfter: 3 },
	{ taskSeconds: 6, retryAfter: 10 },
	{ taskSeconds: 3, retryAfter: undefined },
])('16 images of $taskSeconds s, Retry-After $retryAfter s', ({ taskSeconds, retryAfter }) => {
	it.each([4, 16])('all arrive with %i side by side', async (concurrency) => {
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
				options: { concurrency, maxWait: 3600, pollInterval: Math.ceil(taskSeconds / 3) },
			}),
			{ items: numbered(16), access: { apiKey: KEY } },
		);
		expect(items).toHaveLength(16);
		expect(gateway.tasks).toHaveLength(16);
		const submits = gateway.requests.filter(({ route }) => route === 'generations');
		const refused = submits.filter(({ status }) => status === 429);
		expect(submits.length - refused.length).toBe(16);
		// Each was refused once at most, and nobody waited for longer than the gateway asked.
		expect(refused.length).toBeLessThanOrEqual(concurrency <= 4 ? 0 : 12);
		const least = (16 / 4) * taskSeconds;
		expect((time.now() - began) / 1000).toBeLessThanOrEqual(least + (retryAfter ?? 0));
	});
});

test('a place is free as soon as the task is over, not after its picture is downloaded', async () => {
	story = await startStory({
		keys: { few: { key: KEY, maxConcurrentTasks: 1 } },
		storageIntercept: async ({ stage }) => {
			if (stage === 'before') await story.time.gateway.sleep(50_000);
			return undefined;
		},
	});
	const began = story.time.now();
	await story.image(generateImage({ prompt: PROMPT }), {
		items: numbered(2),
		access: { apiKey: KEY },
	});
	expect((story.time.now() - began) / 1000).toBe(6 + 6 + 50);
});

test('40 images all arrive where 30 requests a minute are taken, polls among them', async () => {
	story = await startStory({ keys: { few: { key: KEY, requestsPerMinute: 30 } } });
	const { items } = await story.image(
		generateImage({ prompt: PROMPT, options: { concurrency: 20 } }),
		{ items: numbered(40), access: { apiKey: KEY } },
	);
	expect(items).toHaveLength(40);
	expect(story.gateway.tasks).toHaveLength(40);
});

describe('40 responses', () => {
	const options = { concurrency: 10, timeout: 900 };
	const ask = async (apiKey?: string) =>
		await story.text(createResponse({ prompt: PROMPT, options }), {
			items: numbered(40),
			access: apiKey === undefined ? {} : { apiKey },
		});

	it.each([false, true])('all arrive where 3 at once are taken (streamed: %s)', async (stream) => {
		let refused = 0;
		story = await startStory({
			responseMs: 20_000,
			deltaMs: 1000,
			intercept: ({ stage, route }) => {
				const atWork = story.gateway.requests.filter(({ endedAt }) => endedAt === undefined);
				if (stage !== 'before' || route !== 'responses' || atWork.length <= 3) return undefined;
				refused++;
				return errorReply(429, { retryAfter: 2 });
			},
		});
		const began = story.time.now();
		const { items } = await story.text(createResponse({ prompt: PROMPT, stream, options }), {
			items: numbered(40),
		});
		expect(items).toHaveLength(40);
		expect(refused).toBeGreaterThan(0);
		expect(refused).toBeLessThanOrEqual(40);
		// Each takes 20 s, and streamed a few seconds more.
		expect(story.time.now() - began).toBeLessThanOrEqual(Math.ceil(40 / 3) * 25_000);
	});

	it('all arrive where 15 a minute are taken, in no more minutes than that takes', async () => {
		story = await startStory({ keys: { few: { key: KEY, requestsPerMinute: 15 } } });
		const began = story.time.now();
		expect((await ask(KEY)).items).toHaveLength(40);
		expect(story.time.now() - began).toBeLessThanOrEqual(2 * 60_000);
	});
});

describe('an item whose turn does not come within its Max Wait', () => {
	/** The first takes long, the second is refused, the third fails and makes room for the fourth. */
	const arrange = async () => {
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
		return await story.image(
			generateImage({
				prompt: PROMPT,
				options: { concurrency: 3, maxWait: '={{ [2000, 100, 30, 30][$json.n] }}' },
			}),
			{ items: numbered(4), access: { apiKey: KEY }, onError: 'continueRegularOutput' },
		);
	};

	it('was not sent, or not again, and says so', async () => {
		const { items } = await arrange();
		const errors = items.map(({ json }) => json.error);
		expect(errors).toEqual([
			undefined,
			expect.stringContaining('more than 1 image tasks at once'),
			expect.stringContaining('HTTP 400'),
			'The gateway asks to slow down (HTTP 429): the turn of this item did not come',
		]);
		expect(items[3]?.json.error_details).toEqual(
			expect.objectContaining({
				http_status: 429,
				retryable: true,
				advice:
					'No time was left to try again. Nothing was sent for this item. A queue, concurrency, rate or quota limit is reached. Wait, or raise the limit in the gateway’s console. Work on fewer items at once by the option Concurrency.',
			}),
		);
		const prompts = story.gateway.requests
			.filter(({ route }) => route === 'generations')
			.map(({ body }) => (body as IDataObject).prompt);
		expect(prompts.sort()).toEqual(['Number 0', 'Number 1', 'Number 2']);
		expect(story.gateway.tasks).toHaveLength(1);
	});
});
