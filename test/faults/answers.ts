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

const noTaskId = unusable('The gateway accepted the image task, but named no task ID');

/** JSON of a wrong shape, by what is said of it to each reader. */
const misshapen = (models: string, response: string, task: string): Expected => {
	const ofResponse = unusable(`The gateway’s response is not as expected: ${response}`);
	return {
		models: unusable(`The gateway’s model list is not as expected: ${models}`, {}, [NOT_A_GATEWAY]),
		response: ofResponse,
		stream: ofResponse,
		generate: noTaskId,
		get: unusable(`The gateway’s image task is not as expected: ${task}`),
		download: noImage('JSON'),
	};
};

const noObject = (what: string) => {
	const said = `expected object, received ${what}`;
	return misshapen(said, said, said);
};

const fields = (says: string) =>
	misshapen(`field "data": ${says}`, `field "id": ${says}`, `field "status": ${says}`);

const without = fields('missing');

/** The same to each reader of the contract's answers. */
const read = (answer: Failure, file: Failure) => ({ ...at(READERS, answer), download: file });

const page = `The gateway answered with ${WEB_PAGE}`;
const webPage = unusable(page, { retryable: false }, [WEB_PAGE_ADVICE]);

/** A model may have written the text, so an error of a response has it. */
function notJson(sites: CallSite[], text: string, whole = text): Expected {
	const message = `The gateway’s answer is not JSON: ${text}`;
	const answered = unusable(message, { details: { ...details, partial_text: whole } });
	return { ...at(sites, unusable(message)), response: answered, stream: answered };
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
	null: noObject('null'),
	'an array': noObject('array'),
	'a number': noObject('number'),
	'a text in JSON': noObject('string'),
	'an empty object': without,
	'fields that are missing': without,
	'fields that are null': misshapen(
		'field "data": expected array, received null',
		'field "id": expected string, received null',
		'field "status": expected string, received null',
	),
	'fields of wrong types': misshapen(
		'field "data": expected array, received string',
		'field "id": expected string, received object',
		'field "status": expected string, received array',
	),
	'prototype keys and nothing else': without,
	'nesting of 100,000 levels': noObject('array'),
}).map((each): Row => (each.name === 'plain text' ? { ...each, modes: MODES } : each));

const MORE = 'More than expected';

const extraRows = [
	...EXTRA_FAULTS.map((fault) => row(MORE, fault, at(READERS, 'right'))),
	row(MORE, largeDocument(16), { ...at(['models', 'stream'], 'right'), download: noImage('JSON') }),
];

export const ANSWER_ROWS: Row[] = [...answerRows, ...extraRows];
export const MATRIX: Row[] = [...statuses.STATUS_ROWS, ...NETWORK_ROWS, ...ANSWER_ROWS];
