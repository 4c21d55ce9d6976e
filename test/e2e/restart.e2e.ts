import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { imageBelongsTo } from '../../gateway';
import { arrange, createTable, until } from './arrange';
import { everySeconds, exampleWorkflows } from '../../scripts/n8n/n8n-server';
import { image, inARow, ours, respondedWithFile, webhook } from '../../scripts/n8n/workflows';

const DRAW = inARow('draw', [
	webhook('Wish', 'draw', { responseMode: 'responseNode' }),
	image('Draw', '={{ $json.body.prompt }}'),
	respondedWithFile('Answer'),
]);

const COLLECT = inARow('collect', [
	webhook('Which', 'collect', { responseMode: 'responseNode' }),
	ours('Wait', 'modelAccessImage', {
		resource: 'task',
		operation: 'wait',
		taskId: '={{ $json.body.task_id }}',
	}),
	respondedWithFile('Answer'),
]);

const COLLECTED_LATER = 'submit-now-collect-later';

/** Seconds that a task takes: longer than n8n needs to start again, so that it is open meanwhile. */
const TASK_SECONDS = 25;

const n8nServer = arrange(async () => ({
	name: 'restart',
	gateway: { taskSeconds: 1 },
	workflows: [...(await exampleWorkflows()).map(everySeconds(2)), DRAW, COLLECT],
}));

beforeAll(async () => await n8nServer.start(), 300_000);

/** Starts n8n again, with another place for binary data. */
const restart = async (mode: string) =>
	await n8nServer.start({ env: { N8N_DEFAULT_BINARY_DATA_MODE: mode } });

/** A webhook's answer, which has to be a picture; the error shows what it was instead. */
async function pictureOf(reply: Response): Promise<Buffer> {
	const bytes = Buffer.from(await reply.arrayBuffer());
	const type = reply.headers.get('content-type') ?? '';
	if (reply.status === 200 && type === 'image/png') return bytes;
	throw new Error(`Not a picture but ${reply.status} ${type}: ${bytes.toString().slice(0, 1000)}`);
}

/** How many files n8n keeps of binary data, wherever in its folder they are. */
async function storedFiles(): Promise<number> {
	const entries = await readdir(join(n8nServer.n8n.userFolder, '.n8n'), {
		recursive: true,
		withFileTypes: true,
	});
	return entries.filter(
		(entry) =>
			entry.isFile() && /binary_?data/i.test(entry.parentPath) && !entry.name.endsWith('.metadata'),
	).length;
}

/** Draws by the webhook and gives how many more files n8n keeps then. */
async function drawn(prompt: string): Promise<number> {
	const before = await storedFiles();
	const reply = await n8nServer.post('draw', { prompt });
	expect(imageBelongsTo(prompt, await pictureOf(reply))).toBe(true);
	return (await storedFiles()) - before;
}

describe('binary data', () => {
	test('on disk, as n8n is set up by itself: the picture is a file', async () => {
		await n8nServer.main.rest.activate('draw');
		await n8nServer.main.rest.activate('collect');
		expect(await drawn('a file on disk')).toBe(1);
	});
});

describe('n8n killed while image tasks run', () => {
	test('tasks that a workflow remembered are collected after the restart, each once', async () => {
		const table = await createTable(n8nServer.main.rest, 'Image tasks', ['task_id', 'prompt']);
		const rows = async () =>
			(await n8nServer.main.rest.call<{ data: unknown[] }>('GET', `${table}/rows`)).data;
		n8nServer.gateway.settings.taskSeconds = TASK_SECONDS;
		const before = n8nServer.gateway.tasks.length;
		await n8nServer.main.rest.call('POST', `/workflows/${COLLECTED_LATER}/run`, {
			triggerToStartFrom: { name: 'Submit Now' },
		});
		await until('both tasks are remembered', async () => (await rows()).length === 2);
		await n8nServer.main.rest.activate(COLLECTED_LATER);
		await n8nServer.main.kill();

		const tasks = n8nServer.gateway.tasks.slice(before);
		expect(tasks).toHaveLength(2);
		await restart('database');
		await until('both tasks are done with', async () => (await rows()).length === 0, 200);
		await n8nServer.main.rest.deactivate(COLLECTED_LATER);

		expect(n8nServer.gateway.tasks.length - before).toBe(2);
		for (const { id } of tasks) {
			const downloads = n8nServer.gateway.storageRequests.filter(({ path }) => path.includes(id));
			expect(downloads.map(({ status }) => status)).toContain(200);
		}
	}, 300_000);

	test('in the database: the picture is no file', async () => {
		n8nServer.gateway.settings.taskSeconds = 1;
		expect(await drawn('a row of the database')).toBe(0);
	});

	test('a task whose node was waiting stands in the log, and Task → Wait gets its picture', async () => {
		n8nServer.gateway.settings.taskSeconds = TASK_SECONDS;
		const before = n8nServer.gateway.tasks.length;
		const answer = n8nServer.post('draw', { prompt: 'cut short' }).catch(() => undefined);
		const task = await until('the task is accepted', () => n8nServer.gateway.tasks[before]);
		await until('the node looks at it', () =>
			n8nServer.gateway.requests.some(
				({ route, path }) => route === 'task' && path.includes(task.id),
			),
		);
		await n8nServer.main.kill();
		await answer;

		const log = await readFile(n8nServer.main.logFile, 'utf8');
		expect(log).toContain(task.id);
		await restart('default');
		const reply = await n8nServer.post('collect', { task_id: task.id });
		expect(imageBelongsTo('cut short', await pictureOf(reply))).toBe(true);
		expect(n8nServer.gateway.tasks.length - before).toBe(1);
		const [latest] = await n8nServer.main.rest.executions('draw');
		expect(latest?.status).toBe('crashed');
	});

	test('in memory: the picture is no file', async () => {
		n8nServer.gateway.settings.taskSeconds = 1;
		expect(await drawn('memory alone')).toBe(0);
	});
});
