import {
	ANSWER_FAULTS,
	CONNECTION_FAULTS,
	CONTRACT_STATUSES,
	ERROR_CONTENTS,
	EXTRA_FAULTS,
	HEADER_FAULTS,
	largeDocument,
	REDIRECTS,
	redirectFault,
	RETRY_AFTERS,
	retryAfterFault,
	SILENT_FAULTS,
	statusFault,
	STREAM_FAULTS,
	type ErrorContent,
	type NamedFault,
} from '../../gateway/faults/catalogue';
import { ALL_PLACES, API_PLACES, kindOf, knowsTask, type Kind, type Place } from './places';
import { MODES, type BadAddress, type Hurry, type Mode } from './range';
import type { Advice } from '../../nodes/shared/client/advice';
import {
	ASK_OPERATOR,
	CERTIFICATE,
	DOUBT,
	DOWNLOAD,
	LOOK_AT_STORAGE,
	LOST,
	LOST_IN_ANSWER,
	NOT_A_GATEWAY,
	PAID_FOR,
	REDIRECT,
	STATUS_WORDS,
	timedOutBy,
	sentencesAt,
	STORAGE_FAULT,
	UNKNOWN_TASK,
	UNREACHED,
	WEB_PAGE,
	WEB_PAGE_ADVICE,
} from './words';

/** What has to come of a fault at a place. Without a message the answer is right in spite of it. */
export interface Expectation {
	/** Requests in all, with 3 retries at most. */
	requests: number;
	/** Seconds between them, chance at its longest. */
	waits: number[];
	message?: string;
	/** What is advised, among other things. */
	advice: string[];
	/** What must not be advised. */
	absent: string[];
	/** Beside the advice. */
	details?: Record<string, unknown>;
}

/** Why a fault can't meet a request. */
export interface Impossible {
	because: string;
}

/** What has to come of a fault at each place. */
export type Expected = Record<Place, Expectation | Impossible>;

/** A fault, and what has to come of it everywhere, whatever the node does on an error. */
export interface Row {
	name: string;
	group: string;
	fault?: NamedFault;
	address?: BadAddress;
	hurry?: Hurry;
	/** What the node does on an error; fewer than all only where the row says why. */
	modes: readonly Mode[];
	expected: Expected;
}

/** What is certain about a request that went wrong: a row of the retry table. */
type Certainty =
	/** The gateway did nothing, and later it may. */
	| 'later'
	/** Nothing reached it. */
	| 'unreached'
	/** An internal error (500). */
	| 'internal'
	/** It may have been carried out. */
	| 'doubt'
	/** It was carried out, and the answer is of no use. */
	| 'unusable'
	/** The gateway did nothing, nor will it. */
	| 'refused';

/** Requests in all, by certainty and kind of request. */
const REQUESTS: Record<Certainty, Record<Kind, number>> = {
	later: { read: 4, response: 4, image: 4, download: 4 },
	unreached: { read: 4, response: 4, image: 4, download: 4 },
	internal: { read: 2, response: 2, image: 1, download: 4 },
	doubt: { read: 4, response: 1, image: 1, download: 4 },
	unusable: { read: 1, response: 1, image: 1, download: 1 },
	refused: { read: 1, response: 1, image: 1, download: 1 },
};

/** Whether an error says that trying again later is safe and may help. */
const RETRYABLE: Record<Certainty, Record<Kind, boolean>> = {
	later: { read: true, response: true, image: true, download: true },
	unreached: { read: true, response: true, image: true, download: true },
	internal: { read: true, response: false, image: false, download: true },
	doubt: { read: true, response: false, image: false, download: true },
	unusable: { read: true, response: false, image: false, download: false },
	refused: { read: false, response: false, image: false, download: false },
};

const BACKOFF = [1, 2, 4];

const sentences = (...texts: Array<string | false | undefined>) =>
	texts.filter((text): text is string => Boolean(text));

const FINE: Expectation = { requests: 1, waits: [], advice: [], absent: [] };

interface Failure {
	certainty: Certainty;
	message: string;
	advice: Advice;
	/** Beside `retryable` and the task. */
	details?: Record<string, unknown>;
	/** Seconds between requests, where it is not the backoff. */
	waits?: number[];
}

