import {
	AnswerError,
	CancelledError,
	NetworkError,
	StatusError,
	TaskError,
} from '../../../nodes/shared/client/errors';
import {
	failedTask,
	pollImageTask,
	waitForImageTask,
	type Observation,
} from '../../../nodes/shared/client/image-task';
import { arrange, failureOf, fault, KEY, reply, shown, START, type Exchange } from './arrange';

const SETTINGS = { pollIntervalMs: 3000, deadline: START + 900_000 };
const AFTER_3 = { 'retry-after': '3' };

function processing(headers: Record<string, string> = AFTER_3, task: object = {}): Exchange {
	return reply(200, { task_id: 'task_1', status: 'processing', ...task }, headers);
}

const COMPLETED = reply(200, {
	task_id: 'task_1',
	status: 'completed',
	image_url: 'https://store.example/1.png',
});

/** Waits for a task of a gateway that answers as scripted. */
function waiting(script: Exchange[], { settings = SETTINGS, ...overrides } = {}) {
	const arranged = arrange(script, { deadline: settings.deadline, ...overrides });
	const wait = async (first?: Observation) =>
		await waitForImageTask(arranged.client, 'task_1', { ...settings, first });
	return { ...arranged, wait };
}

describe('a look at a task', () => {
	test('is one GET, its address built from the ID', async () => {
		const { client, sent, drive } = arrange([COMPLETED]);
		await drive(pollImageTask(client, 'task/../1 ?#ä'));
		expect(sent).toEqual([
			{
				method: 'GET',
				path: '/images/tasks/task%2F..%2F1%20%3F%23%C3%A4',
				timeoutMs: 60_000,
				at: START,
			},
		]);
	});

	test('follows neither poll_url nor Location', async () => {
		const elsewhere = 'https://evil.example/v1/images/tasks/task_1';
		const { sent, wait, drive } = waiting([
			processing({ ...AFTER_3, location: elsewhere }, { poll_url: elsewhere, id: 'other' }),
			COMPLETED,
		]);
		await drive(wait());
		expect(sent.map(({ path }) => path)).toEqual(['/images/tasks/task_1', '/images/tasks/task_1']);
	});

	test('gives the task as sent, when to look again, and both clocks', async () => {
		const body = { task_id: 'task_1', status: 'queued', expires_at: 'soon', place: 4 };
		const { client, drive } = arrange([
			reply(200, body, { 'retry-after': '8', date: 'Thu, 01 Jan 2026 01:00:00 GMT' }),
		]);
		await expect(drive(pollImageTask(client, 'task_1'))).resolves.toEqual({
			task: { task_id: 'task_1', status: 'queued', place: 4 },
			json: body,
			retryAfter: 8,
			now: START,
			gatewayNow: START + 3_600_000,
		});
	});

	test('that finds no task says what that can mean, and is not repeated', async () => {
		const { client, sent, failure } = arrange([
			reply(
				404,
				{
					error: {
						type: 'IMAGE_TASK_NOT_FOUND',
						code: 'IMAGE_TASK_NOT_FOUND',
						message: 'image task not found',
					},
				},
				{ 'x-request-id': 'req_1' },
			),
		]);
		const error = await failure(pollImageTask(client, 'task_1'));
		expect(error).toBeInstanceOf(TaskError);
		expect(error.message).toBe('The gateway knows no image task "task_1" (HTTP 404)');
		expect(error.facts).toMatchObject({
			taskId: 'task_1',
			httpStatus: 404,
			type: 'IMAGE_TASK_NOT_FOUND',
			code: 'IMAGE_TASK_NOT_FOUND',
			requestId: 'req_1',
			retryable: false,
		});
		expect(error.facts.advice).toMatch(/wrong.*expired.*another API key/);
		expect(sent).toHaveLength(1);
	});

	test.each([
		['401', reply(401), StatusError],
		['403', reply(403), StatusError],
		['500, twice', reply(500), StatusError],
		['503 to the end', reply(503), StatusError],
		['a lost connection to the end', fault('lost'), NetworkError],
		['a bad certificate', fault('certificate'), NetworkError],
		['HTML', reply(200, '<html>'), AnswerError],
		['no JSON', reply(200, ''), AnswerError],
		['no status', reply(200, { task_id: 'task_1' }), AnswerError],
		['a cancel', fault('cancelled'), CancelledError],
	])('that fails (%s) keeps the task’s ID', async (_, then, kind) => {
		const { client, failure } = arrange([], { then });
		const error = await failure(pollImageTask(client, 'task_1'));
		expect(error).toBeInstanceOf(kind);
		expect(error.facts.taskId).toBe('task_1');
	});

	test('that cannot be read names the field', async () => {
		const { client, failure } = arrange([reply(200, { task_id: 'task_1' })]);
		const { message } = await failure(pollImageTask(client, 'task_1'));
		expect(message).toBe('The gateway’s image task is not as expected: field "status": Required');
	});
});

