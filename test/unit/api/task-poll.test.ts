import { pollImageTask, pollStep } from '../../../nodes/shared/api/images/poll-task';
import { aborted, expectError, fail, fault, reply, START, succeed, type Exchange } from './arrange';

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
		[
			'from what has a status',
			{ status: 'ok', data: { ...NAMELESS, id: 7 } },
			{ ...NAMELESS, id: 7 },
		],
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
		['another document', OTHER, 'task is not as expected: field "status": missing', 200],
		['an error that names no status', errorBody({ message: 'oops' }), 'oops', 200],
		['an error of limits', BUSY, '(HTTP 429, rate_limit_exceeded): busy', 429],
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

	test('that is refused or brings no task is repeated as often as Max Retries allows for both', async () => {
		const { sent } = await fail([reply(503), OTHER, reply(503), OTHER], polling());
		expect(sent).toHaveLength(4);
	});

	test('that finds another server does not say that the task is unknown', async () => {
		const { error } = await fail(reply(404, '<html>'), polling());
		expectError(error, 'ApiError', /./, { taskId: 'task_1', advice: ACCEPTED });
	});

	test('that brings an error of the key is not repeated', async () => {
		const { error, sent } = await fail(errorBody({ code: 'invalid_api_key' }), polling());
		expect(sent).toHaveLength(1);
		expect(error.details).toMatchObject({ httpStatus: 401, taskId: 'task_1' });
	});

	test('that fails for no reason of the gateway passes its error on as it is', async () => {
		const send = async () => await Promise.reject(new Error('a bug'));
		const failing = succeed([], polling(), { transport: { send, open: send } });
		await expect(failing).rejects.toThrow(/^a bug$/);
	});
});

const IN_10_S = START / 1000 + 10;

function seen(expires_at?: number, now = START, retryAfter?: number, gatewayTime = now) {
	const task = { task_id: 't', status: 'processing', expires_at };
	return { task, json: task, state: 'working', now, gatewayTime, retryAfter } as const;
}

describe('The wait until the next poll', () => {
	const NEVER = Array<undefined>(7).fill(undefined);
	const a = undefined;
	type Row = [string, Array<number | undefined>, every: number, limit: number, number[], number?];

	/** The Retry-After of each look, the interval and time limit in seconds, the waits, the expiry. */
	test.each<Row>([
		['is as long as Retry-After says', [3, 10, 1.5, 100], 1, 900, [3, 10, 1.5, 100]],
		['is no shorter than the poll interval', [3, 0, a], 20, 900, [20, 20, 20]],
		['grows by half from 3 s to 15 s without', NEVER, 3, 900, [3, 4.5, 6.75, 10.125, 15, 15, 15]],
		['grows from 3 s, though the interval is longer', [a, a, a, a], 5, 900, [5, 5, 6.75, 10.125]],
		['grows anew after a Retry-After', [a, a, 5, a, a, 0, a], 3, 900, [3, 4.5, 5, 3, 4.5, 3, 3]],
		['is shorter than the interval, at the deadline', NEVER, 60, 90, [60, 30]],
		['is shorter than the growing wait, at the deadline', NEVER, 3, 11, [3, 4.5, 3.5]],
		['is no growing wait, if less than 3 s are left', NEVER, 3, 10.499, [3, 4.5]],
		['is shorter than the interval, if Retry-After allows', [5, 5, 5], 20, 25, [20, 5]],
		['is not, if Retry-After does not', [6, 6], 20, 25, [20]],
		['is shorter before the task expires', [1, 1], 20, 900, [9], IN_10_S],
		['is no look at once', [0, 0], 20, 20.5, [20]],
	])('%s', (...row) => {
		const [, retryAfters, interval, limit, waits, expires_at] = row;
		const settings = { pollIntervalMs: interval * 1000, deadline: START + limit * 1000 };
		const seconds: number[] = [];
		let [state, now] = [{ unnamedWaits: 0 }, START];
		for (const retryAfter of retryAfters) {
			const step = pollStep(state, seen(expires_at, now, retryAfter), settings);
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
			const look = seen(expires_at, START + skew, retryAfter, START);
			const settings = { pollIntervalMs: 3000, deadline: START + skew + left };
			const step = pollStep({ unnamedWaits: 0 }, look, settings);
			expect(step).toMatchObject({ next, waitMs: retryAfter * 1000, ...(because && { because }) });
		}
	});
});
