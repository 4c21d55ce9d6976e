/**
 * Writes a processor profile of each measured part into the folder BENCH_PROFILE, if it is set. It
 * is plain JavaScript, because probe.js loads it into n8n's process.
 */
const { writeFileSync } = require('node:fs');
const { Session } = require('node:inspector');
const { join } = require('node:path');

const { BENCH_PROFILE: folder, BENCH_PROFILE_NAME: name = 'profile' } = process.env;
/** Microseconds between two samples. */
const INTERVAL = 200;

let session;
let written = 0;

function begin() {
	if (!folder) return;
	session = new Session();
	session.connect();
	session.post('Profiler.enable');
	session.post('Profiler.setSamplingInterval', { interval: INTERVAL });
	session.post('Profiler.start');
}

function end() {
	if (!session) return;
	session.post('Profiler.stop', (error, result) => {
		if (error) throw error;
		const file = `${name.replaceAll(' ', '-')}-${process.pid}-${written++}.cpuprofile`;
		writeFileSync(join(folder, file), JSON.stringify(result.profile));
	});
	session.disconnect();
	session = undefined;
}

module.exports = { begin, end };
