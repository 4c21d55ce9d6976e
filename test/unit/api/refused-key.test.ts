import type { RequestKind } from '../../../nodes/shared/api/http/retry';
import { pollImageTask } from '../../../nodes/shared/api/images/poll-task';
import { arrange, reply, sending } from './arrange';

const said = { code: 'INVALID_API_KEY', message: 'Invalid API key' };
const INVALID = reply(401, said, { 'x-request-id': 'req_1' });

const send = sending();

test('after a 401 nothing of the run carries the key, and all fails with the same error', async () => {
	const { client, sent, failure } = arrange([INVALID], { run: {} });
	const first = await failure(send(client));
	for (const kind of ['read', 'response', 'image'] as RequestKind[]) {
		const next = await failure(sending(kind)(client));
		expect(next.message).toBe(first.message);
		expect(next.details).toEqual(first.details);
		expect(next.constructor).toBe(first.constructor);
	}
	const poll = await failure(pollImageTask(client, 'task_7'));
	expect(poll.details).toMatchObject({ httpStatus: 401, taskId: 'task_7' });
	expect(poll.details.advice).toMatch(/The image task was accepted/);
	expect(sent).toHaveLength(1);
	expect(first.message).toBe(
		'The gateway did not accept the API key (HTTP 401, INVALID_API_KEY): Invalid API key',
	);
});

test.each([
	['is not sent again', reply(503, '', { 'retry-after': '60' }), undefined, /^Fix the credential/],
	['says that it may have been executed', reply(500), true, /^The request may have.*API key/],
])('a request that waits meanwhile %s', async (_, before, maybeExecuted, advice) => {
	const run = {};
	const { client, sent, failure } = arrange([before], { run });
	const other = arrange([INVALID], { run });
	const waiting = failure(send(client));
	await other.failure(send(other.client));
	const { details } = await waiting;
	expect([details.httpStatus, details.maybeExecuted]).toEqual([401, maybeExecuted]);
	expect(details.advice).toMatch(advice);
	expect(sent).toHaveLength(1);
});

test.each([400, 403, 404, 429])('HTTP %i ends nothing but its own request', async (status) => {
	const script = [reply(status), reply(200, {})];
	const { client, sent, failure, drive } = arrange(script, { run: {}, maxRetries: 0 });
	await failure(send(client));
	await drive(send(client));
	expect(sent).toHaveLength(2);
});

test('another run has another key', async () => {
	const first = arrange([INVALID], { run: {} });
	await first.failure(send(first.client));
	const second = arrange([reply(200, {})], { run: {} });
	await second.drive(send(second.client));
	expect(second.sent).toHaveLength(1);
});
