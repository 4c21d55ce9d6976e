import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { imageBelongsTo } from '../../gateway';
import { arrange, until } from './arrange';
import { all as workflows } from './queue.workflows';
import { dataFolder } from '../../scripts/n8n/folders';
import type { Running } from '../../scripts/n8n/n8n';
import { freePort } from '../../scripts/n8n/port';
import type { Execution } from '../../scripts/n8n/rest';
import { startAll, startPostgres, startRedis, type Service } from '../../scripts/n8n/services';
import { withCredential, type WorkflowFile } from '../../scripts/n8n/n8n-server';

/** Queue mode as n8n documents it, with locks that run out while a test can wait for it. */
const QUEUE_MODE = {
	EXECUTIONS_MODE: 'queue',
	QUEUE_HEALTH_CHECK_ACTIVE: 'true',
	N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
	QUEUE_WORKER_LOCK_DURATION: '10000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
	QUEUE_WORKER_STALLED_INTERVAL: '3000',
	// No workflow here runs code of its own, and each process would start one more for it.
	N8N_RUNNERS_MODE: 'external',
	N8N_RUNNERS_AUTH_TOKEN: 'nobody-calls',
};

let services: Service[] = [];
let workers: [Running, Running];
const ids = new Map<string, string>();

const n8nServer = arrange(async () => {
	const logs = join(await dataFolder(), 'queue-services');
	await mkdir(logs, { recursive: true });
	const log = (name: string) => join(logs, `${name}.log`);
	services = await startAll([startPostgres(log('postgres')), startRedis(log('redis'))]);
	return {
		name: 'queue',
		env: Object.assign({}, QUEUE_MODE, ...services.map(({ env }) => env)) as typeof QUEUE_MODE,
		gateway: { taskSeconds: ({ prompt }) => (prompt.includes('Slow') ? 30 : 2) },
	};
});

beforeAll(async () => {
	const worker = async (name: string) => {
		const port = await freePort();
		const env = { QUEUE_HEALTH_CHECK_PORT: String(port) };
		return await n8nServer.n8n.start({ args: ['worker'], name, port, env });
	};
	[, ...workers] = await Promise.all([n8nServer.start(), worker('worker-1'), worker('worker-2')]);
	const { rest } = n8nServer.main;
	for (const workflow of Object.values(workflows)) {
		const { id } = await rest.create(withCredential(workflow));
		await rest.activate(id);
		ids.set(workflow.name, id);
	}
}, 600_000);

afterAll(async () => await Promise.all(services.map(async ({ stop }) => await stop())), 120_000);

async function call({ name }: WorkflowFile, body: object): Promise<Response> {
	const reply = await n8nServer.post(name, body);
	if (!reply.ok) throw new Error(`${name}: ${reply.status} ${await reply.text()}`);
	return reply;
}

const executions = async ({ name }: WorkflowFile): Promise<Execution[]> =>
	await n8nServer.main.rest.executions(ids.get(name) ?? '');

/** What a worker's log says in sentences of this form. */
const said = async ({ logFile }: Running, form: RegExp) => [
	...(await readFile(logFile, 'utf8')).matchAll(form),
];

const begunBy = async (worker: Running) =>
	(await said(worker, /Worker started execution (\d+) /g)).map(([, id = '']) => id);

const ACCEPTED = /Execution (\d+), node "\w+", item \d: image task (\w+) was accepted/g;

/** The image tasks that a worker's log names, with the execution that each belongs to. */
const notedBy = async (worker: Running) =>
	(await said(worker, ACCEPTED)).map(([, execution = '', task = '']) => ({ execution, task }));

/** The prompts of the gateway's tasks, from one on, in order. */
const submitted = (from = 0) => {
	const tasks = n8nServer.gateway.tasks.slice(from);
	return tasks.map(({ request }) => request.prompt).sort();
};

const pollsOf = (taskId: string) =>
	n8nServer.gateway.requests
		.filter(({ route, path }) => route === 'task' && path.endsWith(taskId))
		.map(({ startedAt }) => startedAt);

describe('Forty images', () => {
	const prompts = Array.from({ length: 40 }, (_, index) => `Boat ${index}`);

	test('all arrive at the callers of their webhooks, each submitted once', async () => {
		const images = await Promise.all(
			prompts.map(async (prompt) => {
				const reply = await call(workflows.draws, { prompt });
				expect(reply.headers.get('content-type')).toBe('image/png');
				return Buffer.from(await reply.arrayBuffer());
			}),
		);
		const isRight = (png: Buffer, index: number) => imageBelongsTo(prompts[index] ?? '', png);
		expect(images.filter(isRight)).toHaveLength(prompts.length);
		expect(submitted()).toEqual([...prompts].sort());
	}, 120_000);

	test('are shared out among the workers, and lie in the database, where main finds them', async () => {
		const begun = await Promise.all(workers.map(begunBy));
		for (const own of begun) expect(own.length).toBeGreaterThan(5);
		expect(new Set(begun.flat()).size).toBe(prompts.length);
		const [latest] = await executions(workflows.draws);
		const { data = '' } = await n8nServer.main.rest.execution(latest?.id ?? '');
		expect(data).toMatch(/"database:[-\w]+"/);
	});
});

