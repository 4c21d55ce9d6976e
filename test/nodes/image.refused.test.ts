import { errorReply, type GatewayOptions } from '../../gateway';
import { chanceOf } from '../../gateway/faults/catalogue';
import { CONTINUE, generateImage, getTask, numbered, shown, startHarness } from './arrange';
import { submitted, useHarness, waitForTask, type IDataObject } from './arrange';
import { runChecked } from './image.arrange';

/*
 * Gateways that take each submit with 202 and check their limits afterwards: a refusal is a task
 * that fails with 429, or with 503. A batch has to come through, and nothing is made twice.
 */

/**
 * Draws images of 40 s at a gateway that checks its limits after the 202.
 * @param phase seconds of the clock's minute that have passed when it begins
 * @param seed of the waits that the queue draws
 */
async function drawBatch(count: number, gateway: GatewayOptions, phase = 0, seed?: number) {
	const harness = await startHarness({ backgroundLimits: true, taskSeconds: 40, ...gateway });
	const { time } = harness;
	try {
		await time.advance(phase * 1000);
		let drawn = 0;
		if (seed !== undefined) time.chance = () => chanceOf(seed, 'jitter', drawn++);
		const began = time.now();
		const options = { downloadImages: false };
		const given = generateImage({ prompt: '=Picture {{ $json.n }}', options });
		const ended = await harness.image(given, { items: numbered(count), ...CONTINUE });
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
	const { seconds, refused, ...ended } = await drawBatch(8, { places: 1 });
	const prompts = Array.from({ length: 8 }, (_unused, n) => `Picture ${n}`);
	const hint = /^The gateway took 1 image at a time and refused 9 submits\. Set Concurrency to 1/;
	const hints = [expect.stringMatching(hint) as string];
	expect(ended).toEqual({ arrived: 8, charged: 8, prompts, advice: [], hints });
	expect(seconds).toBeLessThanOrEqual(350);
	expect(refused).toBeLessThanOrEqual(16);
});

test.each([
	[100, 'one place', { places: 1 }, 100 * 40],
	[60, 'two requests a minute', { requestsPerClockMinute: 2 }, 30 * 60],
])(
	'%i images all arrive where the gateway has %s, in hardly more than the least time',
	async (count, _limit, gateway, least) => {
		const { arrived, charged, seconds } = await drawBatch(count, gateway);
		expect([arrived, charged]).toEqual([count, count]);
		expect(seconds).toBeLessThanOrEqual(least * 1.15);
	},
	120_000,
);

test.each(
	[0, 7, 20, 31, 45, 59].flatMap((phase) => [1, 2, 3].map((seed) => [phase, seed] as const)),
)(
	'5 images arrive by two a minute, within a minute of the least time: second %i, jitter %i',
	async (phase, seed) => {
		const limits = { requestsPerClockMinute: 2, taskSeconds: 6 };
		const { arrived, charged, seconds, refused } = await drawBatch(5, limits, phase, seed);
		expect([arrived, charged]).toEqual([5, 5]);
		// Two go at once, two with the next minute, and one with the minute after.
		expect(seconds).toBeLessThanOrEqual(120 - phase + 6 + 60);
		expect(refused).toBeLessThanOrEqual(15);
	},
);

test('100 images for which the gateway has nobody are given up within 10 minutes, and cost nothing', async () => {
	const { seconds, arrived, charged, advice } = await drawBatch(100, { noAccounts: true });
	expect([arrived, charged]).toEqual([0, 0]);
	expect(seconds).toBeLessThanOrEqual(600);
	expect(advice).toHaveLength(100);
	expect(advice.filter((text) => !text.includes('Nothing was made or charged.'))).toEqual([]);
});

describe('An image that is refused', () => {
	const harness = useHarness();
	const endAs = (taskEnd: typeof harness.gateway.settings.taskEnd) =>
		Object.assign(harness.gateway.settings, { taskEnd });

	const WHERE = ['the task', 'the submit, with Retry-After: 0'];
	test.each(WHERE)('by 429 on %s waits until Max Wait', async (where) => {
		if (where === 'the task') endAs('too many requests');
		else harness.answer(errorReply(429, { retryAfter: 0 }));
		const options = { maxWait: 100, onTimeout: 'returnTask' };
		const error = shown(await harness.imageError(generateImage({ options })));

		expect(harness.seconds()).toBeGreaterThan(60);
		expect(harness.seconds()).toBeLessThanOrEqual(100);
		expect(harness.gateway.count({ route: 'generations' })).toBeLessThan(9);
		expect(error.message).toMatch(/HTTP 429/);
		const advice = /^The gateway refused this image \d+ times within Max Wait \(100 s\)\. Nothing/;
		expect(error.description).toMatch(advice);
		expect(error.context.details).toMatchObject({ http_status: 429, retryable: true });
		expect(error.context.details).not.toHaveProperty('task_id');
		expect(error.context).not.toHaveProperty('acceptedTasks');
	});

	test('leaves nothing to resume, and its task IDs in the log alone', async () => {
		let refusals = 2;
		endAs(({ prompt }) => (prompt === 'Picture 1' && refusals-- > 0 ? 'line is full' : undefined));
		harness.gateway.settings.failTask = ({ prompt }) =>
			prompt === 'Picture 2' ? { httpStatus: 400 } : undefined;
		const options = { concurrency: 1 };
		const parameters = generateImage({ prompt: '=Picture {{ $json.n }}', options });
		const nodes = [{ name: 'Draw', parameters }];
		const ended = await runChecked(harness, nodes, { items: numbered(3) });

		const refused = harness.gateway.tasks.filter(({ failure }) => failure?.httpStatus === 429);
		expect(refused).toHaveLength(2);
		const kept = JSON.stringify([ended.data.executionData?.contextData, ended.error]);
		const logged = ended.logs.map(({ message }) => message).join('\n');
		for (const { id } of refused) {
			expect(kept).not.toContain(id);
			expect(logged).toContain(`image task ${id} ended without an image`);
		}
		expect(ended.error?.message).toMatch(/ – 2 image tasks of other items were accepted$/);
	});

	test('after Wait for Completion was off is told by Task → Wait, and handed on by Task → Get', async () => {
		endAs('no account');
		const { id } = await submitted(harness);
		await harness.time.advance(1000);
		const error = shown(await harness.imageError(waitForTask(id)));
		expect(error.message).toMatch(/^The gateway could not take the image task/);
		expect(error.description).toMatch(/^Nothing was made or charged\./);
		expect(error.context.details).toMatchObject({ task_id: id, retryable: true });

		const { items } = await harness.image(getTask(id));
		const said = { message: expect.any(String) as string };
		expect(items).toMatchObject([{ json: { task_id: id, status: 'failed', error: said } }]);
	});
});
