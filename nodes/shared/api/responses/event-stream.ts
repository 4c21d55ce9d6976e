import { createParser } from 'eventsource-parser';

/** One event of a `text/event-stream`. */
export interface StreamEvent {
	/** The event's name; undefined where the stream names none. */
	name?: string;
	data: string;
}

/**
 * Reads events out of text, however it is cut. The events that one piece completes come out
 * together. One turn of the event loop for each would cost more than reading it. An event that the
 * end of the stream cuts off is given out if its data is whole.
 * @see contract, "Events"
 */
export async function* readEvents(text: AsyncIterable<string>): AsyncGenerator<StreamEvent[]> {
	let ready: StreamEvent[] = [];
	const parser = createParser({
		onEvent: ({ event, data }) => ready.push({ name: event, data }),
	});
	const taken = () => {
		const events = ready;
		ready = [];
		return events;
	};
	for await (const piece of text) {
		parser.feed(piece);
		if (ready.length > 0) yield taken();
	}
	parser.feed('\n\n');
	if (ready.length > 0) yield taken();
}

/** Decodes bytes as UTF-8, a character cut in two included, and drops a byte order mark. */
export async function* decode(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
	const decoder = new TextDecoder();
	for await (const chunk of bytes) {
		const text = decoder.decode(chunk, { stream: true });
		if (text !== '') yield text;
	}
	const rest = decoder.decode();
	if (rest !== '') yield rest;
}
