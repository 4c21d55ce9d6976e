import type { IExecuteFunctions } from 'n8n-workflow';
import type { Slot } from '../../api/http/rate-limit-queue';
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

/** An item whose requests wait in the queue of its run. */
interface QueuedItem extends Pick<Client, 'signal' | 'cancel' | 'optionNames'> {
	logger: Pick<IExecuteFunctions['logger'], 'debug'>;
	index: number;
	connection: Carrier;
	slot: Slot;
}

/** What makes clients for one item, bounded as given; their other needs are those of the run. */
export const itemClient =
	({ logger, index, connection, slot, ...needs }: QueuedItem) =>
	(bounds: RequestBounds): Client & { slot: Slot } => {
		const onRetry: Client['onRetry'] = ({ reason, waitMs, attempt }) =>
			logger.debug(
				`Item ${index}: ${reason}; sending again ${tellWait(waitMs)} (retry ${attempt})`,
			);
		return { ...createClient(connection, bounds, { ...needs, onRetry }), slot };
	};

/** @param ms 0 if the queue of the run decides */
const tellWait = (ms: number) => (ms > 0 ? `in ${ms} ms` : 'when the queue allows');
