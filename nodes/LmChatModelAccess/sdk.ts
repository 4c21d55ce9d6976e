import type { SupplyData } from 'n8n-workflow';
import { ValidationError } from '../shared/api/errors/errors';

/** n8n's kit for AI nodes. */
type Sdk = typeof import('@n8n/ai-node-sdk');
export type { ChatModel, ChatModelConfig } from '@n8n/ai-node-sdk';
export type { FinishReason, GenerateResult, StreamChunk, TokenUsage } from '@n8n/ai-node-sdk';
export type { Message, MessageContent, Tool } from '@n8n/ai-node-sdk';
export type { SupplyData };

/** The first n8n with the kit. */
export const FIRST_N8N = '2.16';

/**
 * Loads n8n's kit for AI nodes when a chat model is used, not before. An n8n without the kit can
 * then load the package and run the other nodes. The build turns this `import` into a `require`,
 * because community packages find n8n's own modules only through `require`.
 * @throws {ValidationError} this n8n has no kit
 */
export async function loadSdk(): Promise<Sdk> {
	try {
		return await import('@n8n/ai-node-sdk');
	} catch (error) {
		throw toMissingSdkError(error);
	}
}

function toMissingSdkError(error: unknown): unknown {
	const { code, message } = error as { code?: unknown; message?: unknown };
	const missing =
		/MODULE_NOT_FOUND$/.test(String(code)) && String(message).includes('@n8n/ai-node-sdk');
	if (!missing) return error;
	return new ValidationError(
		'Model Access Chat Model',
		`needs n8n ${FIRST_N8N} or newer`,
		'This n8n has no @n8n/ai-node-sdk, on which chat models of community packages are built. Update n8n. The other Model Access nodes work without it.',
	);
}
