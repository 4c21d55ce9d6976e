import { PAGE } from '../routes';
import type { NamedFault } from './named';
import { rawReply } from './raw';

/** A success reply with another body than the gateway's. */
function answered(name: string, body: string, type = 'application/json'): NamedFault {
	return {
		name,
		stage: 'before',
		make: () => ({ kind: 'reply', status: 200, headers: { 'Content-Type': type }, body }),
	};
}

/** The gateway's own reply, its JSON changed. A stream's events are changed one by one. */
function changed(name: string, change: (json: string) => string): NamedFault {
	return {
		name,
		stage: 'after',
		make: async ({ reply }) => {
			if (!reply || reply.status >= 300) return undefined;
			const { status, body } = await rawReply(reply);
			const text = reply.stream
				? body
						.toString()
						.replaceAll(/^data: (\{.*\})$/gm, (_line, json: string) => `data: ${change(json)}`)
				: change(body.toString());
			return { kind: 'reply', status, headers: reply.headers, body: text };
		},
	};
}

/** JSON text with one more field in front. */
const withField = (name: string, value: string) => (json: string) =>
	json.replace(/^\{/, `{${JSON.stringify(name)}:${value},`);

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

/** JSON fields that mean something to JavaScript's own objects. */
const PROTOTYPES =
	'{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1,"hasOwnProperty":null}';

/** Success replies whose body is not the contract's. */
export const ANSWER_FAULTS: NamedFault[] = [
	answered('an empty body', ''),
	answered('plain text', 'service is fine', 'text/plain'),
	answered('a web page', PAGE, 'text/html'),
	answered('a web page that calls itself JSON', PAGE),
	answered('JSON that breaks off', '{"id": "resp_1", '),
	answered('null', 'null'),
	answered('an array', '[]'),
	answered('a number', '42'),
	answered('a text in JSON', '"completed"'),
	answered('an empty object', '{}'),
	answered('fields that are missing', '{"object":"thing","created":1}'),
	answered(
		'fields that are null',
		'{"id":null,"task_id":null,"status":null,"data":null,"output":null}',
	),
	answered(
		'fields of wrong types',
		'{"id":{"a":1},"task_id":false,"status":["completed"],"data":"none","output":5}',
	),
	answered('prototype keys and nothing else', PROTOTYPES),
	answered('nesting of 100,000 levels', nested(100_000)),
];

/** Errors that come with status 200. */
export const ERROR_ANSWER_FAULTS: NamedFault[] = [
	answered(
		'an error in a 200',
		'{"error":{"type":"server_error","code":"server_busy","message":"server is busy"}}',
	),
	answered('success: false in a 200', '{"success":false,"message":"server is busy"}'),
	answered('a code and a message in a 200', '{"code":50001,"message":"server is busy"}'),
];

/** Replies with more fields than the contract names. */
export const EXTRA_FAULTS: NamedFault[] = [
	changed('unknown fields', withField('x_new', '{"a":[1,null,true,"text"]}')),
	changed('prototype keys', (json) =>
		[withField('__proto__', PROTOTYPES), withField('constructor', PROTOTYPES)].reduce(
			(text, put) => put(text),
			json,
		),
	),
	changed('a field of 500 levels', withField('x_deep', nested(500))),
	changed('a field that comes twice', (json) => json.replace(/^\{/, '{"object":"first",')),
];

/** A document of about this size. It is made when a request needs it. */
export function largeDocument(megabytes: number): NamedFault {
	const padding = Buffer.alloc(megabytes * 2 ** 20, 'p');
	/** JSON with a long field in the object that begins at `start`. */
	const padded = (json: string, start = json.indexOf('{')) =>
		Buffer.concat([
			Buffer.from(`${json.slice(0, start)}{"x_padding":"`),
			padding,
			Buffer.from(`",${json.slice(start + 1)}`),
		]);
	return {
		name: `a document of ${megabytes} MB`,
		stage: 'after',
		make: async ({ route, reply }) => {
			if (!reply || reply.status >= 300) return undefined;
			const { status, body } = await rawReply(reply);
			if (route === 'image') {
				const headers = { 'Content-Type': 'application/json' };
				return { kind: 'reply', status, headers, body: padded('{"object":"file"}') };
			}
			const text = body.toString();
			const start = reply.stream ? text.lastIndexOf('data: {') + 'data: '.length : undefined;
			return { kind: 'reply', status, headers: reply.headers, body: padded(text, start) };
		},
	};
}
