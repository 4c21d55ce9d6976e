/**
 * Runs inside n8n's process by `node --require`. At SIGUSR2 it collects garbage and writes what the
 * process has needed until then. It measures only the first process that finds no file, not the
 * child processes.
 */
const { renameSync, writeFileSync } = require('node:fs');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');
const profiler = require('./profiler.js');

const file = process.env.BENCH_PROBE;
let reports = 0;

function report() {
	// Written in one step, so that a reader never finds an incomplete file.
	const used = { before: process.cpuUsage() };
	// A measured part begins with two reports and ends with a third.
	const place = reports % 3;
	if (reports > 0 && place === 0) profiler.end();
	if (reports > 0) collectGarbage();
	const told = { pid: process.pid, reports, ...used, after: process.cpuUsage() };
	writeFileSync(
		`${file}.${process.pid}`,
		JSON.stringify({ ...told, rss: process.memoryUsage.rss() }),
	);
	if (place === 2) profiler.begin();
	renameSync(`${file}.${process.pid}`, file);
	reports++;
}

function collectGarbage() {
	setFlagsFromString('--expose-gc');
	const collect = runInNewContext('gc');
	collect();
	collect();
}

try {
	writeFileSync(`${file}.first`, '', { flag: 'wx' });
	process.on('SIGUSR2', report);
	report();
} catch {
	// Not the first process.
}