test('A streamed answer reaches the caller of the main instance in pieces, from a worker', async () => {
	const reply = await call(workflows.streams, { prompt: 'Why is the sky blue, and the sea?' });
	const lines = (await reply.text()).trim().split('\n');
	const chunks = lines.map((line) => JSON.parse(line) as { type: string; content?: string });
	const pieces = chunks.filter(({ type }) => type === 'item').map(({ content }) => content);
	expect(pieces.length).toBeGreaterThan(3);
	expect(pieces.join('')).toBe('You said: Why is the sky blue, and the sea?');
}, 60_000);

/** The task of the execution that was stopped; it goes on at the gateway. */
let stopped: string;

test('An execution that is stopped on the main instance asks for nothing more', async () => {
	const before = n8nServer.gateway.tasks.length;
	for (const prompt of ['Slow A', 'Slow B']) await call(workflows.waits, { prompts: [prompt] });
	await until('both are waited for', () => {
		const tasks = n8nServer.gateway.tasks.slice(before);
		return tasks.length === 2 && tasks.every(({ id }) => pollsOf(id).length > 0);
	});
	const accepted = n8nServer.gateway.tasks.slice(before).map(({ id }) => id);
	const [one, other] = await until('the logs name both', async () => {
		const all = (await Promise.all(workers.map(notedBy))).flat();
		const found = accepted.flatMap((id) => all.filter(({ task }) => task === id));
		return found.length === 2 && found;
	});
	stopped = one?.task ?? '';

	await n8nServer.main.rest.call('POST', `/executions/${one?.execution}/stop`, {});
	const at = Date.now();
	// The one that goes on tells how long to look.
	const more = () => pollsOf(other?.task ?? '').filter((time) => time > at);
	await until('the other one is polled three times more', () => more().length >= 3);
	expect(pollsOf(stopped).filter((time) => time > at + 1000)).toEqual([]);
	const { status } = await n8nServer.main.rest.execution(one?.execution ?? '');
	expect(status).toBe('canceled');
}, 60_000);

describe('A worker that is killed while it waits for images', () => {
	const { waits, submits, fetches } = workflows;
	const prompts: string[] = [];
	let from = 0;
	/** The executions of the killed worker, and those of the other one. */
	let lost: Execution[];
	let others: Execution[];
	let killed: Running;
	let survivor: Running;

	const all = async () => (await Promise.all([waits, submits].map(executions))).flat();
	const now = async (given: Execution[]) => {
		const wanted = new Set(given.map(({ id }) => id));
		return (await all()).filter(({ id }) => wanted.has(id));
	};

	beforeAll(async () => {
		[survivor, killed] = workers;
		from = n8nServer.gateway.tasks.length;
		const earlier = new Set((await all()).map(({ id }) => id));
		// Which worker takes what is up to n8n: more are asked for until each has some of both kinds.
		for (let round = 0; round < 5; round++) {
			for (const workflow of [waits, submits, waits, submits]) {
				const pair = [1, 2].map((item) => `Slow ${prompts.length + item}`);
				prompts.push(...pair);
				await call(workflow, { prompts: pair });
			}
			await until('all are accepted and polled', () => {
				const tasks = n8nServer.gateway.tasks.slice(from);
				return tasks.length >= prompts.length && tasks.every(({ id }) => pollsOf(id).length > 0);
			});
			const begun = new Set(await begunBy(killed));
			const fresh = (await all()).filter(({ id }) => !earlier.has(id));
			lost = fresh.filter(({ id }) => begun.has(id));
			others = fresh.filter(({ id }) => !begun.has(id));
			const kinds = [lost, others].map((some) => new Set(some.map(({ workflowId }) => workflowId)));
			if (kinds.every(({ size }) => size === 2)) break;
		}
		expect((await now(lost)).map(({ status }) => status)).toEqual(lost.map(() => 'running'));
		await killed.kill();
	}, 90_000);

	test('leaves executions that n8n calls failed, with nothing of what their nodes handed on', async () => {
		const isOver = ({ status }: Execution) => status !== 'running';
		await until('n8n has noticed', async () => (await now(lost)).every(isOver), 120);
		const begun = await begunBy(survivor);
		expect(lost.filter(({ id }) => begun.includes(id))).toEqual([]);
		for (const { id } of lost) {
			const { data = '', status } = await n8nServer.main.rest.execution(id);
			expect(status).toBe('error');
			expect(data).toContain('failed to be processed too many times');
			for (const task of n8nServer.gateway.tasks) expect(data).not.toContain(task.id);
		}
	}, 150_000);

	test('costs the other worker nothing', async () => {
		const succeeded = ({ status }: Execution) => status === 'success';
		await until('its executions end', async () => (await now(others)).every(succeeded));
	}, 90_000);

	test('has named each task in its log, from where Task → Wait fetches the images', async () => {
		const wanted = new Set(lost.map(({ id }) => id));
		const all = await notedBy(killed);
		const tasks = all.flatMap(({ execution, task }) => (wanted.has(execution) ? [task] : []));
		expect(tasks).toHaveLength(2 * lost.length);
		// The task of the execution that was stopped went on as well.
		tasks.push(stopped);
		const items: unknown = await (await call(fetches, { tasks })).json();
		const completed = { status: 'completed', file: { mime_type: 'image/png' } };
		expect(items).toMatchObject(tasks.map((task_id) => ({ task_id, ...completed })));
	}, 90_000);

	test('has cost no image twice, now that all are fetched', () => {
		expect(submitted(from)).toEqual([...prompts].sort());
		expect(n8nServer.gateway.crashes).toEqual([]);
	});
});
