import { rm, writeFile } from 'node:fs/promises';
import type { IDataObject } from 'n8n-workflow';
import { errorReply, type Fault } from '../../gateway';
import {
	storeBinaryInMemory,
	storeBinaryOnDisk,
	type BinaryStorage,
	type FailedRun,
} from '../../scripts/engine/index';
import {
	breakNetwork,
	createResponse,
	generateImage,
	getTask,
	NOWHERE,
	numbered,
	shown,
	startHarness,
	type Harness,
} from './arrange';

/*
 * What each fault of one request comes to stands in `test/faults`. Here is what a node adds: its
 * options, requests that follow one another, and failures that are none of the gateway's.
 */

let harness: Harness;
beforeEach(async () => {
	await storeBinaryInMemory();
	harness = await startHarness();
});
afterEach(async () => await harness.close());

describe('A poll of Image → Generate that fails', () => {
	const polls: Array<[string, Fault, RegExp, sent: number, details: object]> = [
		['401', errorReply(401), /^The gateway did not accept the API key/, 1, { http_status: 401 }],
		['404', errorReply(404), /^The gateway knows no image task "/, 1, { http_status: 404 }],
		['503', errorReply(503), /^The gateway is overloaded/, 4, { http_status: 503 }],
		['a lost connection', { kind: 'destroy' }, /^The connection to the gateway was lost/, 4, {}],
		['a body that is no JSON', { kind: 'reply', status: 200, body: 'fine' }, /is not JSON/, 1, {}],
	];
	test.each(polls)('by %s names its task', async (_name, fault, message, sent, details) => {
		harness.gateway.settings.intercept = ({ route }) => (route === 'task' ? fault : undefined);
		const error = shown(await harness.imageError(generateImage()));

		const id = harness.gateway.tasks[0]?.id;
		expect(harness.gateway.count({ route: 'task' })).toBe(sent);
		expect(error.name).toBe('NodeApiError');
		expect(error.message).toMatch(message);
		expect(error.description).toContain(`Task ID: ${id}.`);
		expect(error.context).toMatchObject({
			itemIndex: 0,
			details: { ...details, task_id: id, retryable: false },
		});
	});
});

test('an error has its status where n8n looks for it, and the ID of its request', async () => {
	const error = shown(await harness.textError(createResponse({ prompt: '[[status:403]] x' })));

	expect(error).toMatchObject({ name: 'NodeApiError', httpCode: '403', messages: [] });
	expect(error.description).toMatch(/balance.* Request ID: req_\w+\.$/);
});

describe('The Timeout option', () => {
	test.each<[string, () => Promise<FailedRun>, sent: number]>([
		[
			'a submission',
			async () => await harness.imageError(generateImage({ options: { timeout: '={{ 0.15 }}' } })),
			1,
		],
		[
			'a look at a task',
			async () =>
				await harness.imageError(getTask('t', { options: { timeout: 0.15, maxRetries: 1 } })),
			2,
		],
	])('ends %s', async (_name, run, sent) => {
		// The connection stays open without a word; this wait is one of real milliseconds.
		harness.gateway.settings.intercept = () => ({ kind: 'take', write: () => undefined });

		expect((await run()).error.message).toMatch(/^The gateway did not answer in time/);
		expect(harness.gateway.count()).toBe(sent);
	});
});

describe('Sending again', () => {
	test.each<[number | string, number]>([
		[0, 1],
		[5, 6],
		['={{ "2" }}', 3],
	])('happens as often as Max Retries (%p) says', async (maxRetries, sent) => {
		harness.gateway.settings.intercept = () => errorReply(429, { retryAfter: 1 });
		await harness.textError(createResponse({ options: { maxRetries } }));
		await harness.imageError(generateImage({ options: { maxRetries } }));
		await harness.imageError(getTask('t', { options: { maxRetries } }));

		for (const route of ['responses', 'generations', 'task'] as const) {
			expect([route, harness.gateway.count({ route })]).toEqual([route, sent]);
		}
	});

	test('ends in the answer where the gateway comes back, and is told to the log', async () => {
		const run = await harness.text(createResponse({ prompt: '[[once:429]] Hello' }));

		expect(run.items[0]?.json.text).toBe('You said: Hello');
		expect(run.logs.map(({ message }) => message)).toEqual([
			expect.stringMatching(/^Item 0: .*\(HTTP 429, rate_limit_exceeded\).*2000 ms \(retry 1\)$/),
		]);
		expect(harness.gateway.charges).toHaveLength(1);
	});

	test('is safe for a submission where no connection came about', async () => {
		const network = breakNetwork(
			Object.assign(new Error('no route'), { code: 'EHOSTUNREACH', syscall: 'connect' }),
		);
		const access = { baseUrl: `https://${NOWHERE}/v1` };
		const { error } = await harness.imageError(generateImage(), { access });
		network.restore();

		expect(error.message).toBe('The gateway cannot be reached (EHOSTUNREACH)');
		expect(network.connections).toBe(4);
	});
});

describe('An answer that n8n cannot store', () => {
	const DRAW = '[{ "type": "image_generation" }]';
	const drawn = (given: IDataObject = {}) =>
		createResponse({ prompt: 'A boat', options: { tools: DRAW }, ...given });
	const said = expect.stringMatching(/^The answer could not be handed on: \S/) as string;
	const advice = 'The answer was paid for; its text is in the error’s details.';
	const paidFor = { partial_text: 'You said: A boat', retryable: false, advice };

	/** Its folder is gone, with a file in its place. */
	let storage: BinaryStorage;
	beforeEach(async () => {
		storage = await storeBinaryOnDisk();
		await rm(storage.folder, { recursive: true });
		await writeFile(storage.folder, '');
	});
	afterEach(async () => await storage.remove());

	test('is an error that holds its text, and says that it was paid for', async () => {
		const error = shown(await harness.textError(drawn()));

		const id = harness.gateway.requests[0]?.id;
		expect(error).toMatchObject({ name: 'NodeApiError', message: said });
		expect(error.description).toBe(`${advice} Request ID: ${id}.`);
		expect(error.context.details).toEqual({ ...paidFor, request_id: id });
		expect(harness.gateway.count()).toBe(1);
	});

	test('is an error item with its text under Continue, and the other items go on', async () => {
		const tools = `={{ $json.n === 0 ? '${DRAW}' : "" }}`;
		const { items } = await harness.text(drawn({ options: { tools } }), {
			items: numbered(2),
			onError: 'continueRegularOutput',
		});

		expect(items[0]?.json).toMatchObject({ error: said, error_details: paidFor });
		expect(items[1]?.json.text).toBe('You said: A boat');
	});
});

test.each<['text' | 'image', string, string]>([
	['text', 'response', 'delete'],
	['image', 'task', 'cancel'],
])('the %s node says that it has no operation: %s, %s', async (node, resource, operation) => {
	const fail = node === 'text' ? harness.textError : harness.imageError;

	expect(shown(await fail({ resource, operation }))).toMatchObject({
		message: `The operation "${operation}" of "${resource}" does not exist`,
		description: 'Choose Resource and Operation from their lists.',
	});
	expect(harness.gateway.count()).toBe(0);
});
