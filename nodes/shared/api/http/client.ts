import type { ErrorDetails } from '../errors/errors';
import type { ReplyIds } from '../errors/reply-ids';
import type { Redact } from '../errors/sanitize';
import type { Slot } from './rate-limit-queue';
import type { RetryBounds } from './retry';
import type { RunState } from './run-state';
import type { GatewayReply, GatewayRequest, Transport } from './transport';

/** What carries a request. */
export interface Carrier extends Pick<RetryBounds, 'time'> {
	transport: Transport;
	/** Takes secrets out of text from outside. */
	redact: Redact;
	/** Makes the ID that a request carries which may cost money; absent: it carries none. */
	newRequestId?: () => string;
	/** What the requests of the run share; absent: nothing. */
	run?: RunState;
}

/** What bounds a request. */
export interface Bounds extends Pick<RetryBounds, 'maxRetries' | 'deadline'> {
	/** Milliseconds for one request. */
	timeoutMs: number;
}

/** What stops a request. */
export interface Stop {
	/** Ends every wait, and nothing is sent once it is aborted. */
	signal?: AbortSignal;
	/** Ends what is under way as well, such as a stream; `signal` if it is absent. */
	cancel?: AbortSignal;
}

/** What the client needs from outside, and the bounds that hold for everything it does. */
export interface Client extends Carrier, Bounds, Stop, Pick<RetryBounds, 'onRetry'> {
	/** Fields and options that an advice may name, as its reader sees them; absent: none. */
	optionNames?: ReadonlySet<string>;
	/** Where requests that cost money wait for their turn; absent: none does. */
	slot?: Slot;
	/** Says what to do about a model that the gateway does not know; see `adviseOnModel`. */
	adviseOnModel?: (
		body: Message['body'],
		failure: Pick<ErrorDetails, 'finding' | 'advice' | 'httpStatus'>,
	) => Promise<string | undefined>;
}

/** A success reply, its JSON parsed. */
export interface ParsedReply extends ReplyIds {
	json: unknown;
	reply: GatewayReply;
}

/** A request, its time-out that of the client. */
export type Message = Omit<GatewayRequest, 'timeoutMs'>;
