import { runInThisContext } from 'node:vm';

/** The process itself: a test framework shows its own to what it runs. */
export const host = runInThisContext('process') as NodeJS.Process;

/** Rejections that nothing handled since the watch began. */
export function watchRejections() {
	const seen: unknown[] = [];
	const note = (reason: unknown) => void seen.push(reason);
	host.on('unhandledRejection', note);
	return { seen, stop: () => host.off('unhandledRejection', note) };
}
