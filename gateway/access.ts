import type { IncomingMessage } from 'node:http';
import type { Charge } from './usage-log';
import { ApiError } from './errors';
import type { GatewaySettings, GroupOptions, KeyOptions, ModelOptions } from './options';

const MINUTE = 60_000;

/** A key with its name. */
export interface KeyHolder extends KeyOptions {
	name: string;
}

export type Capability = Exclude<keyof GroupOptions, 'models'>;

/** Who may do what, how often and on whose account (contract: Authentication; Errors 401, 403, 429). */
export class Access {
	private readonly holders: KeyHolder[];
	private readonly recent = new Map<string, number[]>();

	constructor(
		keys: Record<string, KeyOptions>,
		private readonly settings: GatewaySettings,
		private readonly charges: Charge[],
	) {
		this.holders = Object.entries(keys).map(([name, key]) => ({ name, ...key }));
	}

	/** The key that a request carries, if it is a known one, usable or not. */
	identify(req: IncomingMessage): KeyHolder | undefined {
		const presented = bearer(req);
		return this.holders.find(({ key }) => key === presented);
	}

	/**
	 * Lets a usable key in and counts its request (contract: Authentication, 1 to 4).
	 * @param now milliseconds since the Unix epoch
	 * @throws ApiError 401, 403, 429
	 */
	admit(req: IncomingMessage, holder: KeyHolder | undefined, now: number): KeyHolder {
		if (req.headers.authorization === undefined) {
			throw new ApiError(401, {
				code: 'missing_authorization',
				message: 'the Authorization header is missing; keys in the query or body do not count',
			});
		}
		if (bearer(req) === undefined) {
			throw new ApiError(401, {
				code: 'invalid_authorization',
				message: 'the Authorization header must be "Bearer <API_KEY>" with exactly one space',
			});
		}
		if (!holder) throw new ApiError(401);
		const status =
			holder.expiresAt !== undefined && now >= holder.expiresAt * 1000
				? 'expired'
				: (holder.status ?? 'active');
		if (status !== 'active') {
			throw new ApiError(401, { code: `api_key_${status}`, message: `the API key is ${status}` });
		}
		const address = req.socket.remoteAddress ?? '';
		if (holder.allowedIps && !holder.allowedIps.includes(address)) {
			throw new ApiError(403, {
				code: 'ip_not_allowed',
				message: 'the API key may not be used from this address',
			});
		}
		this.countRequest(holder, now);
		return holder;
	}

	/**
	 * @throws ApiError 403 where the key's group lacks the capability
	 */
	permit(holder: KeyHolder, capability: Capability) {
		if (this.groupOf(holder)[capability] === false) {
			throw new ApiError(403, {
				code: 'capability_not_allowed',
				message: `the API key's group does not permit ${capability}`,
			});
		}
	}

	/** IDs of the models that a key may use, in the catalogue's order. */
	modelsOf(holder: KeyHolder): string[] {
		const { models } = this.groupOf(holder);
		return Object.keys(this.settings.models).filter((id) => models?.includes(id) ?? true);
	}

	/**
	 * @throws ApiError 404 where the model is not in the key's list, 400 where it cannot do this
	 */
	requireModel(holder: KeyHolder, id: string, ability: keyof ModelOptions) {
		if (!this.modelsOf(holder).includes(id)) {
			throw new ApiError(404, {
				code: 'model_not_found',
				message: `the model '${id}' does not exist or is not available to this API key`,
				param: 'model',
			});
		}
		if (!this.settings.models[id]?.[ability]) {
			throw new ApiError(400, {
				code: 'model_not_suitable',
				message: `model '${id}' does not support ${ability === 'text' ? 'responses' : 'image tasks'}`,
				param: 'model',
			});
		}
	}

	/**
	 * Takes credits from the key's account.
	 * @throws ApiError 403 where it has too few
	 */
	charge(holder: KeyHolder, charge: Pick<Charge, 'credits' | 'requestId' | 'what'>) {
		const name = holder.account ?? 'main';
		const account = this.settings.accounts[name];
		if (account?.balance !== undefined) {
			if (account.balance < charge.credits) {
				throw new ApiError(403, {
					type: 'billing_error',
					code: 'insufficient_balance',
					message: 'the balance of this account is used up',
				});
			}
			account.balance -= charge.credits;
		}
		this.charges.push({ key: holder.name, account: name, ...charge });
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

/** The key in the one `Authorization` header, if it has the contract's form to the letter. */
function bearer(req: IncomingMessage): string | undefined {
	const headers = req.rawHeaders.filter(
		(name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization',
	);
	if (headers.length !== 1) return undefined;
	return /^Bearer ([^\s"']+)$/.exec(req.headers.authorization ?? '')?.[1];
}
