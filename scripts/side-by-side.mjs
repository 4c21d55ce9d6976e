// Runs npm scripts of this package side by side, as many at once as there are cores, in the order
// they are named: name the longest first. The output of each is printed once it has ended. All run
// to their end, also if one fails, so that one run shows all that is wrong.
// Usage: node scripts/side-by-side.mjs <npm script…>
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import { performance } from 'node:perf_hooks';

const names = process.argv.slice(2);
const color = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};

/** Runs one npm script and prints what it printed, the seconds it took and how it ended. */
async function runScript(name) {
	const start = performance.now();
	const child = spawn('npm', ['run', '--silent', name], {
		env: { ...process.env, ...color },
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const output = [];
	child.stdout.on('data', (chunk) => output.push(chunk));
	child.stderr.on('data', (chunk) => output.push(chunk));
	const [code] = await once(child, 'close');
	const seconds = ((performance.now() - start) / 1000).toFixed(1);
	process.stdout.write(Buffer.concat(output));
	console.log(`${code === 0 ? 'passed' : 'FAILED'}  ${name} (${seconds} s)`);
	// A script that a signal ended has no code.
	if (code !== 0) process.exitCode = 1;
}

/** Takes one script after the other from the common list. */
async function runNext() {
	for (let name = names.shift(); name !== undefined; name = names.shift()) await runScript(name);
}

if (names.length === 0) throw new Error('Name the npm scripts to run');
await Promise.all(Array.from({ length: os.availableParallelism() }, runNext));
