import { keyRedactor } from '../../nodes/shared/api/credential/api-key';
import { listModels } from '../../nodes/shared/api/models/models';
import { pollImageTask } from '../../nodes/shared/api/images/poll-task';
import { getTaskImages } from '../../nodes/shared/api/images/task-images';
import { createResponse } from '../../nodes/shared/api/responses/response';
import { simplifyResponse } from '../../nodes/shared/api/responses/response-output';
import { streamResponse } from '../../nodes/shared/api/responses/response-stream';
import { parseRetryAfter } from '../../nodes/shared/api/http/retry-after';
import { answeredBy, KEY, NOW, outcomeOf, WATCH_MS } from './arrange';

const MEGABYTE = 2 ** 20;

/** So much of a text that it has about this many bytes. */
const filled = (bytes: number, unit: string) => unit.repeat(Math.ceil(bytes / unit.length));

/** What most of a document is made of. */
const LONG = 'some words '.repeat(25);

/** As many things of a size as have about this many bytes. */
const many = <T>(bytes: number, size: number, make: (n: number) => T) =>
	Array.from({ length: bytes / size }, (_unused, n) => make(n));

/** A text in pieces as a socket brings them. */
function pieces(text: string, size = 16_384): Uint8Array[] {
	const bytes = Buffer.from(text);
	const chunks: Uint8Array[] = [];
	for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
	return chunks;
}

const event = (type: string, fields: object) =>
	`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

const COMPLETED = event('response.completed', {
	response: { id: 'r', status: 'completed', output: [] },
});

const readStream =
	(text: string, end = COMPLETED) =>
	async () => {
		const client = answeredBy({ chunks: pieces(text + end) });
		return await streamResponse(client, {}, { idleMs: WATCH_MS });
	};

const create =
	(body: string, status = 200) =>
	async () => {
		const request = { text: { format: { type: 'json_object' } } };
		return simplifyResponse(await createResponse(answeredBy({ status, body }), request), request);
	};

const message = (text: string) => ({ type: 'message', content: [{ type: 'output_text', text }] });

const response = (...output: object[]) => JSON.stringify({ id: 'r', status: 'completed', output });

const delta = (fields: object) => event('response.output_text.delta', fields);

const retryAfter = (value: string) => () => parseRetryAfter({ 'retry-after': value }, NOW);

/** Work on an input of so many bytes. What it is made of is made beforehand. */
const WORKS: Record<string, (bytes: number) => () => unknown> = {
	'a model list of many models': (bytes) => {
		const data = many(bytes, 320, (n) => ({ id: `model-${n}`, about: LONG }));
		const body = JSON.stringify({ data });
		return async () => await listModels(answeredBy({ body }));
	},
	'a response of one long text': (bytes) => create(response(message(filled(bytes, 'word ')))),
	'a response of many items': (bytes) => create(response(...many(bytes, 340, () => message(LONG)))),
	'a task of many pictures': (bytes) => {
		const url = (n: number) => `https://s/${n}.png?${LONG.replaceAll(' ', '+')}`;
		const result = { data: many(bytes, 340, (n) => ({ url: url(n) })) };
		const body = JSON.stringify({ id: 't', status: 'completed', result });
		return async () => getTaskImages('t', (await pollImageTask(answeredBy({ body }), 't')).task);
	},
	'a stream of many deltas': (bytes) =>
		readStream(filled(bytes, delta({ output_index: 0, delta: LONG }))),
	'a stream of many items': (bytes) =>
		readStream(many(bytes, 360, (n) => delta({ output_index: n, delta: LONG })).join('')),
	'a stream of one long event': (bytes) => readStream(delta({ delta: filled(bytes, 'word ') })),
	'a stream of one event on many lines': (bytes) =>
		readStream(`${filled(bytes, `data: ${LONG}\n`)}\n`),
	'a stream of comments': (bytes) => readStream(filled(bytes, `: ${LONG}\n\n`)),
	'a stream that begins with white space': (bytes) => readStream(filled(bytes, '\n')),
	'a stream that is one JSON document': (bytes) =>
		readStream(response(message(filled(bytes, 'word '))), ''),
	'an error of one long text': (bytes) => create(filled(bytes, 'very bad '), 400),
	'an error of spaces': (bytes) => create(filled(bytes, ' '), 400),
	'an error in JSON': (bytes) =>
		create(JSON.stringify({ error: { message: filled(bytes, `no ${KEY} `) } }), 400),
	'an error of angle brackets': (bytes) => create(filled(bytes, '<html '), 400),
	'an answer that is no JSON': (bytes) => create(filled(bytes, 'no JSON ')),
	'a Retry-After': (bytes) => retryAfter(`${filled(bytes, '9')} x`),
	'a Retry-After that looks like a date': (bytes) => retryAfter(`Mon, ${filled(bytes, '1 ')}`),
	'a text that may hold the key': (bytes) => {
		const redact = keyRedactor(KEY);
		const text = filled(bytes, `${KEY.slice(0, -1)} ${KEY} `);
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
