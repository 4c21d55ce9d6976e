import fc from '../../support/fast-check';
import { NetworkError, StatusError } from '../../../nodes/shared/api/errors/errors';
import { request } from '../../../nodes/shared/api/http/request';
import { RETRY_TABLE, statusOutcome, type RequestKind } from '../../../nodes/shared/api/http/retry';
import type { FaultKind } from '../../../nodes/shared/api/http/transport';
import { arrange, fail, fault, reply, START, succeed, type Exchange } from './arrange';

const PATHS = { read: '/models', response: '/responses', image: '/images/generations/async' };
const KINDS = Object.keys(PATHS) as RequestKind[];

const sending = (kind: RequestKind) => async (client: Parameters<typeof request>[0]) =>
	await request(
		client,
		kind,
		kind === 'read'
			? { method: 'GET', path: PATHS.read }
			: { method: 'POST', path: PATHS[kind], body: { model: 'm' } },
	);

/** How often a read, a response and an image are sent if nothing changes, with three retries. */
type Sends = readonly [read: number, response: number, image: number];
const ALL_BOUNDED: Sends = [4, 4, 4];
const ONCE_MORE: Sends = [2, 2, 1];
const READS_ONLY: Sends = [4, 1, 1];
const NEVER: Sends = [1, 1, 1];

/** Whether the gateway may have executed the request. */
type Executed = 'no' | 'maybe';

const REDIRECTS = [300, 301, 302, 303, 304, 307, 308];
const OTHERS = [402, 405, 409, 418, 422, 451];
// Not in the contract: it is not known that nothing was done, so nothing that costs is repeated.
const OTHER_FAILURES = [501, 505, 520, 524];