/** What has to come of a failure at a place, by the retry table. */
function failing(place: Place, failure: Failure): Expectation {
	const { certainty, message, details, waits } = failure;
	const kind = kindOf(place);
	const requests = REQUESTS[certainty][kind];
	const doubtful = !['later', 'unreached', 'refused'].includes(certainty);
	const doubt = sentences(DOUBT[kind]);
	const { said, unsaid } = sentencesAt(place, failure.advice);
	return {
		requests,
		waits: (waits ?? BACKOFF).slice(0, requests - 1),
		message: kind === 'download' ? DOWNLOAD + message : message,
		advice: [...(doubtful ? doubt : []), ...said, ...(kind === 'download' ? [PAID_FOR] : [])],
		absent: [...(doubtful ? [] : doubt), ...unsaid],
		details: {
			...details,
			...(knowsTask(place) && { task_id: '{task}' }),
			...(kind === 'download' && { image_urls: 1 }),
			retryable: RETRYABLE[certainty][kind],
		},
	};
}

/** The same at several places. */
const at = <P extends Place>(
	places: readonly P[],
	expectation: (place: P) => Expectation | Impossible,
) =>
	Object.fromEntries(places.map((place) => [place, expectation(place)])) as Record<
		P,
		Expectation | Impossible
	>;

const fineAt = <P extends Place>(places: readonly P[]) => at(places, () => FINE);

const everywhere = (expectation: (place: Place) => Expectation | Impossible): Expected =>
	at(ALL_PLACES, expectation);

// ------------------------------------------------------------------------------------ statuses

export const STATUSES = 'Statuses of the contract';

function certaintyOf(status: number): Certainty {
	if (status === 429 || status === 503) return 'later';
	if (status === 500) return 'internal';
	return status === 408 || status === 502 || status === 504 ? 'doubt' : 'refused';
}

/** What an error quotes of a reply's body. */
const QUOTES: Record<ErrorContent, (status: number) => string> = {
	JSON: (status) => `because of ${status}`,
	nothing: () => '',
	'plain text': () => 'upstream is sad [31m',
	'a web page': () => WEB_PAGE,
	'{}': () => '{}',
	'256 KB of text': () => `${'very '.repeat(100).trimEnd()}…`,
};

function statusExpectation(place: Place, status: number, content: ErrorContent): Expectation {
	if (place === 'download') return storedStatus(status);
	const unknownTask = status === 404 && knowsTask(place);
	const { title, advice } = unknownTask ? UNKNOWN_TASK : STATUS_WORDS[status]!;
	const quote = QUOTES[content](status);
	return failing(place, {
		certainty: certaintyOf(status),
		message: `${title} (HTTP ${status})${quote && !unknownTask ? `: ${quote}` : ''}`,
		advice: [...advice, ...sentences(content === 'a web page' && !unknownTask && WEB_PAGE_ADVICE)],
		details: {
			http_status: status,
			...(content === 'JSON' && { type: 'some_type', code: 'some_code' }),
			request_id: '{request}',
		},
	});
}

const EXPIRED = [403, 404, 410];

/** A status of the storage host. */
function storedStatus(status: number, waits?: number[]): Expectation {
	const later = status === 408 || status === 429 || status >= 500;
	const expired = EXPIRED.includes(status);
	return failing('download', {
		certainty: later ? 'later' : 'refused',
		message: `HTTP ${status}${expired ? ', the link may have expired (it ends at {end})' : ''}`,
		advice: [
			expired
				? 'Download pictures before expires_at of their task.'
				: later
					? STORAGE_FAULT
					: ASK_OPERATOR,
		],
		details: { http_status: status },
		waits,
	});
}

const statusRows: Row[] = CONTRACT_STATUSES.flatMap((status) =>
	ERROR_CONTENTS.map((content): Row => {
		const fault = statusFault(status, content);
		return {
			name: fault.name,
			group: STATUSES,
			fault,
			modes: MODES,
			expected: everywhere((place) => statusExpectation(place, status, content)),
		};
	}),
);

// ---------------------------------------------------------------------------------- Retry-After

export const RETRY_AFTER = 'Retry-After in every form';

