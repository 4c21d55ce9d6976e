import {
	pollImageTask,
	pollStep,
	type PollState,
} from '../../../nodes/shared/api/images/poll-task';
import { taskState, type PollResult } from '../../../nodes/shared/api/images/task';
import type { ImageTask } from '../../../nodes/shared/api/schemas';
import { aborted, expectError, fail, fault, reply, START, succeed } from './arrange';
import type { Exchange } from './arrange';

const polling =
	(taskId = 'task_1') =>
	async (client: Parameters<typeof pollImageTask>[0]) =>
		await pollImageTask(client, taskId);

describe('A poll', () => {
	const body = { task_id: 'task_1', status: 'queued', expires_at: 'soon', place: 4 };

	test('is one GET that no cache may answer, its address built from the ID', async () => {
		const { sent } = await succeed([reply(200, body)], polling('task/../1 ?#ä'));
		const path = '/images/tasks/task%2F..%2F1%20%3F%23%C3%A4';
		const headers = { 'Cache-Control': 'no-cache' };
		expect(sent).toEqual([{ method: 'GET', path, headers, timeoutMs: 60_000, at: START }]);
	});

	test('gives the task as sent, when to look again, and both clocks', async () => {
		const headers = { 'retry-after': '8', date: 'Thu, 01 Jan 2026 01:00:00 GMT' };
		const { value } = await succeed([reply(200, body, headers)], polling());
		const task = { task_id: 'task_1', status: 'queued', place: 4 };
		const clocks = { now: START, gatewayTime: START + 3_600_000 };
		expect(value).toEqual({ task, json: body, retryAfter: 8, ...clocks, state: 'working' });
	});

	const NAMELESS = { status: 'SUCCESS', image_url: 'https://store.example/1.png' };
	const DONE = { ...NAMELESS, task_id: 'task_1' };
	const CAMEL = { ...NAMELESS, taskId: 'task_1' };

	test.each<[string, body: unknown, inner: object]>([
		['from data', { code: 0, message: 'ok', data: DONE }, DONE],
		['from a list', { data: [DONE] }, DONE],
		['by its taskId', { data: [{ ...DONE, task_id: 'x' }, CAMEL] }, CAMEL],
		['from a list of several', { data: [{ ...DONE, task_id: 'other' }, DONE] }, DONE],
		['from what has a status and an ID as well', { id: 'r', status: 'ok', data: DONE }, DONE],
		['with an ID of another form', { data: { ...NAMELESS, id: 77 } }, { ...NAMELESS, id: 77 }],
		['without an ID', { code: 0, data: NAMELESS }, NAMELESS],
		['but not if it has a task’s ID itself', { ...DONE, steps: [{ id: 's', status: 'x' }] }, DONE],
	])('is unwrapped %s', async (_, body, inner) => {
		const { value } = await succeed([reply(200, body)], polling());
		expect(value).toMatchObject({ json: inner, state: 'completed' });
	});

	const ACCEPTED =
		/(^|\S )The image task was accepted and may be charged\. Do not submit it again: fetch it with Task → Wait and its task ID\.$/;

	test.each([
		['a status', [401, 403, 429, 500, 503, 529].map((s) => reply(s)), 'ApiError', ACCEPTED],
		['no reply', [fault('lost'), fault('certificate')], 'NetworkError', ACCEPTED],
		['no JSON', [reply(200, '<html>'), reply(200, '')], 'InvalidResponseError', ACCEPTED],
		['no task', [reply(200, { task_id: 'task_1' })], 'InvalidResponseError', ACCEPTED],
		['a cancel', [aborted()], 'CanceledError', /^Nothing more was sent/],
	] as const)('that fails by %s keeps the task’s ID, and is no refusal', async (...row) => {
		const [, exchanges, kind, advice] = row;
		for (const always of exchanges) {
			const { error } = await fail(always, polling());
			expectError(error, kind, /./, { taskId: 'task_1', advice });
			// Otherwise the image would be submitted, and paid for, once more.
			expect(error.details.refusal).toBeUndefined();
		}
	});

	const WEB_PAGE = reply(200, '<html>Sign in</html>', { 'content-type': 'text/html' });
	const errorBody = (error: object) => reply(200, { error });
	const BUSY = errorBody({ code: 'rate_limit_exceeded', message: 'busy' });
	const OTHER = reply(200, { object: 'list', data: [] });

	test.each<[string, Exchange, says: string, httpStatus: number]>([
		['a web page', WEB_PAGE, 'a web page (HTML) instead of JSON', 200],
		['nothing', reply(200, ''), 'answered with an empty body', 200],
		['another document', OTHER, 'task is not as expected: field "status": missing', 200],
		['a list', reply(200, [1, 2]), 'is not as expected', 200],
		['an error that names no status', errorBody({ message: 'oops' }), 'oops', 200],
		['an error of limits', BUSY, '(HTTP 429, rate_limit_exceeded): busy', 429],
		['a failure', reply(200, { success: false, message: 'no' }), ': no', 200],
		['a code', reply(200, { code: 503, message: 'later' }), '(HTTP 503): later', 503],
	])('that brings %s is repeated as Max Retries allows', async (...row) => {
		const [, exchange, says, httpStatus] = row;
		const task = reply(200, body);
		const { value } = await succeed([exchange, exchange, exchange, task], polling());
		expect(value.json).toEqual(body);
		for (const maxRetries of [0, 2]) {
			const { error, sent, time } = await fail(exchange, polling(), { maxRetries });
			expect(sent).toHaveLength(maxRetries + 1);
			expect(time.waits).toEqual([1000, 2000].slice(0, maxRetries));
			expect(error.message).toContain(says);
			expectError(error, /Error$/, /./, { taskId: 'task_1', httpStatus, advice: ACCEPTED });
			expect(error.details.refusal).toBeUndefined();
		}
	});

	test('that brings an error of the key is not repeated', async () => {
		const { error, sent } = await fail(errorBody({ code: 'invalid_api_key' }), polling());
		expect(sent).toHaveLength(1);
		expect(error.details).toMatchObject({ httpStatus: 401, taskId: 'task_1' });
	});

	test('that fails for no reason of the gateway passes its error on as it is', async () => {
		const bug = new Error('a bug');
		const broken = async () => await Promise.reject(bug);
		const transport = { send: broken, open: broken };
		await expect(succeed([], polling(), { transport })).rejects.toBe(bug);
	});
});

