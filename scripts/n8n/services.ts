import { spawn } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithUs } from './children';
import { runCommand } from './command';
import { freePort } from './port';
import { until } from './until';

/** A service that n8n needs in queue mode, on a port of loopback. */
export interface Service {
	/** The environment for n8n and its workers. */
	env: Record<string, string>;
	/** Ends it and removes its data. */
	stop: () => Promise<void>;
}

/** A program that listens on a port of loopback. */
interface Program {
	args: string[];
	/** Its environment; this process’s own if absent. */
	env?: NodeJS.ProcessEnv;
	/** Whether it answers. */
	isReady: () => Promise<boolean>;
	logFile: string;
	/** The signal for an orderly end. */
	ending: NodeJS.Signals;
	/** The signal that ends it and its child processes at once. */
	killing: NodeJS.Signals;
}

/** Seconds until a start counts as failed. */
const START_S = 60;

/** The folder of PostgreSQL's programs in Debian's packages: one folder for each version. */
const DEBIANS = '/usr/lib/postgresql';

/** The account of PostgreSQL if this process is root, because PostgreSQL does not run as root. */
const ACCOUNT = 'postgres';

/**
 * Starts an empty PostgreSQL. Its data is in the folder for temporary files, where its account
 * always has access.
 * @param logFile the file for its output
 * @throws {Error} it is not installed or did not start; with the end of its log
 */
export async function startPostgres(logFile: string): Promise<Service> {
	const bin = await postgresPrograms();
	if (bin === undefined) throw new Error('PostgreSQL is not installed');
	const data = await mkdtemp(join(tmpdir(), 'n8n-stage-postgres-'));
	const remove = async () => await rm(data, { recursive: true, force: true });
	const port = await freePort();
	const user = 'n8n';
	const run = async () => {
		const as = process.getuid?.() === 0 ? await asAccount(data) : [];
		const [setUp = '', ...args] = [...as, join(bin, 'initdb'), '-D', data, '-U', user];
		// The data need not survive a power failure.
		await runCommand(setUp, [...args, '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'], {
			cwd: tmpdir(),
		});
		return await startProgram({
			args: [
				...[...as, join(bin, 'postgres'), '-D', data, '-p', String(port), '-h', '127.0.0.1'],
				...['-c', 'unix_socket_directories=', '-c', 'fsync=off', '-c', 'max_connections=60'],
			],
			isReady: async () =>
				await succeeds(join(bin, 'pg_isready'), [
					...['-h', '127.0.0.1', '-p', String(port), '-U', user, '-d', 'postgres'],
				]),
			logFile,
			ending: 'SIGINT',
			killing: 'SIGQUIT',
		});
	};
	const stop = await run().catch(async (error: unknown) => {
		await remove();
		throw error;
	});
	return {
		env: {
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: '127.0.0.1',
			DB_POSTGRESDB_PORT: String(port),
			DB_POSTGRESDB_DATABASE: 'postgres',
			DB_POSTGRESDB_USER: user,
		},
		stop: async () => {
			await stop();
			await remove();
		},
	};
}

/**
 * Starts an empty Redis, which keeps everything in memory.
 * @param logFile for all that it writes
 * @throws {Error} it is not installed or did not start; with the end of its log
 */
export async function startRedis(logFile: string): Promise<Service> {
	if (!(await hasRedis())) throw new Error('Redis is not installed');
	const port = String(await freePort());
	const stop = await startProgram({
		args: [
			...['redis-server', '--port', port, '--bind', '127.0.0.1', '--dir', tmpdir()],
			...['--save', '', '--appendonly', 'no'],
		],
		isReady: async () => await succeeds('redis-cli', ['-p', port, 'ping']),
		logFile,
		ending: 'SIGTERM',
		killing: 'SIGKILL',
	});
	return { env: { QUEUE_BULL_REDIS_HOST: '127.0.0.1', QUEUE_BULL_REDIS_PORT: port }, stop };
}

/** Starts services in parallel. If one does not start, the others are stopped. */
export async function startAll(starts: Array<Promise<Service>>): Promise<Service[]> {
	const results = await Promise.allSettled(starts);
	const services = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
	const failed = results.find((one) => one.status === 'rejected');
	if (!failed) return services;
	await Promise.all(services.map(async ({ stop }) => await stop()));
	throw failed.reason;
}

/** Whether Redis is installed. */
export async function hasRedis(): Promise<boolean> {
	const programs = ['redis-server', 'redis-cli'];
	const found = programs.map(async (program) => await succeeds(program, ['--version']));
	return (await Promise.all(found)).every(Boolean);
}

/**
 * The folder with the programs of PostgreSQL: Debian's newest version, or another one. undefined if
 * there is none.
 */
export async function postgresPrograms(): Promise<string | undefined> {
	const versions = existsSync(DEBIANS) ? await readdir(DEBIANS) : [];
	const [newest] = versions
		.filter((version) => existsSync(join(DEBIANS, version, 'bin', 'postgres')))
		.sort((a, b) => Number(b) - Number(a));
	if (newest !== undefined) return join(DEBIANS, newest, 'bin');
	const folder = (await runCommand('pg_config', ['--bindir']).catch(() => '')).trim();
	return existsSync(join(folder, 'postgres')) ? folder : undefined;
}

/** The prefix of a command that runs it as the account. The folder then belongs to the account. */
async function asAccount(folder: string): Promise<string[]> {
	const [user, group] = await Promise.all(
		['-u', '-g'].map(async (flag) => Number(await runCommand('id', [flag, ACCOUNT]))),
	);
	await chown(folder, user ?? 0, group ?? 0);
	// It replaces itself by the command and keeps the process ID.
	return ['setpriv', `--reuid=${ACCOUNT}`, `--regid=${ACCOUNT}`, '--init-groups', '--'];
}

/**
 * Starts a program and waits until it answers.
 * @returns a function that ends it
 * @throws {Error} it ended, or did not answer in time; with the end of its log
 */
export async function startProgram({ args, env, isReady, logFile, ending, killing }: Program) {
	const [program = '', ...rest] = args;
	const log = createWriteStream(logFile);
	const child = spawn(program, rest, {
		cwd: tmpdir(),
		env,
		stdio: ['ignore', 'pipe', 'pipe'],
		detached: true,
	});
	const texts: string[] = [];
	for (const stream of [child.stdout, child.stderr]) {
		stream.pipe(log, { end: false });
		stream.setEncoding('utf8').on('data', (text: string) => texts.push(text));
	}
	endWithUs(child, killing);
	let over = false;
	const ended = new Promise<void>((resolve) => {
		child.once('error', () => resolve());
		child.once('exit', () => resolve());
	}).then(() => {
		over = true;
		log.end();
	});
	const isOver = () => over;
	const stop = async () => {
		if (!isOver()) child.kill(ending);
		await ended;
	};
	try {
		await until(`${program} answers`, async () => isOver() || (await isReady()), START_S);
		if (isOver()) throw new Error(`${program} ended at once`);
	} catch (error) {
		await stop();
		throw new Error(`${(error as Error).message}\n${texts.join('').slice(-2000)}`);
	}
	return stop;
}

async function succeeds(command: string, args: string[]): Promise<boolean> {
	return await runCommand(command, args).then(
		() => true,
		() => false,
	);
}