function askedExpectation(place: Place, status: number, form: string): Expectation {
	const seconds = RETRY_AFTERS[form]?.seconds;
	const waits = seconds === undefined ? BACKOFF : [seconds, seconds, seconds];
	const { title, advice } = STATUS_WORDS[status]!;
	const expectation =
		place === 'download'
			? storedStatus(status, waits)
			: failing(place, {
					certainty: 'later',
					message: `${title} (HTTP ${status}): not now`,
					advice,
					details: {
						http_status: status,
						type: status === 429 ? 'rate_limit_error' : 'overloaded_error',
						code: status === 429 ? 'rate_limit_exceeded' : 'service_unavailable',
						request_id: '{request}',
					},
					waits,
				});
	if (seconds === undefined || seconds < 1000) return expectation;
	const tooLong = `It asked to wait ${seconds} s, which is longer than the time left.`;
	return { ...expectation, requests: 1, waits: [], advice: [tooLong, ...expectation.advice] };
}

const retryAfterRows: Row[] = Object.keys(RETRY_AFTERS).flatMap((form) =>
	[429, 503].map((status): Row => {
		const fault = retryAfterFault(status, form);
		return {
			name: fault.name,
			group: RETRY_AFTER,
			fault,
			modes: MODES,
			expected: everywhere((place) => askedExpectation(place, status, form)),
		};
	}),
);

// ----------------------------------------------------------------------------------- connections

const CONNECTIONS = 'Connections';

const lost = (place: Place, code?: string) => {
	const named = (title: string) => (code === undefined ? title : `${title} (${code})`);
	return failing(
		place,
		place === 'download'
			? { certainty: 'doubt', message: named('the connection was lost'), advice: [STORAGE_FAULT] }
			: { certainty: 'doubt', message: named(LOST.title), advice: LOST.advice },
	);
};

/** A stream that ends badly, its beginning being here. */
const brokenStream = (
	message: string,
	{ advice = [], ...details }: { advice?: Advice; [detail: string]: unknown } = {},
) => failing('stream', { certainty: 'doubt', message, advice, details });

const lostInAnswer = (details: { partial_text?: string; request_id?: string } = {}) =>
	brokenStream(LOST_IN_ANSWER.title, { advice: LOST_IN_ANSWER.advice, ...details });

const ENDED_EARLY = 'The answer ended before it was complete';

/** The request ID of a reply that came by HTTP. */
const KNOWN = { request_id: '{request}' };

/** What of the answer is here when half of its stream is. */
const HALF = { partial_text: 'You' };

const timedOut = (place: Place) => {
	const { title, advice } = timedOutBy(place === 'stream' ? 'Idle Timeout' : 'Timeout');
	return failing(place, { certainty: 'doubt', message: `${title} (ECONNABORTED)`, advice });
};

/** A download on which nothing happens: two of its tries fit into its two minutes. */
const silentDownload: Expectation = {
	...failing('download', {
		certainty: 'doubt',
		message: 'nothing arrived for 60 s',
		advice: ['No time was left to try again.', STORAGE_FAULT],
	}),
	requests: 2,
	waits: [61],
};

const silentStream = (details: Record<string, unknown> = {}) =>
	brokenStream('Nothing arrived for 60 s in the middle of the answer', {
		advice: ['Raise the Idle Timeout option if the model pauses for longer.'],
		...details,
	});

/** Rows for all faults of a list, each by its name: none is forgotten, and none is unknown. */
function rowsFor(
	group: string,
	faults: NamedFault[],
	expectations: Record<string, Expected>,
	more: Partial<Row> | ((name: string) => Partial<Row>) = {},
): Row[] {
	const unknown = Object.keys(expectations).filter(
		(name) => !faults.some((fault) => fault.name === name),
	);
	if (unknown.length > 0) throw new Error(`There is no such fault: ${unknown.join(', ')}`);
	return faults.map((fault): Row => {
		const expected = expectations[fault.name];
		if (!expected) throw new Error(`What comes of "${fault.name}" is not said`);
		const rest = typeof more === 'function' ? more(fault.name) : more;
		return { name: fault.name, group, fault, modes: MODES, expected, ...rest };
	});
}

const NOT_STREAMED = API_PLACES.filter((place) => place !== 'stream');

/** The connection is lost in the middle of a body: seen at once by who reads all of it. */
const lostInBody = (stream: Expectation): Expected => ({
	...at(NOT_STREAMED, (place) => lost(place, 'ERR_BAD_RESPONSE')),
	stream,
	download: lost('download'),
});

const UNREADABLE: Record<Kind, string[]> = {
	read: [NOT_A_GATEWAY],
	response: [],
	image: [],
	download: [LOOK_AT_STORAGE],
};

