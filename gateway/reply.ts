import type { ApiError } from './errors';
import type { Reply } from './faults';
import { PAGE } from './routes';

/** A reply with a JSON body. */
export const jsonReply = (
	status: number,
	body: unknown,
	headers: Record<string, string> = {},
): Reply => ({
	status,
	headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
	body: JSON.stringify(body),
});

/** An error as the contract shows it (Errors, rule 4). */
export const errorReplyOf = ({ status, body, headers }: ApiError): Reply =>
	jsonReply(status, body, headers);

/** The page that a web server in front shows (contract: Errors, rule 5). */
export const pageReply = (): Reply => ({
	status: 200,
	headers: { 'Content-Type': 'text/html; charset=utf-8' },
	body: PAGE,
});

/** The reply of a plain web server for an unknown path. */
export const notFoundReply = (): Reply => ({
	status: 404,
	headers: { 'Content-Type': 'text/plain' },
	body: '404 page not found',
});

/** A stream that fails after comment pings. Nothing was made. */
export const failedInLine = (code: string, message: string): Reply => {
	const response = { object: 'response', status: 'failed', output: [], error: { code, message } };
	const failed = JSON.stringify({ type: 'response.failed', response });
	return {
		status: 200,
		headers: { 'Content-Type': 'text/event-stream' },
		body: `${':\n\n'.repeat(3)}event: response.failed\ndata: ${failed}\n\n`,
	};
};
