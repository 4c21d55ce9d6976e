import type { Fault } from '../faults';
import { ApiError } from '../errors';
import { PAGE } from '../routes';
import type { NamedFault } from './named';

/** The statuses of the contract's table (Errors). */
export const CONTRACT_STATUSES = [
	400, 401, 403, 404, 408, 413, 429, 499, 500, 502, 503, 504,
] as const;

/** What an error reply can hold. */
export type ErrorContent =
	| 'JSON'
	| 'nothing'
	| 'plain text'
	| 'a web page'
	| '{}'
	| '256 KB of text';

const JSON_TYPE = { 'Content-Type': 'application/json' };

const CONTENTS: Record<ErrorContent, (status: number) => Pick<RepliedFault, 'headers' | 'body'>> = {
	JSON: (status) => ({
		headers: JSON_TYPE,
		body: JSON.stringify({
			error: { type: 'some_type', code: 'some_code', message: `because of ${status}` },
		}),
	}),
	nothing: () => ({ headers: {}, body: '' }),
	'plain text': () => ({
		headers: { 'Content-Type': 'text/plain' },
		body: 'upstream\r\n\tis \u0000sad\u001b[31m',
	}),
	'a web page': () => ({ headers: { 'Content-Type': 'text/html' }, body: PAGE }),
	'{}': () => ({ headers: JSON_TYPE, body: '{}' }),
	'256 KB of text': () => ({
		headers: { 'Content-Type': 'text/plain' },
		body: 'very '.repeat(52_429),
	}),
};

export const ERROR_CONTENTS = Object.keys(CONTENTS) as ErrorContent[];

type RepliedFault = Extract<Fault, { kind: 'reply' }>;

/** The gateway refuses with this status and does nothing. */
export function statusFault(status: number, content: ErrorContent = 'JSON'): NamedFault {
	return {
		name: `${status} with ${content}`,
		stage: 'before',
		make: () => ({ kind: 'reply', status, ...CONTENTS[content](status) }),
	};
}

/** A `Retry-After`: a text, or a function of the gateway's clock (milliseconds). */
type RetryAfter = string | ((now: number) => string) | undefined;

const inSeconds = (seconds: number) => (now: number) =>
	new Date(now + seconds * 1000).toUTCString();

/** The forms of a `Retry-After`, with the wait that each one asks for, if it names one. */
export const RETRY_AFTERS: Record<string, { value: RetryAfter; seconds?: number }> = {
	'no Retry-After': { value: undefined },
	'Retry-After: 7': { value: '7', seconds: 7 },
	'Retry-After: 0': { value: '0', seconds: 0 },
	'Retry-After: 1.5': { value: '1.5', seconds: 1.5 },
	'Retry-After: a date in 12 s': { value: inSeconds(12), seconds: 12 },
	'Retry-After: a date that has passed': { value: inSeconds(-60), seconds: 0 },
	'Retry-After: -5': { value: '-5' },
	'Retry-After: soon': { value: 'soon' },
	'Retry-After: 5 minutes': { value: '5 minutes' },
	'Retry-After without a value': { value: '' },
	'Retry-After: a number of 400 digits': { value: '9'.repeat(400) },
	'Retry-After: an hour': { value: '3600', seconds: 3600 },
};

/** The gateway refuses with this status, with or without a time for the next try. */
export function retryAfterFault(status: number, form: string): NamedFault {
	return {
		name: `${status}, ${form}`,
		stage: 'before',
		make: (_exchange, { time }) => {
			const value = RETRY_AFTERS[form]?.value;
			const text = typeof value === 'function' ? value(time.now()) : value;
			const headers: Record<string, string> = {};
			if (text !== undefined) headers['Retry-After'] = text;
			const { body } = new ApiError(status, { message: 'not now' });
			return { kind: 'reply', status, headers, body };
		},
	};
}

/** Where redirects lead. */
export const REDIRECTS: Record<string, (elsewhere: string, path: string) => string | undefined> = {
	'another origin': (elsewhere) => `${elsewhere}/taken?from=here`,
	'itself, in a loop': (_elsewhere, path) => path,
	'a file': () => 'file:///etc/passwd',
	'a host without a scheme': (elsewhere) => elsewhere.replace('http:', ''),
	nowhere: () => undefined,
};

/** A redirect. */
export function redirectFault(status: number, target: string): NamedFault {
	return {
		name: `${status} to ${target}`,
		stage: 'before',
		make: ({ record }, { elsewhere }) => {
			const location = REDIRECTS[target]?.(elsewhere, record.path);
			const headers: Record<string, string> = {};
			if (location !== undefined) headers.Location = location;
			return { kind: 'reply', status, headers, body: '' };
		},
	};
}
