import type { Client } from '../../../nodes/shared/api/http/client';
import type { Headers } from '../../../nodes/shared/api/http/transport';
import { createResponse } from '../../../nodes/shared/api/responses/response';
import { streamResponse } from '../../../nodes/shared/api/responses/response-stream';
import { arrange, failureOf, type Arrangement, type Chunks } from './arrange';

export const BODY = { model: 'text-1', input: 'Hello' };

/** A response without a stream. */
export const creating = async (client: Client) => await createResponse(client, BODY);

/** An event: its name as `event:`, its type and fields as JSON. */
export const event = (type: string, fields: object = {}) =>
	`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

export const delta = (text: string, output_index = 0, content_index = 0) =>
	event('response.output_text.delta', { output_index, content_index, delta: text });

export const completed = (response: object = {}) =>
	event('response.completed', { response: { id: 'r1', status: 'completed', ...response } });

const item = (kind: string) => (output_index: number, given: object | null) =>
	event(`response.output_item.${kind}`, { output_index, item: given });
export const added = item('added');
export const done = item('done');

/** An output item: what a model says. */
export const message = (...texts: string[]) => ({
	type: 'message',
	role: 'assistant',
	content: texts.map((text) => ({ type: 'output_text', text })),
});

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Bytes in chunks as a socket brings them. */
export function* inChunks(whole: Uint8Array, size = 16_384) {
	for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
}

/** The bytes of a text, one in a chunk. */
export const oneByOne = (text: string): Uint8Array[] =>
	Array.from(bytes(text), (byte) => Uint8Array.of(byte));

export type StreamOptions = Arrangement & { status?: number; headers?: Headers; idleMs?: number };

/** A client of a gateway that answers by this stream. */
export function streaming(chunks: Chunks, options: StreamOptions = {}) {
	const { status = 200, headers = {}, idleMs = 60_000, ...more } = options;
	const arranged = arrange({ status, headers, body: '', chunks }, more);
	const pieces: string[] = [];
	const onText = (piece: string) => void pieces.push(piece);
	const run = async (listening: { onText?: (piece: string) => void } = { onText }) =>
		await arranged.drive(streamResponse(arranged.client, BODY, { idleMs, ...listening }));
	return { ...arranged, pieces, run, failure: async () => await failureOf(run()) };
}

/** What a stream comes to: the response, and the pieces of text on the way. */
export async function outcome(chunks: Chunks) {
	const { run, pieces } = streaming(chunks);
	const { json } = await run();
	return { json, pieces };
}
