import { rm, writeFile } from 'node:fs/promises';
import type { IDataObject } from 'n8n-workflow';
import { errorReply, type Fault } from '../../gateway';
import {
	breakNetwork,
	createResponse,
	generateImage,
	getTask,
	NOWHERE,
	numbered,
	shown,
	useDisk,
	useHarness,
} from './arrange';
import { runChecked } from './image.arrange';

/*
 * What each fault of one request comes to stands in `test/faults`. Here is what a node adds: its
 * options, requests that follow one another, and failures that are none of the gateway's.
 */

const harness = useHarness();

test.each<[string, Fault, RegExp, sent: number, details: object]>([
	['404', errorReply(404), /^The gateway has lost the image task/, 1, { http_status: 404 }],
	['a lost connection', { kind: 'destroy' }, /^The connection to the gateway was lost/, 4, {}],
])(
	'a poll of Image → Generate that fails by %s names its task',
	async (_name, fault, message, sent, details) => {
		harness.gateway.settings.intercept = ({ route }) => (route === 'task' ? fault : undefined);
		const error = shown(await harness.imageError(generateImage()));
		const task_id = harness.gateway.tasks[0]?.id;
		expect(harness.gateway.count({ route: 'task' })).toBe(sent);
		expect(error).toMatchObject({
			name: 'NodeApiError',
			message: expect.stringMatching(message) as string,
			description: expect.stringContaining(`Task ID: ${task_id}.`) as string,
			context: { itemIndex: 0, details: { ...details, task_id, retryable: false } },
		});
	},
);

test('an error has its status where n8n looks for it, and the ID of its request', async () => {
	const error = shown(await harness.textError(createResponse({ prompt: '[[status:403]] x' })));
	expect(error).toMatchObject({ name: 'NodeApiError', httpCode: '403', messages: [] });
	expect(error.description).toMatch(/balance.* Request ID: req_\w+\.$/);
});

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
	test.each<[number | string, number]>([
		[0, 1],
		[5, 6],
		['={{ "2" }}', 3],
	])('happens as often as Max Retries (%p) says', async (maxRetries, sent) => {
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
		expect(run.logs.map(({ message }) => message)).toEqual([
			expect.stringMatching(
				/^Item 0: .*\(HTTP 429, rate_limit_exceeded\).*when the queue allows \(retry 1\)$/,
			),
		]);
		expect(harness.gateway.charges).toHaveLength(1);
	});

	test('is safe for a submission where no connection came about', async () => {
		const fault = Object.assign(new Error('no'), { code: 'EHOSTUNREACH', syscall: 'connect' });
		const network = breakNetwork(fault);
		const access = { baseUrl: `https://${NOWHERE}/v1` };
		const { error } = await harness.imageError(generateImage(), { access });
		network.restore();
		expect(error.message).toBe('The gateway cannot be reached (EHOSTUNREACH)');
		expect(network.connections).toBe(4);
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
		const run = await runChecked(harness, [
			{
				name: 'Ask',
				type: 'n8n-nodes-model-access.modelAccess',
				parameters: drawn(TOOLS),
				retryOnFail: true,
				maxTries: 3,
			},
		]);
		expect(run.error?.message).toEqual(said);
		expect(run.error?.description).toContain(advice);
		expect(harness.gateway.count({ route: 'responses' })).toBe(1);
	});

	test('is an error item with its text under Continue, and the other items go on', async () => {
		const { items } = await harness.text(drawn(`={{ $json.n === 0 ? '${TOOLS}' : "" }}`), {
			items: numbered(2),
			onError: 'continueRegularOutput',
		});
		expect(items.map(({ json }) => json)).toMatchObject([
			{ error: said, error_details: paidFor },
			{ text: 'You said: A boat' },
		]);
	});
});

test.each<['textError' | 'imageError', string, string]>([
	['textError', 'response', 'delete'],
	['imageError', 'task', 'cancel'],
])('a node says that it has no operation (%s): %s, %s', async (fail, resource, operation) => {
	expect(shown(await harness[fail]({ resource, operation }))).toMatchObject({
		message: `The operation "${operation}" of "${resource}" does not exist`,
		description: 'Select Resource and Operation from their lists.',
	});
	expect(harness.gateway.count()).toBe(0);
});
