import { createParser } from 'eventsource-parser';
import type { Answer } from './client';

export interface SeenEvent {
	/** The name in the `event:` line. */
	event?: string;
	/** Parsed `data:`. */
	data: Record<string, unknown> & { type?: string };
}

/** The events of a streamed reply; `[DONE]` is left out. */
export function eventsOf({ text }: Pick<Answer, 'text'>): SeenEvent[] {
	const events: SeenEvent[] = [];
	createParser({
		onEvent: ({ event, data }) => {
			if (data !== '[DONE]') events.push({ event, data: JSON.parse(data) as SeenEvent['data'] });
		},
	}).feed(text);
	return events;
}

/** Types of the events, runs of the same type as one. */
export const kindsOf = (events: SeenEvent[]) =>
	events
		.map(({ data }) => data.type)
		.filter((type, index, all) => index === 0 || type !== all[index - 1]);

/** The deltas of a type, joined. */
export const joined = (events: SeenEvent[], type: string) =>
	events
		.filter(({ data }) => data.type === type)
		.map(({ data }) => data.delta)
		.join('');
