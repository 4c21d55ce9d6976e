import type { KeyHolder } from './access';
import { ClockMinute } from './clock-minute';
import { ApiError } from './errors';
import type { GatewaySettings } from './options';

/** The accounts of the groups at their providers, and their limits. */
export class Upstream {
	private readonly minutes = new ClockMinute();
	private readonly parked: Array<{ group: string; from: number; until: number }> = [];

	constructor(private readonly settings: GatewaySettings) {}

	/** Takes the account of a group out of service after a failure of its provider. */
	park({ group = 'default' }: KeyHolder, from: number) {
		const { parkSeconds } = this.settings;
		if (parkSeconds === undefined) return;
		this.parked.push({ group, from, until: from + parkSeconds * 1000 });
	}

	/** Whether the group has an account that is not parked. */
	isFree({ group = 'default' }: KeyHolder, at: number): boolean {
		const { noAccounts, groups } = this.settings;
		if (noAccounts || groups[group]?.accounts === false) return false;
		return !this.parked.some(
			(parked) => parked.group === group && parked.from <= at && at < parked.until,
		);
	}

	/**
	 * Counts a submit or a response in its clock minute.
	 * @returns seconds until the minute ends, if the request exceeds the limit of its group or key
	 */
	countRequest(holder: KeyHolder, now: number): number | undefined {
		const { requestsPerClockMinute, backgroundLimits } = this.settings;
		const { name, group = 'default', requestsPerMinute } = holder;
		const ofGroup = this.minutes.count(`group ${group}`, requestsPerClockMinute, now);
		const ofKey = this.minutes.count(
			`key ${name}`,
			backgroundLimits ? requestsPerMinute : undefined,
			now,
		);
		return ofGroup ?? ofKey;
	}

	/**
	 * Admits a request that the gateway answers itself, without a task.
	 * @throws ApiError 429, 503
	 */
	admit(holder: KeyHolder, now: number) {
		const retryAfter = this.countRequest(holder, now);
		if (retryAfter !== undefined) throw tooManyRequests(retryAfter);
		if (!this.isFree(holder, now)) throw noAccount();
	}
}

const tooManyRequests = (retryAfter: number) => {
	const error = {
		message: 'group requests-per-minute limit exceeded',
		type: 'rate_limit_exceeded',
	};
	return new ApiError(429, { message: error.message, retryAfter, body: { error } });
};

const noAccount = () => {
	const error = { message: 'Service temporarily unavailable', type: 'api_error' };
	return new ApiError(503, { message: error.message, body: { error } });
};
