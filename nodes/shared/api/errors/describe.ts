/** What an error's one line is made of; all but the title may be unknown. */
export interface ErrorWords {
	/** What happened, without the status. */
	title: string;
	status?: number;
	/** The gateway's own code, fit for a message. */
	code?: string;
	/** The gateway's own words, fit for a message. */
	message?: string;
}

/** Characters of a code that a message shows; the details have more. */
const LONGEST_CODE = 60;

/**
 * An error's one line, with the status and the gateway's code and words:
 * `The gateway does not permit this (HTTP 403, API_KEY_EXPIRED): the key is expired`.
 */
export function describeError({ title, status, code, message }: ErrorWords): string {
	const shortCode =
		code !== undefined && code.length > LONGEST_CODE ? `${code.slice(0, LONGEST_CODE)}…` : code;
	const facts = [
		status !== undefined && `HTTP ${status}`,
		// A code may repeat the status, or stand behind the colon where there are no other words.
		shortCode !== message && shortCode !== String(status) && shortCode,
	].filter(Boolean);
	const known = facts.length > 0 ? ` (${facts.join(', ')})` : '';
	return `${title}${known}${message ? `: ${message}` : ''}`;
}