const STATE: PollState = { unnamedWaits: 0 };
const SETTINGS = { pollIntervalMs: 3000, deadline: START + 900_000 };
const IN_10_S = START / 1000 + 10;

function seen(
	task: Partial<ImageTask> = {},
	{ now = START, gatewayTime = now, retryAfter }: Partial<PollResult> = {},
): PollResult {
	const whole = { task_id: 't', status: 'processing', ...task };
	return { task: whole, state: taskState(whole), json: whole, now, gatewayTime, retryAfter };
}

describe('The wait until the next poll', () => {
	const [a, NEVER] = [undefined, Array<undefined>(7).fill(undefined)];

	test.each([
		['is as long as Retry-After says', [3, 10, 1.5, 100], 1, [3, 10, 1.5, 100]],
		['is no shorter than the poll interval', [3, 0, a], 20, [20, 20, 20]],
		['grows by half from 3 s to 15 s without', NEVER, 3, [3, 4.5, 6.75, 10.125, 15, 15, 15]],
		['grows from 3 s, though the interval is longer', NEVER, 5, [5, 5, 6.75, 10.125, 15, 15, 15]],
		['grows anew after a Retry-After', [a, a, 5, a, a, 0, a], 3, [3, 4.5, 5, 3, 4.5, 3, 3]],
	])('%s', (_, retryAfters, interval, waits) => {
		let state = STATE;
		const seconds = retryAfters.map((retryAfter) => {
			const settings = { ...SETTINGS, pollIntervalMs: interval * 1000 };
			const step = pollStep(state, seen({}, { retryAfter }), settings);
			if (step.next !== 'wait') throw new Error(`no wait but ${step.next}`);
			state = step.state;
			return step.waitMs / 1000;
		});
		expect(seconds).toEqual(waits);
	});

	test.each([
		['the interval, at the deadline', undefined, 60, 90_000, undefined, [60, 30]],
		['the growing wait, at the deadline', undefined, 3, 11_000, undefined, [3, 4.5, 3.5]],
		['the growing wait, if 3 s are left', undefined, 3, 10_499, undefined, [3, 4.5]],
		['the interval, if Retry-After allows', 5, 20, 25_000, undefined, [20, 5]],
		['the interval, if Retry-After does not', 6, 20, 25_000, undefined, [20]],
		['the interval, before the task expires', 1, 20, 900_000, IN_10_S, [9]],
		['no look at once', 0, 20, 20_500, undefined, [20]],
	])('that is the last is shorter than %s', (...row) => {
		const [, retryAfter, interval, deadline, expires_at, waits] = row;
		const settings = { pollIntervalMs: interval * 1000, deadline: START + deadline };
		const seconds: number[] = [];
		let state = STATE;
		for (let now = START; ; ) {
			const step = pollStep(state, seen({ expires_at }, { now, retryAfter }), settings);
			if (step.next !== 'wait') break;
			state = step.state;
			now += step.waitMs;
			seconds.push(step.waitMs / 1000);
		}
		expect(seconds).toEqual(waits);
	});

	test.each([
		['ends before the deadline', 10_000, undefined, 3, 'wait', undefined],
		['ends at the deadline', 3000, undefined, 3, 'wait', undefined],
		['would end a millisecond after it', 2999, undefined, 3, 'giveUp', 'deadline'],
		['would begin at it', 0, undefined, 3, 'giveUp', 'deadline'],
		['is asked for by the gateway, too long', 900_000, undefined, 901, 'giveUp', 'deadline'],
		['ends when the task expires', 900_000, IN_10_S, 10, 'wait', undefined],
		['would end after that', 900_000, IN_10_S, 11, 'giveUp', 'expiry'],
		['would end after both at once', 10_000, IN_10_S, 11, 'giveUp', 'deadline'],
	])('that %s', (_, left, expires_at, retryAfter, next, because) => {
		// By the gateway’s clock the task expires: what the local one says makes no difference.
		for (const skew of [0, -3_600_000, 3_600_000]) {
			const look = seen({ expires_at }, { now: START + skew, gatewayTime: START, retryAfter });
			const step = pollStep(STATE, look, { ...SETTINGS, deadline: START + skew + left });
			expect(step).toMatchObject({ next, waitMs: retryAfter * 1000, ...(because && { because }) });
		}
	});
});