/** Design, section 4, and the contract's table "Errors". */
const STATUSES: Array<[number, Sends, Executed, title: RegExp, advice: RegExp]> = [
	[400, NEVER, 'no', /refused the request as invalid/, /^Fix the request/],
	[401, NEVER, 'no', /not accept the API key/, /^Fix the credential.*revoked, expired or disabled/],
	[403, NEVER, 'no', /does not permit this/, /group.*balance.*console/],
	[404, NEVER, 'no', /not know this address or model/, /Base URL.*\/v1.*model.*switched off/],
	[408, READS_ONLY, 'maybe', /did not complete in time/, /time-outs/],
	[413, NEVER, 'no', /too large/, /^Shrink or split/],
	[429, ALL_BOUNDED, 'no', /asks to slow down/, /Concurrency/],
	[499, NEVER, 'no', /closed before the gateway answered/, /time-outs of proxies/],
	[500, ONCE_MORE, 'maybe', /internal error/, /Report it/],
	[502, READS_ONLY, 'maybe', /abnormal reply/, /minimal request/],
	[503, ALL_BOUNDED, 'no', /overloaded or a part of it is unavailable/, /^Wait a while/],
	[504, READS_ONLY, 'maybe', /waited too long/, /Shorten the task\. Turn on Stream/],
	...REDIRECTS.map(
		(status) =>
			[status, NEVER, 'no', /redirects to another/, /not followed, since the key would/] as const,
	),
	...OTHERS.map(
		(status) =>
			[status, NEVER, 'no', /^The gateway refused the request \(/, /^Check the request/] as const,
	),
	...OTHER_FAILURES.map(
		(status) => [status, READS_ONLY, 'maybe', /^The gateway failed/, /Report it/] as const,
	),
].map((row) => [...row] as [number, Sends, Executed, RegExp, RegExp]);

const FAULTS: Array<[FaultKind, code: string, Sends, Executed, title: RegExp, advice: RegExp]> = [
	[
		'unreached',
		'ECONNREFUSED',
		ALL_BOUNDED,
		'no',
		/cannot be reached/,
		/^Check the Base URL.*running/,
	],
	['timeout', 'ETIMEDOUT', READS_ONLY, 'maybe', /answer in time/, /overloaded.*Raise the Timeout/],
	['lost', 'ECONNRESET', READS_ONLY, 'maybe', /was lost/, /Check the network[^.]*gateway\.$/],
	[
		'certificate',
		'CERT_HAS_EXPIRED',
		NEVER,
		'no',
		/certificate/,
		/verification is not switched off/,
	],
	['tls', 'EPROTO', NEVER, 'no', /does not speak TLS/, /^Check the Base URL.*port/],
	['blocked', 'SSRF', NEVER, 'no', /own protection refuses/, /SSRF protection/],
];

const DOUBT = {
	read: '',
	response: 'The request may have been executed and charged. Check the usage',
	image: 'An image task may exist and be charged although no task ID arrived. Check the usage',
};

describe.each(KINDS)('A request that is a %s', (kind) => {
	const column = KINDS.indexOf(kind);

	/** What a user reads at last, and how often the gateway was asked. */
	async function expectFailure(
		[always, sends, executed]: [Exchange, Sends, Executed],
		[title, advice]: [title: RegExp, advice: RegExp],
	) {
		const { sent, error } = await fail(always, sending(kind));
		expect(sent).toHaveLength(sends[column]!);
		expect(error.message).toMatch(title);
		const doubt = executed === 'maybe' ? DOUBT[kind] : '';
		expect(error.facts.advice.slice(0, doubt.length)).toBe(doubt);
		const rest = error.facts.advice.slice(doubt.length).replace(/^ .*? again\. /, '');
		expect(rest).toMatch(advice);
		expect(rest).not.toContain('charged');
		expect(error.facts).toMatchObject({ retryable: doubt === '' && sends[column]! > 1 });
		expect(error.facts.inDoubt).toBe(doubt === '' ? undefined : true);
		return error;
	}

	test.each(STATUSES)('answered by HTTP %i', async (status, sends, executed, title, advice) => {
		const said = { error: { type: 'SOME_TYPE', code: 'some_code', message: 'said so' } };
		const always = reply(status, said, { 'x-request-id': 'req_7' });
		const error = await expectFailure([always, sends, executed], [title, advice]);
		expect(error).toBeInstanceOf(StatusError);
		expect(error.message).toContain(`(HTTP ${status}): said so`);
		expect(error.facts).toMatchObject({
			httpStatus: status,
			type: 'SOME_TYPE',
			code: 'some_code',
			requestId: 'req_7',
			retryAfter: undefined,
		});
	});

	test.each(FAULTS)('without a reply: %s (%s)', async (fails, code, sends, executed, ...says) => {
		const error = await expectFailure([fault(fails, code), sends, executed], says);
		expect(error).toBeInstanceOf(NetworkError);
		expect(error.message).toContain(`(${code})`);
		expect(error.facts.httpStatus).toBeUndefined();
	});

	test('is refused first, then lost: the doubt decides, not the retries left', async () => {
		const script = [reply(429), ...Array<Exchange>(5).fill(fault('lost'))];
		const { sent } = await fail(script, sending(kind), { maxRetries: 5 });
		expect(sent).toHaveLength(kind === 'read' ? 6 : 2);
	});

	test.each([0, 1, 7])('is sent again %i times at most, as the user allows', async (maxRetries) => {
		const { sent, error } = await fail(reply(503), sending(kind), { maxRetries });
		expect(sent).toHaveLength(maxRetries + 1);
		expect(error.facts.httpStatus).toBe(503);
	});
});

test('no reply is a doubt but one of the kinds that the retry table marks', () => {
	const rows = RETRY_TABLE.map(({ outcome, executed }) => [outcome, executed]);
	expect(Object.fromEntries(rows)).toEqual({
		rateLimited: 'no',
		unavailable: 'no',
		unreached: 'no',
		internalError: 'maybe',
		inDoubt: 'maybe',
		refused: 'no',
	});
	expect(statusOutcome(500)).toBe('internalError');
});

test.each([
	[fault('lost'), 'The connection to the gateway was lost before its answer was here'],
	[
		fault('certificate', 'CERT_HAS_EXPIRED', 'it has expired'),
		'The gateway’s TLS certificate is not accepted (it has expired)',
	],
])('the error names what is known of a fault (%p): %s', async (exchange, text) => {
	const { error } = await fail(exchange, sending('image'));
	expect(error.message).toBe(text);
});

test('an error that is none of the network passes as it is', async () => {
	const { client, transport } = arrange();
	const bug = new TypeError('a bug');
	transport.send = async () => await Promise.reject(bug);
	await expect(sending('read')(client)).rejects.toBe(bug);
});

test('whatever happens before, nothing that may have been executed is sent again', async () => {
	type Then = 'again' | 'once' | 'end';
	/** By design, section 4: what may follow on each outcome, for a read, a response, an image. */
	const outcomes: Array<[Exchange, readonly [Then, Then, Then]]> = [
		...[reply(429), reply(503), fault('unreached')].map(
			(exchange) => [exchange, ['again', 'again', 'again']] as [Exchange, [Then, Then, Then]],
		),
		[reply(500), ['once', 'once', 'end']],
		...[reply(408), reply(502), reply(504), fault('timeout'), fault('lost')].map(
			(exchange) => [exchange, ['again', 'end', 'end']] as [Exchange, [Then, Then, Then]],
		),
		...[reply(400), fault('certificate'), reply(200, {})].map(
			(exchange) => [exchange, ['end', 'end', 'end']] as [Exchange, [Then, Then, Then]],
		),
	];
	await fc.assert(
		fc.asyncProperty(
			fc.constantFrom(...KINDS),
			fc.array(fc.constantFrom(...outcomes), { minLength: 1, maxLength: 8 }),
			fc.nat(6),
			async (kind, story, maxRetries) => {
				const script = [...story.map(([exchange]) => exchange), reply(400)];
				const { client, sent } = arrange(script, { maxRetries });
				// Time need not be driven: without chance no wait takes time.
				client.time = { now: () => START, random: () => 0, sleep: async () => {} };
				await sending(kind)(client).catch(() => {});

				let expected = 0;
				let internalErrors = 0;
				for (const exchange of script) {
					expected++;
					const rule = story[expected - 1]?.[1][KINDS.indexOf(kind)] ?? 'end';
					if ('status' in exchange && exchange.status === 500) internalErrors++;
					if (rule === 'end' || (rule === 'once' && internalErrors > 1)) break;
					if (expected > maxRetries) break;
				}
				expect(sent).toHaveLength(expected);
			},
		),
		{ numRuns: 300 },
	);
});

describe('After an internal error (500)', () => {
	test('one more try may succeed', async () => {
		const { value, sent } = await succeed(
			[reply(500), reply(200, { id: 'r' })],
			sending('response'),
		);
		expect(value.json).toEqual({ id: 'r' });
		expect(sent).toHaveLength(2);
	});

	test.each([[[503, 500, 503, 500]], [[500, 503, 429, 500]], [[500, 500]], [[503, 500, 500]]])(
		'a second one is not forgiven: %j',
		async (statuses) => {
			const script = statuses.map((status) => reply(status));
			const { error, sent } = await fail(script, sending('response'), { maxRetries: 9 });
			expect(error.facts.httpStatus).toBe(500);
			expect(sent).toHaveLength(statuses.length);
		},
	);
});

test('each try sends the same, with the time limit that the user set', async () => {
	const script = [reply(503), reply(200, {})];
	const { sent } = await succeed(script, sending('response'), { timeoutMs: 1234 });
	const message = { method: 'POST', path: '/responses', body: { model: 'm' }, timeoutMs: 1234 };
	expect(sent).toEqual([
		{ ...message, at: START },
		{ ...message, at: START + 1000 },
	]);
});
