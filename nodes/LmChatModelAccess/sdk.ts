import type { SupplyData } from 'n8n-workflow';
import { InputError } from '../shared/api/errors/errors';

/** n8n's kit for AI nodes, as far as it is used here. */
type Sdk = typeof import('@n8n/ai-node-sdk');
export type { ChatModel, ChatModelConfig } from '@n8n/ai-node-sdk';
export type { FinishReason, GenerateResult, StreamChunk, TokenUsage } from '@n8n/ai-node-sdk';
export type { Message, MessageContent, Tool } from '@n8n/ai-node-sdk';
export type SupplyModel = Sdk['supplyModel'];
export type { SupplyData };

/** The first n8n that brings the kit. */
export const FIRST_N8N = '2.16';

/**
 * Loads n8n's kit for AI nodes. It is asked for here and nowhere else, and not before a chat model
 * is used: an n8n without it loads the package and runs the other nodes. The build makes a
 * `require` of this `import`, for n8n lets community packages find its own modules by a way that
 * only `require` goes.
 * @throws {InputError} this n8n does not have it
 */
export async function loadSdk(): Promise<Sdk> {
	try {
		return await import('@n8n/ai-node-sdk');
	} catch (error) {
		throw withoutSdk(error);
	}
}

function withoutSdk(error: unknown): unknown {
	const { code, message } = error as { code?: unknown; message?: unknown };
	const missing =
		/MODULE_NOT_FOUND$/.test(String(code)) && String(message).includes('@n8n/ai-node-sdk');
	if (!missing) return error;
	return new InputError(
		'Model Access Chat Model',
		`needs n8n ${FIRST_N8N} or newer`,
		'This n8n has no @n8n/ai-node-sdk, on which chat models of community packages are built. Update n8n. The other Model Access nodes work without it.',
	);
}
