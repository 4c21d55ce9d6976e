type Fields = Record<string, unknown>;

/** The ID of a task as it stands in a body. */
export function readTaskId(body: Fields): string | undefined {
	return readNamedTaskId(body) ?? readId(body.id);
}

/** The same where the field itself says that it is a task's: `task_id`, `taskId`. */
export function readNamedTaskId(body: Fields): string | undefined {
	const named = Object.entries(body).filter(([name]) => /^task_?id$/i.test(name));
	return named.map(([, value]) => readId(value)).find((id) => id !== undefined);
}

function readId(value: unknown): string | undefined {
	const text = typeof value === 'number' ? String(value) : value;
	return typeof text === 'string' && text !== '' ? text : undefined;
}

/** Fields in which gateways put the ID alone: `{ "code": 0, "data": "…" }`. */
const PLAIN = ['data', 'task', 'result'];

/** The ID of a task where a reply holds a text instead of the task. */
export function readPlainTaskId(body: Fields): string | undefined {
	return PLAIN.map((name) => body[name]).find(looksLikeTaskId);
}

/** One word of letters, digits, hyphens and underscores. */
const WORD = /^[a-z0-9][\w-]{7,127}$/i;
/** A beginning that only IDs have. */
const PREFIX = /^(img|image|imgtask|task|job|gen|generation|draw)[_-]/i;
const DATE = /^\d{4}-\d\d-\d\d/;
/** Shorter ones are a moment, or a count. */
const LONG_NUMBER = /^\d{15,}$/;

/**
 * Whether an unnamed text is an ID: a single word with a digit, such as a UUID. Words of a
 * sentence, addresses, dates and short numbers are none.
 */
function looksLikeTaskId(value: unknown): value is string {
	if (typeof value !== 'string' || !WORD.test(value) || !/\d/.test(value)) return false;
	if (PREFIX.test(value)) return true;
	return /^\d+$/.test(value) ? LONG_NUMBER.test(value) : !DATE.test(value);
}
