import type { IncomingMessage } from 'node:http';
import type { Charge, UsageLog } from './usage-log';
import { lockedOut, refusalsOf } from './refusals';
import type { RouteName } from './routes';
import { ApiError } from './errors';
import type {
	Capability,
	GatewaySettings,
	GroupOptions,
	KeyOptions,
	ModelOptions,
} from './options';

const MINUTE = 60_000;

/** A key with its name. */
export interface KeyHolder extends KeyOptions {
	name: string;
}

/** Rights, limits and accounts of the keys (contract: Authentication; Errors 401, 403, 429). */
export class Access {
	private readonly holders: KeyHolder[];
	private readonly recent = new Map<string, number[]>();
	/** Times of requests with wrong keys, by address. */
	private readonly wrongKeys = new Map<string, number[]>();

	constructor(
		keys: Record<string, KeyOptions>,
		private readonly settings: GatewaySettings,
		private readonly usageLog: UsageLog,
	) {
		this.holders = Object.entries(keys).map(([name, key]) => ({ name, ...key }));
	}

	/** The known key of a request, usable or not. */
	identify(req: IncomingMessage): KeyHolder | undefined {
		const presented = bearer(req);
		return this.holders.find(({ key }) => key === presented);
	}

	/**
	 * Admits a usable key and counts its request (contract: Authentication, 1 to 4).
	 * @param now milliseconds since the Unix epoch
	 * @throws ApiError 401, 403, 429
	 */
	admit(
		req: IncomingMessage,
		holder: KeyHolder | undefined,
		{ route, now }: { route: RouteName; now: number },
	): KeyHolder {
		const address = req.socket.remoteAddress ?? '';
		this.requireUnlocked(address, now);
		if (req.headers.authorization === undefined) throw this.refusals.missingKey();
		if (!holder) {
			this.wrongKeys.set(address, [...(this.wrongKeys.get(address) ?? []), now]);
			throw bearer(req) === undefined ? this.refusals.malformedKey() : this.refusals.unknownKey();
		}
		const status =
			holder.expiresAt !== undefined && now >= holder.expiresAt * 1000
				? 'expired'
				: (holder.status ?? 'active');
		if (status !== 'active') throw this.refusals.unusableKey(status);
		if (holder.allowedIps && !holder.allowedIps.includes(address)) {
			throw this.refusals.addressNotAllowed(address);
		}
		// A key without quota may still fetch what it paid for.
		if (holder.usedUp && route !== 'task') throw this.refusals.usedUp(holder.usedUp, route);
		if (!this.settings.backgroundLimits) this.countRequest(holder, now);
		return holder;
	}

	/** @throws ApiError 403 if the key's group lacks the capability */
	permit(holder: KeyHolder, capability: Capability) {
		if (this.groupOf(holder)[capability] === false) throw this.refusals.notPermitted(capability);
	}

	/** IDs of the models that a key may use, in the order of the catalog. */
	modelsOf(holder: KeyHolder): string[] {
		const { models } = this.groupOf(holder);
		return Object.keys(this.settings.models).filter((id) => models?.includes(id) ?? true);
	}

	/**
	 * @throws ApiError 404 if the model is not in the key's list, 400 if the model cannot do this
	 */
	requireModel(holder: KeyHolder, id: string, ability: keyof ModelOptions) {
		if (!this.modelsOf(holder).includes(id)) throw this.refusals.noSuchModel(id);
		if (!this.settings.models[id]?.[ability]) throw this.refusals.notSuitable(id, ability);
	}

	/**
	 * Takes credits from the key's account.
	 * @throws ApiError 403 if the account has too few
	 */
	charge(holder: KeyHolder, charge: Omit<Charge, 'key' | 'account'>) {
		if (!this.canPay(holder, charge.credits)) throw this.refusals.noBalance();
		const account = accountOf(holder);
		this.pay(account, charge.credits);
		this.usageLog.book({ key: holder.name, account, ...charge });
	}

	/** Whether the key's account has enough credits. */
	canPay(holder: KeyHolder, credits: number): boolean {
		const { balance = Infinity } = this.settings.accounts[accountOf(holder)] ?? {};
		return balance >= credits;
	}

	/** Cancels the pending charge of an image task. */
	cancelCharge(taskId: string) {
		for (const { account, credits } of this.usageLog.cancel(taskId)) this.pay(account, -credits);
	}

	/** The number of image tasks of an account that may run at once. */
	placesOf(holder: KeyHolder): number {
		const { accounts, places = Infinity } = this.settings;
		return accounts[accountOf(holder)]?.places ?? places;
	}

	private pay(name: string, credits: number) {
		const account = this.settings.accounts[name];
		if (account?.balance !== undefined) account.balance -= credits;
	}

	private get refusals() {
		return refusalsOf(this.settings);
	}

	private requireUnlocked(address: string, now: number) {
		const { wrongKeysPerMinute = Infinity } = this.settings;
		const window = (this.wrongKeys.get(address) ?? []).filter((at) => at > now - MINUTE);
		this.wrongKeys.set(address, window);
		if (window.length < wrongKeysPerMinute) return;
		throw lockedOut(Math.ceil(((window[0] ?? now) + MINUTE - now) / 1000));
	}

	private groupOf(holder: KeyHolder): GroupOptions {
		return this.settings.groups[holder.group ?? 'default'] ?? {};
	}

	private countRequest(holder: KeyHolder, now: number) {
		if (holder.requestsPerMinute === undefined) return;
		const window = (this.recent.get(holder.name) ?? []).filter((at) => at > now - MINUTE);
		this.recent.set(holder.name, window);
		const oldest = window[window.length - holder.requestsPerMinute];
		if (oldest !== undefined) {
			throw new ApiError(429, {
				code: 'requests_per_minute',
				message: `more than ${holder.requestsPerMinute} requests a minute`,
				retryAfter: Math.ceil((oldest + MINUTE - now) / 1000),
			});
		}
		window.push(now);
	}
}

/** Name of the account that pays for a key. */
export const accountOf = ({ account = 'main' }: KeyHolder) => account;

/** The key of the `Authorization` header, if the header has exactly the contract's form. */
function bearer(req: IncomingMessage): string | undefined {
	const headers = req.rawHeaders.filter(
		(name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization',
	);
	if (headers.length !== 1) return undefined;
	return /^Bearer ([^\s"']+)$/.exec(req.headers.authorization ?? '')?.[1];
}
