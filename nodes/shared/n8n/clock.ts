import { sleep } from 'n8n-workflow';
import type { Clock } from '../api/http/clock';

/** Longest a timer outlives a wait that was aborted on an n8n whose `sleep` takes no signal. */
const SLICE_MS = 1_000;

/** Time as n8n has it. */
export const n8nClock: Clock = {
	now: () => Date.now(),
	random: () => Math.random(),
	async sleep(ms, signal) {
		for (let left = ms; left > 0; left -= SLICE_MS) {
			await sleepOrAbort(Math.min(left, SLICE_MS), signal);
		}
		signal?.throwIfAborted();
	},
};

async function sleepOrAbort(ms: number, signal: AbortSignal | undefined): Promise<void> {
	if (!signal) return await sleep(ms);
	signal.throwIfAborted();
	await new Promise<void>((resolve, reject) => {
		const onAbort = () => reject(signal.reason as Error);
		signal.addEventListener('abort', onAbort, { once: true });
		sleep(ms, signal)
			.then(resolve, reject)
			.finally(() => signal.removeEventListener('abort', onAbort));
	});
}
