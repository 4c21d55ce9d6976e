import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { INodeExecutionData } from 'n8n-workflow';
import { endWithUs } from './children';
import { commandEnd, runCommand, type CommandOptions } from './command';
import type { Installation } from './installation';
import { freePort } from './port';
import { ForeignModules, Resolutions, RESOLUTIONS_SCRIPT } from './resolutions';

/** The user who signs in. */
export interface Owner {
	email: string;
	password: string;
}

/** A running n8n, or one of its workers. */
export interface Running {
	/** The address of its editor; for a worker, the address of its health check. */
	address: string;
	process: ChildProcess;
	/** The file with all its output. */
	logFile: string;
	/** Ends it as Ctrl-C does, and kills it after {@link PATIENCE_MS}. */
	stop: () => Promise<void>;
	/** Kills it at once, as a power failure does. */
	kill: () => Promise<void>;
}

/** Options for starting n8n. */
export interface StartOptions {
	/** Its user folder with the database, keys, binary data and installed packages. */
	userFolder: string;
	/** The port of its editor on loopback; a free port if absent. */
	port?: number;
	/** Added to its environment. */
	env?: Record<string, string>;
	/** The arguments after `n8n`; `start` if absent. */
	args?: string[];
	/** The name of its log file; `n8n` if absent. */
	name?: string;
	/** Scripts that `node --require` loads into its process. */
	scripts?: string[];
	/** Whether the package is installed: then n8n has to load it, else it must not. */
	hasPackage?: boolean;
}

/** Options for executing a workflow. */
export interface ExecuteOptions {
	/** Added to its environment. */
	env?: Record<string, string>;
	/** Seconds after which it is killed. */
	seconds?: number;
	/** Scripts for `node --require`, which go into its process. */
	scripts?: string[];
}

interface ResultData {
	error?: { message: string };
	runData: Record<string, Array<{ data?: { main: Array<INodeExecutionData[] | null> } }>>;
}

/** The result of a run by `execute`. */
export interface ExecuteResult {
	/** The error of the run; undefined if it succeeded. */
	error?: string;
	/** The items on one output of a node. */
	items: (node: string, output?: number) => INodeExecutionData[];
	/** All output of n8n. */
	all: string;
}

/** Milliseconds after which a start has failed, or a stop becomes a kill. */
const START_MS = 180_000;
const PATIENCE_MS = 20_000;

/** The environment of every n8n here: loopback only, no telemetry, no setup questions. */
function environment(
	{ node, version }: Installation,
	userFolder: string,
	owner?: Owner & { hash: string },
): NodeJS.ProcessEnv {
	const inherited = Object.fromEntries(
		Object.entries(process.env).filter(
			([name]) =>
				!/^(N8N_|DB_|QUEUE_|EXECUTIONS_|NODE_OPTIONS$|NODE_PATH$|npm_|JEST_|TS_NODE)/i.test(name),
		),
	);
	return {
		...inherited,
		PATH: `${dirname(node)}:${process.env.PATH ?? ''}`,
		HOME: userFolder,
		NODE_ENV: 'production',
		N8N_USER_FOLDER: userFolder,
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_HOST: '127.0.0.1',
		N8N_SECURE_COOKIE: 'false',
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_PERSONALIZATION_ENABLED: 'false',
		N8N_HIRING_BANNER_ENABLED: 'false',
		N8N_DYNAMIC_BANNERS_ENABLED: 'false',
		N8N_AI_ASSISTANT_BASE_URL: '',
		// n8n 1 would start another process; no workflow here runs its own code.
		N8N_RUNNERS_ENABLED: 'false',
		N8N_COMMUNITY_PACKAGES_REGISTRY: 'http://127.0.0.1:9',
		N8N_UNVERIFIED_PACKAGES_ENABLED: 'true',
		// The default engine of late versions of n8n 1 does not run on Node 20, which they use.
		...(version.startsWith('1.') && { N8N_EXPRESSION_ENGINE: 'legacy' }),
		GENERIC_TIMEZONE: 'UTC',
		TZ: 'UTC',
		...(owner && {
			N8N_INSTANCE_OWNER_MANAGED_BY_ENV: 'true',
			N8N_INSTANCE_OWNER_EMAIL: owner.email,
			N8N_INSTANCE_OWNER_FIRST_NAME: 'Ada',
			N8N_INSTANCE_OWNER_LAST_NAME: 'Builder',
			N8N_INSTANCE_OWNER_PASSWORD_HASH: owner.hash,
		}),
	};
}

/** An n8n on the disk with one user folder. */
export class N8n {
	private hash?: string;
	/** Functions that end its processes, ready or not. */
	private readonly running = new Set<() => Promise<void>>();

	constructor(
		readonly installation: Installation,
		readonly userFolder: string,
		readonly owner: Owner,
		private readonly env: Record<string, string> = {},
	) {}

