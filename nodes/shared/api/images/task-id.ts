import { ValidationError } from '../errors/errors';
import { requireText } from '../errors/require-text';
import { pastedFault, withoutQuotes } from '../pasted-text';

const TASK_ID = 'Task ID';
const TASK_ID_ADVICE =
	'Enter the task_id that Image → Generate returned, or the poll_url beside it, of the gateway in the credential.';

/** Characters of the longest ID or address that servers commonly take. */
const LONGEST = 4096;

/**
 * Reads a task's ID from what a user has: the ID, a poll path, or the gateway's poll URL. Spaces,
 * line breaks and a pair of quotes around it are taken off.
 * @param baseUrl the normalized base address of the credential
 * @throws {ValidationError} nothing there, something else pasted into it, an address of another
 * gateway, or no task address at all
 */
export function parseTaskId(input: unknown, baseUrl: string): string {
	const pasted = typeof input === 'number' ? String(input) : input;
	requireText(pasted, TASK_ID, TASK_ID_ADVICE);
	const { text } = withoutQuotes(pasted.trim());
	const fault = getFault(text);
	if (fault) throw new ValidationError(TASK_ID, fault, TASK_ID_ADVICE);
	const id = text.includes('/') ? parseTaskAddress(text, baseUrl) : text;
	if (/^\.{0,2}$/.test(id)) throw new ValidationError(TASK_ID, 'is not a task ID', TASK_ID_ADVICE);
	return id;
}

function getFault(text: string): string | undefined {
	if (text === '') return 'is empty';
	return text.length > LONGEST ? `is longer than ${LONGEST} characters` : pastedFault(text);
}
/** @throws {ValidationError} */
function parseTaskAddress(text: string, baseUrl: string): string {
	if (!URL.canParse(text, baseUrl)) {
		throw new ValidationError(TASK_ID, 'is not a valid address', TASK_ID_ADVICE);
	}
	const url = new URL(text, baseUrl);
	if (url.origin !== new URL(baseUrl).origin) {
		throw new ValidationError(TASK_ID, 'is an address of another gateway', TASK_ID_ADVICE);
	}
	const id = parseTaskPath(url.pathname);
	if (id === undefined)
		throw new ValidationError(TASK_ID, 'is not the address of an image task', TASK_ID_ADVICE);
	return withoutQuotes(id).text;
}

/** The ID in the path or address of an image task. */
export function parseTaskPath(path: string): string | undefined {
	const encoded = /\/images\/tasks\/([^/?#]+)\/?([?#]|$)/.exec(path)?.[1];
	try {
		return encoded === undefined ? undefined : decodeURIComponent(encoded);
	} catch {
		return undefined;
	}
}
