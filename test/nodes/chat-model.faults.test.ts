import { HumanMessage } from '@langchain/core/messages';
import { NodeApiError, NodeOperationError, type IDataObject } from 'n8n-workflow';
import { IN_DOUBT_ADVICE } from '../../nodes/shared/api/errors/from-reply';
import { STATUS_TABLE } from '../../nodes/shared/api/errors/status-table';
import type { Fault } from '../../gateway';
import { expectNoSecret } from '../support/secrets';
import { cancelledAfter, type ShownError } from './arrange';
import { chunksOf, startChat, type ChatStory, type LangChainModel } from './chat-model.arrange';

let story: ChatStory;
beforeEach(async () => {
	story = await startChat();
});
afterEach(async () => await story.close());

type Ask = (model: LangChainModel, text: string, signal?: AbortSignal) => Promise<unknown>;
const WAYS: Array<[string, Ask]> = [
	['at once', async (model, text, signal) => await model.invoke(text, { signal })],
	['streamed', async (model, text, signal) => await chunksOf(model, text, signal)],
];

/** The error that the model's caller gets, which holds no key. */
async function failing(work: Promise<unknown>): Promise<ShownError & { functionality: string }> {
	try {
		await story.drive(work);
	} catch (error) {
		expectNoSecret(story.access.apiKey, error);
		return error as ShownError & { functionality: string };
	}
	throw new Error('It did not fail');
}

const intercept = (fault: Fault) => {
	story.gateway.settings.intercept = ({ stage }) => (stage === 'before' ? fault : undefined);
};

describe.each(WAYS)('%s', (_name, ask) => {
	test.each([
		['400', 1],
		['401', 1],
		['403', 1],
		['404', 1],
		['408', 1],
		['413', 1],
		['429', 4],
		['499', 1],
		['500', 2],
		['502', 1],
		['503', 4],
		['504', 1],
	])('status %s is asked for %i times and says what to do', async (status, times) => {
		const { model, runs } = await story.supply();
		const error = await failing(ask(model, `Hi [[status:${status}]]`));
		expect(story.posts()).toBe(times);
		expect(error).toBeInstanceOf(NodeApiError);
		expect(error.message).toContain(STATUS_TABLE[Number(status)]?.title);
		expect(error.message).toContain(`(HTTP ${status})`);
		expect(error.httpCode).toBe(status);
		expect(error.description).toMatch(/Request ID: req_\d+\.$/);
		expect(error.functionality).toBe('configuration-node');
		const doubtful = ['408', '500', '502', '504'].includes(status);
		expect(error.description?.includes(IN_DOUBT_ADVICE.response)).toBe(doubtful);
		expect(error.context.details).toMatchObject({
			http_status: Number(status),
			request_id: expect.stringMatching(/^req_/) as string,
		});
		expect(runs().at(-1)).toMatchObject({ executionStatus: 'error', error });
	});

	test('a gateway that asks to wait is waited for', async () => {
		const { model, context } = await story.supply();
		const debug = jest.spyOn(context.logger, 'debug');
		await story.drive(ask(model, 'Hi [[once:429]]'));
		expect(story.posts()).toBe(2);
		expect(story.time.waits).toContain(2000);
		expect(debug).toHaveBeenCalledWith(expect.stringContaining('sending again in 2000 ms'));
	});

	test('Max Retries bounds what is sent again', async () => {
		const { model } = await story.supply({ options: { maxRetries: 1 } });
		await failing(ask(model, 'Hi [[status:503]]'));
		expect(story.posts()).toBe(2);
	});

	test('a gateway that is not there is tried again: nothing can have reached it', async () => {
		const { model } = await story.supply({}, { access: { baseUrl: 'http://127.0.0.1:9/v1' } });
		const error = await failing(ask(model, 'Hi'));
		expect(error.message).toBe('The gateway cannot be reached (ECONNREFUSED)');
		const waits = story.time.waits.filter((ms) => ms > 0 && ms < 60_000);
		expect(waits).toEqual([1000, 2000, 4000]);
	});

	test('a connection that is lost after sending never asks twice', async () => {
		intercept({ kind: 'destroy' });
		const { model } = await story.supply();
		const error = await failing(ask(model, 'Hi'));
		expect(story.posts()).toBe(1);
		expect(error.message).toContain('was lost before its answer was here');
		expect(error.description).toContain(IN_DOUBT_ADVICE.response);
	});

	test('a web page in place of an answer is none', async () => {
		const html = { 'Content-Type': 'text/html' };
		intercept({ kind: 'reply', status: 200, headers: html, body: '<!doctype html><p>Log in' });
		const { model } = await story.supply();
		const error = await failing(ask(model, 'Hi'));
		expect(error.message).toContain('web page (HTML)');
		expect(story.posts()).toBe(1);
	});

	test('an answer that is not as the contract says names the field', async () => {
		intercept({ kind: 'reply', status: 200, body: { id: 'r1', output: [] } });
		const { model } = await story.supply();
		const error = await failing(ask(model, 'Hi'));
		expect(error.message).toContain('field "status"');
	});

	test('a failed response says why', async () => {
		const { model } = await story.supply();
		const error = await failing(ask(model, 'Hi [[fail]]'));
		expect(error.message).toContain('The model failed on purpose.');
		expect(story.posts()).toBe(1);
	});

	test('a call of a tool that is cut off is not made', async () => {
		const { model } = await story.supply({ options: { maxOutputTokens: 1 } });
		const tool = {
			type: 'function',
			function: {
				name: 'note',
				description: 'Notes it',
				parameters: { type: 'object', properties: { text: { type: 'string' } } },
			},
		};
		const long = 'A long text that takes many tokens to write down';
		const error = await failing(ask(model.bindTools([tool]) as LangChainModel, long));
		expect(error.message).toContain('The model called note with arguments that are not');
		expect(error.description).toContain('Raise that option');
	});

	test('a key that the gateway echoes is not shown', async () => {
		const { apiKey } = story.access;
		intercept({ kind: 'reply', status: 403, body: { error: { message: `No ${apiKey}` } } });
		const { model } = await story.supply();
		const error = await failing(ask(model, 'Hi'));
		expect(error.message).toContain('No [API key]');
	});

	test('nothing is sent once the execution is cancelled', async () => {
		const { model } = await story.supply({}, { signal: AbortSignal.abort() });
		const error = await failing(ask(model, 'Hi'));
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error.message).toBe('The execution was canceled');
		expect(story.posts()).toBe(0);
	});

	test('cancelling ends a wait, and nothing more is sent', async () => {
		const signal = cancelledAfter(story.time, 1000);
		const { model } = await story.supply({}, { signal });
		const start = story.time.now();
		const error = await failing(ask(model, 'Hi [[status:429]]'));
		expect(error.message).toContain('canceled');
		expect(story.time.now() - start).toBe(1000);
		expect(story.posts()).toBe(1);
	});

	test.each(['the execution', 'the caller of the model'])(
		'cancelled by %s, a request ends at once',
		async (who) => {
			intercept({ kind: 'delay', ms: 100_000 });
			const signal = cancelledAfter(story.time, 1000);
			const theExecution = who === 'the execution';
			const { model } = await story.supply({}, theExecution ? { signal } : {});
			const start = story.time.now();
			const error = await failing(ask(model, 'Hi', theExecution ? undefined : signal));
			expect(error.message).toMatch(/cancel|abort/i);
			expect(story.time.now() - start).toBe(1000);
			await story.time.advance(1);
			expect(story.gateway.inFlight).toBe(0);
			expect(story.posts()).toBe(1);
		},
	);
});