describe('waiting for a task', () => {
	const IN_20_S = 'Thu, 01 Jan 2026 00:00:20 GMT';

	test.each<[string, Exchange[], number[]]>([
		['is not needed where it is done', [COMPLETED], []],
		['obeys Retry-After', [processing(), processing(), COMPLETED], [3, 3]],
		[
			'obeys a Retry-After that changes',
			[
				processing({ 'retry-after': '5' }),
				processing({ 'retry-after': '12' }),
				processing({ 'retry-after': '1' }),
				COMPLETED,
			],
			[5, 12, 3],
		],
		['obeys an HTTP date', [processing({ 'retry-after': IN_20_S }), COMPLETED], [20]],
		[
			'obeys an HTTP date by the gateway’s clock',
			[processing({ 'retry-after': IN_20_S, date: 'Thu, 01 Jan 2026 00:00:10 GMT' }), COMPLETED],
			[10],
		],
		[
			'grows where Retry-After stays absent',
			[...Array<Exchange>(6).fill(processing({})), COMPLETED],
			[3, 4.5, 6.75, 10.125, 15, 15],
		],
		[
			'takes 0, a date that has passed, negative numbers and nonsense for no less than the interval',
			[
				processing({ 'retry-after': '0' }),
				processing({ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }),
				processing({ 'retry-after': '-5' }),
				processing({ 'retry-after': 'soon 5' }),
				COMPLETED,
			],
			[3, 3, 3, 4.5],
		],
		[
			'goes on over statuses it does not know',
			[processing(AFTER_3, { status: 'queued' }), processing(AFTER_3, { status: 'x' }), COMPLETED],
			[3, 3],
		],
		[
			'goes on over 503, by its Retry-After',
			[processing(), reply(503, '', { 'retry-after': '7' }), processing(), COMPLETED],
			[3, 7, 3],
		],
		[
			'goes on over 429 and 503 without one, by backoff',
			[processing(), reply(429), reply(503), COMPLETED],
			[3, 1, 2],
		],
		[
			'goes on over lost connections and time-outs: looking costs nothing',
			[processing(), fault('lost'), fault('timeout'), fault('unreached'), processing(), COMPLETED],
			[3, 1, 2, 4, 3],
		],
		['goes on over one 500', [processing(), reply(500), processing(), COMPLETED], [3, 1, 3]],
		[
			'has retries anew for each look',
			[
				processing(),
				...[reply(503), reply(503), reply(503)],
				processing(),
				...[reply(503), reply(503), reply(503)],
				COMPLETED,
			],
			[3, 1, 2, 4, 3, 1, 2, 4],
		],
	])('%s', async (_, script, waits) => {
		const { sent, time, wait, drive } = waiting(script);

		const waited = await drive(wait());

		expect(waited).toMatchObject({ end: 'completed', seen: { task: { status: 'completed' } } });
		expect(time.waits.map((ms) => ms / 1000)).toEqual(waits);
		expect(sent).toHaveLength(script.length);
	});

	test('has the poll interval as its floor', async () => {
		const { time, wait, drive } = waiting([processing(), processing({}), COMPLETED], {
			settings: { ...SETTINGS, pollIntervalMs: 10_000 },
		});
		await drive(wait());
		expect(time.waits).toEqual([10_000, 10_000]);
	});

	test('starts from what is already known: after a 202 it waits before it looks', async () => {
		const { client, sent, time, drive } = arrange([processing(), COMPLETED]);
		const first = await drive(pollImageTask(client, 'task_1'));
		await drive(waitForImageTask(client, 'task_1', { ...SETTINGS, first }));
		expect(time.waits).toEqual([3000]);
		expect(sent.map(({ at }) => at - START)).toEqual([0, 3000]);
	});

	test('tells of each look', async () => {
		const { client, drive } = arrange([
			processing(AFTER_3, { status: 'queued' }),
			processing(),
			COMPLETED,
		]);
		const statuses: string[] = [];
		await drive(
			waitForImageTask(client, 'task_1', {
				...SETTINGS,
				onSeen: ({ task }) => statuses.push(task.status),
			}),
		);
		expect(statuses).toEqual(['queued', 'processing', 'completed']);
	});

	test.each([
		['404', [processing(), reply(404)], 'knows no image task'],
		['401', [processing(), reply(401)], 'did not accept the API key'],
		['a redirect', [processing(), reply(302)], 'redirects'],
		['500 twice', [processing(), reply(500), reply(500)], 'internal error'],
	])('ends with %s, which keeps the task’s ID', async (_, script, says) => {
		const { sent, wait, failure } = waiting(script);
		const error = await failure(wait());
		expect(error.message).toContain(says);
		expect(error.facts.taskId).toBe('task_1');
		expect(sent).toHaveLength(script.length);
	});

	test('ends where the gateway’s 503 asks for longer than is left', async () => {
		const { sent, wait, drive } = waiting([processing(), reply(503, '', { 'retry-after': '900' })]);
		const waited = await drive(wait());
		expect(waited).toMatchObject({ end: 'timedOut', seen: { task: { status: 'processing' } } });
		const facts = waited.error?.facts;
		expect(facts).toMatchObject({ taskId: 'task_1', httpStatus: 503, retryAfter: 900 });
		expect(facts?.advice).toContain('asked to wait 900 s');
		expect(sent).toHaveLength(2);
	});
});

