import type { ImageTask } from './task';

/** A task that has a place from `startsAt` to `completesAt`. */
type Work = Pick<ImageTask, 'completesAt' | 'orphaned'> & { startsAt: number };

/**
 * When a task that arrives now gets a place: first come, first served. Later tasks never change the
 * start of an earlier one, so the result is final.
 * @param tasks the tasks that share the places, in the order in which they came
 * @param now milliseconds since the Unix epoch
 */
export function startInLine(
	tasks: Array<Pick<ImageTask, 'startsAt' | 'completesAt' | 'orphaned'>>,
	places: number,
	now: number,
): number {
	if (places === Infinity) return now;
	const works = tasks.filter(
		(task): task is Work =>
			task.startsAt !== undefined && task.orphaned !== true && task.completesAt > now,
	);
	const earliest = Math.max(now, ...works.map(({ startsAt }) => startsAt));
	const isFree = (at: number) =>
		works.filter(({ startsAt, completesAt }) => startsAt <= at && at < completesAt).length < places;
	const candidates = [earliest, ...works.map(({ completesAt }) => completesAt)]
		.filter((at) => at >= earliest)
		.sort((a, b) => a - b);
	return candidates.find(isFree) ?? Infinity;
}
