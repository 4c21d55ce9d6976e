import type { Client } from '../../../nodes/shared/api/http/client';
import { TaskError } from '../../../nodes/shared/api/errors/errors';
import { pollImageTask, waitForImageTask } from '../../../nodes/shared/api/images/poll-task';
import { arrange, expectError, fail, failureOf, fault, reply, START, succeed } from './arrange';
import type { Exchange } from './arrange';

const AFTER_3 = { 'retry-after': '3' };
const DONE = { task_id: 'task_1', status: 'completed', image_url: 'https://store.example/1.png' };
const COMPLETED = reply(200, DONE);

function processing(headers: Record<string, string> = AFTER_3, task: object = {}): Exchange {
	return reply(200, { task_id: 'task_1', status: 'processing', ...task }, headers);
}

const after = (retryAfter: string) => processing({ 'retry-after': retryAfter });
const busy = (retryAfter: string) => reply(503, '', { 'retry-after': retryAfter });

type Awaited = Partial<Parameters<typeof waitForImageTask>[1]> & { seconds?: number };

/** Waits for a task, by default for at most 15 minutes. */
const waiting =
	({ seconds = 900, ...more }: Awaited = {}) =>
	async (client: Client) => {
		const deadline = START + seconds * 1000;
		const awaited = { taskId: 'task_1', pollIntervalMs: 3000, deadline, ...more };
		return await waitForImageTask({ ...client, deadline }, awaited);
	};

describe('Waiting for a task', () => {
	const IN_20_S = 'Thu, 01 Jan 2026 00:00:20 GMT';

	const BY_GATEWAY = { 'retry-after': IN_20_S, date: 'Thu, 01 Jan 2026 00:00:10 GMT' };
	const NONSENSE = ['0', 'Wed, 31 Dec 2025 00:00:00 GMT', '-5', 'soon 5'];
	const status = (text: string) => processing(AFTER_3, { status: text });
	const BUSY_THRICE = [processing(), ...Array<Exchange>(3).fill(reply(503))];
	const UNSEEN = [fault('lost'), fault('timeout'), fault('unreached')];

	/** What the gateway says before the task is completed, and the waits in seconds. */
	test.each<[string, Exchange[], number[]]>([
		['is not needed if it is done', [], []],
		['obeys Retry-After', [after('5'), after('12'), after('1')], [5, 12, 3]],
		['obeys an HTTP date', [after(IN_20_S)], [20]],
		['obeys an HTTP date by the gateway’s clock', [processing(BY_GATEWAY)], [10]],
		['takes nonsense for the interval', NONSENSE.map(after), [3, 3, 3, 4.5]],
		['goes on over unknown statuses', [status('queued'), status('x')], [3, 3]],
		['goes on over 503, by its Retry-After', [processing(), busy('7')], [3, 7]],
		['goes on by backoff without one', [processing(), reply(429), reply(503)], [3, 1, 2]],
		['goes on over lost looks', [processing(), ...UNSEEN, processing()], [3, 1, 2, 4, 3]],
		['goes on over one 500', [processing(), reply(500), processing()], [3, 1, 3]],
		['has retries anew for each look', [...BUSY_THRICE, ...BUSY_THRICE], [3, 1, 2, 4, 3, 1, 2, 4]],
	])('%s', async (_, before, waits) => {
		const script = [...before, COMPLETED];
		const { value, sent, time } = await succeed(script, waiting());
		expect(value).toMatchObject({ end: 'completed', last: { task: { status: 'completed' } } });
		expect(time.waits.map((ms) => ms / 1000)).toEqual(waits);
		expect(sent).toHaveLength(script.length);
	});

	test('asks at the ID’s address, not at poll_url or Location, and tells of each look', async () => {
		const elsewhere = 'https://evil.example/v1/images/tasks/task_1';
		const first = processing({ location: elsewhere }, { poll_url: elsewhere, id: 'other' });
		const statuses: string[] = [];
		const onSeen = ({ task }: { task: { status: string } }) => statuses.push(task.status);
		const { sent } = await succeed([first, status('queued'), COMPLETED], waiting({ onSeen }));
		expect(new Set(sent.map(({ path }) => path))).toEqual(new Set(['/images/tasks/task_1']));
		expect(statuses).toEqual(['processing', 'queued', 'completed']);
	});

	test('starts from what is already known: after a 202 it waits before it looks', async () => {
		const { client, sent, drive } = arrange([processing(), COMPLETED]);
		const first = await drive(pollImageTask(client, 'task_1'));
		await drive(waiting({ first })(client));
		expect(sent.map(({ at }) => at - START)).toEqual([0, 3000]);
	});
});

