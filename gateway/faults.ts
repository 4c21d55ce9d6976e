import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestRecord, StorageRecord } from './usage-log';
import { ApiError } from './errors';
import type { RouteName } from './routes';

/** A reply that is ready to be written. */
export interface Reply {
	status: number;
	headers: Record<string, string>;
	body: string | Buffer;
	/** Writes the rest of a streamed reply after the headers; `body` is empty then. */
	stream?: (write: (chunk: string) => Promise<void>) => Promise<void>;
}

/**
 * What goes wrong with an exchange.
 * - `reply`: the gateway sends this reply instead of its own.
 * - `destroy`: the gateway cuts the connection. At `before` it did nothing. At `after` it carried
 *   out the request, and only the reply is lost.
 * - `hang`: the gateway never replies.
 * - `delay`: the gateway waits `ms` milliseconds, then does `then`, or goes on as usual.
 * - `take`: the interceptor itself writes to `exchange.res`.
 */
export type Fault =
	| { kind: 'reply'; status: number; headers?: Record<string, string>; body?: unknown }
	| { kind: 'destroy' }
	| { kind: 'hang' }
	| { kind: 'delay'; ms: number; then?: Fault }
	| { kind: 'take'; write: () => void | Promise<void> };

/** One request on its way through a server, as {@link Intercept} sees it. */
interface ExchangeOf<Record, Name> {
	/**
	 * `before`: the request is read, nothing is done. `after`: the request is done, the reply is
	 * not written.
	 */
	stage: 'before' | 'after';
	readonly route: Name;
	/** Name of the key that the request carries, if it is a known one. */
	readonly key?: string;
	/** 1 for the first request of this method, path, key and body, 2 for the next such, … */
	readonly attempt: number;
	readonly record: Record;
	readonly req: IncomingMessage;
	readonly res: ServerResponse;
	/** Aborts when the client has closed the connection. */
	readonly gone: AbortSignal;
	/** At `after`: what will be written. An interceptor may replace it. */
	reply?: Reply;
}

export type Exchange = ExchangeOf<RequestRecord, RouteName>;
export type StorageExchange = ExchangeOf<StorageRecord, 'image'>;

/**
 * Called twice for each exchange. The fault that it returns happens instead of the usual handling.
 */
export type Intercept<E = Exchange> = (
	exchange: E,
) => Fault | undefined | Promise<Fault | undefined>;

/**
 * An error reply as the contract describes it for `status`, as a fault.
 * @param retryAfter seconds (or any text) for the `Retry-After` header
 */
export function errorReply(
	status: number,
	details: { retryAfter?: number | string; type?: string; code?: string; message?: string } = {},
): Fault {
	const { retryAfter, ...rest } = details;
	const headers: Record<string, string> = {};
	if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter);
	return { kind: 'reply', status, headers, body: new ApiError(status, rest).body };
}
