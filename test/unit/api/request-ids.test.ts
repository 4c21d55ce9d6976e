import type { Client } from '../../../nodes/shared/api/http/client';
import type { RequestKind } from '../../../nodes/shared/api/http/retry';
import { getReplyIds } from '../../../nodes/shared/api/errors/reply-ids';
import { submitImageTask } from '../../../nodes/shared/api/images/submit-task';
import { aborted, arrange, fail, fault, KEY, reply, sending, succeed } from './arrange';
import type { Exchange } from './arrange';

/** IDs in the order in which they are made: own-1, own-2, … */
const counting = (made = 0) => ({ newRequestId: () => `own-${++made}` });

const UUID = '18bd731a-a7bc-4307-9d84-9fa2f2eb0bef';

test.each<[string, Record<string, string | string[]>, string]>([
	['the gateway’s', { 'x-request-id': 'gw' }, 'gw'],
	['the first of two', { 'x-request-id': `${UUID}, req_c5f0f54709d2` }, UUID],
	['the first of two headers', { 'x-request-id': ['a', 'b'] }, 'a'],
	['a part, if it is long', { 'x-request-id': 'r'.repeat(500) }, `${'r'.repeat(200)}…`],
	['another gateway’s: request-id', { 'request-id': 'r' }, 'r'],
	['LiteLLM’s', { 'x-litellm-call-id': 'l' }, 'l'],
	['One API’s', { 'x-oneapi-request-id': 'o' }, 'o'],
	['the contract’s before others', { 'request-id': 'r', 'x-request-id': 'x' }, 'x'],
	['our own where an empty one came', { 'x-request-id': ' , ' }, 'own-1'],
	['our own where none came', {}, 'own-1'],
	['one without the key', { 'x-request-id': `r ${KEY}, other` }, 'r [API key]'],
])('a request is named by %s', (_, headers, requestId) => {
	const ids = getReplyIds(arrange().client.redact, { headers, sentId: 'own-1' });
	expect(ids).toEqual({ requestId });
});

const UNREACHED = fault('unreached', 'ECONNREFUSED');

test.each<[RequestKind, Exchange]>([
	['response', reply(503)],
	['image', UNREACHED],
])('each attempt at a request of the kind %s carries an ID of its own', async (kind, first) => {
	const script = [first, UNREACHED, reply(200, { id: 'r' })];
	const { sent, value } = await succeed(script, sending(kind), counting());
	const ids = ['own-1', 'own-2', 'own-3'];
	expect(sent.map(({ headers }) => headers)).toEqual(ids.map((id) => ({ 'X-Request-ID': id })));
	expect(value).toMatchObject({ requestId: 'own-3' });
});

test('an error names both IDs, the gateway’s before our own', async () => {
	const headers = { 'x-request-id': 'gw, up', 'x-client-request-id': 'console-7' };
	const { error } = await fail(reply(400, {}, headers), sending(), counting());
	expect(error.details).toMatchObject({ requestId: 'gw', clientRequestId: 'console-7' });
	const unnamed = await fail(reply(400, {}), sending(), counting());
	expect(unnamed.error.details).toMatchObject({ requestId: 'own-1' });
	expect(unnamed.error.details).not.toHaveProperty('clientRequestId');
});

const ASK = /Give the request ID to the gateway’s operator, or look it up in the gateway/;

test.each<[string, RequestKind, Exchange, id: string | undefined]>([
	['whose reply timed out has our own ID', 'image', fault('timeout', 'ECONNABORTED'), 'own-1'],
	['whose reply was lost has our own ID', 'image', fault('lost', 'ECONNRESET'), 'own-1'],
	['that was canceled has our own ID', 'response', aborted(), 'own-1'],
	['that never reached the gateway has none', 'response', UNREACHED, undefined],
	['that only looked has none', 'read', fault('lost'), undefined],
])('an error of a request %s', async (_, kind, exchange, id) => {
	const { error, sent } = await fail(exchange, sending(kind), counting());
	expect(sent[0]!.headers !== undefined).toBe(kind !== 'read');
	const { requestId, maybeExecuted } = error.details;
	expect([requestId, maybeExecuted]).toEqual([id, id && true]);
	expect('requestId' in error.details).toBe(id !== undefined);
	expect(ASK.test(error.details.advice)).toBe(kind === 'image');
});

test('an accepted task has the IDs of its submit', async () => {
	const headers = { 'x-client-request-id': 'console-7' };
	const accepted = reply(202, { task_id: 't', status: 'processing' }, headers);
	const submit = async (client: Client) => await submitImageTask(client, 'generations', {});
	const { value } = await succeed([accepted], submit, counting());
	expect(value).toMatchObject({ taskId: 't', requestId: 'own-1', clientRequestId: 'console-7' });
});
