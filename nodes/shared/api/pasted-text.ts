const QUOTE_PAIRS: Record<string, string> = { '"': '"', "'": "'", '`': '`', '“': '”', '‘': '’' };

/**
 * Takes one pair of quotes off a text that was pasted with them.
 * @returns the text between them, or the text itself
 */
export function withoutQuotes(text: string): { text: string; found: boolean } {
	const closing = QUOTE_PAIRS[text.charAt(0)];
	const found = closing !== undefined && text.length > 1 && text.endsWith(closing);
	return { text: found ? text.slice(1, -1).trim() : text, found };
}

/** What a key or an ID does not hold, and how the fault is named. */
const FAULTS: Array<[RegExp, string]> = [
	// eslint-disable-next-line no-control-regex
	[/[\u0000-\u0008\u000a-\u001f\u007f]/, 'contains a line break or another control character'],
	[/[\s\u200b\ufeff]/, 'contains a space'],
	[/["'`“”„‘’«»]/, 'contains a quote'],
];

/** What of a key or an ID was pasted along with it, in words; the text itself is never shown. */
export function pastedFault(text: string): string | undefined {
	return FAULTS.find(([pattern]) => pattern.test(text))?.[1];
}
