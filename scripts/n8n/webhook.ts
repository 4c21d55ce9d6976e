import { until } from './until';

/**
 * A request to an address that n8n serves a moment after its workflow was switched on: until then
 * n8n answers by 404, and nothing is run.
 * @param url whole
 */
export async function served(url: string, init?: RequestInit): Promise<Response> {
	return await until(`${url} is served`, async () => {
		const reply = await fetch(url, init);
		return reply.status !== 404 && reply;
	});
}

/** A POST of JSON to an address that n8n serves, as the world outside calls it. */
export async function posted(url: string, body: object): Promise<Response> {
	return await served(url, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
	});
}

/** What n8n streamed to its caller. */
export interface Streamed {
	/** In n8n's words for them: `begin`, `item`, `end`, `error`. */
	events: Array<{ type: string; content?: string }>;
	/** The contents of all items. */
	text: string;
	/** Pieces in which it arrived. */
	pieces: number;
	/** Milliseconds between the first piece and the last. */
	span: number;
}

/** Reads a streamed answer to its end, and when each piece of it came. */
export async function streamed({ body }: Response): Promise<Streamed> {
	const pieces: Array<{ at: number; text: string }> = [];
	for await (const piece of body ?? []) {
		pieces.push({ at: performance.now(), text: Buffer.from(piece as Uint8Array).toString() });
	}
	const events = pieces
		.map(({ text }) => text)
		.join('')
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line) as { type: string; content?: string });
	return {
		events,
		text: events.map(({ type, content }) => (type === 'item' ? content : '')).join(''),
		pieces: pieces.length,
		span: (pieces.at(-1)?.at ?? 0) - (pieces[0]?.at ?? 0),
	};
}
