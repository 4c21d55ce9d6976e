import { CanceledError } from '../../../nodes/shared/api/errors/errors';
import type { Client } from '../../../nodes/shared/api/http/client';
import { RateLimitQueue } from '../../../nodes/shared/api/http/rate-limit-queue';
import { Refusals, submitImageTask } from '../../../nodes/shared/api/images/submit-task';
import { failedTask } from '../../../nodes/shared/api/images/task-errors';
import { arrange, expectError, fail, failureOf, refusalOf, reply, START } from './arrange';

const submit = async (client: Client) => await submitImageTask(client, 'generations', {});

/** A task that ends so in the background. */
const task = (http_status: number, message = 'no') => {
	const status = { task_id: 't', status: 'failed', http_status, error: { message } };
	return failedTask(arrange().client, 't', status);
};
const refusal = async (status: number, after?: string) =>
	(await fail([reply(status, '', { 'retry-after': after })], submit)).error;

/** Images of a run; chance asks for the longest jitter. */
function run({ maxWait = 900, ...more }: { maxWait?: number; maxRetries?: number } = {}) {
	const told: unknown[] = [];
	const onRetry = (retry: unknown) => told.push(retry);
	const arranged = arrange([], { chance: () => 1, onRetry, ...more });
	const queue = new RateLimitQueue(arranged.time, 4);
	let items = 0;
	const image = () => {
		const slot = queue.slot(items++);
		const refusals = new Refusals({ ...arranged.client, slot }, maxWait * 1000);
		const submitted: number[] = [];
		const enter = async () => {
			await arranged.drive(refusals.waitForSlot());
			submitted.push((arranged.time.now() - START) / 1000);
		};
		/** The gateway refuses it so; then it waits for its place. */
		const refused = async (error: unknown) => {
			refusals.note(error);
			await enter();
		};
		return { refusals, slot, enter, refused, submitted };
	};
	return { ...arranged, told, image };
}

describe('An image that the gateway refuses', () => {
	test('by 429, at once or in the background, waits longer each time, up to Max Wait', async () => {
		const { image } = run({ maxWait: 60 });
		const { enter, refused, submitted } = image();
		await enter();
		for (const refuse of [refusal, task, refusal, task]) await refused(await refuse(429));
		expect(submitted).toEqual([0, 2, 6, 14, 30]);
		// 30 s more are in time, the next ones are not.
		await refused(task(429));
		const error = await failureOf(refused(task(429)));
		expect(submitted.at(-1)).toBe(60);
		expect(error.details.advice).toMatch(
			/^The gateway refused this image 6 times within Max Wait \(60 s\)\. Nothing was made or charged\. Wait, or raise/,
		);
	});

	test('otherwise is not submitted again, and no other image waits for it', async () => {
		const { refusals, enter, slot } = run().image();
		await enter();
		for (const error of [task(502), task(400), await refusal(500), new CanceledError()]) {
			expect(refusalOf(() => refusals.note(error))).toBe(error);
			expect(await slot.acquire({ deadline: START })).toBe(true);
		}
		expect(() => refusals.note(new Error('a bug'))).toThrow('a bug');
	});

	test('waits for the time that the gateway names, in Max Wait from its first submit on', async () => {
		const { image, told, time } = run({ maxWait: 60 });
		const { enter, refused, submitted } = image();
		await time.advance(3_600_000);
		await enter();
		await refused(await refusal(429, '40'));
		expect(submitted).toEqual([3600, 3640]);
		const error = await failureOf(refused(await refusal(429, '21')));
		expect(error.details.advice).toMatch(/^The gateway refused this image 2 times within Max Wait/);
		expect(told).toMatchObject([
			{ waitMs: 40_000, attempt: 1 },
			{ waitMs: 21_000, attempt: 2 },
		]);
	});

	test('by 503 waits 15, 20, then 30 s, as often as Max Retries allows', async () => {
		const { image } = run({ maxRetries: 5 });
		const { enter, refused, submitted, slot } = image();
		await enter();
		const errors = [await refusal(503), task(503), task(529), await refusal(529)];
		for (const error of [...errors, await refusal(503, '7')]) await refused(error);
		expect(submitted).toEqual([0, 15, 35, 65, 95, 102]);
		expect(slot.hasGivenUp).toBe(false);
		const error = await failureOf(refused(task(503)));
		expect(error.details.advice).toMatch(/^The gateway refused this image 6 times\. Nothing was/);
		expect(slot.hasGivenUp).toBe(true);
	});

	test('by 503 is given up once for all images, until one succeeds', async () => {
		const { image } = run({ maxRetries: 1 });
		const [first, second, third] = [image(), image(), image()];
		for (const { enter } of [first, second, third]) await enter();
		await first.refused(task(503));
		expectError(await failureOf(first.refused(task(503))), 'FailedTaskError', /./);
		const error = await failureOf(second.refused(task(503)));
		expect(error.details.advice).toMatch(/^The gateway refused this image once\. Nothing was/);
		first.slot.release();
		second.slot.release();
		// A limit is no reason to give up, and a success shows that there is somebody again.
		await third.refused(task(429));
		third.slot.onSucceeded();
		await third.refused(task(503));
		expect(third.submitted).toHaveLength(3);
	});

	test.each([429, 503])(
		'by %i: nothing was made: no task ID, and later may help',
		async (status) => {
			for (const refuse of [refusal, task]) {
				const { enter, refused } = run({ maxWait: 1, maxRetries: 0 }).image();
				await enter();
				const told = await refuse(status);
				const error = await failureOf(refused(told));
				expectError(error, /^(ApiError|FailedTaskError)$/, told.message, { retryable: true });
				const { taskId, maybeExecuted, advice } = error.details;
				expect([taskId, maybeExecuted]).toEqual([undefined, undefined]);
				expect(advice.match(/Nothing was made or charged\./g)).toHaveLength(1);
			}
		},
	);

	test('ends by a cancel, and any other error of the wait is its own', async () => {
		const { image, cancel, time } = run();
		const { enter, refusals, slot } = image();
		await enter();
		refusals.note(task(429));
		const waiting = failureOf(refusals.waitForSlot());
		await time.advance(1000);
		cancel();
		expectError(await waiting, 'CanceledError', /./);
		const bug = new Error('no clock');
		slot.acquire = async () => await Promise.reject(bug);
		const client = { ...arrange().client, slot, signal: undefined };
		await expect(new Refusals(client, 1).waitForSlot()).rejects.toBe(bug);
	});
});
