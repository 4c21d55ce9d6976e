import { CancelledError } from '../../../nodes/shared/api/errors/errors';
import { request } from '../../../nodes/shared/api/http/request';
import type { RequestKind } from '../../../nodes/shared/api/http/retry';
import { aborted, arrange, fail, failureOf, fault, reply, START, type Exchange } from './arrange';

type Client = Parameters<typeof request>[0];

const sending =
	(kind: RequestKind = 'read') =>
	async (client: Client) =>
		await request(client, kind, { method: 'POST', path: '/x', body: {} });

const NOTHING_MORE = 'Nothing more was sent. A task that had been accepted goes on at the gateway.';

/** A client that is canceled while its first request is under way. */
async function cancelDuring(exchange: Exchange, kind?: RequestKind) {
	const { client, sent, transport, cancel, drive } = arrange([exchange]);
	transport.during = cancel;
	const work = drive(sending(kind)(client));
	return { sent, work };
}

test('before sending: nothing is sent', async () => {
	const { client, sent, cancel, failure } = arrange();
	cancel();
	const error = await failure(sending()(client));
	expect(error).toBeInstanceOf(CancelledError);
	expect(error.message).toBe('The execution was canceled');
	expect(error.facts).toEqual({ advice: NOTHING_MORE, retryable: false });
	expect(sent).toHaveLength(0);
});

test.each<[string, Exchange, RequestKind, message: string, doubt: RegExp]>([
	['a refusal', reply(503, '', { 'retry-after': '60' }), 'image', 'was canceled', /^$/],
	[
		'an answer that leaves in doubt what was done',
		reply(500, '', { 'retry-after': '60' }),
		'response',
		'was canceled after a request had been sent',
		/^The request may have been executed and charged\..* $/,
	],
])('during the wait after %s: it ends there, and nothing more is sent', async (...row) => {
	const [, exchange, kind, message, doubt] = row;
	const { client, sent, time, cancel } = arrange([exchange]);
	const failing = failureOf(sending(kind)(client));
	await time.advance(10_000);
	cancel();
	const error = await failing;
	expect(error).toBeInstanceOf(CancelledError);
	expect(error.message).toBe(`The execution ${message}`);
	expect(error.facts.advice).toContain(NOTHING_MORE);
	expect(error.facts.advice.replace(NOTHING_MORE, '')).toMatch(doubt);
	expect(error.facts.inDoubt).toBe(doubt.source === '^$' ? undefined : true);
	expect(error.facts.retryable).toBe(false);
	expect(time.now() - START).toBe(10_000);
	await time.advance(600_000);
	expect(sent).toHaveLength(1);
});

test.each([
	['lost', fault('lost')],
	['canceled', aborted()],
	['timed out', fault('timeout')],
	['not connected', fault('unreached')],
	['answered by 503', reply(503)],
])('while a request is under way, which is %s then: it is not sent again', async (_, then) => {
	const { sent, work } = await cancelDuring(then);
	const error = await failureOf(work);
	expect(error).toBeInstanceOf(CancelledError);
	expect(error.message).toBe('The execution was canceled');
	expect(sent).toHaveLength(1);
});

test.each<[RequestKind, RegExp]>([
	['response', /^The request may have been executed and charged/],
	['image', /^An image task may exist and be charged/],
])('while a %s is under way says that it may cost money', async (kind, advice) => {
	const { work } = await cancelDuring(aborted(), kind);
	const { facts } = await failureOf(work);
	expect(facts.advice).toMatch(advice);
	expect(facts).toMatchObject({ inDoubt: true, retryable: false });
});

test('an answer that arrives all the same is not thrown away', async () => {
	const { work } = await cancelDuring(reply(202, { task_id: 't' }), 'image');
	await expect(work).resolves.toMatchObject({ json: { task_id: 't' } });
});

test('a cancel of what is under way alone, as of a stream, ends the request too', async () => {
	const stop = new AbortController();
	stop.abort();
	const { error } = await fail([fault('lost')], sending(), { cancel: stop.signal });
	expect(error).toBeInstanceOf(CancelledError);
});

test('a transport that reports a cancel is believed, whatever the signal says', async () => {
	for (const more of [{}, { signal: undefined }]) {
		const { error, sent } = await fail([aborted()], sending(), more);
		expect(error).toBeInstanceOf(CancelledError);
		expect(sent).toHaveLength(1);
	}
});

test('a wait that fails by itself is no cancel', async () => {
	const bug = new Error('no clock');
	const { client } = arrange([reply(503)]);
	const time = { now: () => START, random: () => 1, sleep: async () => await Promise.reject(bug) };
	await expect(sending()({ ...client, time })).rejects.toBe(bug);
	await expect(
		sending()({ ...arrange([reply(503)]).client, time, signal: undefined }),
	).rejects.toBe(bug);
});
