import type { ModelAccessError } from '../../../nodes/shared/api/errors/errors';
import { RateLimitQueue } from '../../../nodes/shared/api/http/rate-limit-queue';
import type { RequestKind } from '../../../nodes/shared/api/http/retry';
import { aborted, arrange, expectError, fail, failureOf, fault, reply } from './arrange';
import { sending, START, type Exchange } from './arrange';

const NOTHING_MORE = 'Nothing more was sent. An accepted task goes on at the gateway.';
const CANCELED = 'The execution was canceled';
const AFTER_SENDING = 'The execution was canceled after a request had been sent';
const CHARGED = /^The request may have been executed and charged\..* $/;

/** What a user is told of a cancel; what may cost money is said before the rest. */
function expectCancel(error: ModelAccessError, message: string, doubt = /^$/) {
	expectError(error, 'CanceledError', message, { retryable: false });
	const { advice, maybeExecuted } = error.details;
	expect(advice).toContain(NOTHING_MORE);
	expect(advice.replace(NOTHING_MORE, '')).toMatch(doubt);
	expect(maybeExecuted).toBe(message === AFTER_SENDING ? true : undefined);
}

/** A request of a client that is canceled while it is under way. */
function cancelDuring(exchange: Exchange, kind: RequestKind) {
	const { client, sent, transport, cancel, drive } = arrange([exchange]);
	transport.during = cancel;
	return { sent, work: drive(sending(kind)(client)) };
}

test('before sending: nothing is sent', async () => {
	const { client, sent, cancel, failure } = arrange();
	cancel();
	expectCancel(await failure(sending('image')(client)), CANCELED);
	expect(sent).toHaveLength(0);
});

test.each<[string, number, message: string, doubt: RegExp]>([
	['a refusal', 503, CANCELED, /^$/],
	['an answer that leaves in doubt what was done', 500, AFTER_SENDING, CHARGED],
])('during the wait after %s: nothing more is sent', async (_, status, message, doubt) => {
	const { client, sent, time, cancel } = arrange([reply(status, '', { 'retry-after': '60' })]);
	const failing = failureOf(sending('response')(client));
	await time.advance(10_000);
	cancel();
	expectCancel(await failing, message, doubt);
	expect(time.now() - START).toBe(10_000);
	await time.advance(600_000);
	expect(sent).toHaveLength(1);
});

test.each<[string, Exchange, RequestKind, message: string, doubt?: RegExp]>([
	['read, lost', fault('lost'), 'read', CANCELED],
	['read, canceled', aborted(), 'read', CANCELED],
	['read, answered by 503', reply(503), 'read', CANCELED],
	['response, canceled', aborted(), 'response', AFTER_SENDING, CHARGED],
	['image, lost', fault('lost'), 'image', AFTER_SENDING, /^An image task may exist and be charged/],
])('while a request is under way (%s then): it is not sent again', async (...row) => {
	const [, then, kind, message, doubt] = row;
	const { sent, work } = cancelDuring(then, kind);
	expectCancel(await failureOf(work), message, doubt);
	expect(sent).toHaveLength(1);
});

test('an answer that arrives all the same is not thrown away', async () => {
	const { work } = cancelDuring(reply(202, { task_id: 't' }), 'image');
	await expect(work).resolves.toMatchObject({ json: { task_id: 't' } });
});

test.each<[string, Exchange, Parameters<typeof arrange>[1]]>([
	['of what is under way alone, as of a stream', fault('lost'), { cancel: AbortSignal.abort() }],
	['that a transport reports without any signal', aborted(), { signal: undefined }],
])('a cancel %s ends the request too', async (_, exchange, more) => {
	expectError((await fail([exchange], sending('read'), more)).error, 'CanceledError', /./);
});

test('a wait that fails by itself is no cancel', async () => {
	const bug = new Error('no clock');
	const time = { now: () => START, random: () => 1, sleep: async () => await Promise.reject(bug) };
	const slot = new RateLimitQueue(time, 1).slot(0);
	slot.acquire = time.sleep;
	for (const more of [{ time }, { time, signal: undefined }, { slot, signal: undefined }]) {
		const client = { ...arrange([reply(503)]).client, ...more };
		await expect(sending('response')(client)).rejects.toBe(bug);
	}
});
