import type { Carrier, Client } from '../../api/http/request';
import { adviseOnModel } from '../../api/models/advise-on-model';

/** What bounds the requests of one piece of work. */
export interface RequestBounds extends Pick<Client, 'timeoutMs' | 'maxRetries'> {
	/** Milliseconds for all of it: no wait ends later. */
	totalMs: number;
}

/** What a client has beside its connection and bounds. */
export type ClientSettings = Pick<Client, 'signal' | 'cancel' | 'optionNames' | 'slot' | 'onRetry'>;

/** The one way to make a client. Its time begins now. */
export function createClient(
	{ transport, time, redact, newRequestId, run }: Carrier,
	{ timeoutMs, maxRetries, totalMs }: RequestBounds,
	settings: ClientSettings = {},
): Client {
	const deadline = time.now() + totalMs;
	const carrier = { transport, time, redact, newRequestId, run };
	const client: Client = { ...carrier, timeoutMs, maxRetries, deadline, ...settings };
	return {
		...client,
		adviseOnModel: async (body, failure) => await adviseOnModel(client, body, failure),
	};
}
