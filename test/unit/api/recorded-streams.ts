import type { CreatedResponse } from '../../../nodes/shared/api/responses/created-response';
import { streamResponse } from '../../../nodes/shared/api/responses/response-stream';
import type {
	GatewayRequest,
	OpenReply,
	Transport,
} from '../../../nodes/shared/api/http/transport';
import { arrange, failureOf, type Arrangement } from './arrange';

export const BODY = { model: 'text-1', input: 'Hello' };

/** Bytes on their way, or what makes them. */
export type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

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

export interface StreamArrangement extends Arrangement {
	status?: number;
	headers?: OpenReply['headers'];
	idleMs?: number;
}

/** A client of a gateway that answers by this stream. */
export function streaming(chunks: Chunks, options: StreamArrangement = {}) {
	const { status = 200, headers = {}, idleMs = 60_000, ...overrides } = options;
	const sent: GatewayRequest[] = [];
	const pieces: string[] = [];
	const seen = { closed: 0, pieces, sent };
	const transport: Transport = {
		send: async () => await Promise.reject(new Error('this gateway only streams')),
		open: async (request) => {
			sent.push(request);
			const body = (async function* () {
				yield* chunks;
			})();
			return {
				status,
				headers,
				chunks: body,
				whole: async () => {
					const decoder = new TextDecoder();
					let text = '';
					for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
					return { status, headers, body: text + decoder.decode() };
				},
				close: () => {
					seen.closed++;
				},
			};
		},
	};
	const arranged = arrange([], { transport, ...overrides });
	const run = async (
		onText: ((piece: string) => void) | null = (piece) => pieces.push(piece),
	): Promise<CreatedResponse> =>
		await arranged.drive(
			streamResponse(arranged.client, BODY, { idleMs, ...(onText && { onText }) }),
		);
	return { ...arranged, seen, run, failure: async () => await failureOf(run()) };
}

/** What a stream comes to: the response, and the pieces of text on the way. */
export async function outcome(chunks: Chunks) {
	const { run, seen } = streaming(chunks);
	const { json } = await run();
	return { json, pieces: seen.pieces };
}
