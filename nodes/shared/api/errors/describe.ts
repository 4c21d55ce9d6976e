/** What an error's one line is made of; all but the title may be unknown. */
export interface ErrorParts {
	/** What happened, without the status. */
	title: string;
	status?: number;
	/** The gateway's own code, fit for a message. */
	code?: string;
	/** The gateway's own message, fit for a message. */
	message?: string;
}

/** Characters of a code that a message shows; the details have more. */
const LONGEST_CODE = 60;

/**
 * An error's one line, with the status and the gateway's code and message:
 * `The gateway does not permit this (HTTP 403, API_KEY_EXPIRED): the key is expired`.
 */
export function describeError({ title, status, code, message }: ErrorParts): string {
	const shortCode =
		code !== undefined && code.length > LONGEST_CODE ? `${code.slice(0, LONGEST_CODE)}…` : code;
	const details = [
		status !== undefined && `HTTP ${status}`,
		// A code may repeat the status, or stand behind the colon where there is no message.
		shortCode !== message && shortCode !== String(status) && shortCode,
	].filter(Boolean);
	const known = details.length > 0 ? ` (${details.join(', ')})` : '';
	return `${title}${known}${message ? `: ${message}` : ''}`;
}
