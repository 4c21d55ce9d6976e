/*
 * Goes into n8n's process by `node --require`. Records where each module lies that the package's
 * bundle leaves to n8n: when n8n has loaded the bundle, and whenever the bundle asks for one later.
 * n8n sets NODE_PATH itself while it starts, so no other process sees what this one sees. Plain
 * JavaScript: no compiler runs in n8n's process.
 */
const { appendFileSync, readFileSync, realpathSync } = require('node:fs');
const Module = require('node:module');

const BUNDLE = /[\\/]node_modules[\\/]n8n-nodes-model-access[\\/]dist[\\/]bundle\.js$/;
const file = process.env.STAGE_RESOLUTIONS;

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
			// It is recorded.
		}
	}
};

function record(what) {
	appendFileSync(file, `${JSON.stringify({ pid: process.pid, ...what })}\n`);
}
