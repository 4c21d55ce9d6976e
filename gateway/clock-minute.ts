const MINUTE = 60_000;

/** Counts requests in each clock minute, including refused ones. */
export class ClockMinute {
	private readonly counts = new Map<string, { minute: number; count: number }>();

	/**
	 * Counts one request.
	 * @param now milliseconds since the Unix epoch
	 * @returns seconds until the minute ends if the request is over the limit
	 */
	count(name: string, limit: number | undefined, now: number): number | undefined {
		if (limit === undefined) return undefined;
		const minute = Math.floor(now / MINUTE);
		const known = this.counts.get(name);
		const count = (known?.minute === minute ? known.count : 0) + 1;
		this.counts.set(name, { minute, count });
		return count > limit ? Math.ceil(((minute + 1) * MINUTE - now) / 1000) : undefined;
	}
}
