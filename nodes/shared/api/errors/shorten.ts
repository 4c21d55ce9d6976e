/** Characters of the longest message or advice. */
const LONGEST = 2000;

/** Characters that are kept of a longer one: its start, and its end, which says what is wrong. */
const START = 1200;
const END = 600;

/** Bounds a message, whatever it quotes: the middle of a long one is left out. */
export function shorten(message: string): string {
	return message.length > LONGEST ? `${message.slice(0, START)} … ${message.slice(-END)}` : message;
}