describe('waiting ends in time', () => {
	test('at the deadline, with the last that was seen and an error to throw', async () => {
		const { sent, time, wait, drive } = waiting(Array<Exchange>(4).fill(processing()), {
			settings: { ...SETTINGS, deadline: START + 10_000 },
		});

		const waited = await drive(wait());

		expect(waited).toMatchObject({ end: 'timedOut', seen: { task: { status: 'processing' } } });
		expect(time.waits).toEqual([3000, 3000, 3000]);
		expect(time.now() - START).toBe(9000);
		expect(sent).toHaveLength(4);
		expect(waited.error).toBeInstanceOf(TaskError);
		expect(waited.error?.message).toBe('The image was not done within Max Wait');
		expect(waited.error?.facts).toMatchObject({ taskId: 'task_1', retryable: true });
		expect(waited.error?.facts.advice).toMatch(
			/in 3 s\. The task goes on.*do not submit it again.*Task → Wait.*Raise the Max Wait/,
		);
	});

	test('the last look may come at the deadline', async () => {
		const { wait, drive } = waiting([processing(), COMPLETED], {
			settings: { ...SETTINGS, deadline: START + 3000 },
		});
		await expect(drive(wait())).resolves.toMatchObject({ end: 'completed' });
	});

	test('at once where Retry-After is larger than what is left, saying how long', async () => {
		const { time, wait, drive } = waiting([processing({ 'retry-after': '1200' })]);
		const { end, error } = await drive(wait());
		expect(end).toBe('timedOut');
		expect(time.waits).toEqual([]);
		expect(error?.facts.advice).toContain('in 1200 s');
	});

	test('before the task expires, where that comes first', async () => {
		const expires_at = START / 1000 + 7;
		const { time, wait, drive } = waiting(
			Array<Exchange>(3).fill(processing(AFTER_3, { expires_at })),
		);
		const { end, error } = await drive(wait());
		expect(end).toBe('timedOut');
		expect(time.waits).toEqual([3000, 3000]);
		expect(error?.message).toBe('The image task is about to expire and is not done');
		expect(error?.facts).toMatchObject({ taskId: 'task_1', retryable: false });
		expect(error?.facts.advice).toContain('2026-01-01T00:00:07.000Z');
	});

	test('before the task expires by the gateway’s clock, not by ours', async () => {
		const date = 'Wed, 31 Dec 2025 23:00:00 GMT';
		const expires_at = Date.parse(date) / 1000 + 5;
		const { time, wait, drive } = waiting([
			processing({ ...AFTER_3, date }, { expires_at }),
			processing({ ...AFTER_3, date: 'Wed, 31 Dec 2025 23:00:03 GMT' }, { expires_at }),
		]);
		const { error } = await drive(wait());
		expect(time.waits).toEqual([3000]);
		expect(error?.message).toContain('about to expire');
	});

	test('with the task’s ID, however absurd expires_at is', async () => {
		for (const expires_at of [1e13, 1e300, -1e13]) {
			const { wait, drive } = waiting([processing({ 'retry-after': '1200' }, { expires_at })]);
			const { end, error } = await drive(wait());
			expect(end).toBe('timedOut');
			expect(error?.facts.taskId).toBe('task_1');
		}
	});
});

