/**
 * The client's only source of time and chance. The code that builds a client passes one in: the
 * nodes pass n8n's, tests pass one that they drive.
 */
export interface Clock {
	/** Milliseconds since the Unix epoch. */
	now(): number;
	/**
	 * Waits `ms` milliseconds.
	 * @throws the signal's reason, at the latest a second after the signal aborts
	 */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
	/** A number from 0 (included) to 1 (excluded). */
	random(): number;
}

/** The last second that a date can hold. */
const LAST_SECOND = 8.64e12;

/**
 * A moment as messages show it.
 * @param seconds since the Unix epoch
 */
export function formatUnixTime(seconds: number): string {
	return toIsoTime(seconds) ?? 'far away';
}

/**
 * A moment in ISO 8601, as n8n's date functions read it.
 * @param seconds since the Unix epoch, where known
 * @returns undefined if no date can hold it
 */
export function toIsoTime(seconds = NaN): string | undefined {
	return Math.abs(seconds) <= LAST_SECOND ? new Date(seconds * 1000).toISOString() : undefined;
}
