import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startGateway, type Gateway } from '../gateway';
import { clean, dataFolder } from './n8n/folders';
import { N8N_VERSION } from './n8n/installation';
import type { N8n, Running } from './n8n/n8n';
import { isFree } from './n8n/port';
import {
	CREDENTIAL,
	exampleWorkflows,
	FILES,
	importCredential,
	importWorkflows,
	setUpN8n,
} from './n8n/n8n-server';
import { RELOADING, watchPackage } from './n8n/watch';
import { askedToEnd } from './ending';

const N8N_PORT = 5678;
const GATEWAY_PORT = 4040;

const HELP = `A real n8n with the package installed, and the built-in gateway.

npm run n8n                        n8n ${N8N_VERSION}; its data is kept until the next run
npm run n8n -- --fresh             deletes all data first
npm run n8n -- --version 2.30.8    another n8n
npm run n8n -- --port 5700         the editor's port (${N8N_PORT})
npm run n8n -- --name other        one with its own data
npm run n8n -- --clean             removes the installations of n8n and their data
npm run dev                        the same n8n ${N8N_VERSION}; it loads the package again after each change
                                   in nodes/ and credentials/; --fresh, --port and --name as above`;

type Arguments = ReturnType<typeof readArguments>;

/** What was started until now. */
interface Services {
	n8n?: N8n;
	gateway?: Gateway;
	/** Stops the build after each change. */
	stopWatching?: () => void;
	/** Whether everything has to end. */
	asked?: boolean;
}

function readArguments(args: string[]) {
	const after = (name: string) => {
		const at = args.indexOf(name);
		if (at < 0) return undefined;
		const value = args[at + 1];
		if (value === undefined || value.startsWith('--')) throw new Error(`${name} needs a value`);
		return value;
	};
	const port = Number(after('--port') ?? N8N_PORT);
	if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error('--port needs a port');
	const version = after('--version') ?? N8N_VERSION;
	const name = after('--name') ?? `n8n-${version}`;
	if (!/^[\w.-]+$/.test(name)) throw new Error('--name may have letters, digits, dots and dashes');
	const watch = args.includes('--watch');
	if (watch && version !== N8N_VERSION) {
		throw new Error(`Only n8n ${N8N_VERSION} is known to load a changed package again`);
	}
	return { port, version, name, fresh: args.includes('--fresh'), watch };
}

const began = Date.now();

function say(text: string) {
	console.log(`${((Date.now() - began) / 1000).toFixed(0).padStart(4)} s  ${text}`);
}

/**
 * A port for the gateway: the previous one, which the credential names, if it is free.
 * @param note the file with the previous port
 */
async function gatewayPort(note: string): Promise<number> {
	const last = existsSync(note) ? [Number(await readFile(note, 'utf8'))] : [];
	for (const port of [...last, GATEWAY_PORT]) {
		if (await isFree(port)) return port;
	}
	return 0;
}

/** Imports the credential and the examples, unless these were imported before. */
async function furnish(n8n: N8n, gateway: Gateway): Promise<void> {
	const workflows = await exampleWorkflows();
	const note = join(n8n.userFolder, 'imported');
	const mark = createHash('sha256')
		.update(JSON.stringify([workflows, gateway.baseUrl, gateway.keys.active]))
		.digest('hex');
	if (existsSync(note) && (await readFile(note, 'utf8')) === mark) return;
	say('Importing the credential and the examples');
	await importCredential(n8n, gateway);
	await importWorkflows(n8n, workflows);
	await writeFile(note, mark);
}

/** Installs, imports and starts everything. Resolves with a function that ends the running n8n. */
async function start(
	{ port, name, version, fresh, watch }: Arguments,
	services: Services,
): Promise<Running> {
	if (!(await isFree(port))) {
		throw new Error(`Port ${port} is taken: is n8n running already? Choose one with -- --port N`);
	}
	const n8n = (services.n8n = await setUpN8n({ name, version, fresh, say }));
	const portNote = join(n8n.userFolder, 'gateway-port');
	const gateway = (services.gateway = await startGateway({
		port: await gatewayPort(portNote),
		taskSeconds: 6,
		deltaMs: 40,
	}));
	await writeFile(portNote, new URL(gateway.baseUrl).port);
	await furnish(n8n, gateway);
	say('Starting n8n');
	const running = await n8n.start({ port, env: watch ? RELOADING : {} });
	say('Ready');
	console.log(
		[
			'',
			`  n8n       ${running.address}`,
			`  E-mail    ${n8n.owner.email}`,
			`  Password  ${n8n.owner.password}`,
			'',
			`  Gateway   ${gateway.baseUrl}`,
			`  API Key   ${gateway.keys.active}  (already in the credential "${CREDENTIAL.name}")`,
			'',
			`  Files     ${join(n8n.userFolder, FILES)}  (for the Read/Write Files from Disk node)`,
			`  Log       ${running.logFile}`,
			`  Data      ${await dataFolder()}`,
			'',
			'The examples are among the workflows. Ctrl-C stops both.',
		].join('\n'),
	);
	if (watch && !services.asked) services.stopWatching = watchPackage(n8n, running, say);
	return running;
}

/** Resolves if n8n ends on its own. */
async function endedByItself(started: Promise<Running>): Promise<never> {
	const { process: child } = await started;
	if (child.exitCode === null && child.signalCode === null) {
		await new Promise<void>((resolve) => child.once('exit', () => resolve()));
	}
	const { exitCode, signalCode } = child;
	throw new Error(`n8n has ended on its own (${exitCode ?? signalCode}): see its log`);
}

async function main() {
	const args = process.argv.slice(2);
	if (args.includes('--help')) return console.log(HELP);
	if (args.includes('--clean')) {
		for (const folder of await clean()) console.log(`Removed ${folder}`);
		return;
	}
	const services: Services = {};
	const asked = askedToEnd().then(() => {
		services.asked = true;
	});
	try {
		const started = start(readArguments(args), services);
		await Promise.race([asked, endedByItself(started)]);
	} catch (error) {
		// Errors during the shutdown are expected.
		if (!services.asked) throw error;
	} finally {
		services.stopWatching?.();
		await services.n8n?.stopAll();
		await services.gateway?.close();
	}
	console.log('Stopped.');
	// A running command, such as npm, ends with this process.
	process.exit();
}

main().catch((error: unknown) => {
	console.error((error as Error).message);
	process.exit(1);
});
