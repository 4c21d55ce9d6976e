import { Readable } from 'node:stream';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { RequestAborted } from '../../../nodes/shared/api/http/abort';
import { TransportFault } from '../../../nodes/shared/api/http/transport';
import { createTransport, type RequestContext } from '../../../nodes/shared/n8n/http/transport';
import { toTransportFault } from '../../../nodes/shared/n8n/http/transport-fault';

const BASE = 'https://gw.example/v1';
const MESSAGE = { method: 'POST', path: '/responses', body: { a: 1 }, timeoutMs: 60_000 } as const;

/** A transport over a helper that does this, and what the helper was told. */
function over(helper: () => unknown, cancel?: AbortSignal) {
	const asked: Array<{ by: string; options: IHttpRequestOptions }> = [];
	const httpRequestWithAuthentication = async (by: string, options: IHttpRequestOptions) => {
		asked.push({ by, options });
		return await helper();
	};
	const context = { helpers: { httpRequestWithAuthentication } } as unknown as RequestContext;
	/** Whether the request's connection was ended. */
	const isEnded = () => (asked[0]!.options.agentOptions as { signal: AbortSignal }).signal.aborted;
	return { transport: createTransport(context, BASE, cancel), asked, isEnded };
}

const reply = (body: unknown) => ({ statusCode: 200, headers: { a: 'b' }, body });
const silence = async () => await new Promise<never>(() => {});
const coded = (code: string) => Object.assign(new Error('x'), { code });
const lost = async () => await Promise.reject(coded('ECONNRESET'));
const chunks = (...pieces: number[][]) =>
	reply(Readable.from(pieces.map((one) => Buffer.from(one))));

const failureOf = async (work: Promise<unknown>) => await work.catch((error: unknown) => error);

test('a request goes through n8n’s helper once, with the key and without redirects', async () => {
	const { transport, asked, isEnded } = over(() => reply('text'));
	const headers = { 'X-Request-ID': 'r' };
	const answer = await transport.send({ ...MESSAGE, headers });
	expect(answer).toEqual({ status: 200, headers: { a: 'b' }, body: 'text' });
	const bounds = { timeout: 60_000, returnFullResponse: true, ignoreHttpStatusErrors: true };
	const sent = { method: 'POST', url: `${BASE}/responses`, body: { a: 1 }, encoding: 'text' };
	const options = { ...sent, ...bounds, disableFollowRedirect: true };
	expect(asked).toMatchObject([{ by: 'modelAccessApi', options }]);
	expect(asked[0]!.options.headers).toEqual({ ...headers, Accept: 'application/json' });
	expect(isEnded()).toBe(false);
	// A body that is no text is an empty one.
	expect((await over(() => reply(undefined)).transport.send(MESSAGE)).body).toBe('');
});

test('a reply that takes too long ends its connection; another fault leaves it alone', async () => {
	const late = over(silence);
	const timeout = await failureOf(late.transport.send({ ...MESSAGE, timeoutMs: 1 }));
	expect(timeout).toMatchObject({ name: 'TransportFault', kind: 'timeout' });
	expect(late.isEnded()).toBe(true);
	const broken = over(lost);
	const fault = await failureOf(broken.transport.send(MESSAGE));
	expect(fault).toMatchObject({ name: 'TransportFault', kind: 'lost', code: 'ECONNRESET' });
	expect(broken.isEnded()).toBe(false);
});

test('a caller that leaves ends its connection; a fault meanwhile is a fault', async () => {
	const leaving = new AbortController();
	const { transport, isEnded } = over(silence, leaving.signal);
	const failing = failureOf(transport.open(MESSAGE));
	leaving.abort();
	expect(await failing).toBeInstanceOf(RequestAborted);
	expect(isEnded()).toBe(true);
	const staying = over(lost, new AbortController().signal);
	expect(await failureOf(staying.transport.open(MESSAGE))).toBeInstanceOf(TransportFault);
	expect(staying.isEnded()).toBe(false);
});

describe('A reply that is streamed', () => {
	test('is asked for as events or JSON, and read whole though characters are cut', async () => {
		const { transport, asked } = over(() => chunks([0xc3], [0xa4, 0xe2], [0x82, 0xac]));
		const opened = await transport.open(MESSAGE);
		expect([opened.status, (await opened.whole()).body]).toEqual([200, 'ä€']);
		const { encoding, headers: sent } = asked[0]!.options;
		expect([encoding, sent]).toEqual(['stream', { Accept: 'text/event-stream, application/json' }]);
		// A last character that is cut off shows.
		const cutOff = await over(() => chunks([97, 0xe2])).transport.open(MESSAGE);
		expect((await cutOff.whole()).body).toBe('a\ufffd');
	});

	test('is closed by its reader, on both sides', async () => {
		const answer = chunks([97]);
		const { transport, isEnded } = over(() => answer);
		(await transport.open(MESSAGE)).close();
		expect([isEnded(), (answer.body as Readable).destroyed]).toEqual([true, true]);
	});

	test.each<[string, Error, object]>([
		['of no known code', new Error('x'), { kind: 'lost', code: undefined }],
		['with a code', coded('ETIMEDOUT'), { code: 'ETIMEDOUT' }],
		['of a cancel', coded('ERR_CANCELED'), { name: 'RequestAborted' }],
	])('fails by a fault %s, also before anyone reads it', async (_name, error, fault) => {
		const answer = reply(new Readable({ read: () => {} }));
		const opened = await over(() => answer).transport.open(MESSAGE);
		(answer.body as Readable).destroy(error);
		await new Promise(setImmediate);
		expect(await failureOf(opened.chunks[Symbol.asyncIterator]().next())).toMatchObject(fault);
	});
});

const axiosError = { isAxiosError: true, cause: Object.assign(new Error('x'), { cause: null }) };
const ALERT = 'error:0A:SSL routines:read:tlsv1 alert access denied:s3.c:1:SSL alert number 49';

test.each<[string, object, object]>([
	['of axios', axiosError, { kind: 'lost', code: undefined }],
	['with a code that is a number', { ...axiosError, code: 7 }, { kind: 'lost', code: undefined }],
	['of n8n’s protection', { name: 'SsrfBlockedError' }, { kind: 'blocked' }],
	['of a name that begins otherwise', { name: 'NoSsrfError', code: 'E' }, { code: 'E' }],
	['of a name that goes on', { name: 'SsrfErrors', code: 'E' }, { code: 'E' }],
	[
		'of an alert',
		{ code: 'EPROTO', message: ALERT },
		{ code: 'ERR_SSL_TLSV1_ALERT_ACCESS_DENIED' },
	],
	['of the protocol without an alert', { code: 'EPROTO' }, { code: 'EPROTO' }],
	['that quotes an alert', { ...axiosError, code: 'E', message: ALERT }, { code: 'E' }],
])('an error %s is a fault of the connection', (_name, fields, fault) => {
	const read = toTransportFault(Object.assign(new Error('x'), fields));
	expect(read).toMatchObject({ name: 'TransportFault', ...fault });
});

test('an error that is none of the network’s stays as it is', () => {
	for (const error of [new TypeError('x'), 'x', null]) expect(toTransportFault(error)).toBe(error);
});