test('a look that fails ends the waiting, and its advice names the task once', async () => {
	const { error } = await fail([processing(), reply(500), reply(500)], waiting());
	expect(error.details.taskId).toBe('task_1');
	expect(error.details.advice.match(/was accepted/g)).toHaveLength(1);
});

test('a task that failed ends the waiting', async () => {
	const error = { code: 'refused', message: 'prompt refused' };
	const end = reply(200, { task_id: 'task_1', status: 'failed', http_status: 400, error });
	const failed = await fail([processing(), end], waiting());
	expectError(failed.error, 'FailedTaskError', /\(HTTP 400, refused\): prompt refused$/);
});

const EXPIRED = 'The image task is about to expire and is not done';
const LATE = 'The image was not done within Max Wait';
const [AT_0, AT_3] = ['Wed, 31 Dec 2025 23:00:00 GMT', 'Wed, 31 Dec 2025 23:00:03 GMT'];
const expires = (expires_at: number, headers = {}) =>
	processing({ ...AFTER_3, ...headers }, { expires_at });

const BUSY = 'The gateway is overloaded or partly unavailable (HTTP 503)';
const thrice = Array<Exchange>(3).fill(expires(START / 1000 + 7));
const skewed = [AT_0, AT_3].map((date) => expires(Date.parse(AT_0) / 1000 + 5, { date }));
const later = (at: number) => [expires(at, { 'retry-after': '1200' })];
const FAR = /keeps the task until far away/;
const IN_3_S =
	/^Its last status was processing\. The gateway asked the node not to poll again before 2026-01-01T00:00:12\.000Z, so the node stopped waiting 1 s early\. The task goes on.*Do not submit it again.*Task → Wait and its task ID\. Raise the Max Wait/;
const KEPT =
	/before 2026-01-01T00:00:09\.000Z, so .* 1 s early\. The gateway keeps the task until 2026-01-01T00:00:07\.000Z\. Nothing can/;
const ON_TIME = /^Its last status was processing\. The task goes on/;
const EARLY = /again before 2026-01-01T00:20:00\.000Z, so the node stopped waiting 15 min early\./;
const unnamed = Array<Exchange>(4).fill(processing({}));

test.each<[string, Exchange[], seconds: number, waits: number[], says: string, RegExp]>([
	['at the deadline', Array<Exchange>(4).fill(processing()), 10, [3, 3, 3], LATE, IN_3_S],
	['at once if Retry-After is longer', [after('1200')], 900, [], LATE, EARLY],
	['at the deadline, by a last look', unnamed, 11, [3, 4.5, 3.5], LATE, ON_TIME],
	['at once if a 503 asks for longer', [processing(), busy('900')], 900, [3], BUSY, /wait 900 s/],
	['before the task expires', thrice, 900, [3, 3], EXPIRED, KEPT],
	['before it expires by the gateway’s clock', skewed, 900, [3], EXPIRED, /./],
	['although it expires in the year 300,000', later(1e13), 900, [], LATE, FAR],
])('Waiting ends in time %s, with what was seen last and an error to throw', async (...row) => {
	const [, script, seconds, waits, says, advice] = row;
	const { value, sent, time } = await succeed(script, waiting({ seconds }));
	const { end, last: seen, error } = value;
	expect([end, seen.task.status]).toEqual(['timedOut', 'processing']);
	expect(time.waits.map((ms) => ms / 1000)).toEqual(waits);
	expect(sent).toHaveLength(script.length);
	const details = { taskId: 'task_1', retryable: says !== EXPIRED, advice };
	expectError(error, /Error$/, says, details);
});

test('A cancel ends the waiting: nothing is sent after, and the task’s ID is kept', async () => {
	for (const script of [[after('60')], [processing(), busy('60')]]) {
		const { client, sent, time, cancel } = arrange(script);
		const failing = failureOf(waiting()(client));
		await time.advance(20_000);
		cancel();
		const says = 'The execution was canceled';
		expectError(await failing, 'CanceledError', says, { taskId: 'task_1' });
		expect(time.now() - START).toBe(20_000);
		await time.advance(3_600_000);
		expect(sent).toHaveLength(script.length);
	}
});

