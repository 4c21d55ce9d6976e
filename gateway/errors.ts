/** The error body for each status of the contract's table (Errors). */
const TYPES: Record<number, { type: string; code: string; message: string }> = {
	400: {
		type: 'invalid_request_error',
		code: 'invalid_request',
		message: 'the request is not valid',
	},
	401: {
		type: 'authentication_error',
		code: 'invalid_api_key',
		message: 'the API key is not valid',
	},
	403: { type: 'permission_error', code: 'not_permitted', message: 'this is not permitted' },
	404: { type: 'not_found_error', code: 'not_found', message: 'there is nothing at this address' },
	405: {
		type: 'invalid_request_error',
		code: 'method_not_allowed',
		message: 'this method is not allowed here',
	},
	408: {
		type: 'timeout_error',
		code: 'request_timeout',
		message: 'the request did not complete in time',
	},
	413: {
		type: 'request_too_large',
		code: 'request_too_large',
		message: 'the request is too large',
	},
	429: {
		type: 'rate_limit_error',
		code: 'rate_limit_exceeded',
		message: 'too many requests',
	},
	499: {
		type: 'client_closed_request',
		code: 'client_closed_request',
		message: 'the client closed the connection',
	},
	500: { type: 'server_error', code: 'internal_error', message: 'something went wrong in here' },
	502: {
		type: 'upstream_error',
		code: 'bad_gateway',
		message: 'the upstream returned an abnormal reply',
	},
	503: {
		type: 'overloaded_error',
		code: 'service_unavailable',
		message: 'no resources are free at the moment',
	},
	504: {
		type: 'timeout_error',
		code: 'gateway_timeout',
		message: 'the gateway stopped waiting for the upstream',
	},
	529: {
		type: 'overloaded_error',
		code: 'overloaded_error',
		message: 'All available accounts exhausted',
	},
};

/** The JSON body of an error reply (contract: Errors, rule 4). */
export interface ErrorBody {
	error: { type: string; code: string; message: string; param?: string };
}

interface ErrorDetails {
	type?: string;
	code?: string;
	message?: string;
	/** The request field at fault. */
	param?: string;
	/** Seconds for the `Retry-After` header. */
	retryAfter?: number;
	headers?: Record<string, string>;
	/** The exact body, instead of the contract's. */
	body?: object;
}

/** A reply that is an error: status, headers and body of the contract's section Errors. */
export class ApiError extends Error {
	readonly body: object;
	readonly headers: Record<string, string>;

	constructor(
		readonly status: number,
		details: ErrorDetails = {},
	) {
		const usual = TYPES[status] ?? { type: 'api_error', code: 'error', message: `HTTP ${status}` };
		const message = details.message ?? usual.message;
		super(message);
		const body: ErrorBody = {
			error: { type: details.type ?? usual.type, code: details.code ?? usual.code, message },
		};
		if (details.param !== undefined) body.error.param = details.param;
		this.body = details.body ?? body;
		this.headers = { ...details.headers };
		if (details.retryAfter !== undefined) this.headers['Retry-After'] = String(details.retryAfter);
	}
}

/** A 400 for one field. The message names it (contract: Errors, row 400). */
export const badField = (field: string, problem: string, code = 'invalid_value') =>
	new ApiError(400, { code, message: `${field} ${problem}`, param: field });

/** The 404 of the contract's section "Error object for a missing task", word for word. */
export const taskNotFound = () =>
	new ApiError(404, {
		type: 'IMAGE_TASK_NOT_FOUND',
		code: 'IMAGE_TASK_NOT_FOUND',
		message: 'image task not found',
	});
