import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pictureBelongsTo } from '../../gateway';
import { arrange, type Stage } from './arrange';
import { everySeconds, exampleWorkflows } from '../../scripts/n8n/stage';
import type { Running } from '../../scripts/n8n/n8n';
import type { Rest } from '../../scripts/n8n/rest';
import { until } from '../../scripts/n8n/until';
import { posted } from '../../scripts/n8n/webhook';
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

let stage: Stage;
let n8n: Running & { rest: Rest };

beforeAll(async () => {
	stage = await arrange({
		name: 'restart',
		gateway: { taskSeconds: 1 },
		workflows: [...(await exampleWorkflows()).map(everySeconds(2)), DRAW, COLLECT],
	});
	n8n = await stage.start();
}, 900_000);

afterAll(async () => await stage.close());

const post = async (path: string, body: object) => await posted(`${n8n.address}${path}`, body);

/** A webhook's answer, which has to be a picture; the error shows what it was instead. */
async function pictureOf(reply: Response): Promise<Buffer> {
	const bytes = Buffer.from(await reply.arrayBuffer());
	const type = reply.headers.get('content-type') ?? '';
	if (reply.status === 200 && type === 'image/png') return bytes;
	throw new Error(`Not a picture but ${reply.status} ${type}: ${bytes.toString().slice(0, 1000)}`);
}

/** The files in which n8n keeps binary data, wherever in its folder they are. */
async function storedFiles(): Promise<string[]> {
	const entries = await readdir(join(stage.n8n.userFolder, '.n8n'), {
		recursive: true,
		withFileTypes: true,
	});
	return entries
		.filter(({ parentPath }) => /binary_?data/i.test(parentPath))
		.filter((entry) => entry.isFile() && !entry.name.endsWith('.metadata'))
		.map(({ parentPath, name }) => join(parentPath, name));
}

/** Draws by the webhook and gives how many more files n8n keeps then. */
async function drawn(prompt: string): Promise<number> {
	const before = (await storedFiles()).length;
	const reply = await post('/webhook/draw', { prompt });
	expect(pictureBelongsTo(prompt, await pictureOf(reply))).toBe(true);
	return (await storedFiles()).length - before;
}

describe('binary data', () => {
	test('on disk, as n8n is set up by itself: the picture is a file', async () => {
		await n8n.rest.activate('draw');
		await n8n.rest.activate('collect');
		expect(await drawn('a file on disk')).toBe(1);
	});
});

describe('n8n killed while image tasks run', () => {
	test('tasks that a workflow remembered are collected after the restart, each once', async () => {
		const { id: project } = await n8n.rest.call<{ id: string }>('GET', '/projects/personal');
		const { id: table } = await n8n.rest.call<{ id: string }>(
			'POST',
			`/projects/${project}/data-tables`,
			{
				name: 'Image tasks',
				columns: ['task_id', 'prompt'].map((name) => ({ name, type: 'string' })),
			},
		);
		const rows = async () => {
			const path = `/projects/${project}/data-tables/${table}/rows`;
			return (await n8n.rest.call<{ data: unknown[] }>('GET', path)).data;
		};
		stage.gateway.settings.taskSeconds = TASK_SECONDS;
		const before = stage.gateway.tasks.length;
		await n8n.rest.call('POST', `/workflows/${COLLECTED_LATER}/run`, {
			triggerToStartFrom: { name: 'Submit Now' },
		});
		await until('both tasks are remembered', async () => (await rows()).length === 2);
		await n8n.rest.activate(COLLECTED_LATER);
		await n8n.kill();

		const tasks = stage.gateway.tasks.slice(before);
		expect(tasks).toHaveLength(2);
		n8n = await stage.start({ env: { N8N_DEFAULT_BINARY_DATA_MODE: 'database' } });
		await until('both tasks are done with', async () => (await rows()).length === 0, 200);
		await n8n.rest.deactivate(COLLECTED_LATER);

		expect(stage.gateway.tasks.length - before).toBe(2);
		for (const { id } of tasks) {
			const downloads = stage.gateway.storageRequests.filter(({ path }) => path.includes(id));
			expect(downloads.map(({ status }) => status)).toContain(200);
		}
	}, 300_000);

	test('in the database: the picture is no file', async () => {
		stage.gateway.settings.taskSeconds = 1;
		expect(await drawn('a row of the database')).toBe(0);
	});

	test('a task whose node was waiting stands in the log, and Task → Wait gets its picture', async () => {
		stage.gateway.settings.taskSeconds = TASK_SECONDS;
		const before = stage.gateway.tasks.length;
		const answer = post('/webhook/draw', { prompt: 'cut short' }).catch(() => undefined);
		const task = await until('the task is accepted', () => stage.gateway.tasks[before]);
		await until('the node looks at it', () =>
			stage.gateway.requests.some(({ route, path }) => route === 'task' && path.includes(task.id)),
		);
		await n8n.kill();
		await answer;

		const log = await readFile(n8n.logFile, 'utf8');
		expect(log).toContain(task.id);
		n8n = await stage.start({ env: { N8N_DEFAULT_BINARY_DATA_MODE: 'default' } });
		const reply = await post('/webhook/collect', { task_id: task.id });
		expect(pictureBelongsTo('cut short', await pictureOf(reply))).toBe(true);
		expect(stage.gateway.tasks.length - before).toBe(1);
		const [latest] = await n8n.rest.executions('draw');
		expect(latest?.status).toBe('crashed');
	});

	test('in memory: the picture is no file', async () => {
		stage.gateway.settings.taskSeconds = 1;
		expect(await drawn('memory alone')).toBe(0);
	});
});
