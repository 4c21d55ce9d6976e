import { asRecord, parseJson } from '../http/json';

type Fields = Record<string, unknown>;

/** What an error of a gateway says, as it came. */
export interface ErrorFields {
	type?: unknown;
	code?: unknown;
	message?: unknown;
	/** Whether the gateway passes on an error of its provider: code and type are the provider's. */
	fromProvider?: boolean;
}

/**
 * Reads the error in a body, or in an event of a stream, however it is wrapped. Where its message
 * quotes an error of the gateway's provider, as LiteLLM's messages do, code and type are those.
 */
export function readErrorFields(body: unknown): ErrorFields {
	const error = innermostError(body);
	const { type } = error;
	const [code, message] = [readCode(error), readMessage(error)];
	const quoted = quotedError(code, message);
	const isPassedOn = quoted !== undefined || isProviderRefusal(message);
	return {
		...(quoted ?? { type, code }),
		message,
		...(isPassedOn && { fromProvider: true }),
	};
}

/** The names that gateways have for the message of an error; the first that has a value counts. */
const MESSAGES = ['message', 'msg', 'detail', 'errmsg', 'error_message', 'errors', 'title'];

/** The same for its code. */
const CODES = ['code', 'status_code', 'statusCode', 'errcode', 'error_code'];

const isGiven = (value: unknown) => value !== undefined && value !== null && value !== '';

const firstGiven = (fields: Fields, names: string[]): unknown =>
	names.map((name) => fields[name]).find(isGiven);

/** What an error says; of a list, what each of them says. */
export function readMessage(error: Fields): unknown {
	const given = firstGiven(error, MESSAGES);
	if (!Array.isArray(given)) return given;
	const texts = given.map((one: unknown) =>
		typeof one === 'string' ? one : readMessage(asRecord(one)),
	);
	return texts.filter((text) => typeof text === 'string').join('; ');
}

/** The code of an error, else the status that it names as a number. */
export function readCode(error: Fields): unknown {
	const code = firstGiven(error, CODES);
	return isGiven(code) || typeof error.status !== 'number' ? code : error.status;
}

/** How deep an error object may be wrapped into others. */
const DEEPEST_ERROR = 3;

/** The only entry of a list, in which some gateways wrap a reply; else the value itself. */
export const onlyEntry = (body: unknown): unknown =>
	Array.isArray(body) && body.length === 1 ? (body as unknown[])[0] : body;

/** An error that is a text is the message of the object around it. */
function innermostError(body: unknown): Record<string, unknown> {
	let error: unknown = onlyEntry(body);
	for (let depth = 0; depth < DEEPEST_ERROR; depth++) {
		const { error: inner, ...around } = asRecord(error);
		if (inner === undefined || inner === null) break;
		error = typeof inner === 'string' ? { ...around, message: inner } : inner;
	}
	return typeof error === 'string' ? { message: error } : asRecord(error);
}

/**
 * Code and type of the provider's error, if the gateway's message quotes it as JSON. The gateway's
 * own code then has to be the status.
 */
function quotedError(code: unknown, message: unknown) {
	if (typeof message !== 'string' || !/^\d{3}$/.test(String(code))) return undefined;
	const json = message.slice(message.indexOf('{'), message.lastIndexOf('}') + 1);
	const quoted = innermostError(parseJson(json));
	return quoted.code || quoted.type ? { code: quoted.code, type: quoted.type } : undefined;
}

/**
 * How LiteLLM begins its words if a provider did not accept its key: with the class of the error.
 * Older versions add the provider. What it says of a key of its own has neither.
 */
const PROVIDER_REFUSAL = /^(litellm\.AuthenticationError\b|AuthenticationError: \w+Exception\b)/;

const isProviderRefusal = (message: unknown) =>
	typeof message === 'string' && PROVIDER_REFUSAL.test(message);
