import { ANSWER_FAULTS, EXTRA_FAULTS, largeDocument } from '../../gateway/faults/catalogue';
import { API_SITES, type CallSite } from './call-sites';
import { at, fails, row, rowsFor, type Expected, type Failure, type Row } from './expected';
import { MODES } from './harness';
import { NETWORK_ROWS } from './network';
import * as statuses from './statuses';

const { noImage, REQUEST, STORAGE_FAULT, WEB_PAGE, WEB_PAGE_ADVICE } = statuses;

/** A call site for each reader of the contract's answers. */
const READERS: CallSite[] = ['models', 'response', 'stream', 'generate', 'get'];

const details = { http_status: 200, ...REQUEST };

const unusable = (message: string, more: Partial<Failure> = {}, advice: string[] = []) =>
	fails('unusable', message, advice, { details, ...more });

const NOT_A_GATEWAY = 'The address may not belong to a gateway with the Model Access API.';

/** An error of what may be charged, which has the text: a model may have written it. */
const kept = (message: string, text: string) =>
	unusable(message, { details: { ...details, partial_text: text.slice(0, 30) } });

/** JSON of a wrong shape, by what is said of it to each reader. */
const misshapen = (json: string, models: string, response: string, task: string): Expected => {
	const ofResponse = kept(`The gateway’s response is not as expected: ${response}`, json);
	return {
		models: unusable(`The gateway’s model list is not as expected: ${models}`, {}, [NOT_A_GATEWAY]),
		response: ofResponse,
		stream: ofResponse,
		generate: kept('The gateway accepted the image task, but named no task ID', json),
		get: unusable(`The gateway’s image task is not as expected: ${task}`),
		download: noImage('JSON'),
	};
};

const noObject = (json: string, what: string) => {
	const said = `expected object, received ${what}`;
	return misshapen(json, said, said, said);
};

const without = (json: string) =>
	misshapen(json, 'field "data": missing', 'field "id": missing', 'field "status": missing');

/** The same to each reader of the contract's answers. */
const read = (answer: Failure, file: Failure) => ({ ...at(READERS, answer), download: file });

const page = `The gateway answered with ${WEB_PAGE}`;
const webPage = unusable(page, { retryable: false }, [WEB_PAGE_ADVICE]);

const PAID: CallSite[] = ['response', 'stream', 'generate', 'edit'];

function notJson(sites: CallSite[], text: string, whole = text): Expected {
	const message = `The gateway’s answer is not JSON: ${text}`;
	const [free, paid] = [unusable(message), kept(message, whole)];
	return Object.fromEntries(sites.map((site) => [site, PAID.includes(site) ? paid : free]));
}

const answerRows = rowsFor('Answers that are none', ANSWER_FAULTS, {
	'an empty body': read(
		unusable('The gateway answered with an empty body instead of JSON'),
		fails('later', 'the file is empty', [STORAGE_FAULT]),
	),
	'plain text': { ...notJson(API_SITES, 'service is fine'), download: noImage('something else') },
	'a web page': read(webPage, noImage('a web page (HTML)')),
	'a web page that calls itself JSON': read(webPage, noImage('JSON')),
	'JSON that breaks off': {
		...notJson(READERS, '{"id": "resp_1",', '{"id": "resp_1", '),
		download: noImage('JSON'),
	},
	null: noObject('null', 'null'),
	'an array': noObject('[]', 'array'),
	'a number': noObject('42', 'number'),
	'a text in JSON': noObject('"completed"', 'string'),
	'an empty object': without('{}'),
	'fields that are missing': without('{"object":"thing","created":1}'),
	'fields that are null': misshapen(
		'{"id":null,"task_id":null,"statu',
		'field "data": expected array, received null',
		'field "id": expected string, received null',
		'field "status": expected string, received null',
	),
	'fields of wrong types': misshapen(
		'{"id":{"a":1},"task_id":false,"',
		'field "data": expected array, received string',
		'field "id": expected string, received object',
		'field "status": expected string, received array',
	),
	'prototype keys and nothing else': without('{"__proto__":{"polluted":true},'),
	'nesting of 100,000 levels': noObject('['.repeat(30), 'array'),
}).map((each): Row => (each.name === 'plain text' ? { ...each, modes: MODES } : each));

const MORE = 'More than expected';

const extraRows = [
	...EXTRA_FAULTS.map((fault) => row(MORE, fault, at(READERS, 'right'))),
	row(MORE, largeDocument(16), { ...at(['models', 'stream'], 'right'), download: noImage('JSON') }),
];

export const ANSWER_ROWS: Row[] = [...answerRows, ...extraRows];
export const MATRIX: Row[] = [...statuses.STATUS_ROWS, ...NETWORK_ROWS, ...ANSWER_ROWS];
