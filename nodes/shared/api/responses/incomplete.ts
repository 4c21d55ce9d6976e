import { quotable } from '../errors/sanitize';
import { fieldsOf } from '../http/json';
import type { ModelResponse } from '../schemas';

/** Why a response ended early, in words; undefined where it did not. */
export function incompleteReason(response: ModelResponse): string | undefined {
	if (response.status !== 'incomplete') return undefined;
	const { reason } = fieldsOf(response.incomplete_details);
	switch (reason) {
		case 'max_output_tokens':
			return 'The model stopped at Max Output Tokens: its answer is cut off. Raise that option to get the rest.';
		case 'content_filter':
			return 'The gateway’s content filter stopped the model: its answer is cut off.';
		default:
			return `The model stopped early${typeof reason === 'string' ? ` (${quotable(reason, 100)})` : ''}: its answer is cut off.`;
	}
}
