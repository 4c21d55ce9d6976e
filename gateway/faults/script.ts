import type { Exchange, Fault, Intercept, StorageExchange } from '../faults';
import { chanceOf } from './chance';
import type { FaultSetting, NamedFault } from './named';

/** A fault and the exchanges that it meets. A condition that is absent fits all exchanges. */
export interface FaultRule {
	fault: NamedFault;
	route?: Exchange['route'] | StorageExchange['route'];
	/** Name of the key. */
	key?: string;
	/** Which repetitions of a request: see `Exchange.attempt`. */
	attempt?: number | ((attempt: number) => boolean);
	/** Share of the exchanges, from 0 to 1. */
	probability?: number;
	/** The maximum number of times. */
	times?: number;
}

/**
 * An interceptor that follows rules: the first rule that fits an exchange applies. Chance depends
 * on the seed and the exchange alone, so a run can be repeated.
 * @param seed another one gives other chances
 */
export function scripted(
	rules: FaultRule[],
	setting: FaultSetting,
	seed: number | string = 1,
): Intercept<Exchange | StorageExchange> {
	const happened = new Map<FaultRule, number>();
	/** The decision at `before` for an exchange whose fault happens at `after`. */
	const decided = new WeakMap<object, NamedFault>();
	return async (exchange): Promise<Fault | undefined> => {
		if (exchange.stage === 'before') {
			const rule = rules.find((candidate) => fits(candidate, exchange, seed, happened));
			if (!rule) return undefined;
			happened.set(rule, (happened.get(rule) ?? 0) + 1);
			decided.set(exchange.record, rule.fault);
		}
		const fault = decided.get(exchange.record);
		return fault?.stage === exchange.stage ? await fault.make(exchange, setting) : undefined;
	};
}

function fits(
	rule: FaultRule,
	exchange: Exchange | StorageExchange,
	seed: number | string,
	happened: Map<FaultRule, number>,
): boolean {
	const { route, key, attempt, probability = 1, times = Infinity } = rule;
	if (route !== undefined && route !== exchange.route) return false;
	if (key !== undefined && key !== exchange.key) return false;
	if (typeof attempt === 'number' && attempt !== exchange.attempt) return false;
	if (typeof attempt === 'function' && !attempt(exchange.attempt)) return false;
	if ((happened.get(rule) ?? 0) >= times) return false;
	const { method, path } = exchange.record;
	const body = 'body' in exchange.record ? JSON.stringify(exchange.record.body) : '';
	return (
		probability >= 1 ||
		chanceOf(seed, rule.fault.name, method, path, body, exchange.attempt) < probability
	);
}
