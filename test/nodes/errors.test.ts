import { errorReply, type RouteName } from '../../gateway';
import { storeBinaryInMemory, type FailedRun } from '../../scripts/engine/index';
import {
	breakNetwork,
	createResponse,
	editImage,
	generateImage,
	getModels,
	getTask,
	NOWHERE,
	shown,
	startStory,
	submitted,
	waitForTask,
	type Story,
	type StoryOptions,
} from './arrange';

let story: Story;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = await startStory();
});
afterEach(async () => await story.close());

type Kind = 'read' | 'response' | 'image';

interface Step {
	/** The request that goes wrong. */
	route: RouteName;
	/** The column of the retry table. */
	kind: Kind;
	/** Runs the node up to that request, and fails there. */
	fail: (options?: StoryOptions) => Promise<FailedRun>;
	/** Whether a task is known by then. */
	task?: true;
}

/** Every request that a node sends. */
const STEPS: Record<string, Step> = {
	'Model → Get Many': {
		route: 'models',
		kind: 'read',
		fail: async (options) => await story.textError(getModels(), options),
	},
	'Response → Create': {
		route: 'responses',
		kind: 'response',
		fail: async (options) => await story.textError(createResponse(), options),
	},
	'Image → Generate': {
		route: 'generations',
		kind: 'image',
		fail: async (options) => await story.imageError(generateImage(), options),
	},
	'Image → Edit': {
		route: 'edits',
		kind: 'image',
		fail: async (options) => await story.imageError(editImage(), options),
	},
	'a poll of Image → Generate': {
		route: 'task',
		kind: 'read',
		fail: async (options) => await story.imageError(generateImage(), options),
		task: true,
	},
	'Task → Get': {
		route: 'task',
		kind: 'read',
		fail: async (options) => await story.imageError(getTask(TASK), options),
		task: true,
	},
	'Task → Wait': {
		route: 'task',
		kind: 'read',
		fail: async (options) => await story.imageError(waitForTask(TASK), options),
		task: true,
	},
};
const TASK = 'imgtask_of_yesterday';
const steps = Object.entries(STEPS).map(([name, step]): [string, Step] => [name, step]);

/** The requests of this step that reached the gateway. */
const sent = ({ route }: Step) => story.gateway.count({ route });

