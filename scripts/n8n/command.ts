import { spawn } from 'node:child_process';
import { endWithUs } from './children';

/** How a command is run. */
export interface CommandOptions {
	cwd?: string;
	/** Added to this process's environment. */
	env?: NodeJS.ProcessEnv;
	/** Called every 20 s while it runs. */
	heartbeat?: () => void;
	/** Milliseconds after which it is killed. */
	timeoutMs?: number;
	/** Written to its standard input. */
	input?: string;
}

/** Milliseconds between two progress messages. */
const HEARTBEAT_MS = 20_000;

/** The most characters of a failed command's output in its error. */
const SHOWN = 4_000;

/** The result of a command: its end and its output. */
export interface CommandEnd {
	/** Empty if it succeeded, else its code or signal. */
	fault: string;
	/** Its standard output. */
	output: string;
	/** All its output. */
	all: string;
}

/**
 * Runs a command to its end.
 * @returns its standard output
 * @throws {Error} it ended with a code other than 0, or too late; with the end of its output
 */
export async function runCommand(
	command: string,
	args: string[],
	options: CommandOptions = {},
): Promise<string> {
	const { fault, output, all } = await commandEnd(command, args, options);
	if (fault === '') return output;
	throw new Error(`${[command, ...args].join(' ')} ended with ${fault}:\n${all.slice(-SHOWN)}`);
}

/** Runs a command to its end, whatever its result. */
export async function commandEnd(
	command: string,
	args: string[],
	{ cwd, env, heartbeat, timeoutMs, input }: CommandOptions = {},
): Promise<CommandEnd> {
	const child = spawn(command, args, {
		cwd,
		env: { ...process.env, ...env },
		stdio: ['pipe', 'pipe', 'pipe'],
		timeout: timeoutMs,
		// n8n's commands ignore SIGTERM.
		killSignal: 'SIGKILL',
	});
	endWithUs(child, 'SIGKILL');
	const output: string[] = [];
	const all: string[] = [];
	child.stdout.setEncoding('utf8').on('data', (text: string) => {
		output.push(text);
		all.push(text);
	});
	child.stderr.setEncoding('utf8').on('data', (text: string) => all.push(text));
	child.stdin.on('error', () => {}).end(input);
	const beat = heartbeat && setInterval(heartbeat, HEARTBEAT_MS);
	const fault = await new Promise<string>((resolve) => {
		child.once('error', (error) => resolve(error.message));
		child.once('close', (code, signal) => resolve(code === 0 ? '' : `${signal ?? `code ${code}`}`));
	});
	clearInterval(beat);
	return { fault, output: output.join(''), all: all.join('') };
}
