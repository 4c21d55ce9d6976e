import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const profiler = createRequire(__filename)('./profiler.js') as { begin(): void; end(): void };

/** The resources that some work needed. */
export interface Needs {
	/** Milliseconds of wall time. */
	ms: number;
	/** Milliseconds of processor time, system calls included. */
	cpuMs: number;
	/** Bytes at the peak, minus those before; absent if the system does not tell. */
	addedBytes?: number;
}

/** Peak memory of a process since {@link resetPeak}, in bytes; undefined except on Linux. */
export function peakOf(pid: number | 'self'): number | undefined {
	try {
		const [, kilobytes] =
			/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
		return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
	} catch {
		return undefined;
	}
}

/** Resets the kernel's peak memory value of a process. */
export function resetPeak(pid: number | 'self') {
	try {
		writeFileSync(`/proc/${pid}/clear_refs`, '5');
	} catch {
		// Not Linux: the peak is not available either.
	}
}

export const pause = async (ms: number) =>
	await new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Collects this process's garbage, as far as V8 allows it. */
export async function collectGarbage() {
	setFlagsFromString('--expose-gc');
	const collect = runInNewContext('gc') as () => void;
	for (let round = 0; round < 3; round++) {
		collect();
		await pause(100);
	}
}

/** Does some work in this process and measures what it needed. */
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
