/**
 * Runs inside n8n's process by `node --require`. It records the file of each module that the
 * package's bundle requires from n8n. It does so after n8n has loaded the bundle, and at each later
 * request of the bundle. n8n sets NODE_PATH while it starts, so no other process can see the same.
 * It is plain JavaScript, because n8n's process has no compiler.
 */
const { appendFileSync, readFileSync, realpathSync } = require('node:fs');
const Module = require('node:module');

const BUNDLE = /[\\/]node_modules[\\/]n8n-nodes-model-access[\\/]dist[\\/]bundle\.js$/;
const file = process.env.N8N_RESOLUTIONS;

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (name, parent, ...others) {
	const isAsked = BUNDLE.test(parent?.filename ?? '') && !Module.isBuiltin(name);
	try {
		const found = resolveFilename.call(this, name, parent, ...others);
		if (isAsked) record({ name, found: realpathSync(found) });
		return found;
	} catch (error) {
		if (isAsked) record({ name, fault: error.code ?? error.message });
		throw error;
	}
};

const runScript = Module._extensions['.js'];
Module._extensions['.js'] = function (module, filename) {
	runScript.call(this, module, filename);
	if (!BUNDLE.test(filename)) return;
	for (const [, name] of readFileSync(filename, 'utf8').matchAll(/\brequire\("([^"]+)"\)/g)) {
		try {
			Module._resolveFilename(name, module);
		} catch {
			// The failure is recorded.
		}
	}
};

function record(what) {
	appendFileSync(file, `${JSON.stringify({ pid: process.pid, ...what })}\n`);
}
