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

/** Who signs in. */
export interface Owner {
	email: string;
	password: string;
}

/** An n8n that runs, or one of its workers. */
export interface Running {
	/** Where its editor is; of a worker, where it tells its health. */
	address: string;
	process: ChildProcess;
	/** The file that all its output goes to. */
	logFile: string;
	/** Ends it as Ctrl-C does, and by force after {@link PATIENCE_MS}. */
	stop: () => Promise<void>;
	/** Ends it at once, as a power cut does. */
	kill: () => Promise<void>;
}

/** What an n8n is started with. */
export interface StartOptions {
	/** Its user folder; the database, keys, binary data and installed packages are in it. */
	userFolder: string;
	/** Where its editor listens, on loopback; a free port if absent. */
	port?: number;
	/** Added to its environment. */
	env?: Record<string, string>;
	/** The words after `n8n`; `start` if absent. */
	words?: string[];
	/** What its log file is called; `n8n` if absent. */
	name?: string;
	/** Scripts for `node --require`, which go into its process. */
	scripts?: string[];
	/** Whether the package is installed in it: n8n has to load it then, and cannot otherwise. */
	hasPackage?: boolean;
}

/** How a workflow is executed. */
export interface ExecuteOptions {
	/** Added to its environment. */
	env?: Record<string, string>;
	/** Seconds after which it is ended. */
	seconds?: number;
	/** Scripts for `node --require`, which go into its process. */
	scripts?: string[];
}

interface ResultData {
	error?: { message: string };
	runData: Record<string, Array<{ data?: { main: Array<INodeExecutionData[] | null> } }>>;
}

/** What a run by `execute` came to. */
export interface ExecuteResult {
	/** Of the run as a whole; undefined where it went well. */
	error?: string;
	/** What a node handed on by one of its outputs. */
	items: (node: string, output?: number) => INodeExecutionData[];
	/** All that n8n printed. */
	all: string;
}

/** Milliseconds until a start counts as failed, and a stop is helped by force. */
const START_MS = 180_000;
const PATIENCE_MS = 20_000;

/** The environment of every n8n here: loopback only, nothing sent home, no first-time questions. */
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
		// n8n before 2 would start one more process; no workflow here runs code of its own.
		N8N_RUNNERS_ENABLED: 'false',
		N8N_COMMUNITY_PACKAGES_REGISTRY: 'http://127.0.0.1:9',
		N8N_UNVERIFIED_PACKAGES_ENABLED: 'true',
		// What n8n before 2 wants of community nodes that an agent uses.
		N8N_COMMUNITY_PACKAGES_ALLOW_TOOL_USAGE: 'true',
		// The engine that late versions of n8n 1 prefer does not run on Node 20, which they run on.
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

/** An n8n on the disk with one user folder: what can be done with it. */
export class N8n {
	private hash?: string;
	/** What ends each of its processes that runs, whether it is ready or not. */
	private readonly running = new Set<() => Promise<void>>();

	constructor(
		readonly installation: Installation,
		readonly userFolder: string,
		readonly owner: Owner,
		private readonly env: Record<string, string> = {},
	) {}

	/**
	 * Starts n8n and waits until its editor answers.
	 * @throws {Error} it ended before it was ready, or was not ready in time; with the end of its log.
	 * Or the package in it uses modules of others than this n8n
	 */
	async start(options: Partial<StartOptions> = {}): Promise<Running> {
		const { words = ['start'], name = 'n8n', scripts = [], hasPackage = true } = options;
		const resolutions = await this.resolutions(name);
		const port = options.port ?? (await freePort());
		this.hash ??= hashOf(this.installation, this.owner.password);
		const logFile = join(this.userFolder, 'logs', `${name}.log`);
		await mkdir(dirname(logFile), { recursive: true });
		const log = createWriteStream(logFile, { flags: 'a' });
		const address = `http://127.0.0.1:${port}`;
		const child = spawn(this.installation.node, [this.installation.program, ...words], {
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
			// Ctrl-C reaches whoever started it, who then ends it in order, once.
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

	/** Ends every process that was started and still runs, also one that is not ready yet. */
	async stopAll(): Promise<void> {
		await Promise.all([...this.running].map(async (stop) => await stop()));
	}

	/**
	 * Runs one of n8n's commands, such as `import:workflow --input=…`. No server has to run.
	 * @param env added to its environment
	 * @returns what it wrote to its standard output
	 */
	async command(words: string[], env: Record<string, string> = {}): Promise<string> {
		const { node, program } = this.installation;
		return await runCommand(node, [program, ...words], await this.settings(env));
	}

	/**
	 * Runs a workflow by n8n's command `execute`, to its end. That n8n's process sometimes breaks
	 * down on its way out, after all is done and printed, is not held against the workflow.
	 * @param id the workflow's
	 * @throws {Error} the workflow has no result, or the package uses modules of others than this n8n
	 */
	async execute(
		id: string,
		{ env = {}, seconds = START_MS / 1000, scripts = [] }: ExecuteOptions = {},
	): Promise<ExecuteResult> {
		const { node, program } = this.installation;
		const resolutions = await this.resolutions('execute');
		const words = [program, 'execute', `--id=${id}`, '--rawOutput'];
		const { all, output } = await commandEnd(node, words, {
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

	/** Where the package finds its modules in one process of this n8n, of which nothing is known yet. */
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

/** The environment that brings scripts into n8n's process, with the one that records resolutions. */
function withScripts({ file }: Resolutions, scripts: string[]): Record<string, string> {
	const words = [RESOLUTIONS_SCRIPT, ...scripts].map((script) => `--require "${script}"`);
	return { NODE_OPTIONS: words.join(' '), STAGE_RESOLUTIONS: file };
}

/** A password's hash, by the library that n8n itself has for it. */
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
		// Not whatever else may answer at this port while n8n is on its way.
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
