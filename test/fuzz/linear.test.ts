import { keyRedactor } from '../../nodes/shared/api/credential/api-key';
import { listModels } from '../../nodes/shared/api/models/models';
import { pollImageTask } from '../../nodes/shared/api/images/poll-task';
import { getTaskImages } from '../../nodes/shared/api/images/task-images';
import { createResponse } from '../../nodes/shared/api/responses/response';
import { simplifyResponse } from '../../nodes/shared/api/responses/response-output';
import { streamResponse } from '../../nodes/shared/api/responses/response-stream';
import { parseRetryAfter } from '../../nodes/shared/api/http/retry-after';
import { bytes, completed, delta, inChunks, message } from '../unit/api/recorded-streams';
import { KEY, START } from '../unit/api/arrange';
import { answeredBy, outcomeOf, WATCH_MS } from './arrange';

const MEGABYTE = 2 ** 20;

/** So much of a text that it has about this many bytes. */
const filled = (bytes: number, unit: string) => unit.repeat(Math.ceil(bytes / unit.length));

/** What most of a document is made of. */
const LONG = 'some words '.repeat(25);

/** As many things of a size as have about this many bytes. */
const many = <T>(bytes: number, size: number, make: (n: number) => T) =>
	Array.from({ length: bytes / size }, (_unused, n) => make(n));

const readStream =
	(text: string, end = completed({ output: [] })) =>
	async () => {
		const client = answeredBy({ chunks: [...inChunks(bytes(text + end))] });
		return await streamResponse(client, {}, { idleMs: WATCH_MS });
	};

const create =
	(body: string, status = 200) =>
	async () => {
		const request = { text: { format: { type: 'json_object' } } };
		return simplifyResponse(await createResponse(answeredBy({ status, body }), request), request);
	};

const response = (...output: object[]) => JSON.stringify({ id: 'r', status: 'completed', output });

const retryAfter = (value: string) => () => parseRetryAfter({ 'retry-after': value }, START);

/** Work on an input of so many bytes. What it is made of is made beforehand. */
const WORKS: Record<string, (bytes: number) => () => unknown> = {
	'a model list of many models': (size) => {
		const data = many(size, 320, (n) => ({ id: `model-${n}`, about: LONG }));
		const body = JSON.stringify({ data });
		return async () => await listModels(answeredBy({ body }));
	},
	'a response of one long text': (size) => create(response(message(filled(size, 'word ')))),
	'a response of many items': (size) => create(response(...many(size, 340, () => message(LONG)))),
	'a task of many images': (size) => {
		const url = (n: number) => `https://s/${n}.png?${LONG.replaceAll(' ', '+')}`;
		const result = { data: many(size, 340, (n) => ({ url: url(n) })) };
		const body = JSON.stringify({ id: 't', status: 'completed', result });
		return async () => getTaskImages('t', (await pollImageTask(answeredBy({ body }), 't')).task);
	},
	'a stream of many deltas': (size) => readStream(filled(size, delta(LONG))),
	'a stream of many items': (size) => readStream(many(size, 360, (n) => delta(LONG, n)).join('')),
	'a stream of one long event': (size) => readStream(delta(filled(size, 'word '))),
	'a stream of one event of many lines': (size) =>
		readStream(`${filled(size, `data: ${LONG}\n`)}\n`),
	'a stream of comments': (size) => readStream(filled(size, `: ${LONG}\n\n`)),
	'a stream that begins with white space': (size) => readStream(filled(size, '\n')),
	'a stream that is one JSON document': (size) =>
		readStream(response(message(filled(size, 'word '))), ''),
	'an error of one long text': (size) => create(filled(size, 'very bad '), 400),
	'an error of spaces': (size) => create(filled(size, ' '), 400),
	'an error in JSON': (size) =>
		create(JSON.stringify({ error: { message: filled(size, `no ${KEY} `) } }), 400),
	'an error of angle brackets': (size) => create(filled(size, '<html '), 400),
	'an answer that is no JSON': (size) => create(filled(size, 'no JSON ')),
	'a Retry-After': (size) => retryAfter(`${filled(size, '9')} x`),
	'a Retry-After that looks like a date': (size) => retryAfter(`Mon, ${filled(size, '1 ')}`),
	'a text that may hold the key': (size) => {
		const redact = keyRedactor(KEY);
		const text = filled(size, `${KEY.slice(0, -1)} ${KEY} `);
		return () => redact(text);
	},
};

/** Milliseconds that this process has worked; what others do on the machine does not count. */
function worked(): number {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1000;
}

/** The least of several times that the work takes of the processor, in milliseconds. */
async function timeOf(work: () => unknown, tries: number): Promise<number> {
	let shortest = Infinity;
	for (let attempt = 0; attempt < tries && shortest > 1; attempt++) {
		const before = worked();
		await outcomeOf(work);
		shortest = Math.min(shortest, worked() - before);
	}
	return shortest;
}

/** Ten would be just so; a hundred is what squares come to. Collecting garbage needs some room. */
const MOST = 40;

/** Milliseconds after which it is worth a look before ten times as much is tried. */
const SLOW = 100;

/** Milliseconds that are too few to say anything. */
const NOISE = 25;

test.each(Object.entries(WORKS))(
	'%s takes about ten times as long where it is ten times as large',
	async (_name, prepare) => {
		const small = Math.max(await timeOf(prepare(MEGABYTE), 2), NOISE);
		// What grows by squares is seen early, before it takes minutes.
		if (small > SLOW) expect(await timeOf(prepare(4 * MEGABYTE), 2)).toBeLessThan(11 * small);
		const large = await timeOf(prepare(10 * MEGABYTE), 1);
		if (large <= MOST * small) return;
		// A round of the garbage collector is no rule: once more.
		expect(await timeOf(prepare(10 * MEGABYTE), 2)).toBeLessThan(MOST * small);
	},
	60_000,
);
