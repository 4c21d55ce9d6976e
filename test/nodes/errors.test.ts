import { rm, writeFile } from 'node:fs/promises';
import { errorReply } from '../../gateway';
import { byId, CONTINUE, createResponse, generateImage, getTask, numbered, reply } from './arrange';
import { shown, useDisk, useHarness, type IDataObject } from './arrange';
import { runChecked } from './image.arrange';

/*
 * What each fault of one request comes to stands in `test/faults`. Here is what a node adds: its
 * options, requests that follow one another, and failures that are none of the gateway's.
 */

const harness = useHarness();

test.each<[string, IDataObject, sent: number]>([
	['a submission', generateImage({ options: { timeout: '={{ 0.15 }}' } }), 1],
	['a look at a task', getTask('t', { options: { timeout: 0.15, maxRetries: 1 } }), 2],
])('the Timeout option ends %s', async (_name, parameters, sent) => {
	// The connection stays open without a word; this wait is one of real milliseconds.
	harness.answer({ kind: 'take', write: () => undefined });
	const { error } = await harness.imageError(parameters);
	expect(error.message).toMatch(/^The gateway did not answer in time/);
	expect(harness.gateway.count()).toBe(sent);
});

describe('Sending again', () => {
	const MOST = [0, 5, '={{ "2" }}'];
	test.each(MOST)('happens as often as Max Retries (%p) says', async (maxRetries) => {
		const sent = 1 + Number(/\d/.exec(String(maxRetries))![0]);
		harness.answer(errorReply(503, { retryAfter: 1 }));
		await harness.textError(createResponse({ options: { maxRetries } }));
		await harness.imageError(generateImage({ options: { maxRetries } }));
		await harness.imageError(getTask('t', { options: { maxRetries } }));
		const routes = ['responses', 'generations', 'task'] as const;
		expect(routes.map((route) => harness.gateway.count({ route }))).toEqual([sent, sent, sent]);
	});

	test('ends in the answer where the gateway comes back, and is told to the log', async () => {
		const run = await harness.text(createResponse({ prompt: '[[once:429]] Hello' }));
		expect(run.items[0]?.json.text).toBe('You said: Hello');
		expect(run.logs).toHaveLength(1);
		const says = /^Item 0: .*\(HTTP 429, rate_limit_exceeded\).*when the queue allows \(retry 1\)$/;
		expect(run.logs[0]?.message).toMatch(says);
		expect(harness.gateway.charges).toHaveLength(1);
	});
});

describe('An answer that n8n cannot store', () => {
	const TOOLS = '[{ "type": "image_generation" }]';
	const drawn = (tools: string) => createResponse({ prompt: 'A boat', options: { tools } });
	const said = expect.stringMatching(/^The answer could not be returned: \S/) as string;
	const advice = 'The answer was paid for; its text is in the error’s details.';
	const paidFor = { partial_text: 'You said: A boat', retryable: false, advice };

	const storage = useDisk();
	beforeEach(async () => {
		await rm(storage.folder, { recursive: true });
		await writeFile(storage.folder, '');
	});

	test('is an error that holds its text, and says that it was paid for', async () => {
		const error = shown(await harness.textError(drawn(TOOLS)));
		const id = harness.gateway.requests[0]?.id;
		expect(error).toMatchObject({ name: 'NodeApiError', message: said });
		expect(error.description).toBe(`${advice} Request ID: ${id}.`);
		expect(error.context.details).toEqual({ ...paidFor, request_id: id });
		expect(harness.gateway.count()).toBe(1);
	});

	test('is bought once, however often Retry On Fail tries', async () => {
		const type = 'n8n-nodes-model-access.modelAccess';
		const ask = { name: 'Ask', type, parameters: drawn(TOOLS) };
		const run = await runChecked(harness, [{ ...ask, retryOnFail: true, maxTries: 3 }]);
		expect(run.error?.message).toEqual(said);
		expect(run.error?.description).toContain(advice);
		expect(harness.gateway.count({ route: 'responses' })).toBe(1);
	});

	test('is an error item with its text under Continue, and the other items go on', async () => {
		const given = drawn(`={{ $json.n === 0 ? '${TOOLS}' : "" }}`);
		const { items } = await harness.text(given, { items: numbered(2), ...CONTINUE });
		const failed = { error: said, error_details: paidFor };
		expect(items).toMatchObject([{ json: failed }, { json: { text: 'You said: A boat' } }]);
	});
});

test('A key that is refused is told once a run: with 4 items side by side no more requests carry it', async () => {
	harness.answer(reply(401, { code: 'INVALID_API_KEY', message: 'Invalid API key' }));
	const given = createResponse({ prompt: '=Number {{ $json.n }}' });
	const { items } = await harness.text(given, { items: numbered(40), ...CONTINUE });
	expect(harness.gateway.requests.length).toBeLessThanOrEqual(4);
	const says = /^The gateway did not accept the API key \(HTTP 401, /;
	const error = expect.stringMatching(says) as string;
	const advice = expect.stringMatching(/does not know this API key/) as string;
	const failed = { json: { error, error_details: { advice } } };
	expect(items).toMatchObject(Array(40).fill(failed));
});

test('A model that is not known is told once a run: the node looks at the list', async () => {
	const given = createResponse({ model: byId('aurora-text-9') });
	const { items } = await harness.text(given, { items: numbered(3), ...CONTINUE });
	expect(harness.gateway.count({ route: 'models' })).toBe(1);
	const says = /^The key’s list has no model "aurora-text-9": it has .*"aurora-text-1"/;
	const error_details = { advice: expect.stringMatching(says) as string };
	expect(items).toMatchObject(Array(3).fill({ json: { error_details } }));
});

// How an answer names both IDs is in test/unit/api/simplified-response.test.ts.
test('a POST carries a UUID of its own', async () => {
	await harness.text(createResponse());
	const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
	expect(harness.gateway.requests[0]?.headers['x-request-id']).toMatch(uuid);
});

test.each<['textError' | 'imageError', string, string]>([
	['textError', 'response', 'delete'],
	['imageError', 'task', 'cancel'],
	// n8n drops a field that it does not show.
	['imageError', 'video', ''],
])('a node says that it has no operation (%s): %s, %s', async (fail, resource, operation) => {
	expect(shown(await harness[fail]({ resource, operation }))).toMatchObject({
		message: `The operation "${operation}" of "${resource}" does not exist`,
		description: 'Select Resource and Operation from their lists.',
	});
	expect(harness.gateway.count()).toBe(0);
});
