import fc from '../../support/fast-check';
import { RateLimitQueue } from '../../../nodes/shared/api/http/rate-limit-queue';
import type { RequestKind } from '../../../nodes/shared/api/http/retry';
import type { FaultKind } from '../../../nodes/shared/api/http/transport';
import { arrange, expectError, fail, fault, quotedError, reply, sending, START } from './arrange';
import { succeed, type Exchange } from './arrange';

const KINDS: RequestKind[] = ['read', 'response', 'image'];

/** How often a read, a response and an image are sent if nothing changes, with three retries. */
type Sends = readonly [read: number, response: number, image: number];
const ALL_BOUNDED: Sends = [4, 4, 4];
/** An image waits in the queue of all images: see `Refusals`. */
const QUEUED: Sends = [4, 4, 1];
const ONCE_MORE: Sends = [2, 2, 1];
const READS_ONLY: Sends = [4, 1, 1];
const NEVER: Sends = [1, 1, 1];

/** What is sent, whether the gateway may have executed it, and what the user reads. */
type Outcome = [Sends, executed: 'no' | 'maybe', title: RegExp, advice: RegExp];

/** Design, section 4, and the contract's table "Errors". */
const STATUSES: Array<[statuses: number[], ...Outcome]> = [
	[[400], NEVER, 'no', /refused the request as invalid/, /^Fix the request/],
	[[401], NEVER, 'no', /not accept the API key/, /^Fix the credential: copy the key/],
	[[403], NEVER, 'no', /does not permit this/, /group.*balance.*console/],
	[[404], NEVER, 'no', /not know this address or model/, /^Check the Base URL.*\/v1/],
	[[408], READS_ONLY, 'maybe', /did not complete in time/, /time-outs/],
	[[413], NEVER, 'no', /too large/, /^Shrink or split/],
	[[429], QUEUED, 'no', /rate limit is reached/, /Concurrency/],
	[[499], NEVER, 'no', /closed before the gateway answered/, /time-outs of proxies/],
	[[500], ONCE_MORE, 'maybe', /internal error/, /report it/],
	[[502], READS_ONLY, 'maybe', /invalid reply/, /small request/],
	[[503, 529], QUEUED, 'no', /overloaded or partly unavailable/, /^Try again later/],
	[[504], READS_ONLY, 'maybe', /waited too long/, /Send a smaller request\. Turn on Stream/],
	[[300, 301, 302, 303, 304, 307, 308], NEVER, 'no', /redirects to another/, /key would/],
	[[402, 405, 409, 418, 422, 451], NEVER, 'no', /refused the request \(/, /^Check the/],
	// Not in the contract: it is not known that nothing was done, so nothing that costs is repeated.
	[[501, 505, 520, 524], READS_ONLY, 'maybe', /^The gateway failed/, /report it/],
];

const FAULTS: Array<[FaultKind, code: string, ...Outcome]> = [
	['unreached', 'ECONNREFUSED', ALL_BOUNDED, 'no', /cannot be reached/, /^Check the Base.*running/],
	['timeout', 'ETIMEDOUT', READS_ONLY, 'maybe', /answer in time/, /overloaded.*Raise the Timeout/],
	['lost', 'ECONNRESET', READS_ONLY, 'maybe', /was lost/, /Check the network[^.]*gateway\.$/],
	['certificate', 'CERT_X', NEVER, 'no', /certificate/, /always verify/],
	['clientCertificate', 'ERR_X', NEVER, 'no', /client certificate/, /address that needs none/],
	['handshake', 'ERR_Y', NEVER, 'no', /refuses the TLS handshake/, /another TLS version/],
	['tls', 'EPROTO', NEVER, 'no', /does not speak TLS/, /^Check the Base URL.*port/],
	['blocked', 'SSRF', NEVER, 'no', /SSRF protection blocked/, /private network/],
];

const DOUBT = {
	read: '',
	response: 'The request may have been executed and charged. Check the usage',
	image: 'An image task may exist and be charged although no task ID arrived. Check the usage',
};

describe.each(KINDS)('A request that is a %s', (kind) => {
	const column = KINDS.indexOf(kind);

	/** What a user reads at last, and how often the gateway was asked. */
	async function expectFailure(always: Exchange, [sends, executed, title, advice]: Outcome) {
		const { sent, error } = await fail(always, sending(kind));
		expect(sent).toHaveLength(sends[column]!);
		const doubt = executed === 'maybe' ? DOUBT[kind] : '';
		const mayHelp = sends[column]! > 1 || sends === QUEUED;
		expectError(error, /Error$/, title, { retryable: doubt === '' && mayHelp });
		expect(error.details.maybeExecuted).toBe(doubt === '' ? undefined : true);
		expect(error.details.advice.slice(0, doubt.length)).toBe(doubt);
		if (doubt !== '') expect(error.details.advice).toMatch(/ it again\. \S/);
		const rest = error.details.advice.slice(doubt.length).replace(/^ .*? again\. /, '');
		expect(rest).toMatch(advice);
		expect(rest).not.toContain('charged');
		return error;
	}

	test.each(STATUSES)('answered by HTTP %j', async (statuses, ...outcome) => {
		for (const status of statuses) {
			const said = { type: 'SOME_TYPE', code: 'some_code' };
			const body = { error: { ...said, message: 'said so' } };
			const error = await expectFailure(reply(status, body, { 'x-request-id': 'req_7' }), outcome);
			const facts = { ...said, httpStatus: status, requestId: 'req_7', retryAfter: undefined };
			expectError(error, 'ApiError', new RegExp(`\\(HTTP ${status}, some_code\\): said so`), facts);
			// Only a submit that was refused may be submitted again, and so its error says it.
			const refusal = status === 429 ? 'rateLimited' : 'unavailable';
			const isRefused = kind === 'image' && outcome[0] === QUEUED;
			expect(error.details.refusal).toBe(isRefused ? refusal : undefined);
		}
	});

	test.each(FAULTS)('without a reply: %s (%s)', async (fails, code, ...outcome) => {
		const error = await expectFailure(fault(fails, code), outcome);
		expectError(error, 'NetworkError', new RegExp(`\\(${code}\\)`));
		const { httpStatus, refusal } = error.details;
		expect([httpStatus, refusal]).toEqual([undefined, undefined]);
	});

	test('is sent again as often at most as the user allows', async () => {
		for (const maxRetries of [0, 1, 7]) {
			const { sent } = await fail(fault('unreached'), sending(kind), { maxRetries });
			expect(sent).toHaveLength(maxRetries + 1);
		}
	});
});

test.each([
	[fault('lost'), 'The connection to the gateway was lost before its answer arrived'],
	[fault('certificate', 'C', 'old'), 'The gateway’s TLS certificate is not accepted (old)'],
])('the error names what is known of a fault: %j', async (exchange, message) => {
	expect((await fail(exchange, sending('image'))).error.message).toBe(message);
});

test('an error that is none of the network passes as it is', async () => {
	const { client, transport } = arrange();
	const bug = new TypeError('a bug');
	transport.send = async () => await Promise.reject(bug);
	await expect(sending('read')(client)).rejects.toBe(bug);
});

test('whatever happens before, nothing that may have been executed is sent again', async () => {
	/** What comes, and how often each kind is sent if nothing else comes. */
	const outcomes: Array<[Exchange, Sends]> = [
		...STATUSES.flatMap(([statuses, sends]) =>
			statuses.map((status): [Exchange, Sends] => [reply(status), sends]),
		),
		...FAULTS.map(([kind, , sends]): [Exchange, Sends] => [fault(kind), sends]),
		[reply(200, {}), NEVER],
	];
	const pasts = fc.array(fc.constantFrom(...outcomes), { minLength: 1, maxLength: 8 });
	const kinds = fc.constantFrom(...KINDS);
	const property = fc.asyncProperty(kinds, pasts, fc.nat(6), async (kind, past, maxRetries) => {
		const { client, sent } = arrange([...past.map(([exchange]) => exchange), reply(400)]);
		// Time need not be driven: without chance no wait takes time.
		const time = { now: () => START, random: () => 0, sleep: async () => {} };
		await sending(kind)({ ...client, maxRetries, time }).catch(() => {});

		let internalErrors = 0;
		const isLast = ([exchange, sends]: [Exchange, Sends]) => {
			if ('status' in exchange && exchange.status === 500) internalErrors++;
			const most = sends[KINDS.indexOf(kind)]!;
			return most === 1 || (most === 2 && internalErrors > 1);
		};
		const last = past.findIndex(isLast);
		const expected = last < 0 ? past.length + 1 : last + 1;
		expect(sent).toHaveLength(Math.min(expected, maxRetries + 1));
	});
	await fc.assert(property, { numRuns: 300 });
});

test('after an internal error (500) one more try may succeed: it sends the same', async () => {
	const script = [reply(500), reply(200, { id: 'r' })];
	const body = { model: 'm' };
	const { value, sent } = await succeed(script, sending('response', body), { timeoutMs: 1234 });
	expect(value.json).toEqual({ id: 'r' });
	const message = { method: 'POST', path: '/responses', body, timeoutMs: 1234 };
	expect(sent).toEqual([START, START + 1000].map((at) => ({ ...message, at })));
});

/** As recorded, word for word. */
const code = 'insufficient_quota';
const said = { code, message: 'API key 额度已用完', type: code };
const USED_UP = { error: { ...said, param: null } };

test.each(KINDS)('a used-up quota is refused, not slowed down: %s', async (kind) => {
	for (const body of [USED_UP, said, quotedError(said, '429', 'throttling_error')]) {
		const { error, sent } = await fail(reply(429, body), sending(kind));
		expect(sent).toHaveLength(1);
		const title = /^A quota or budget is used up \(HTTP 429, insufficient_quota\): /;
		const advice = /^Raise or reset the quota.*another key\.$/;
		expectError(error, 'ApiError', title, { code, retryable: false, advice });
		expect(error.details.refusal).toBeUndefined();
	}
	// It is waited out by a Retry-After that fits, and only by such.
	const script = [reply(429, USED_UP, { 'retry-after': '40' }), reply(200, { id: 'r' })];
	const inTime = await succeed(script, sending(kind));
	expect(inTime.sent.map(({ at }) => at - START)).toEqual([0, 40_000]);
	const later = await fail(reply(429, USED_UP, { 'retry-after': '86400' }), sending(kind));
	expect(later.sent).toHaveLength(1);
	expect(later.error.details.advice).toMatch(
		/^It asked to wait 86400 s, which is longer than the time left\. Raise or reset the quota/,
	);
});

test('a used-up quota holds no other request back', async () => {
	const told: string[] = [];
	const slot = new RateLimitQueue(arrange().time, 1).slot(0);
	const watched = { ...slot, onRateLimited: () => told.push('rate limited') };
	for (const kind of ['image', 'response'] as const)
		await fail(reply(429, USED_UP), sending(kind), { slot: watched });
	expect(told).toEqual([]);
	await fail(reply(429, 'slow down'), sending('response'), { slot: watched, maxRetries: 0 });
	expect(told).toEqual(['rate limited']);
});