	/**
	 * Starts n8n and waits until its editor answers.
	 * @throws {Error} it ended before it was ready, or was not ready in time, with the end of its
	 * log; or the package uses modules from outside this n8n
	 */
	async start(options: Partial<StartOptions> = {}): Promise<Running> {
		const { args = ['start'], name = 'n8n', scripts = [], hasPackage = true } = options;
		const resolutions = await this.resolutions(name);
		const port = options.port ?? (await freePort());
		this.hash ??= hashOf(this.installation, this.owner.password);
		const logFile = join(this.userFolder, 'logs', `${name}.log`);
		await mkdir(dirname(logFile), { recursive: true });
		const log = createWriteStream(logFile, { flags: 'a' });
		const address = `http://127.0.0.1:${port}`;
		const child = spawn(this.installation.node, [this.installation.program, ...args], {
			cwd: this.userFolder,
			env: {
				...environment(this.installation, this.userFolder, { ...this.owner, hash: this.hash }),
				N8N_PORT: String(port),
				N8N_RUNNERS_BROKER_PORT: String(await freePort()),
				WEBHOOK_URL: `${address}/`,
				N8N_EDITOR_BASE_URL: `${address}/`,
				...this.env,
				...options.env,
				...withScripts(resolutions, scripts),
			},
			stdio: ['ignore', 'pipe', 'pipe'],
			// Ctrl-C reaches only the parent process, which ends n8n in order, once.
			detached: process.platform !== 'win32',
		});
		endWithUs(child, 'SIGKILL');
		child.stdout.pipe(log, { end: false });
		child.stderr.pipe(log, { end: false });
		const ended = new Promise<void>((resolve) => {
			child.once('exit', () => {
				log.end();
				resolve();
			});
		});
		const stop = async () => await stopped(child, ended);
		this.running.add(stop);
		void ended.then(() => this.running.delete(stop));
		try {
			await ready(address, child);
			await (hasPackage ? resolutions.check() : resolutions.checkNone());
		} catch (error) {
			await stop();
			if (error instanceof ForeignModules) throw error;
			const text = await readFile(logFile, 'utf8').catch(() => '');
			throw new Error(`${(error as Error).message}\n${text.slice(-3000)}`);
		}
		return {
			address,
			process: child,
			logFile,
			stop,
			kill: async () => {
				child.kill('SIGKILL');
				await ended;
			},
		};
	}

	/** Ends every process that still runs, even one that is not ready. */
	async stopAll(): Promise<void> {
		await Promise.all([...this.running].map(async (stop) => await stop()));
	}

	/**
	 * Runs one of n8n's commands, such as `import:workflow --input=…`. No server needs to run.
	 * @param env added to its environment
	 * @returns its standard output
	 */
	async command(args: string[], env: Record<string, string> = {}): Promise<string> {
		const { node, program } = this.installation;
		return await runCommand(node, [program, ...args], await this.settings(env));
	}

	/**
	 * Runs a workflow by n8n's command `execute`. A crash of n8n's process after it printed the
	 * result is ignored.
	 * @param id the ID of the workflow
	 * @throws {Error} the workflow has no result, or the package uses modules from outside this n8n
	 */
	async execute(
		id: string,
		{ env = {}, seconds = START_MS / 1000, scripts = [] }: ExecuteOptions = {},
	): Promise<ExecuteResult> {
		const { node, program } = this.installation;
		const resolutions = await this.resolutions('execute');
		const args = [program, 'execute', `--id=${id}`, '--rawOutput'];
		const { all, output } = await commandEnd(node, args, {
			...(await this.settings({ ...env, ...withScripts(resolutions, scripts) })),
			timeoutMs: seconds * 1000,
		});
		const found = /^\{[^]*^\}/m.exec(output)?.[0];
		if (found === undefined) throw new Error(`n8n execute printed no result:\n${all.slice(-4000)}`);
		await resolutions.check();
		const { data } = JSON.parse(found) as { data: { resultData: ResultData } };
		return {
			error: data.resultData.error?.message,
			items: (name, index = 0) =>
				data.resultData.runData[name]?.flatMap(({ data: out }) => out?.main[index] ?? []) ?? [],
			all,
		};
	}

	/** The version of the Node that runs it. */
	async nodeVersion(): Promise<string> {
		return (await runCommand(this.installation.node, ['--version'])).trim();
	}

	/** Records where the package finds its modules in one process of this n8n. */
	private async resolutions(name: string): Promise<Resolutions> {
		const folder = join(this.userFolder, 'logs');
		await mkdir(folder, { recursive: true });
		const found = new Resolutions(this.installation, join(folder, `${name}.resolutions`));
		await found.reset();
		return found;
	}

	private async settings(env: Record<string, string>): Promise<CommandOptions> {
		return {
			cwd: this.userFolder,
			env: {
				...environment(this.installation, this.userFolder),
				N8N_RUNNERS_BROKER_PORT: String(await freePort()),
				...this.env,
				...env,
			},
			timeoutMs: START_MS,
		};
	}
}

/**
 * The environment that loads scripts into n8n's process, including the one that records
 * resolutions.
 */
function withScripts({ file }: Resolutions, scripts: string[]): Record<string, string> {
	const args = [RESOLUTIONS_SCRIPT, ...scripts].map((script) => `--require "${script}"`);
	return { NODE_OPTIONS: args.join(' '), N8N_RESOLUTIONS: file };
}

/** The hash of a password, by n8n's own library. */
function hashOf({ folder }: Installation, password: string): string {
	const { hashSync } = createRequire(join(folder, 'node_modules', 'n8n', 'package.json'))(
		'bcryptjs',
	) as { hashSync: (text: string, rounds: number) => string };
	return hashSync(password, 10);
}

async function ready(address: string, child: ChildProcess): Promise<void> {
	const until = Date.now() + START_MS;
	while (Date.now() < until) {
		if (child.exitCode !== null || child.signalCode !== null) {
			throw new Error(`n8n ended with code ${child.exitCode ?? child.signalCode}`);
		}
		// Checks that n8n answers at this port and no other program.
		const isReady = await fetch(`${address}/healthz/readiness`)
			.then(
				async (reply) => reply.ok && ((await reply.json()) as { status?: string }).status === 'ok',
			)
			.catch(() => false);
		if (isReady) return;
		await new Promise((resolve) => setTimeout(resolve, 250));
	}
	throw new Error(`n8n was not ready after ${START_MS / 1000} s`);
}

async function stopped(child: ChildProcess, ended: Promise<void>): Promise<void> {
	if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT');
	const force = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
	await ended;
	clearTimeout(force);
}
