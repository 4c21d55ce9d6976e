import type { ServerResponse } from 'node:http';
import { errorReply, type Fault } from '../../gateway';
import { canceledAfter, itemsOf, shown, submitted, useDisk, useHarness } from './arrange';
import { checkingTasks, expectImages } from './image.arrange';
import { generateImage, getTask, waitForTask } from './parameters';

const START = Date.UTC(2026, 0, 1);
const harness = useHarness(checkingTasks);

const polls = () => harness.gateway.requests.filter(({ route }) => route === 'task');

const polledAt = () => polls().map(({ startedAt }) => (startedAt - START) / 1000);

/** What a look gets: a `Retry-After` and a status of the task, or a fault. */
type Look = [retryAfter: string, status: string] | Fault;

// How long each wait is, is in test/unit/api/task-poll.test.ts.
test('A task is looked at when the 202 and each look ask for it, at the poll interval, and again after a fault; the editor hears of each change, the log of each look, and neither of the prompt', async () => {
	const lost: Look = { kind: 'destroy' };
	const long = `${harness.access.apiKey} ${'x'.repeat(5000)}`;
	const first: Look[] = [['20', 'queued'], ['4', 'queued'], errorReply(503, { retryAfter: 8 })];
	const looks: Look[] = [...first, errorReply(429), lost, ['6', 'processing'], ['', long]];
	harness.gateway.settings.taskSeconds = 3600;
	harness.gateway.settings.intercept = ({ stage, route, reply }) => {
		if (route !== 'task') return undefined;
		const [look] = looks;
		// The look behind them finds the task done.
		if (!look) for (const task of harness.gateway.tasks) task.completesAt = harness.time.now();
		if (look && 'kind' in look) return stage === 'before' ? (looks.shift() as Fault) : undefined;
		if (!look || !reply) return undefined;
		looks.shift();
		delete reply.headers['Retry-After'];
		if (look[0]) reply.headers['Retry-After'] = look[0];
		reply.body = String(reply.body).replace('"processing"', `"${look[1]}"`);
		return undefined;
	};
	const given = { prompt: 'A private garden', options: { pollInterval: '={{ "5" }}' } };
	const run = await harness.image(generateImage(given));
	expect(polledAt()).toEqual([5, 25, 30, 38, 40, 44, 50, 55]);
	await expectImages(run.items, ['A private garden']);

	const { id } = harness.gateway.tasks[0]!;
	const told = run.uiMessages.map(([message]) => String(message).replace(`Image task ${id}: `, ''));
	const bounded = expect.stringMatching(/^.{1,60}$/) as string;
	expect(told).toEqual(['processing', 'queued', 'processing', bounded, 'completed']);
	const lines = run.logs.filter(({ message }) => message.includes(`${id} is `));
	// The answer to the submission, and five looks.
	expect(lines.map(({ level }) => level)).toEqual(Array(6).fill('debug'));
	expect(JSON.stringify([told, run.logs])).not.toMatch(/private garden|x{200}/);
});

describe('Max Wait', () => {
	beforeEach(() => void (harness.gateway.settings.taskSeconds = 3600));

	test('is 900 s where nothing is set', async () => {
		await harness.imageError(generateImage({ options: { pollInterval: 90 } }));
		expect(polledAt().at(-1)).toBe(900);
	});

	test.each([
		['Image → Generate', [3, 6, 9]],
		['Task → Wait', [0, 3, 6, 9]],
	])('of %s ends before a wait that would pass it', async (name, expected) => {
		const isWait = name === 'Task → Wait';
		const given = { options: { maxWait: 11 } };
		const wait = async () => waitForTask((await submitted(harness)).id, given);
		const error = shown(await harness.imageError(isWait ? await wait() : generateImage(given)));

		const { id, createdAt, expiresAt } = harness.gateway.tasks[0]!;
		expect([polledAt(), harness.seconds()]).toEqual([expected, 9]);
		expect(error.message).toBe('The image was not done within Max Wait');
		expect(error.description).toContain(`Task ID: ${id}.`);
		expect(error.description).toMatch(/Do not submit it again.*Task → Wait/);
		// Waiting once more costs nothing; generating once more does.
		const details = { task_id: id, retryable: isWait };
		expect(error.context).toMatchObject({ itemIndex: 0, details });

		const options = { maxWait: 11, onTimeout: 'returnTask' };
		const common = { task_id: id, status: 'processing', retry_after: 3 };
		const sent = { id, object: 'image.generation.task', created_at: createdAt / 1000 };
		for (const [simplify, json] of [
			[true, { ...common, expires_at: new Date(expiresAt).toISOString() }],
			[false, { ...common, ...sent, expires_at: expiresAt / 1000 }],
		] as const) {
			const run = await harness.image(waitForTask(id, { simplify, options }));
			expect(run.items).toEqual([{ json, pairedItem: { item: 0 } }]);
		}
	});
});

