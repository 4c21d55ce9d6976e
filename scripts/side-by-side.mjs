// Runs npm scripts of this package in parallel, as many as there are cores. They start in the given
// order: name the longest first. The output of each script is printed after it has ended. All run
// to their end, even if one fails, so that one run shows all errors. Usage: node
// scripts/side-by-side.mjs <npm script…>
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import os from 'node:os';
import { performance } from 'node:perf_hooks';

const names = process.argv.slice(2);
const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
const color = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};

/** Runs one npm script, as npm would, and prints its output, its seconds and how it ended. */
async function runScript(name) {
	const start = performance.now();
	const child = spawn(scripts[name], {
		// npm has put the package's commands on the PATH already.
		shell: true,
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
	// A script that was ended by a signal has no exit code.
	if (code !== 0) process.exitCode = 1;
}

/** Runs one script after the other from the common list. */
async function runNext() {
	for (let name = names.shift(); name !== undefined; name = names.shift()) await runScript(name);
}

const unknown = names.filter((name) => scripts[name] === undefined);
if (names.length === 0 || unknown.length > 0) {
	throw new Error(`Name npm scripts to run (unknown: ${unknown.join(', ') || 'none'})`);
}
await Promise.all(Array.from({ length: os.availableParallelism() }, runNext));
