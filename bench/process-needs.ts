import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const profiler = createRequire(__filename)('./profiler.js') as { begin(): void; end(): void };

/** What some work needed of a process. */
export interface Needs {
	/** Milliseconds on the wall. */
	ms: number;
	/** Milliseconds of processor time, system calls included. */
	cpuMs: number;
	/** Bytes at the peak over what the process had before; absent where the system does not tell. */
	addedBytes?: number;
}

/** The most that a process has had in memory since {@link resetPeak}, in bytes; undefined but on Linux. */
export function peakOf(pid: number | 'self'): number | undefined {
	try {
		const [, kilobytes] =
			/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
		return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
	} catch {
		return undefined;
	}
}

/** Lets the kernel count a process's peak anew. */
export function resetPeak(pid: number | 'self') {
	try {
		writeFileSync(`/proc/${pid}/clear_refs`, '5');
	} catch {
		// Not Linux: there is no peak to read either.
	}
}

export const pause = async (ms: number) =>
	await new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Leaves this process's memory without garbage, as far as V8 lets it. */
export async function collectGarbage() {
	setFlagsFromString('--expose-gc');
	const collect = runInNewContext('gc') as () => void;
	for (let round = 0; round < 3; round++) {
		collect();
		await pause(100);
	}
}

/** Does some work in this process, and tells what it needed. */
export async function needsOf(work: () => Promise<unknown>): Promise<Needs> {
	await collectGarbage();
	resetPeak('self');
	profiler.begin();
	const idle = process.memoryUsage.rss();
	const cpu = process.cpuUsage();
	const start = performance.now();
	await work();
	const ms = performance.now() - start;
	const { user, system } = process.cpuUsage(cpu);
	const peak = peakOf('self');
	profiler.end();
	return {
		ms,
		cpuMs: (user + system) / 1000,
		...(peak !== undefined && { addedBytes: Math.max(0, peak - idle) }),
	};
}