/** What the user reads, on one line and with a way out. */
function expectReadable(run: FailedRun) {
	const { message, description, context } = shown(run);
	expect(message).not.toMatch(/[\n\r]|undefined|null|\[object|Error:/);
	expect(message.length).toBeLessThan(400);
	expect(description).toMatch(/^[A-Z].*(\.|\/v1)$/);
	expect(description).not.toMatch(/undefined|\[object/);
	expect(context.itemIndex).toBe(0);
}

const MAY_BE_CHARGED: Record<Kind, RegExp | undefined> = {
	read: undefined,
	response: /may have been executed and charged\. Check the usage/,
	image: /image task may exist and be charged.*Check the usage/,
};

interface Row {
	title: RegExp;
	advice: RegExp;
	/** Requests in all, by kind, with 3 retries at most. */
	sent: Record<Kind, number>;
	/** Whether the gateway may have done what was asked. */
	doubt?: true;
}

const once = { read: 1, response: 1, image: 1 };
const bounded = { read: 4, response: 4, image: 4 };
const reading = { read: 4, response: 1, image: 1 };

/** The contract's table of statuses, and some that it does not name. */
const STATUSES: Record<number, Row> = {
	302: { title: /redirects to another/, advice: /not followed.*Base URL/, sent: once },
	307: { title: /redirects to another/, advice: /not followed.*Base URL/, sent: once },
	400: { title: /refused the request as invalid/, advice: /Fix the request/, sent: once },
	401: { title: /did not accept the API key/, advice: /Fix the credential/, sent: once },
	402: { title: /refused the request/, advice: /Check the request and the credential/, sent: once },
	403: { title: /does not permit this/, advice: /group.*balance/, sent: once },
	404: { title: /does not know this address or model/, advice: /Base URL.*model/, sent: once },
	408: { title: /did not complete in time/, advice: /time-outs/, sent: reading, doubt: true },
	413: { title: /too large/, advice: /Shrink or split/, sent: once },
	422: { title: /refused the request/, advice: /Check the request and the credential/, sent: once },
	429: { title: /asks to slow down/, advice: /limit/, sent: bounded },
	499: { title: /connection was closed/, advice: /proxies/, sent: once },
	500: {
		title: /internal error/,
		advice: /operator/,
		sent: { read: 2, response: 2, image: 1 },
		doubt: true,
	},
	502: { title: /abnormal reply/, advice: /minimal request/, sent: reading, doubt: true },
	503: { title: /overloaded/, advice: /Wait a while/, sent: bounded },
	504: { title: /waited too long/, advice: /Shorten/, sent: reading, doubt: true },
	507: { title: /The gateway failed/, advice: /operator/, sent: reading, doubt: true },
};
const statuses = Object.keys(STATUSES).map(Number);

describe.each(steps)('%s', (name, step) => {
	test.each(statuses)(
		'says what status %i means, and is sent as often as the table allows',
		async (status) => {
			const row = STATUSES[status]!;
			story.gateway.settings.intercept = ({ route, stage }) =>
				route === step.route && stage === 'before'
					? errorReply(status, {
							type: 'some_type',
							code: 'some_code',
							message: `because of ${status}`,
						})
					: undefined;
			const run = await step.fail();

			const error = shown(run);
			const unknownTask = status === 404 && step.task;
			const id = step.task && (story.gateway.tasks[0]?.id ?? TASK);
			const request = story.gateway.requests.filter(({ route }) => route === step.route).at(-1);
			expect(sent(step)).toBe(row.sent[step.kind]);
			expectReadable(run);
			expect(error.name).toBe('NodeApiError');
			expect(error.httpCode).toBe(String(status));
			expect(error.message).toContain(`(HTTP ${status})`);
			if (!unknownTask) {
				expect(error.message).toMatch(row.title);
				expect(error.message).toContain(`: because of ${status}`);
				expect(error.description).toMatch(row.advice);
			}
			expect(error.description).toContain(`Request ID: ${request?.id}.`);
			const doubt = MAY_BE_CHARGED[step.kind];
			if (row.doubt && doubt) expect(error.description).toMatch(doubt);
			else expect(error.description).not.toMatch(/may (exist|have been executed)/);
			expect(error.context.details).toEqual({
				http_status: status,
				type: 'some_type',
				code: 'some_code',
				request_id: request?.id,
				...(step.task && { task_id: id }),
				retryable:
					name !== 'a poll of Image → Generate' &&
					row.sent[step.kind] > 1 &&
					!(step.kind !== 'read' && status % 100 !== 3 && status !== 429),
				advice: expect.any(String) as string,
			});
			if (step.task) expect(error.description).toContain(`Task ID: ${id}.`);
		},
	);

	// A poll needs a gateway that is there to accept the task.
	if (name !== 'a poll of Image → Generate') {
		test('says that the gateway cannot be reached, having tried as often as allowed', async () => {
			story.gateway.kill();
			const run = await step.fail();

			expectReadable(run);
			expect(run.error.message).toBe('The gateway cannot be reached (ECONNREFUSED)');
			expect(shown(run).description).toMatch(/Base URL.*running/);
			expect(shown(run).description).not.toMatch(/may (exist|have been executed)/);
			expect(shown(run).context.details).toMatchObject({ retryable: true });
			expect(story.time.waits).toHaveLength(3);
		});
	}

	test('is not sent again after a lost connection, unless it only reads', async () => {
		story.gateway.settings.intercept = ({ route, stage }) =>
			route === step.route && stage === 'after' ? { kind: 'destroy' } : undefined;
		const run = await step.fail();

		expect(sent(step)).toBe(step.kind === 'read' ? 4 : 1);
		expectReadable(run);
		expect(run.error.message).toMatch(
			/^The connection to the gateway was lost before its answer was here/,
		);
		const doubt = MAY_BE_CHARGED[step.kind];
		if (doubt) expect(shown(run).description).toMatch(doubt);
		if (step.task) expect(shown(run).description).toContain('Task ID: ');
	});

	test.each<[string, string, string]>([
		['a web page', 'text/html; charset=utf-8', '<!doctype html><html><body>Sign in</body></html>'],
		['a web page that calls itself JSON', 'application/json', ' \n<HTML><head></head></HTML>'],
	])('says that %s is no answer', async (_what, type, body) => {
		story.gateway.settings.intercept = ({ route }) =>
			route === step.route
				? { kind: 'reply', status: 200, headers: { 'Content-Type': type }, body }
				: undefined;
		const run = await step.fail();

		expect(sent(step)).toBe(1);
		expectReadable(run);
		expect(run.error.message).toBe('The gateway answered with a web page (HTML) in place of JSON');
		expect(shown(run).description).toMatch(/wrong Base URL, a login page.*firewall/);
		const doubt = MAY_BE_CHARGED[step.kind];
		if (doubt) expect(shown(run).description).toMatch(doubt);
	});

	test('says that a 403 which is a web page comes from something in front', async () => {
		story.gateway.settings.intercept = ({ route }) =>
			route === step.route
				? {
						kind: 'reply',
						status: 403,
						headers: { 'Content-Type': 'text/html' },
						body: '<html><body>Blocked by WAF</body></html>',
					}
				: undefined;
		const run = await step.fail();

		expect(sent(step)).toBe(1);
		expectReadable(run);
		expect(run.error.message).toMatch(/\(HTTP 403\): a web page \(HTML\) in place of JSON$/);
		expect(run.error.message).not.toContain('<');
		expect(shown(run).description).toMatch(/firewall/);
	});

	test.each<[string, string, RegExp]>([
		['broken JSON', '{"id": "resp_1", ', /not JSON/],
		['plain text', 'service is fine', /not JSON: service is fine/],
		['nothing', '', /nothing in place of JSON/],
	])('says that %s is no answer', async (_what, body, message) => {
		story.gateway.settings.intercept = ({ route }) =>
			route === step.route ? { kind: 'reply', status: 200, body } : undefined;
		const run = await step.fail();

		expect(sent(step)).toBe(1);
		expectReadable(run);
		expect(run.error.message).toMatch(message);
	});

	test('quotes an error that is plain text, on one line and not without end', async () => {
		story.gateway.settings.intercept = ({ route }) =>
			route === step.route
				? { kind: 'reply', status: 400, body: `no\r\n\tsuch ${'thing '.repeat(1000)}` }
				: undefined;
		const run = await step.fail();

		expect(run.error.message).toMatch(/\(HTTP 400\): no such thing .*…$/);
		expect(run.error.message.length).toBeLessThan(1000);
		expect(run.error.message).not.toMatch(/[\r\n\t]/);
	});
});

describe('An answer without its fields', () => {
	test.each<[string, string, object, RegExp]>([
		[
			'a model list without data',
			'Model → Get Many',
			{ object: 'list' },
			/model list is not as expected: field "data": Required/,
		],
		[
			'a model without an ID',
			'Model → Get Many',
			{ data: [{ id: 'a' }, { object: 'model' }] },
			/field "data\[1\]\.id": Required/,
		],
		[
			'a response without an ID',
			'Response → Create',
			{ status: 'completed', output: [] },
			/response is not as expected: field "id": Required/,
		],
		[
			'a response without output',
			'Response → Create',
			{ id: 'r', status: 'completed' },
			/field "output": Required/,
		],
		[
			'a response without status',
			'Response → Create',
			{ id: 'r', output: [] },
			/field "status": Required/,
		],
		[
			'an output item without type',
			'Response → Create',
			{ id: 'r', status: 'completed', output: [{}] },
			/field "output\[0\]\.type": Required/,
		],
		[
			'a task without status',
			'Task → Get',
			{ id: 't' },
			/image task is not as expected: field "status": Required/,
		],
		['a task without status, waited for', 'Task → Wait', { id: 't' }, /field "status": Required/],
		['a 202 without an ID', 'Image → Generate', { status: 'processing' }, /named no task ID/],
		[
			'a 202 without an ID, of an edit',
			'Image → Edit',
			{ status: 'processing' },
			/named no task ID/,
		],
		[
			'a completed task without a picture',
			'Task → Get',
			{ id: 't', status: 'completed' },
			/completed, but names no picture/,
		],
		['an array in place of an object', 'Response → Create', [], /response is not as expected/],
	])('%s is an error that names the field', async (_name, of, body, message) => {
		const step = STEPS[of]!;
		story.gateway.settings.intercept = ({ route }) =>
			route === step.route ? { kind: 'reply', status: 200, body } : undefined;
		const run = await step.fail();

		expect(sent(step)).toBe(1);
		expectReadable(run);
		expect(run.error.message).toMatch(message);
		const doubt = MAY_BE_CHARGED[step.kind];
		if (doubt) expect(shown(run).description).toMatch(doubt);
	});
});

describe('A fault of the network below HTTP', () => {
	const access = { baseUrl: `https://${NOWHERE}/v1` };
	const system = (code: string) =>
		Object.assign(new Error(`${code} in the system`), { code, syscall: 'connect' });

	test.each<[string, RegExp, RegExp, Record<Kind, number>]>([
		['ENOTFOUND', /cannot be reached \(ENOTFOUND\)/, /Base URL/, bounded],
		['EAI_AGAIN', /cannot be reached/, /Base URL/, bounded],
		['EHOSTUNREACH', /cannot be reached/, /Base URL/, bounded],
		['ECONNABORTED', /did not answer in time/, /overloaded/, reading],
		['ETIMEDOUT', /did not answer in time/, /overloaded/, reading],
		['ECONNRESET', /connection to the gateway was lost/, /network/, reading],
		['EPIPE', /connection to the gateway was lost/, /network/, reading],
		[
			'CERT_HAS_EXPIRED',
			/TLS certificate is not accepted \(CERT_HAS_EXPIRED\)/,
			/valid certificate/,
			once,
		],
		['DEPTH_ZERO_SELF_SIGNED_CERT', /TLS certificate/, /not switched off/, once],
		['ERR_TLS_CERT_ALTNAME_INVALID', /TLS certificate/, /valid certificate/, once],
	])('%s is named, and tried as often as is safe', async (code, message, advice, expected) => {
		for (const name of ['Model → Get Many', 'Response → Create', 'Image → Generate']) {
			const step = STEPS[name]!;
			const network = breakNetwork(system(code));
			const run = await step.fail({ access });
			network.restore();

			expect(network.connections).toBe(expected[step.kind]);
			expectReadable(run);
			expect(run.error.message).toMatch(message);
			expect(shown(run).description).toMatch(advice);
		}
	});
});

describe('A request that takes too long', () => {
	test.each<[string, () => Promise<FailedRun>, number]>([
		[
			'a submit',
			async () => await story.imageError(generateImage({ options: { timeout: '={{ 0.05 }}' } })),
			1,
		],
		[
			'a look at a task',
			async () =>
				await story.imageError(
					getTask(TASK, { options: { timeout: '={{ 0.05 }}', maxRetries: 1 } }),
				),
			2,
		],
	])('ends at the Timeout option: %s', async (_name, run, requests) => {
		// The connection stays open without a word; this wait is one of real milliseconds.
		story.gateway.settings.intercept = () => ({ kind: 'take', write: () => undefined });
		const failed = await run();

		expect(failed.error.message).toMatch(/^The gateway did not answer in time/);
		expect(story.gateway.count()).toBe(requests);
		expectReadable(failed);
	});
});

describe('Retries', () => {
	const refuse = (headers?: Record<string, string>, status = 429) => {
		story.gateway.settings.intercept = ({ stage }) =>
			stage === 'before' ? { kind: 'reply', status, headers } : undefined;
	};

	test.each<[number | string, number]>([
		[0, 1],
		[1, 2],
		[5, 6],
		['={{ "2" }}', 3],
	])('are as many as Max Retries (%p) says', async (maxRetries, expected) => {
		refuse({ 'Retry-After': '1' });
		await story.textError(createResponse({ options: { maxRetries } }));
		await story.imageError(generateImage({ options: { maxRetries } }));
		await story.imageError(getTask(TASK, { options: { maxRetries } }));

		expect(story.gateway.count({ route: 'responses' })).toBe(expected);
		expect(story.gateway.count({ route: 'generations' })).toBe(expected);
		expect(story.gateway.count({ route: 'task' })).toBe(expected);
	});

	test('wait exactly as long as the gateway asks', async () => {
		refuse({ 'Retry-After': '7' });
		await story.textError(createResponse());
		expect(story.time.waits).toEqual([7000, 7000, 7000]);
	});

	test('wait until the date that the gateway names', async () => {
		refuse({ 'Retry-After': new Date(story.time.now() + 12_000).toUTCString() });
		await story.textError(createResponse({ options: { maxRetries: 1 } }));
		expect(story.time.waits).toEqual([12_000]);
	});

	test('wait longer each time where the gateway names no time, with chance in it', async () => {
		refuse();
		await story.textError(createResponse({ options: { maxRetries: 6 } }));
		expect(story.time.waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000]);

		story.time.waits.length = 0;
		story.time.chance = () => 0.5;
		await story.textError(createResponse());
		expect(story.time.waits).toEqual([500, 1000, 2000]);
	});

	test('are not begun where they would pass the time allowed, and the error says how long was asked', async () => {
		refuse({ 'Retry-After': '3600' });
		for (const run of [
			await story.textError(createResponse()),
			await story.textError(getModels()),
			await story.imageError(generateImage()),
		]) {
			expect(shown(run).description).toMatch(
				/asked to wait 3600 s, which is longer than the time left/,
			);
			expectReadable(run);
		}
		expect(story.gateway.count()).toBe(3);
		expect(story.time.waits).toEqual([]);
	});

	test('end in the answer where the gateway comes back', async () => {
		const run = await story.text(createResponse({ prompt: '[[once:503]] Hello' }));

		expect(run.items[0]?.json.text).toBe('You said: Hello');
		expect(story.time.waits).toEqual([2000]);
		expect(story.gateway.count()).toBe(2);
		expect(story.gateway.charges).toHaveLength(1);
	});

	test('are told to the log, with reason and wait', async () => {
		const run = await story.text(createResponse({ prompt: '[[once:429]] Hello' }));
		expect(run.logs.map(({ message }) => message)).toEqual([
			expect.stringMatching(/^Item 0: .*\(HTTP 429\).*2000 ms \(retry 1\)$/),
		]);
	});
});

describe('What goes wrong around a task', () => {
	test('a gateway that dies after the 202 is an error with the task’s ID', async () => {
		story.gateway.settings.intercept = ({ route }) => {
			if (route === 'task') story.gateway.kill();
			return undefined;
		};
		const run = await story.imageError(generateImage());

		const [task] = story.gateway.tasks;
		expectReadable(run);
		expect(run.error.message).toMatch(/^The gateway cannot be reached/);
		expect(shown(run).description).toContain(`Task ID: ${task?.id}.`);
		expect(shown(run).context.details).toMatchObject({ task_id: task?.id });
	});

	test('a task that is not there any more says what that can mean', async () => {
		const task = await submitted(story);
		await story.time.advance(25 * 3600_000);
		const runs = [
			await story.imageError(getTask(task.id)),
			await story.imageError(waitForTask(task.id)),
			await story.imageError(getTask('imgtask_unknown')),
		];
		expect(runs.map(({ error }) => error.message)).toEqual([
			`The gateway knows no image task "${task.id}" (HTTP 404)`,
			`The gateway knows no image task "${task.id}" (HTTP 404)`,
			'The gateway knows no image task "imgtask_unknown" (HTTP 404)',
		]);
		for (const run of runs) {
			expectReadable(run);
			expect(shown(run).description).toMatch(/wrong.*expired.*another API key/);
			expect(shown(run).context.details).toMatchObject({
				code: 'IMAGE_TASK_NOT_FOUND',
				http_status: 404,
				retryable: false,
			});
		}
	});

	test('a task of another key is not there', async () => {
		const task = await submitted(story);
		const access = { apiKey: story.gateway.keys.second };
		const run = await story.imageError(getTask(task.id), { access });
		expect(run.error.message).toBe(`The gateway knows no image task "${task.id}" (HTTP 404)`);
	});

	test('a task that vanishes while it is waited for is an error with its ID, after one look', async () => {
		story.gateway.settings.taskLifetime = 8;
		story.gateway.settings.taskSeconds = 100;
		story.gateway.settings.intercept = ({ reply }) => {
			if (reply)
				reply.body = String(reply.body).replace(/"expires_at":\d+/, '"expires_at":99999999999');
			return undefined;
		};
		const run = await story.imageError(generateImage());

		expect(run.error.message).toMatch(/knows no image task/);
		expect(shown(run).description).toContain(`Task ID: ${story.gateway.tasks[0]?.id}.`);
		expect(story.gateway.count({ route: 'task', status: 404 })).toBe(1);
	});

	test.each<[number, RegExp, boolean]>([
		[400, /Fix the request/, false],
		[403, /balance/, false],
		[429, /limit/, true],
		[500, /operator/, false],
		[503, /Wait a while/, true],
	])(
		'a task that failed with %i says why, what to do, and its ID',
		async (status, advice, retryable) => {
			const run = await story.imageError(generateImage({ prompt: `x [[fail:${status}]]` }));

			const [task] = story.gateway.tasks;
			expectReadable(run);
			expect(run.error.message).toBe('The image task failed: the picture could not be made');
			expect(shown(run).description).toMatch(advice);
			expect(shown(run).description).toContain(`Task ID: ${task?.id}.`);
			expect(shown(run).context.details).toMatchObject({
				task_id: task?.id,
				http_status: status,
				type: 'image_generation_error',
				retryable,
			});
			expect(story.gateway.count({ route: 'generations' })).toBe(1);
		},
	);

	test('images switched off at the gateway are an error that says so', async () => {
		story.gateway.settings.asyncImages = false;
		const run = await story.imageError(generateImage());

		expect(run.error.message).toMatch(/\(HTTP 404\): asynchronous image tasks are not enabled/);
		expect(shown(run).description).toMatch(/asynchronous tasks switched off/);
	});
});

describe('A credential that does not fit', () => {
	test.each(['revoked', 'expired', 'disabled'] as const)(
		'a key that is %s is refused once, and the error says so',
		async (name) => {
			const access = { apiKey: story.gateway.keys[name] };
			const runs = [
				await story.textError(getModels(), { access }),
				await story.textError(createResponse(), { access }),
				await story.imageError(generateImage(), { access }),
				await story.imageError(getTask(TASK), { access }),
			];
			for (const run of runs) {
				expectReadable(run);
				expect(run.error.message).toBe(
					`The gateway did not accept the API key (HTTP 401): the API key is ${name}`,
				);
				expect(shown(run).description).toMatch(/Fix the credential/);
			}
			expect(story.gateway.count()).toBe(runs.length);
		},
	);

	test('a key that the gateway does not know is refused once', async () => {
		const run = await story.textError(createResponse(), { access: { apiKey: 'mak-unknown-0000' } });
		expect(run.error.message).toBe(
			'The gateway did not accept the API key (HTTP 401): the API key is not valid',
		);
		expect(story.gateway.count()).toBe(1);
	});

	test.each<[string, 'textOnly' | 'exhausted' | 'fenced', RegExp]>([
		['a group without images', 'textOnly', /does not permit images/],
		['an empty balance', 'exhausted', /balance of this account is used up/],
		['another address', 'fenced', /not be used from this address/],
	])('a key with %s is refused with the gateway’s reason', async (_name, key, reason) => {
		const run = await story.imageError(generateImage(), {
			access: { apiKey: story.gateway.keys[key] },
		});
		expectReadable(run);
		expect(run.error.message).toMatch(/^The gateway does not permit this \(HTTP 403\)/);
		expect(run.error.message).toMatch(reason);
		expect(story.gateway.count()).toBe(1);
		expect(story.gateway.tasks).toHaveLength(0);
	});

	test('a model that the key may not use is named', async () => {
		const run = await story.textError(createResponse({ model: 'gpt-nowhere' }));
		expect(run.error.message).toMatch(/\(HTTP 404\): the model 'gpt-nowhere' does not exist/);
		expect(shown(run).description).toMatch(/model is in the list of this key/);
	});

	test('a limit of requests a minute is waited for as the gateway asks', async () => {
		const access = { apiKey: story.gateway.keys.limited };
		const start = story.time.now();
		for (let count = 0; count < 4; count++) await story.text(createResponse(), { access });

		expect(story.gateway.count({ status: 200 })).toBe(4);
		expect(story.gateway.count({ status: 429 })).toBe(1);
		expect(story.time.now() - start).toBe(60_000);
	});

	test.each<[string, string, RegExp]>([
		['plain http', 'http://gateway.example.com/v1', /^Base URL uses http/],
		['nothing', '', /^Base URL is empty/],
		['a query', 'https://gateway.example.com/v1?key=abc', /^Base URL contains a query/],
		['a user name', 'https://user:pw@gateway.example.com/v1', /^Base URL contains a user name/],
		['no host', 'https:///v1', /^Base URL names no host/],
		['another scheme', 'ftp://gateway.example.com/v1', /^Base URL uses ftp/],
	])('a base URL with %s is refused before anything is sent', async (_name, baseUrl, message) => {
		const run = await story.textError(createResponse(), { access: { baseUrl } });
		expectReadable(run);
		expect(run.error.name).toBe('NodeOperationError');
		expect(run.error.message).toMatch(message);
	});

	test.each<[string, string, RegExp]>([
		['nothing', ' ', /^API Key is empty/],
		['a space', 'mak-with a-space', /^API Key contains a space/],
		['a quote', 'mak-with"a-quote', /^API Key contains a quote/],
		['a line break', 'mak-with\na-break', /^API Key contains a line break/],
		['a letter of another script', 'mak-with-ключ-x', /^API Key contains a character/],
	])('a key with %s is refused before anything is sent', async (_name, apiKey, message) => {
		const run = await story.textError(createResponse(), { access: { apiKey } });
		expectReadable(run);
		expect(run.error.message).toMatch(message);
		expect(story.gateway.count()).toBe(0);
	});

	test.each(steps.filter(([name]) => name !== 'a poll of Image → Generate'))(
		'a base URL that is a login page is an error that says so: %s',
		async (_name, { fail }) => {
			const run = await fail({ access: { baseUrl: `${story.gateway.origin}/portal` } });

			expectReadable(run);
			expect(run.error.message).toBe(
				'The gateway answered with a web page (HTML) in place of JSON',
			);
			expect(shown(run).description).toMatch(/wrong Base URL, a login page/);
			expect(story.gateway.count({ route: 'page' })).toBe(1);
			expect(story.gateway.count()).toBe(1);
		},
	);

	test('a redirect is not followed, and the key stays where it is', async () => {
		story.gateway.settings.intercept = ({ record }) =>
			record.path === '/v1/models'
				? { kind: 'reply', status: 302, headers: { Location: '/v1/elsewhere' } }
				: undefined;
		const run = await story.textError(getModels());

		expect(run.error.message).toMatch(/redirects to another one \(HTTP 302\)/);
		expect(story.gateway.requests.map(({ path }) => path)).toEqual(['/v1/models']);
	});
});