describe('a cancel', () => {
	test('during a wait ends it there; nothing is sent after, and the task’s ID is kept', async () => {
		const { sent, time, cancel, wait } = waiting([processing({ 'retry-after': '60' })]);
		const failing = failureOf(wait());
		await time.advance(20_000);
		cancel();
		const error = await failing;
		expect(error).toBeInstanceOf(CancelledError);
		expect(error.facts.taskId).toBe('task_1');
		expect(time.now() - START).toBe(20_000);
		await time.advance(3_600_000);
		expect(sent).toHaveLength(1);
	});

	test('between two tries of a look ends it too', async () => {
		const { sent, time, cancel, wait } = waiting([
			processing(),
			reply(503, '', { 'retry-after': '60' }),
		]);
		const failing = failureOf(wait());
		await time.advance(20_000);
		cancel();
		const error = await failing;
		expect(error).toBeInstanceOf(CancelledError);
		expect(error.facts.taskId).toBe('task_1');
		await time.advance(3_600_000);
		expect(sent).toHaveLength(2);
	});

	test('during a look ends it', async () => {
		const { sent, transport, cancel, wait, failure } = waiting([processing(), fault('lost')]);
		transport.during = () => {
			if (sent.length === 2) cancel();
		};
		const error = await failure(wait());
		expect(error).toBeInstanceOf(CancelledError);
		expect(error.facts.taskId).toBe('task_1');
		expect(sent).toHaveLength(2);
	});
});

describe('a task that failed', () => {
	const { client } = arrange();

	test('ends the waiting', async () => {
		const { wait, failure } = waiting([
			processing(),
			reply(200, {
				task_id: 'task_1',
				status: 'failed',
				http_status: 400,
				error: { type: 'content_policy', code: 'refused', message: 'prompt refused' },
			}),
		]);
		const error = await failure(wait());
		expect(error).toBeInstanceOf(TaskError);
		expect(error.message).toBe('The image task failed: prompt refused');
		expect(error.facts).toMatchObject({
			taskId: 'task_1',
			httpStatus: 400,
			type: 'content_policy',
			code: 'refused',
			retryable: false,
		});
		expect(error.facts.advice).toMatch(/Fix the request.*submit a new task/);
	});

	test.each([
		['its message', { type: 'T', message: 'out of luck' }, 'out of luck'],
		['its type where it has no message', { type: 'T' }, 'T'],
		['its type where the message is empty', { type: 'T', message: '' }, 'T'],
		['that no reason was given', {}, 'the gateway gave no reason'],
		[
			'that no reason was given, in empty texts',
			{ type: '', message: '' },
			'the gateway gave no reason',
		],
		['that no error came at all', undefined, 'the gateway gave no reason'],
	])('says %s', (_, error, reason) => {
		const { message } = failedTask(client, 't', { status: 'failed', error });
		expect(message).toBe(`The image task failed: ${reason}`);
	});

	test.each([
		[429, true, 'limit is reached'],
		[503, true, 'Wait a while'],
		[500, false, 'Report it'],
		[502, false, 'minimal request'],
		[403, false, 'not permitted'],
		[undefined, false, 'Change the request'],
		[200, false, 'Change the request'],
	])('with http_status %s may be submitted anew: %s', (http_status, retryable, advice) => {
		const { facts } = failedTask(client, 't', { status: 'failed', http_status });
		expect(facts.retryable).toBe(retryable);
		expect(facts.advice).toContain(advice);
		expect(facts.advice).toContain('submit a new task; this one will not be done');
		expect(facts.httpStatus).toBe(http_status);
	});

	test('says it in one line, bounded and without the key', () => {
		const nasty = `key ${KEY}\r\n${'x'.repeat(5000)}`;
		const error = failedTask(client, 't', {
			status: 'failed',
			error: { type: nasty, code: nasty, message: nasty },
		});
		expect(shown(error)).not.toContain(KEY);
		expect(error.message).toMatch(/^The image task failed: key \[API key\] x+…$/);
		expect(error.message.length).toBeLessThan(600);
		expect(error.facts.type?.length).toBeLessThan(600);
		expect(error.facts.code?.length).toBeLessThan(600);
	});
});