/** A success reply that is of no use. Where it is a web page, trying again changes nothing. */
function unusable(
	place: Place,
	message: string,
	{ html = false, details = { http_status: 200, ...KNOWN } as Record<string, unknown> } = {},
): Expectation {
	const kind = kindOf(place);
	const isTask = kind === 'read' && knowsTask(place);
	const expectation = failing(place, {
		certainty: 'unusable',
		message,
		advice: sentences(html && WEB_PAGE_ADVICE, ...(isTask ? [] : UNREADABLE[kind])),
		details: kind === 'download' ? {} : details,
	});
	if (html) expectation.details = { ...expectation.details, retryable: false };
	return expectation;
}

/** A picture whose file has no end, although nobody said that it would be longer. */
const halfAPicture = failing('download', {
	certainty: 'doubt',
	message: 'only a part of the png file arrived ({size} bytes, without its end)',
	advice: [STORAGE_FAULT, 'switch Download Images off and fetch it with an HTTP Request node.'],
});

/** A body that ends in its middle as if it were whole. A task's ID stands in its `Location` as well. */
const cutOff = {
	...at(['models', 'get', 'wait', 'response'], (place) =>
		unusable(place, 'The gateway’s answer is not JSON: {cut}', { details: { http_status: 200 } }),
	),
	...fineAt(['generate', 'edit']),
	download: halfAPicture,
};

const connectionRows = rowsFor(CONNECTIONS, CONNECTION_FAULTS, {
	'closed before the request was handled': everywhere((place) => lost(place, 'ECONNRESET')),
	'closed before the reply': everywhere((place) => lost(place, 'ECONNRESET')),
	'half a header, then closed': everywhere((place) => lost(place, 'ECONNRESET')),
	'headers, then closed': lostInBody(lostInAnswer()),
	'half a body, then closed': lostInBody(lostInAnswer(HALF)),
	// As HTTP has it such a reply is whole. A picture's file tells that it is not.
	'half a body of a length that nobody named': {
		...cutOff,
		stream: brokenStream(ENDED_EARLY, HALF),
	},
	'half a body in chunks, then closed': lostInBody(lostInAnswer(HALF)),
	'a whole reply, then closed': fineAt(ALL_PLACES),
	// A stream is over when its last event is here.
	'Content-Length is too large': lostInBody(FINE),
	'Content-Length is too small': {
		...at(NOT_STREAMED, (place) => lost(place, 'HPE_INVALID_CONSTANT')),
		stream: brokenStream(ENDED_EARLY, HALF),
		download: halfAPicture,
	},
	'a reply of one byte a second': {
		...fineAt(ALL_PLACES),
		stream: brokenStream('The answer was not complete within 300 s', {
			advice: ['Raise the Timeout option if answers take longer.'],
		}),
	},
	'no HTTP at all': everywhere((place) => lost(place, 'HPE_INVALID_CONSTANT')),
});

const silentRows = rowsFor(
	CONNECTIONS,
	SILENT_FAULTS,
	{
		'never an answer': {
			...at(API_PLACES, timedOut),
			download: silentDownload,
		},
		'headers, then silence': {
			...at(NOT_STREAMED, timedOut),
			stream: silentStream(),
			download: silentDownload,
		},
		'half a body, then silence': {
			...at(NOT_STREAMED, timedOut),
			stream: silentStream(HALF),
			download: silentDownload,
		},
	},
	(name) => ({ hurry: name === 'never an answer' ? 'all' : 'plain' }),
);

// ----------------------------------------------------------------------------------------- TLS