test('an error about a task keeps its ID and where its images are, as it was told first', () => {
	const error = new TaskError('broken', { advice: '', retryable: false });
	const accepted = error.withTaskId('t1', []);
	expect(error.details).not.toHaveProperty('taskId');
	expect(accepted).toBeInstanceOf(TaskError);
	expect(accepted.details).not.toHaveProperty('imageUrls');
	const withImages = accepted.withTaskId('t2', ['u1']);
	expect(withImages.details).toMatchObject({ taskId: 't1', imageUrls: ['u1'] });
	expect(withImages.withTaskId('t2', ['u2']).details.imageUrls).toEqual(['u1']);
	const unchanged = withImages.with({ taskId: undefined, requestId: undefined });
	expect(unchanged.details).toStrictEqual(withImages.details);
});

const HOUR_AGO = START / 1000 - 3600;
const GOES_ON = /goes on and may be charged\. Do not submit it again.*Task → Wait/;
const LOST =
	/^Its last status was x, .* 1 s early\. Gateways end tasks after about half an hour\. A restart of the gateway probably lost this one\. Check the usage .* charged\.$/;
const ahead = { date: new Date(START + 3_600_000).toUTCString() };
const behind = { date: new Date(START - 3_600_000).toUTCString() };

test.each<[string, created: unknown, headers: object, since: string, rest: RegExp]>([
	['that names no begin', undefined, {}, '.', GOES_ON],
	['whose begin makes no sense', 'today', {}, '.', GOES_ON],
	['that begins in the future', START / 1000 + 60, {}, '.', GOES_ON],
	['of 40 s', START / 1000 - 40, {}, ', 40 s after it was accepted.', GOES_ON],
	['of almost an hour', HOUR_AGO + 1, {}, ', 60 min after it was accepted.', GOES_ON],
	['of an hour', HOUR_AGO, {}, ', 60 min after it was accepted.', LOST],
	['of 2 h', HOUR_AGO - 3600, {}, ', 2 h after it was accepted.', LOST],
	['of a day', HOUR_AGO - 82_500, {}, ', 23 h 55 min after it was accepted.', LOST],
	['of an hour by the gateway’s clock', START / 1000, ahead, ', 60 min after it', LOST],
	['of a minute by it', HOUR_AGO - 60, behind, ', 60 s after it was accepted.', GOES_ON],
])('A task %s that is not done in time is told with its status and time', async (...row) => {
	const [, created_at, headers, since, rest] = row;
	const script = [processing({ ...AFTER_3, ...headers }, { status: 'x', created_at })];
	const { value } = await succeed(script, waiting({ seconds: 1 }));
	const { advice, retryable } = value.error!.details;
	expect(advice.startsWith(`Its last status was x${since}`)).toBe(true);
	expect(advice).toMatch(rest);
	expect(retryable).toBe(rest === GOES_ON);
});

test('A task that is not done in time is told in one line, whatever its status', async () => {
	const script = [processing(AFTER_3, { status: `a\nb ${'x'.repeat(500)}` })];
	const { error } = (await succeed(script, waiting({ seconds: 1 }))).value;
	expect(error!.details.advice).toMatch(/^Its last status was a b x{10,50}…\. The gateway asked/);
});

const TOLD = { type: 'IMAGE_TASK_NOT_FOUND', code: 'NOT_FOUND' };
const GONE = reply(404, { error: { ...TOLD, message: 'not found' } }, { 'x-request-id': 'req_1' });
const UNKNOWN = 'The gateway knows no image task "task_1" (HTTP 404)';
const OURS =
	/^The gateway accepted it at 2026-01-01T00:00:00\.000Z and no longer knows it\. The task may be charged\. Check the usage/;
const THEIRS = /^The task ID is wrong, the task has expired, or another API key/;

test.each([
	['which this run submitted', START / 1000, true, 'has lost the image task', OURS],
	['whose ID a user entered', undefined, undefined, UNKNOWN, THEIRS],
])('A task that the gateway does not know any more, %s, ends the waiting', async (...row) => {
	const [, acceptedAt, maybeExecuted, says, advice] = row;
	// With the error's own code, and without any body.
	for (const script of [[GONE], [processing(), reply(404)]]) {
		const { error } = await fail(script, waiting({ acceptedAt }));
		const details = { taskId: 'task_1', httpStatus: 404, retryable: false, advice };
		const more = script[0] === GONE && { ...TOLD, requestId: 'req_1' };
		expectError(error, 'UnknownTaskError', /./, { ...details, ...more });
		expect(error.details.maybeExecuted).toBe(maybeExecuted);
		expect(error.message).toContain(says);
	}
});
