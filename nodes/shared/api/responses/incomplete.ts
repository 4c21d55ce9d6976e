import { sanitizeForMessage } from '../errors/sanitize';
import { asRecord } from '../http/json';
import type { ModelResponse } from '../schemas';

/** Why a response is incomplete whose stream ended without saying how. */
export const STREAM_ENDED = 'stream_ended';

/** Why a response ended early, in words; undefined where it did not. */
export function getIncompleteReason(response: ModelResponse): string | undefined {
	if (response.status !== 'incomplete') return undefined;
	const { reason } = asRecord(response.incomplete_details);
	switch (reason) {
		case 'max_output_tokens':
			return 'The model stopped at Max Output Tokens: its answer is cut off. Raise that option to get the rest.';
		case STREAM_ENDED:
			return 'The gateway’s stream ended without saying that the answer is complete: it may lack its end.';
		case 'content_filter':
			return 'The gateway’s content filter stopped the model: its answer is cut off.';
		default:
			return `The model stopped early${typeof reason === 'string' ? ` (${sanitizeForMessage(reason, 100)})` : ''}: its answer is cut off.`;
	}
}
