import type { Exchange, Fault, StorageExchange } from '../faults';
import type { GatewayTime } from '../time';

/** What a fault may need from the gateway. */
export interface FaultSetting {
	/** The gateway's clock. */
	time: GatewayTime;
	/** Origin of a foreign server. */
	elsewhere: string;
}

/** A fault of an exchange, by the name under which tables and logs show it. */
export interface NamedFault {
	name: string;
	/** `before`: the request is not carried out. `after`: it is, and its reply suffers. */
	stage: 'before' | 'after';
	make(
		exchange: Exchange | StorageExchange,
		setting: FaultSetting,
	): Fault | undefined | Promise<Fault | undefined>;
}