describe('a stream', () => {
	test.each(['fail', 'error'])('that ends by [[%s]] keeps what came so far', async (directive) => {
		const { model } = await story.supply();
		const error = await failing(chunksOf(model, `One two three four [[${directive}]]`));
		expect(error.message).toContain('The model failed on purpose.');
		expect(error.context.details).toMatchObject({ partial_text: 'You said: One' });
		expect(story.posts()).toBe(1);
	});

	test('whose connection is lost keeps what came so far, and is not asked for again', async () => {
		story.gateway.settings.intercept = ({ stage, res }) =>
			stage === 'after'
				? undefined
				: {
						kind: 'take',
						write: async () => {
							res.writeHead(200, { 'Content-Type': 'text/event-stream' });
							const data = { type: 'response.output_text.delta', delta: 'Half of ' };
							await new Promise<void>((resolve) =>
								res.write(`data: ${JSON.stringify(data)}\n\n`, () => resolve()),
							);
							res.destroy();
						},
					};
		const { model } = await story.supply();
		const error = await failing(chunksOf(model, 'Hi'));
		expect(error.message).toContain('lost in the middle of the answer');
		expect(error.description).toContain(IN_DOUBT_ADVICE.response);
		expect(error.context.details).toMatchObject({ partial_text: 'Half of ' });
		expect(story.posts()).toBe(1);
	});

	test('that is silent for longer than its idle time-out is given up', async () => {
		story.gateway.settings.deltaMs = 20_000;
		const { model } = await story.supply({ options: { idleTimeout: 10 } });
		const error = await failing(chunksOf(model, 'Hi'));
		expect(error.message).toContain('Nothing arrived for 10 s');
	});

	test('that takes longer than its time-out is given up', async () => {
		story.gateway.settings.deltaMs = 9_000;
		const { model } = await story.supply({ options: { idleTimeout: 10, timeout: 15 } });
		const error = await failing(chunksOf(model, 'Hi'));
		expect(error.message).toContain('not complete within 15 s');
	});
});

describe('what is refused before anything is sent', () => {
	test.each<[IDataObject, string]>([
		[{ model: { __rl: true, mode: 'list', value: '' } }, 'Model is empty'],
		[{ options: { temperature: 'hot' } }, 'Temperature is not a number'],
		[{ options: { timeout: 0 } }, 'Timeout is 0'],
		[{ options: { maxRetries: 1.5 } }, 'Max Retries is not a whole number'],
		[{ options: { extraBody: '{' } }, 'Extra Body is not valid JSON: it ends too early'],
	])('%j', async (parameters, message) => {
		const error = await failing(story.supply(parameters));
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error.message).toBe(message);
		expect(error.description).not.toBe('');
		expect(error.functionality).toBe('configuration-node');
	});

	test('an address that is none', async () => {
		const error = await failing(story.supply({}, { access: { baseUrl: 'https://' } }));
		expect(error.message).toContain('Base URL');
	});

	test.each([
		['{"input":"Hi"}', 'Extra Body holds "input"'],
		['{"messages":[]}', 'Extra Body holds "messages"'],
		['{"stream":true}', 'Extra Body asks to stream'],
	])('the extra body %s', async (extraBody, message) => {
		const { model } = await story.supply({ options: { extraBody } });
		const error = await failing(model.invoke('Hi'));
		expect(error.message).toBe(message);
	});

	test('a conversation without a word', async () => {
		const { model } = await story.supply();
		const error = await failing(model.invoke([new HumanMessage('')]));
		expect(error.message).toBe('Prompt is empty');
		expect(story.posts()).toBe(0);
	});
});
