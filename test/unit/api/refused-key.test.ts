import { request } from '../../../nodes/shared/api/http/request';
import type { Client } from '../../../nodes/shared/api/http/client';
import type { RequestKind } from '../../../nodes/shared/api/http/retry';
import { pollImageTask } from '../../../nodes/shared/api/images/poll-task';
import { arrange, reply } from './arrange';

const sending = async (client: Client, kind: RequestKind = 'response') =>
	await request(client, kind, { method: 'POST', path: '/responses', body: {} });

const INVALID = reply(
	401,
	{ code: 'INVALID_API_KEY', message: 'Invalid API key' },
	{ 'x-request-id': 'req_1' },
);

test('after a 401 nothing of the run carries the key, and all fails with the same error', async () => {
	const { client, sent, failure } = arrange([INVALID], { run: {} });
	const first = await failure(sending(client));
	for (const kind of ['read', 'response', 'image'] as const) {
		const next = await failure(sending(client, kind));
		expect(next.message).toBe(first.message);
		expect(next.details).toEqual(first.details);
		expect(next.constructor).toBe(first.constructor);
	}
	expect(sent).toHaveLength(1);
	expect(first.message).toBe(
		'The gateway did not accept the API key (HTTP 401, INVALID_API_KEY): Invalid API key',
	);
});

test('a poll after a 401 is not sent, and its error has the task', async () => {
	const { client, sent, failure } = arrange([INVALID], { run: {} });
	await failure(sending(client));
	const error = await failure(pollImageTask(client, 'task_7'));
	expect(sent).toHaveLength(1);
	expect(error.details).toMatchObject({ httpStatus: 401, taskId: 'task_7' });
	expect(error.details.advice).toMatch(/^The image task was accepted/);
});

test('a request that waits meanwhile is not sent again', async () => {
	const run = {};
	const { client, sent, failure, time } = arrange([reply(503, '', { 'retry-after': '60' })], {
		run,
	});
	const other = arrange([INVALID], { run });
	const waiting = failure(sending(client));
	await other.failure(sending(other.client));
	const error = await waiting;
	expect(time.now()).toBeGreaterThan(0);
	expect(error.details.httpStatus).toBe(401);
	expect(sent).toHaveLength(1);
});

test('one that may have been executed before says so beside the refused key', async () => {
	const run = {};
	const { client, sent, failure } = arrange([reply(500)], { run });
	const other = arrange([INVALID], { run });
	const waiting = failure(sending(client));
	await other.failure(sending(other.client));
	const error = await waiting;
	expect(sent).toHaveLength(1);
	expect(error.details).toMatchObject({ httpStatus: 401, maybeExecuted: true });
	expect(error.details.advice).toMatch(/^The request may have been executed.*API key/);
});

test.each([400, 403, 404, 429])('HTTP %i ends nothing but its own request', async (status) => {
	const { client, sent, failure, drive } = arrange([reply(status), reply(200, {})], {
		run: {},
		maxRetries: 0,
	});
	await failure(sending(client));
	await drive(sending(client));
	expect(sent).toHaveLength(2);
});

test('another run has another key', async () => {
	const first = arrange([INVALID], { run: {} });
	await first.failure(sending(first.client));
	const second = arrange([reply(200, {})], { run: {} });
	await second.drive(sending(second.client));
	expect(second.sent).toHaveLength(1);
});