test('Task → Wait looks at several tasks at once, then waits side by side, keeps their order, and tells the editor', async () => {
	harness.gateway.settings.taskSeconds = ({ prompt }) => Number(prompt);
	const prompts = ['19', '13', '1'];
	const tasks: string[] = [];
	for (const prompt of prompts) tasks.push((await submitted(harness, { prompt })).id);
	await harness.time.advance(10_000);
	const options = { pollInterval: 4, fileName: 'x', binaryPropertyName: 'pic' };
	const given = waitForTask('={{ $json.id }}', { options });
	const run = await harness.image(given, { items: itemsOf(...tasks.map((id) => ({ id }))) });

	expect(run.items.map(({ json }) => json.task_id)).toEqual(tasks);
	// One that is done is not waited for.
	expect(polledAt()).toEqual([10, 10, 10, 14, 14, 18, 22]);
	await expectImages(run.items, prompts, 'pic');
	expect(run.items[0]?.binary?.pic?.fileName).toBe('x.png');
	const [told] = tasks.map((id) => run.uiMessages.filter(([text]) => String(text).includes(id)));
	expect(told).toEqual(['processing', 'completed'].map((s) => [`Image task ${tasks[0]}: ${s}`]));
});

test('Task → Get looks once at each task: its images if it is done, else how it stands', async () => {
	const done = await submitted(harness, { prompt: 'A tree', options: { n: 2 } });
	const failed = await submitted(harness, { prompt: 'A tree [[fail:429]]' });
	await harness.time.advance(6000);
	const queued = await submitted(harness, { prompt: 'One' });
	const running = await submitted(harness, { prompt: 'Two' });
	harness.changeReplies('task', (body, headers) => {
		if (!body.includes(queued.id)) return body;
		delete headers['Retry-After'];
		return body.replace('"processing"', '"queued"');
	});
	const ids = [failed, done, queued, running].map(({ id }) => id);
	const options = { fileName: 'kept-{index}', binaryPropertyName: 'file' };
	const given = { items: itemsOf(...ids.map((id) => ({ id }))) };
	const { items } = await harness.image(getTask('={{ $json.id }}', { options }), given);

	const error = { type: 'image_generation_error', message: 'the image could not be made' };
	const image = (image_index: number) => ({
		...{ task_id: done.id, status: 'completed', image_index, image_count: 2 },
		file: { name: `kept-${image_index}.png`, mime_type: 'image/png' },
	});
	const expected = [
		[0, { task_id: failed.id, status: 'failed', http_status: 429, error }],
		[1, image(0)],
		[1, image(1)],
		[2, { task_id: queued.id, status: 'queued' }],
		[3, { task_id: running.id, status: 'processing', retry_after: 3 }],
	];
	expect(items).toMatchObject(expected.map(([item, json]) => ({ json, pairedItem: { item } })));
	expect(items[3]?.json).not.toHaveProperty('retry_after');
	for (const name of ['model', 'prompt']) expect(items[1]?.json).not.toHaveProperty(name);
	await expectImages(items.slice(1, 3), ['A tree', 'A tree'], 'file');
	const looks = ids.map((id) => ({ method: 'GET', path: `/v1/images/tasks/${id}`, rawLength: 0 }));
	expect(polls()).toMatchObject(looks);
	expect(harness.seconds()).toBe(6);
});

// What else a Task ID may be is in test/unit/api/task-id.test.ts.
test('Task ID may be an address of the task at this gateway, not at another one', async () => {
	const { id } = await submitted(harness);
	const path = `/v1/images/tasks/${id}`;
	const { items } = await harness.image(getTask(`${harness.gateway.origin}${path}?x=1`));
	expect(items[0]?.json.task_id).toBe(id);
	for (const parameters of [getTask, waitForTask]) {
		const { error } = await harness.imageError(parameters(`https://other.example.com${path}`));
		expect(error.message).toBe('Task ID is an address of another gateway');
	}
	expect(harness.gateway.count()).toBe(2);
});

