/*
 * Writes profiles of the processor, one for each measured part, into the folder BENCH_PROFILE if
 * that is set. In plain JavaScript, as probe.js needs it in n8n's process too.
 */
const { writeFileSync } = require('node:fs');
const { Session } = require('node:inspector');
const { join } = require('node:path');

const folder = process.env.BENCH_PROFILE;
const name = process.env.BENCH_PROFILE_NAME ?? 'profile';
const session = new Session();
let count = 0;

function begin() {
	if (!folder) return;
	session.connect();
	session.post('Profiler.enable');
	session.post('Profiler.setSamplingInterval', { interval: 200 });
	session.post('Profiler.start');
}

function end() {
	if (!folder) return;
	session.post('Profiler.stop', (error, result) => {
		if (error) throw error;
		const file = join(folder, `${name}-${process.pid}-${count++}.cpuprofile`);
		writeFileSync(file, JSON.stringify(result.profile));
	});
	session.disconnect();
}

module.exports = { begin, end };
