import { ApiError } from '../shared/api/errors/errors';
import type { CreatedResponse } from '../shared/api/responses/created-response';
import type { ModelResponse } from '../shared/api/schemas';
import type { Message } from './sdk';

/*
 * A gateway that stores nothing does not know a reasoning item by its ID in the next round. Such an
 * item goes back only if it carries its content. The model is supplied anew for each round of n8n's
 * agent. What one round has learned travels with the reasoning items, in fields of our own.
 */

type Item = Record<string, unknown>;
type Body = Record<string, unknown>;

/** What `include` asks for, so that reasoning items carry their content. */
const CONTENT = 'reasoning.encrypted_content';

/** The items of an answer, with what its gateway has told of storing. */
export function markReasoning({ output, store }: ModelResponse): ModelResponse['output'] {
	if (store !== false) return output;
	return output.map((item) => (item.type === 'reasoning' ? { ...item, stored: false } : item));
}

/**
 * Makes the input items to send of those with our fields.
 * @param keepsResponses whether the gateway is asked to store responses
 */
export function toSendableReasoning(items: Item[], keepsResponses: boolean): Item[] {
	return items.flatMap((item) => {
		if (item.type !== 'reasoning') return [item];
		const isKnown = keepsResponses && item.stored !== false;
		const sent = { ...item };
		delete sent.stored;
		delete sent.contentRefused;
		return isKnown || typeof sent.encrypted_content === 'string' ? [sent] : [];
	});
}

/** Whether a conversation shows that the gateway stores nothing, and has not refused to say more. */
export function wantsContent(messages: Message[]): boolean {
	const unstored = messages
		.flatMap(({ content }) => content)
		.flatMap((part) => (part.type === 'provider' ? [part.value] : []))
		.filter(({ type, stored }) => type === 'reasoning' && stored === false);
	return unstored.length > 0 && !unstored.some(({ contentRefused }) => contentRefused === true);
}

/**
 * Sends a request that asks for the content of reasoning items, and, if the gateway refuses that,
 * once more without. A refused request is not executed.
 * @returns the answer, the body that brought it, and whether the gateway refused
 */
export async function sendForContent(
	body: Body,
	send: (body: Body) => Promise<CreatedResponse>,
): Promise<{ created: CreatedResponse; sent: Body; refused: boolean }> {
	const include = Array.isArray(body.include) ? (body.include as unknown[]) : [];
	if (include.includes(CONTENT)) return { created: await send(body), sent: body, refused: false };
	const asking = { ...body, include: [...include, CONTENT] };
	const created = await send(asking).catch(undefinedIfRefused);
	if (created) return { created, sent: asking, refused: false };
	return { created: await send(body), sent: body, refused: true };
}

function undefinedIfRefused(error: unknown): undefined {
	const isRefused = error instanceof ApiError && [400, 422].includes(error.details.httpStatus ?? 0);
	if (!isRefused) throw error;
	return undefined;
}

/** An answer's content, once its gateway has refused to say more about reasoning. */
export function markRefused<Content extends { items: ModelResponse['output'] }>(
	content: Content,
): Content {
	const items = content.items.map((item) =>
		item.type === 'reasoning' ? { ...item, contentRefused: true } : item,
	);
	return { ...content, items };
}
