import { until } from './until';

/**
 * Sends a request to a webhook. n8n serves it a moment after the workflow was activated. Until then
 * n8n answers with 404 and runs nothing.
 * @param url whole
 */
export async function served(url: string, init?: RequestInit): Promise<Response> {
	return await until(`${url} is served`, async () => {
		const reply = await fetch(url, init);
		return reply.status !== 404 && reply;
	});
}

/** Sends JSON to a webhook by POST. */
export async function posted(url: string, body: object): Promise<Response> {
	return await served(url, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
	});
}

/** A stream of n8n, as its caller saw it. */
export interface Streamed {
	/** Types of events: `begin`, `item`, `end`, `error`. */
	events: Array<{ type: string; content?: string }>;
	/** The contents of all items. */
	text: string;
	/** Number of pieces in which it arrived. */
	pieces: number;
	/** Milliseconds between the first piece and the last. */
	span: number;
}

/** Reads a streamed answer to its end, with the time of each piece. */
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
