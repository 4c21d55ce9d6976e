import type { ReplyIds } from '../errors/reply-ids';
import type { ModelResponse } from '../schemas';

/** A model's answer, checked and as it came. */
export interface CreatedResponse extends ReplyIds {
	/** Checked, for reading. */
	response: ModelResponse;
	/** As the gateway sent it. */
	json: Record<string, unknown>;
}
