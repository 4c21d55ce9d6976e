import { spawn, type ChildProcess } from 'node:child_process';
import { freePort, isFree } from './stage/port';
import { PROJECT } from './stage/package';
import { Rest } from './stage/rest';
import { exampleWorkflows } from './stage/stage';
import { until } from './stage/until';

interface Session {
	child: ChildProcess;
	output: () => string;
	/** Seconds until it said that it is ready. */
	seconds: number;
	/** What it printed in a line that begins with a label. */
	told: (label: string) => string;
}

const started: ChildProcess[] = [];
afterAll(() => started.forEach((child) => child.kill('SIGKILL')));

/** Runs `npm run n8n` as a person does, until it is ready. */
async function start(words: string[]): Promise<Session> {
	const began = Date.now();
	const child = spawn('npm', ['run', 'n8n', '--', ...words], {
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
		told: (label) => new RegExp(`^ +${label} +(\\S+)`, 'm').exec(output())?.[1] ?? '',
	};
}

/** Ctrl-C. npm goes at once; what it had started says when it is done. */
async function interrupt({ child, output }: Session): Promise<void> {
	process.kill(-(child.pid ?? 0), 'SIGINT');
	await until('both are stopped', () => output().includes('Stopped.'));
}

test('npm run n8n: a login, the examples and a credential that works; Ctrl-C ends both, and it is quick the second time', async () => {
	const port = await freePort();
	const words = ['--name', 'command', '--port', String(port)];
	const first = await start([...words, '--fresh']);
	expect(first.told('n8n')).toBe(`http://127.0.0.1:${port}`);
	const owner = { email: first.told('E-mail'), password: first.told('Password') };
	const rest = await Rest.signIn(first.told('n8n'), owner);
	const workflows = await rest.call<Array<{ id: string }>>('GET', '/workflows');
	expect(workflows.map(({ id }) => id).sort()).toEqual(
		(await exampleWorkflows()).map(({ id }) => id),
	);
	const [credential] = await rest.call<Array<{ id: string; name: string; type: string }>>(
		'GET',
		'/credentials',
	);
	expect(credential?.type).toBe('modelAccessApi');
	const tested = await rest.call<{ status: string }>('POST', '/credentials/test', {
		credentials: {
			...credential,
			data: { baseUrl: first.told('Gateway'), apiKey: first.told('API Key') },
		},
	});
	expect(tested.status).toBe('OK');
	await interrupt(first);
	expect(await isFree(port)).toBe(true);

	const second = await start(words);
	await interrupt(second);
	expect(second.told('Password')).toBe(owner.password);
	// How many seconds that are depends on the machine's mood; what is left out does not.
	expect(second.output()).not.toMatch(/Installing n8n|Importing/);
	expect(second.seconds).toBeLessThan(first.seconds);
}, 400_000);
