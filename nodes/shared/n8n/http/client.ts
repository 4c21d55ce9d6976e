import type { Client } from '../../api/http/request';
import type { Connection } from './connection';

/** What bounds the requests of one piece of work. */
export interface RequestBounds extends Pick<Client, 'timeoutMs' | 'maxRetries'> {
	/** Milliseconds for all of it: no wait ends later. */
	totalMs: number;
}

/** What a client has beside its connection and bounds. */
export type ClientSettings = Pick<Client, 'signal' | 'cancel' | 'optionNames' | 'slot' | 'onRetry'>;

/** The one way to make a client. Its time begins now. */
export function createClient(
	{ transport, time, redact }: Pick<Connection, 'transport' | 'time' | 'redact'>,
	{ timeoutMs, maxRetries, totalMs }: RequestBounds,
	settings: ClientSettings = {},
): Client {
	const deadline = time.now() + totalMs;
	return { transport, time, redact, timeoutMs, maxRetries, deadline, ...settings };
}
