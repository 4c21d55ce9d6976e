import { request } from '../../../nodes/shared/api/http/request';
import type { Client } from '../../../nodes/shared/api/http/client';
import type { RequestKind } from '../../../nodes/shared/api/http/retry';
import { getReplyIds } from '../../../nodes/shared/api/errors/reply-ids';
import { submitImageTask } from '../../../nodes/shared/api/images/submit-task';
import { aborted, arrange, fail, fault, KEY, reply, succeed, type Exchange } from './arrange';

const sending = (kind: RequestKind) => async (client: Client) =>
	await request(client, kind, { method: 'POST', path: '/responses', body: {} });

/** IDs in the order in which they are made: own-1, own-2, … */
function counting() {
	let made = 0;
	return { newRequestId: () => `own-${++made}` };
}

const asIs = (text: string) => text;

test.each<[string, Record<string, string | string[]>, string]>([
	['the gateway’s', { 'x-request-id': 'gw' }, 'gw'],
	[
		'the first of two',
		{ 'x-request-id': '18bd731a-a7bc-4307-9d84-9fa2f2eb0bef, req_c5f0f54709d2' },
		'18bd731a-a7bc-4307-9d84-9fa2f2eb0bef',
	],
	['the first of two headers', { 'x-request-id': ['a', 'b'] }, 'a'],
	['another gateway’s: request-id', { 'request-id': 'r' }, 'r'],
	['LiteLLM’s', { 'x-litellm-call-id': 'l' }, 'l'],
	['One API’s', { 'x-oneapi-request-id': 'o' }, 'o'],
	['the contract’s before others', { 'request-id': 'r', 'x-request-id': 'x' }, 'x'],
	['our own where an empty one came', { 'x-request-id': ' , ' }, 'own-1'],
	['our own where none came', {}, 'own-1'],
])('a request is named by %s', (_, headers, requestId) => {
	expect(getReplyIds(asIs, { headers, sentId: 'own-1' })).toEqual({ requestId });
});

test('the ID under which a console lists the request stands beside it', () => {
	const headers = { 'x-request-id': 'a', 'x-client-request-id': '3cffb23f' };
	expect(getReplyIds(asIs, { headers })).toEqual({ requestId: 'a', clientRequestId: '3cffb23f' });
});

test.each<RequestKind>(['response', 'image'])(
	'each attempt at a request of the kind %s carries an ID of its own',
	async (kind) => {
		const [unreached, done] = [fault('unreached'), reply(200, { id: 'r' })];
		const script = [kind === 'image' ? unreached : reply(503), unreached, done];
		const { sent, value } = await succeed(script, sending(kind), counting());
		expect(sent.map(({ headers }) => headers)).toEqual([
			{ 'X-Request-ID': 'own-1' },
			{ 'X-Request-ID': 'own-2' },
			{ 'X-Request-ID': 'own-3' },
		]);
		expect(value).toMatchObject({ requestId: 'own-3' });
	},
);

test('a look that costs nothing carries no ID', async () => {
	const { sent } = await succeed([reply(200, {})], sending('read'), counting());
	expect(sent[0]).not.toHaveProperty('headers');
});

test('an error names both IDs, the gateway’s before our own', async () => {
	const headers = { 'x-request-id': 'gw, up', 'x-client-request-id': 'console-7' };
	const { error } = await fail(reply(400, {}, headers), sending('response'), counting());
	expect(error.details).toMatchObject({ requestId: 'gw', clientRequestId: 'console-7' });
	const unnamed = await fail(reply(400, {}), sending('response'), counting());
	expect(unnamed.error.details).toMatchObject({ requestId: 'own-1' });
	expect(unnamed.error.details).not.toHaveProperty('clientRequestId');
});

const ASK = /Give the request ID to the gateway’s operator, or look it up in the usage of the/;

test.each<[string, Exchange]>([
	['timed out', fault('timeout', 'ECONNABORTED')],
	['was lost', fault('lost', 'ECONNRESET')],
])('a reply that %s can be asked for by our own ID', async (_, exchange) => {
	const { error } = await fail([exchange], sending('image'), counting());
	expect(error.details).toMatchObject({ requestId: 'own-1', maybeExecuted: true });
	expect(error.details.advice).toMatch(ASK);
});

test('a canceled request that may have been executed has its ID', async () => {
	const { error } = await fail([aborted()], sending('response'), counting());
	expect(error.details).toMatchObject({ requestId: 'own-1', maybeExecuted: true });
});

test.each<[string, RequestKind, Exchange]>([
	['was never reached', 'response', fault('unreached', 'ECONNREFUSED')],
	['was only looked at', 'read', fault('lost')],
])('a gateway that %s has no request to ask for', async (_, kind, exchange) => {
	const { error } = await fail(exchange, sending(kind), counting());
	expect(error.details).not.toHaveProperty('requestId');
	expect(error.details.advice).not.toMatch(ASK);
});

test('an accepted task has the IDs of its submit', async () => {
	const headers = { 'x-client-request-id': 'console-7' };
	const accepted = reply(202, { task_id: 't', status: 'processing' }, headers);
	const { value } = await succeed(
		[accepted],
		async (client) => await submitImageTask(client, 'generations', { model: 'm' }),
		counting(),
	);
	expect(value).toMatchObject({
		taskId: 't',
		requestId: 'own-1',
		clientRequestId: 'console-7',
	});
});

test('an ID that echoes the key is shown without it', () => {
	const { client } = arrange();
	const ids = getReplyIds(client.redact, { headers: { 'x-request-id': `r ${KEY}, other` } });
	expect(ids.requestId).toBe('r [API key]');
});
