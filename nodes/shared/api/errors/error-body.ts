import { asRecord } from '../http/json';
import { readNamedTaskId } from '../images/read-task-id';
import { readCode, readMessage, onlyEntry } from './gateway-error';

/** Codes that gateways put beside a message where nothing went wrong. */
const ALL_IS_WELL = /^(0|2\d\d|ok|success|succeeded|accepted|submitted|created)$/i;

/** Fields of an answer; beside them an error is a part of the answer. */
const CONTENT = ['image_url', 'output', 'output_text', 'choices', 'result', 'data'];

/**
 * Whether the body of a success reply is an error and nothing else: `{ error }`,
 * `{ success: false, message }`, `{ code, message }`, `{ status: "error", message }`, `{ detail }`. They send
 * them where the status was sent before the error was known.
 */
export function isErrorBody(body: unknown): boolean {
	const given = onlyEntry(body);
	const fields = asRecord(given);
	if (Array.isArray(given) || CONTENT.some((name) => hasContent(fields[name]))) return false;
	if (isTaskOrAnswer(fields) || readNamedTaskId(fields) !== undefined) return false;
	const { error, errors, success, ok } = fields;
	return hasContent(error) || hasContent(errors) || [success, ok].includes(false) || tells(fields);
}

/** Whether fields tell of an error by a code or a status, and what they say. */
function tells(fields: Record<string, unknown>): boolean {
	const message = readMessage(fields);
	if (typeof message !== 'string' || message === '') return false;
	const code = readCode(fields);
	if (code !== undefined && code !== null) return !ALL_IS_WELL.test(String(code));
	return hasContent(fields.detail) || /^(error|fail(ed|ure)?)$/i.test(String(fields.status));
}

const isTaskOrAnswer = ({ id, status }: Record<string, unknown>) =>
	(typeof id === 'string' || typeof id === 'number') && typeof status === 'string';

function hasContent(value: unknown): boolean {
	if (value === undefined || value === null || value === false || value === '') return false;
	return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** What error codes and types stand for; the first that fits counts. */
const STATUSES: ReadonlyArray<[RegExp, number]> = [
	[/rate_?limit|too_?many|concurren|throttl|quota|usage_?limit/i, 429],
	[/overload|unavailable|no_available|capacity|\bbusy|slow_?down/i, 503],
	[/balance|billing|credit|payment|permission|forbidden|access_?denied|not_?allowed/i, 403],
	[/auth|api_?key|token_?(expired|invalid)/i, 401],
	[/not_?found/i, 404],
	[/moderation|policy|safety|user_error|invalid|unsupported|bad_?request|validation/i, 400],
	[/upstream|bad_?gateway|provider/i, 502],
	[/time_?d?_?out/i, 504],
	[/server_?error|internal/i, 500],
];

/**
 * The status that an error stands for which came without one.
 * @param code `error.code`; a number from 400 to 599 is the status itself
 * @returns undefined if neither code nor type tells
 */
export function impliedStatus({
	code,
	type,
}: {
	code?: string;
	type?: string;
}): number | undefined {
	const number = Number(code ?? NaN);
	if (Number.isInteger(number) && number >= 400 && number < 600) return number;
	for (const text of [code, type]) {
		const row = text !== undefined && STATUSES.find(([pattern]) => pattern.test(text));
		if (row) return row[1];
	}
	return undefined;
}
