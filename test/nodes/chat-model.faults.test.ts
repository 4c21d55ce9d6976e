import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import { MAYBE_EXECUTED_ADVICE } from '../../nodes/shared/api/errors/from-reply';
import type { Fault } from '../../gateway';
import { expectNoSecret } from '../support/secrets';
import { canceledAfter, reply, type ShownError } from './arrange';
import { chunksOf, useChat, WAYS, type Asked } from './chat-model.arrange';

const harness = useChat();

type ModelError = ShownError & { functionality: string };

/** The error that the model's caller gets, which holds no key. */
async function failing(work: Promise<unknown>) {
	const error: unknown = await harness.drive(work).catch((failure: unknown) => failure);
	if (!(error instanceof Error)) throw new Error('It did not fail');
	expectNoSecret(harness.access.apiKey, error);
	return error as ModelError;
}

describe.each(WAYS)('%s', (_name, ask) => {
	// What each status says, and how often it is sent, is the client's: one of each outcome.
	test.each([
		['401', 1, false],
		['429', 4, false],
		['500', 2, true],
		['502', 1, true],
	])('status %s is asked for %i times and says what to do', async (status, times, doubtful) => {
		const { model, runs } = await harness.supply();
		const error = await failing(ask(model, `Hi [[status:${status}]]`));
		expect(harness.posts()).toBe(times);
		expect(error).toBeInstanceOf(NodeApiError);
		expect(error.message).toContain(`(HTTP ${status}, `);
		const request_id = /Request ID: (req_\d+)\.$/.exec(error.description!)?.[1];
		expect(request_id).toBeDefined();
		const details = { http_status: Number(status), request_id };
		const seen = { httpCode: status, functionality: 'configuration-node', context: { details } };
		expect(error).toMatchObject(seen);
		expect(error.description?.includes(MAYBE_EXECUTED_ADVICE.response)).toBe(doubtful);
		expect(runs().at(-1)).toMatchObject({ executionStatus: 'error', error });
	});

	const echo = () => reply(403, { error: { message: `No ${harness.access.apiKey}` } });
	const page = reply(200, '<!doctype html><p>Log in', { 'Content-Type': 'text/html' });
	test.each<[string, () => Fault, string]>([
		['a lost connection', () => ({ kind: 'destroy' }), 'was lost before its answer arrived'],
		['a web page', () => page, 'web page (HTML)'],
		['an answer without a status or output', () => reply(200, { id: 'r' }), 'field "status"'],
		['an echo of the key', echo, 'No [API key]'],
	])('%s is an error, and nothing is sent again', async (_what, fault, message) => {
		harness.answer(fault());
		const { model } = await harness.supply();
		const error = await failing(ask(model, 'Hi'));
		expect(error.message).toContain(message);
		expect(harness.posts()).toBe(1);
	});

	test('a gateway that asks to wait is waited for, up to Max Retries', async () => {
		const { model, context } = await harness.supply({ options: { maxRetries: 1 } });
		const debug = jest.spyOn(context.logger, 'debug');
		await harness.drive(ask(model, 'Hi [[once:429]]'));
		expect(harness.posts()).toBe(2);
		expect(harness.time.waits).toContain(2000);
		expect(debug).toHaveBeenCalledWith(expect.stringContaining('sending again in 2000 ms'));
		await failing(ask(model, 'Hi [[status:503]]'));
		expect(harness.posts()).toBe(4);
	});

	test('a call of a tool that is cut off is not made', async () => {
		const { model } = await harness.supply({ options: { maxOutputTokens: 1 } });
		const parameters = { type: 'object', properties: { text: { type: 'string' } } };
		const note = { name: 'note', description: 'Notes it', parameters };
		const bound = model.bindTools([{ type: 'function', function: note }]) as Asked;
		const error = await failing(ask(bound, 'A long text that takes many tokens to write down'));
		expect(error.message).toContain('The model called note with arguments that are not');
		expect(error.description).toContain('Raise that option');
	});

	test('nothing is sent once the execution is canceled', async () => {
		const { model } = await harness.supply({}, { signal: AbortSignal.abort() });
		const error = await failing(ask(model, 'Hi'));
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error.message).toBe('The execution was canceled');
		expect(harness.posts()).toBe(0);
	});

	test.each([
		['a wait of the execution', 'Hi [[status:429]]', true],
		['a request of the execution', 'Hi', true],
		['a request of the model’s caller', 'Hi', false],
	])('%s that is canceled ends at once', async (_what, text, byExecution) => {
		if (text === 'Hi') harness.answer({ kind: 'delay', ms: 100_000 });
		const signal = canceledAfter(harness.time, 1000);
		const { model } = await harness.supply({}, byExecution ? { signal } : {});
		const start = harness.time.now();
		const error = await failing(ask(model, text, byExecution ? undefined : signal));
		expect(error.message).toMatch(/cancel|abort/i);
		expect(harness.time.now() - start).toBe(1000);
		await harness.time.advance(1);
		expect(harness.gateway.inFlight).toBe(0);
		expect(harness.posts()).toBe(1);
	});
});

test.each([
	['ends by response.failed', 0, 60, 'One two three [[fail]]', 'failed on purpose.', /charged/],
	['ends by an error', 0, 60, 'One two three [[error]]', 'failed on purpose.', /charged/],
	['is silent', 20_000, 300, 'Hi', 'Nothing arrived for 10 s', /Idle Timeout option/],
	['takes longer than Timeout', 9_000, 15, 'Hi', 'not complete within 15 s', /Timeout option/],
])('a stream that %s is an error that says what to do, with what came so far', async (...row) => {
	const [, deltaMs, timeout, text, message, advice] = row;
	harness.gateway.settings.deltaMs = deltaMs;
	const { model } = await harness.supply({ options: { idleTimeout: 10, timeout } });
	const error = await failing(chunksOf(model, text));
	expect(error.message).toContain(message);
	expect(error.description).toMatch(advice);
	if (deltaMs === 0) expect(error.context.details?.partial_text).toBe('You said: One');
	expect(harness.posts()).toBe(1);
});

const extra = (extraBody: string) => ({ options: { extraBody } });
const at = (mode: string, value: string) => ({ model: { __rl: true, mode, value } });
test.each<[RegExp, parameters: object, text?: string, access?: object]>([
	[/^Model is empty$/, at('list', '')],
	[/^The expression in Model gave nothing$/, at('id', '={{ $json.model }}')],
	[/^Timeout is 0$/, { options: { timeout: 0 } }],
	[/^Extra Body is not valid JSON: .+/, extra('{')],
	[/Base URL/, {}, 'Hi', { baseUrl: 'https://' }],
	[/^Extra Body holds "input"$/, extra('{"input":"Hi"}')],
	[/^Extra Body asks to stream$/, extra('{"stream":true}')],
	[/^Prompt is empty$/, {}, ''],
])('nothing is sent, and the error says: %s', async (...row) => {
	const [message, parameters, text = 'Hi', access] = row;
	const supplied = harness.supply({ ...parameters }, { access });
	const error = await failing(supplied.then(async ({ model }) => await model.invoke(text)));
	expect(error).toBeInstanceOf(NodeOperationError);
	expect(error.message).toMatch(message);
	expect(error).toMatchObject({ functionality: 'configuration-node' });
	expect(error.description).not.toBe('');
	expect(harness.posts()).toBe(0);
});
