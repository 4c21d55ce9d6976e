import { spawn } from 'node:child_process';
import { endWithUs } from './children';

/** How a command is run. */
export interface CommandOptions {
	cwd?: string;
	/** Added to this process's environment. */
	env?: NodeJS.ProcessEnv;
	/** Called every 20 s while it runs. */
	heartbeat?: () => void;
	/** Milliseconds after which it is ended. */
	timeoutMs?: number;
	/** Written to its standard input. */
	input?: string;
}

/** Milliseconds between two signs of life. */
const HEARTBEAT_MS = 20_000;

/** How much of a failed command's output its error shows, in characters. */
const SHOWN = 4_000;

/** How a command ended, and what it wrote. */
export interface CommandEnd {
	/** Empty where it ended well, else its code or signal. */
	fault: string;
	/** What it wrote to its standard output. */
	output: string;
	/** All that it wrote. */
	all: string;
}

/**
 * Runs a command to its end.
 * @returns what it wrote to its standard output
 * @throws {Error} it ended with another code than 0, or not in time; the message holds the end of
 * all that it wrote
 */
export async function runCommand(
	command: string,
	words: string[],
	options: CommandOptions = {},
): Promise<string> {
	const { fault, output, all } = await commandEnd(command, words, options);
	if (fault === '') return output;
	throw new Error(`${[command, ...words].join(' ')} ended with ${fault}:\n${all.slice(-SHOWN)}`);
}

/** Runs a command to its end, however that is. */
export async function commandEnd(
	command: string,
	words: string[],
	{ cwd, env, heartbeat, timeoutMs, input }: CommandOptions = {},
): Promise<CommandEnd> {
	const child = spawn(command, words, {
		cwd,
		env: { ...process.env, ...env },
		stdio: ['pipe', 'pipe', 'pipe'],
		timeout: timeoutMs,
		// n8n's commands outlive SIGTERM.
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
