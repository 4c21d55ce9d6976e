import { RateLimitQueue } from '../../../nodes/shared/api/http/rate-limit-queue';
import { streamResponse } from '../../../nodes/shared/api/responses/response-stream';
import type { Client } from '../../../nodes/shared/api/http/request';
import type { VirtualTime } from '../../../scripts/engine/virtual-time';
import { arrange, expectError, quotedError, reply } from './arrange';
import { added, BODY, bytes, completed, creating, delta } from './recorded-streams';
import { event, message, streaming } from './recorded-streams';
import recorded from './recorded-answers.json';

const PINGS = ':\n\n:\n\n';
const LIMIT = recorded['one place, two streams at once, 2'];
const BEGUN = event('response.created', { response: {} });
const ANSWER = delta('Hi') + completed({ output: [message('Hi')] });

const end = (type: string, response: object) => event(`response.${type}`, { response });
const failed = (code: string, response: object = {}) =>
	end('failed', { error: { code, message: 'No' }, ...response });

const data = (json: object) => `data: ${JSON.stringify(json)}\n\n`;

/** An error event of LiteLLM, whose message quotes its provider's error; its own code is a status. */
const quoting = (status: number, code: string) =>
	data(quotedError({ code, message: 'No' }, `${status}`));

const NO = { code: 'rate_limit_exceeded', message: 'No' };

const WAYS: Array<[string, (client: Client) => Promise<unknown>]> = [
	['streamed', async (client) => await streamResponse(client, BODY, { idleMs: 60_000 })],
	['plain', creating],
];

/** A client of a gateway that answers each request by the next of these texts, also in a stream. */
const arranged = (...texts: string[]) => arrange(texts.map((text) => reply(200, text)));

describe.each(WAYS)('A limit in a %s reply with status 200', (_way, ask) => {
	test.each<[string, string]>([
		['as recorded', LIMIT],
		['after the response was begun', BEGUN + failed('rate_limit_exceeded')],
		['by an error event', PINGS + event('error', { code: 'rate_limit_exceeded' })],
		['that is an overload', PINGS + failed('server_is_overloaded')],
		['that asks to slow down', failed('slow_down')],
		['that quotes a provider’s', quoting(429, 'rate_limit_exceeded')],
		['in JSON', JSON.stringify({ error: NO })],
		['in JSON behind pings', `: ping\n\n: ping\n\n${JSON.stringify({ error: NO })}`],
		['in problem details', JSON.stringify({ title: 'Slow', status: 429, detail: 'No' })],
		['in a failed response', JSON.stringify({ id: 'r', status: 'failed', output: [], error: NO })],
		['in an event without a type', data(NO)],
		['in a chunk', data({ object: 'chat.completion.chunk', choices: [], error: NO })],
		['in response.error', event('response.error', { error: NO })],
		['in the details of a status', end('failed', { status_details: { error: NO } })],
		['in response.done', end('done', { status: 'failed', error: NO })],
	])('%s is waited out, and sent again', async (_name, limit) => {
		const { client, drive, sent } = arranged(limit, limit, ANSWER);
		await expect(drive(ask(client))).resolves.toMatchObject({ json: { status: 'completed' } });
		expect(sent).toHaveLength(3);
	});

	test('waits in the queue of the run', async () => {
		const { client, drive, time, sent } = arranged(LIMIT, ANSWER);
		const queue = new RateLimitQueue(time, 2);
		await drive(ask({ ...client, slot: queue.slot(0) }));
		expect(queue.summary).toEqual({ fewest: 1, refused: 1 });
		expect(sent[1]!.at - sent[0]!.at).toBeGreaterThanOrEqual(1000);
	});

	test.each<[string, string, number, RegExp]>([
		['a bill', failed('billing_error'), 403, /billing_error/],
		['credits', failed('insufficient_credits'), 403, /insufficient_credits/],
		['a quota', failed('insufficient_quota'), 429, /insufficient_quota/],
		['a model', failed('model_not_found'), 404, /model_not_found/],
		['a quota of the provider', quoting(429, 'insufficient_quota'), 429, /insufficient_quota/],
	])('that is %s is refused, and sent once', async (_name, refusal, httpStatus, says) => {
		const { client, failure, sent } = arranged(PINGS + refusal);
		const error = await failure(ask(client));
		expectError(error, 'ApiError', says, { httpStatus });
		expect(error.details).not.toHaveProperty('maybeExecuted');
		expect(error.details).not.toHaveProperty('charged');
		expect(sent).toHaveLength(1);
	});

	test.each<[string, string]>([
		['after a text', delta('Hi') + failed('rate_limit_exceeded')],
		['after an item was begun', added(0, message()) + failed('server_is_overloaded')],
		['after a text, of a provider', delta('Hi') + quoting(429, 'rate_limit_exceeded')],
		['of a provider, where the gateway itself failed', quoting(500, 'rate_limit_exceeded')],
		['of no known code', failed('gpu_on_fire')],
		['that is a fault of the gateway', failed('server_error')],
		['that is a wrong key', failed('invalid_api_key')],
		['with tokens counted', failed('rate_limit_exceeded', { usage: { output_tokens: 7 } })],
		['with output', failed('rate_limit_exceeded', { output: [message('Hi')] })],
	])('%s is in doubt, and sent once', async (_name, stream) => {
		const { client, failure, sent } = arranged(stream);
		const details = { retryable: false, charged: true };
		expectError(await failure(ask(client)), 'StreamError', /./, details);
		expect(sent).toHaveLength(1);
	});
});

test('until the headers of a stream are here, Timeout counts; from then on Idle Timeout', async () => {
	const silence = (headersMs: number, firstMs: number) => {
		const chunks = async function* (time: VirtualTime) {
			await time.gateway.sleep(firstMs);
			yield bytes(ANSWER);
		};
		const arranged = streaming(chunks, { timeoutMs: 600_000, idleMs: 20_000 });
		const { open } = arranged.transport;
		arranged.transport.open = async (message) => {
			await arranged.time.gateway.sleep(headersMs);
			return await open(message);
		};
		return arranged;
	};
	await expect(silence(300_000, 19_000).run()).resolves.toBeDefined();
	const idle = await silence(300_000, 21_000).failure();
	expect(idle.message).toBe('Nothing arrived for 20 s in the middle of the answer');
	const late = await silence(590_000, 15_000).failure();
	expect(late.message).toBe('The answer was not complete within 600 s');
});