const CERTIFICATES: Array<[BadAddress, string]> = [
	['self-signed', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
	['expired', 'CERT_HAS_EXPIRED'],
	['another host', 'ERR_TLS_CERT_ALTNAME_INVALID'],
];

const certificateRows: Row[] = [
	...CERTIFICATES.map(
		([address, code]): Row => ({
			name:
				address === 'another host'
					? 'a certificate for another host'
					: `a certificate that is ${address}`,
			group: CONNECTIONS,
			address,
			modes: MODES,
			expected: everywhere((place) =>
				failing(
					place,
					place === 'download'
						? {
								certainty: 'refused',
								message: `its TLS certificate is not accepted (${code})`,
								advice: ['Ask the gateway’s operator; verification is not switched off.'],
							}
						: {
								certainty: 'refused',
								message: `${CERTIFICATE.title} (${code})`,
								advice: CERTIFICATE.advice,
							},
				),
			),
		}),
	),
	{
		name: 'a certificate as it should be',
		group: CONNECTIONS,
		address: 'trusted',
		modes: MODES,
		expected: fineAt(ALL_PLACES),
	},
];

const unreachedRow: Row = {
	name: 'connection refused',
	group: CONNECTIONS,
	address: 'refused',
	modes: MODES,
	expected: everywhere((place) =>
		failing(
			place,
			place === 'download'
				? {
						certainty: 'unreached',
						message: 'the host cannot be reached (ECONNREFUSED)',
						advice: ['Check that this machine may connect to it.'],
					}
				: {
						certainty: 'unreached',
						message: `${UNREACHED.title} (ECONNREFUSED)`,
						advice: UNREACHED.advice,
					},
		),
	),
};

// ------------------------------------------------------------------------- headers and encodings

const undecodable: Expected = {
	...at(NOT_STREAMED, (place) => lost(place, 'Z_DATA_ERROR')),
	stream: lostInAnswer(),
	download: lost('download'),
};

const headerRows = rowsFor('Headers and encodings', HEADER_FAULTS, {
	gzip: fineAt(ALL_PLACES),
	'gzip that is broken': undecodable,
	'gzip that is none': undecodable,
	'gzip that is cut off': { ...cutOff, stream: brokenStream(ENDED_EARLY) },
	'an encoding that nobody knows': fineAt(ALL_PLACES),
	'the content type of a web page': fineAt(ALL_PLACES),
	'the content type of a file': fineAt(ALL_PLACES),
	'each header twice': fineAt(ALL_PLACES),
	'no headers': fineAt(ALL_PLACES),
	'a byte order mark': {
		...fineAt(API_PLACES),
		download: unusable('download', 'something else came in place of an image'),
	},
});

// -------------------------------------------------------------------------------------- answers

/** What each operation calls the answer that it expects. */
const ANSWER: Partial<Record<Place, string>> = {
	models: 'model list',
	response: 'response',
	stream: 'response',
	get: 'image task',
	wait: 'image task',
};

const NO_TASK_ID = 'The gateway accepted the image task, but named no task ID';

/** JSON that is not what it should be, by what is said of it to those who check it. */
function misshapen(said: (place: Place) => string): Expected {
	return {
		...at(API_PLACES, (place) => {
			if (kindOf(place) === 'image') return unusable(place, NO_TASK_ID);
			return unusable(place, `The gateway’s ${ANSWER[place]} is not as expected: ${said(place)}`);
		}),
		download: unusable('download', 'JSON came in place of an image'),
	};
}

const notAnObject = (what: string) => misshapen(() => `Expected object, received ${what}`);

const byPlace = (said: { models: string; response: string; task: string }) => (place: Place) =>
	place === 'models' ? said.models : kindOf(place) === 'response' ? said.response : said.task;

const missing = misshapen(
	byPlace({
		models: 'field "data": Required',
		response: 'field "id": Required',
		task: 'field "status": Required',
	}),
);

/** A body that is no JSON, at all places that read one. */
const notJson = (
	message: string,
	{ html = false, download }: { html?: boolean; download: Expectation },
): Expected => ({
	...at(API_PLACES, (place) => unusable(place, message, { html })),
	download,
});

const noImage = (what: string) => unusable('download', `${what} came in place of an image`);

const endedEarly = brokenStream(ENDED_EARLY, KNOWN);

const answerRows = rowsFor('Success replies that are none', ANSWER_FAULTS, {
	'an empty body': notJson('The gateway answered with nothing in place of JSON', {
		download: failing('download', {
			certainty: 'later',
			message: 'the file is empty',
			advice: [STORAGE_FAULT],
		}),
	}),
	'plain text': notJson('The gateway’s answer is not JSON: service is fine', {
		download: noImage('something else'),
	}),
	'a web page': notJson(`The gateway answered with ${WEB_PAGE}`, {
		html: true,
		download: noImage('a web page (HTML)'),
	}),
	'a web page that calls itself JSON': notJson(`The gateway answered with ${WEB_PAGE}`, {
		html: true,
		download: noImage('JSON'),
	}),
	'JSON that breaks off': notJson('The gateway’s answer is not JSON: {"id": "resp_1",', {
		download: noImage('JSON'),
	}),
	null: notAnObject('null'),
	'an array': notAnObject('array'),
	'a number': notAnObject('number'),
	'a text in JSON': notAnObject('string'),
	'an empty object': missing,
	'fields that are missing': missing,
	'fields that are null': misshapen(
		byPlace({
			models: 'field "data": Expected array, received null',
			response: 'field "id": Expected string, received null',
			task: 'field "status": Expected string, received null',
		}),
	),
	'fields of wrong types': misshapen(
		byPlace({
			models: 'field "data": Expected array, received string',
			response: 'field "id": Expected string, received object',
			task: 'field "status": Expected string, received array',
		}),
	),
	'prototype keys and nothing else': missing,
	'nesting of 100,000 levels': notAnObject('array'),
});

const EXTRA = 'More than anybody asked for';

const NO_FIELDS: Impossible = { because: 'a picture has no fields' };

const extraRows = [
	...rowsFor(
		EXTRA,
		EXTRA_FAULTS,
		Object.fromEntries(
			EXTRA_FAULTS.map(({ name }) => [name, { ...fineAt(API_PLACES), download: NO_FIELDS }]),
		),
	),
	...rowsFor(
		EXTRA,
		[largeDocument(50)],
		{ 'a document of 50 MB': { ...fineAt(API_PLACES), download: noImage('JSON') } },
		// It takes a second each time, and no error comes of it but that of other JSON as well.
		{ modes: ['throw'] },
	),
];

// ------------------------------------------------------------------------------------ redirects

const redirectRows = Object.keys(REDIRECTS).flatMap((target) =>
	(target === 'another origin' ? [301, 302, 303, 307, 308] : [302]).flatMap((status): Row[] => {
		const fault = redirectFault(status, target);
		const stored: Record<string, Expectation> = {
			'another origin': noImage('JSON'),
			'a host without a scheme': noImage('JSON'),
			'itself, in a loop': {
				...failing('download', {
					certainty: 'refused',
					message: 'more than 5 redirects',
					advice: [ASK_OPERATOR],
				}),
				requests: 6,
				waits: [0, 0, 0, 0, 0],
			},
			'a file': failing('download', {
				certainty: 'refused',
				message: 'its address is not a web address',
				advice: [ASK_OPERATOR],
			}),
			nowhere: storedStatus(302),
		};
		const expected = at(API_PLACES, (place) =>
			failing(place, {
				certainty: 'refused',
				message: `${REDIRECT.title} (HTTP ${status})`,
				advice: REDIRECT.advice,
				details: { http_status: status, ...KNOWN },
			}),
		);
		return rowsFor('Redirects', [fault], {
			[fault.name]: { ...expected, download: stored[target]! },
		});
	}),
);

// -------------------------------------------------------------------------------------- streams

const BEGUN = { ...KNOWN, partial_text: 'You said:' };

const NO_STREAM: Impossible = { because: 'its answer is no stream' };

const only = (stream: Expectation): Expected => ({ ...everywhere(() => NO_STREAM), stream });

const FAILED = 'The model’s response failed: the model went away';

const streamRows = rowsFor('Streams', STREAM_FAULTS, {
	'a stream that stalls': only(silentStream(BEGUN)),
	'a stream that stalls before its first event': only(silentStream(KNOWN)),
	'a stream that breaks': only(lostInAnswer(BEGUN)),
	'a stream that ends early': only(brokenStream(ENDED_EARLY, BEGUN)),
	'a stream without events': only(endedEarly),
	'a stream of [DONE] alone': only(endedEarly),
	'a stream that ends in the middle of its last event': only(
		brokenStream(ENDED_EARLY, { ...KNOWN, partial_text: 'You said: Hello there' }),
	),
	'a stream that says it failed': only(
		brokenStream(FAILED, { ...BEGUN, type: 'server_error', code: 'gpu_on_fire' }),
	),
	'a stream with an error event': only(brokenStream(FAILED, { ...BEGUN, code: 'gpu_on_fire' })),
	'JSON in place of a stream': only(FINE),
	'a stream with garbage between its events': only(FINE),
	'a stream that is sent twice': only(FINE),
	'a stream in pieces of one byte': only(FINE),
	'a stream with Windows line ends': only(FINE),
});

/** Every fault, and what has to come of it at every place that it can meet. */
export const MATRIX: Row[] = [
	...statusRows,
	...retryAfterRows,
	unreachedRow,
	...connectionRows,
	...silentRows,
	...certificateRows,
	...headerRows,
	...answerRows,
	...extraRows,
	...redirectRows,
	...streamRows,
];
