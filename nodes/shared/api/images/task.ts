import { getReplyIds, type ReplyIds } from '../errors/reply-ids';
import type { ParsedReply, Client } from '../http/request';
import { readGatewayTime, parseRetryAfter } from '../http/retry-after';
import type { ImageTask } from '../schemas';

/** What one reply said about a task. */
export interface PollResult extends ReplyIds {
	/** Checked, for reading. */
	task: ImageTask;
	/** As the gateway sent it. */
	json: Record<string, unknown>;
	/** Seconds, where the reply named them. */
	retryAfter?: number;
	/** When the reply was here: milliseconds since the epoch, by the local clock. */
	now: number;
	/** The same moment by the gateway's clock. */
	gatewayTime: number;
}

/** A task the gateway has accepted. From here on it may cost money and must not get lost. */
export interface AcceptedTask extends PollResult {
	taskId: string;
}

/**
 * What a reply says about a task.
 * @param task its body, checked
 */
export function toPollResult(
	client: Client,
	{ json, reply }: Pick<ParsedReply, 'json' | 'reply'>,
	task: ImageTask,
): PollResult {
	const now = client.time.now();
	return {
		...getReplyIds(client.redact, reply),
		task,
		json: json as Record<string, unknown>,
		retryAfter: parseRetryAfter(reply.headers, now),
		now,
		gatewayTime: readGatewayTime(reply.headers, now),
	};
}