describe('A cancel', () => {
	const storage = useDisk();
	const HANG: Fault = { kind: 'hang' };

	/** An image of which the first bytes arrive. */
	const begun = (res: ServerResponse): Fault => ({
		kind: 'take',
		write: async () => {
			res.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': 5000 });
			res.write(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'));
			await harness.time.gateway.sleep(3600_000);
		},
	});

	const [LIMITED, BUSY] = [429, 503].map((status) => errorReply(status, { retryAfter: 60 }));
	test.each<[string, string, fault?: Fault | 'begin', operation?: string]>([
		['a submission is under way', 'generations'],
		['a submission waits to be sent again', 'generations', LIMITED],
		['a look is under way', 'task'],
		['a look waits to be sent again', 'task', BUSY],
		['Task → Get looks', 'task', HANG, 'get'],
		['a download does not begin', 'image'],
		['a download is under way', 'image', 'begin'],
		['a download waits to be tried again', 'image', BUSY],
	])('while %s ends the run within a second, and nothing is sent afterwards', async (...row) => {
		const [, route, fault = HANG, operation] = row;
		const parameters = operation ? getTask((await submitted(harness)).id) : generateImage();
		const { gateway, time } = harness;
		const gone: AbortSignal[] = [];
		gateway.settings.intercept = (exchange) => {
			if (exchange.route !== route || exchange.stage !== 'before') return undefined;
			gone.push(exchange.gone);
			return fault as Fault;
		};
		gateway.settings.storageIntercept = (exchange) => {
			if (route !== 'image' || exchange.stage !== 'before') return undefined;
			gone.push(exchange.gone);
			return fault === 'begin' ? begun(exchange.res) : fault;
		};
		const sent = () => gateway.requests.length + gateway.storageRequests.length;
		const signal = canceledAfter(time, 9500);
		let before = -1;
		signal.addEventListener('abort', () => (before = sent()));
		const end = time.now() + 9500 + 1000;
		const error = shown(await harness.imageError(parameters, { signal }));
		expect(time.now()).toBeLessThanOrEqual(end);
		await time.advance(600_000);
		expect(sent()).toBe(before);
		expect(error.message).toMatch(/^The execution was canceled/);
		expect(await storage.files()).toEqual([]);

		const ids = gateway.tasks.map(({ id }) => id);
		expect(ids).toHaveLength(route === 'generations' ? 0 : 1);
		for (const id of ids) expect(error.description).toContain(id);
		const isOpen = fault === HANG || fault === 'begin';
		expect(gone.map(({ aborted }) => isOpen && aborted)).toEqual([isOpen]);
	});

	test.each(['stopWorkflow', 'continueRegularOutput'] as const)(
		'ends the items of a batch in all their phases, names each task and starts no further item: %s',
		async (onError) => {
			// One waits, one polls, one downloads, one submits; the others have not begun.
			const { settings, tasks } = harness.gateway;
			settings.taskSeconds = ({ prompt }) => (prompt === 'download' ? 3 : 600);
			settings.intercept = ({ stage, route, record }) => {
				const polled = tasks.find(({ id }) => record.path.endsWith(id));
				const prompt = polled?.request.prompt ?? (record.body as { prompt?: string })?.prompt;
				const stuck = { poll: 'task', submit: 'generations' }[prompt ?? ''];
				return stage === 'before' && stuck === route ? HANG : undefined;
			};
			settings.storageIntercept = () => HANG;
			const phases = ['wait', 'poll', 'download', 'submit', 'later', 'never'];
			const given = generateImage({ prompt: '={{ $json.phase }}', options: { concurrency: 4 } });
			const items = itemsOf(...phases.map((phase) => ({ phase })));
			const signal = canceledAfter(harness.time, 10_500);
			const run = await harness.imageError(given, { items, signal, onError });

			const { message, description, context } = shown(run);
			expect(message).toMatch(/^The execution was canceled/);
			const accepted = tasks.map(({ id, request }) => {
				return { item: phases.indexOf(request.prompt), task_id: id };
			});
			expect(accepted.map(({ item }) => item).sort()).toEqual([0, 1, 2]);
			expect(context.acceptedTasks).toEqual(expect.arrayContaining(accepted));
			for (const { task_id } of accepted) expect(description).toContain(task_id);
		},
	);
});
