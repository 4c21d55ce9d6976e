import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { runCommand } from '../../scripts/n8n/command';
import { dataFolder } from '../../scripts/n8n/folders';
import { freePort, isFree } from '../../scripts/n8n/port';
import { PROJECT } from '../../scripts/n8n/package';
import { Rest } from '../../scripts/n8n/rest';
import { exampleWorkflows } from '../../scripts/n8n/n8n-server';
import { until } from '../../scripts/n8n/until';

const started: ChildProcess[] = [];
afterAll(() => started.forEach((child) => child.kill('SIGKILL')));

async function start(args: string[]) {
	const began = Date.now();
	const child = spawn('npm', ['run', 'n8n', '--', ...args], {
		cwd: PROJECT,
		stdio: ['ignore', 'pipe', 'pipe'],
		// A group of its own, so that Ctrl-C can be sent to all of it, as a terminal does.
		detached: true,
	});
	started.push(child);
	const pieces: string[] = [];
	for (const stream of [child.stdout, child.stderr]) {
		stream.setEncoding('utf8').on('data', (text: string) => pieces.push(text));
	}
	const output = () => pieces.join('');
	await until(
		'npm run n8n is ready',
		() => {
			if (child.exitCode !== null) throw new Error(`It ended by itself:\n${output()}`);
			return output().includes('Ctrl-C stops both');
		},
		180,
	);
	return {
		child,
		output,
		seconds: (Date.now() - began) / 1000,
		/** What it printed in a line that begins with a label. */
		told: (label: string) => new RegExp(`^ +${label} +(\\S+)`, 'm').exec(output())?.[1] ?? '',
	};
}

/** Ends it by Ctrl-C, which a terminal sends to the whole group, or by SIGTERM for npm alone. */
async function end(
	{ child, output }: Awaited<ReturnType<typeof start>>,
	signal: 'SIGINT' | 'SIGTERM',
): Promise<void> {
	const id = child.pid ?? 0;
	process.kill(signal === 'SIGINT' ? -id : id, signal);
	await until('both are stopped', () => output().includes('Stopped.'));
	expect(output().match(/Stopped\./g)).toHaveLength(1);
	await until('nothing of it runs', () => !isRunning(-id), 10);
}

/** Whether a process runs, or of a group (a negative ID) any. */
function isRunning(id: number): boolean {
	try {
		return process.kill(id, 0);
	} catch {
		return false;
	}
}

test('npm run n8n: a login, the examples, a folder for files and a credential that works; Ctrl-C and SIGTERM end both, and it is quick the second time', async () => {
	const port = await freePort();
	const args = ['--name', 'command', '--port', String(port)];
	const first = await start([...args, '--fresh']);
	expect(first.told('n8n')).toBe(`http://127.0.0.1:${port}`);
	const readme = await readFile(join(PROJECT, 'README.md'), 'utf8');
	const [, shown = ''] = /^npm run n8n\n```[^]*?```text\n([^]*?)```/m.exec(readme) ?? [];
	const labels = [...shown.matchAll(/^ {2}(\S+(?: \S+)?) {2,}/gm)].map(([, label]) => label!);
	expect(labels.length).toBeGreaterThan(5);
	expect(labels.filter((label) => first.told(label) === '')).toEqual([]);
	const owner = { email: first.told('E-mail'), password: first.told('Password') };
	const rest = await Rest.signIn(first.told('n8n'), owner);
	const workflows = await rest.call<Array<{ id: string }>>('GET', '/workflows');
	const examples = (await exampleWorkflows()).map(({ id }) => id);
	expect(workflows.map(({ id }) => id).sort()).toEqual(examples);
	const [credential] = await rest.call<Array<{ type: string }>>('GET', '/credentials');
	expect(credential?.type).toBe('modelAccessApi');
	const data = { baseUrl: first.told('Gateway'), apiKey: first.told('API Key') };
	const credentials = { ...credential, data };
	const tested = await rest.call('POST', '/credentials/test', { credentials });
	expect(tested).toMatchObject({ status: 'OK' });
	expect((await stat(first.told('Files'))).isDirectory()).toBe(true);
	const gatewayPort = Number(new URL(first.told('Gateway')).port);
	await end(first, 'SIGINT');
	expect(await isFree(port)).toBe(true);

	const second = await start(args);
	await end(second, 'SIGTERM');
	expect(await isFree(port)).toBe(true);
	expect(await isFree(gatewayPort)).toBe(true);
	expect(second.told('Password')).toBe(owner.password);
	// How many seconds that are depends on the machine's mood; what is left out does not.
	expect(second.output()).not.toMatch(/Installing n8n|Importing/);
	expect(second.seconds).toBeLessThan(first.seconds);
}, 400_000);

test('npm run n8n -- --clean removes the installations and the data of this checkout, nothing else', async () => {
	const cache = await mkdtemp(join(tmpdir(), 'n8n-clean-'));
	try {
		const own = basename(await dataFolder());
		for (const name of ['n8n-2.41.1-0a1b2c3d', own, 'data-00000000', 'others']) {
			await mkdir(join(cache, name, 'node_modules'), { recursive: true });
		}
		const where = { cwd: PROJECT, env: { N8N_STAGE_CACHE: cache } };
		await runCommand('npm', ['run', 'n8n', '--', '--clean'], where);
		expect((await readdir(cache)).sort()).toEqual(['data-00000000', 'others']);
	} finally {
		await rm(cache, { recursive: true });
	}
});
