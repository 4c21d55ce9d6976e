import { spawn } from 'node:child_process';
import { codeBlocks, PAGES, read } from './pages';
import { manifest, project } from './built';

/** Who executes a command of a page: a file of the project, and how it does so there. */
const EXECUTED: Record<string, [file: string, how: string | RegExp]> = {
	'npm install': ['.ci/run', "step 'npm install' npm install"],
	'npm run demo': ['.ci/run', 'npm run demo |'],
	'npm run n8n': ['test/e2e/command.e2e.ts', "spawn('npm', ['run', 'n8n', '--'"],
	'cd ~/.n8n/nodes': ['test/e2e/editor.e2e.ts', "'.n8n', 'nodes')"],
	'npm install --prefix . --legacy-peer-deps n8n-nodes-model-access': [
		'test/e2e/editor.e2e.ts',
		"const args = ['install', ...(line ?? '').split(' ')",
	],
	'npm install && npm run build && npm pack': ['scripts/n8n/package.ts', "['run', 'build']"],
};

/** Arguments of `npm run gateway`, which this file executes. */
const GATEWAY = /^npm run gateway(?: -- (.*))?$/;

const commands = PAGES.flatMap(codeBlocks)
	.filter(({ language }) => language === 'sh')
	.flatMap(({ text }) => text.trim().split('\n'));

test('each other command is executed by a test or by .ci/run', () => {
	for (const command of commands.filter((command) => !GATEWAY.test(command))) {
		const [file, how] = EXECUTED[command] ?? [`what executes "${command}"`, ''];
		expect(read(file)).toMatch(how);
	}
});

test.each(commands.filter((command) => GATEWAY.test(command)))(
	'%s starts a gateway',
	async (command) => {
		const [, ...script] = manifest.scripts.gateway!.split(' ');
		const [, line = ''] = GATEWAY.exec(command)!;
		const given = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, a, b]) => a ?? b!);
		const child = spawn(process.execPath, [...script, ...given, '--port', '0'], { cwd: project });
		const ended = new Promise((resolve) => child.once('exit', resolve));
		let output = '';
		for await (const piece of child.stdout.setEncoding('utf8')) {
			output += String(piece);
			if (output.includes('Ctrl-C stops it.')) break;
		}
		child.kill('SIGTERM');
		await ended;
		const shown = /Base URL {2}http:\/\/127\.0\.0\.1:\d+\/v1[^]*API Key {3}mak-test-active-0001/;
		expect(output).toMatch(shown);
	},
	30_000,
);
