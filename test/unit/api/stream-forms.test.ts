import { Readable } from 'node:stream';
import { decode, readEvents } from '../../../nodes/shared/api/responses/event-stream';
import { bytes, completed, delta, event, message } from './recorded-streams';
import { oneByOne, outcome } from './recorded-streams';

/** Every character of it takes more than one byte. */
const WIDE = 'Größe: 你好 – 😀👩‍🚀';

const BEGUN = { response: { id: 'r1', model: 'text-1', status: 'in_progress' } };
const TALE = [
	event('response.created', BEGUN),
	event('response.in_progress', BEGUN),
	...WIDE.split(' ').map((word) => delta(`${word} `)),
	event('response.output_text.done', { output_index: 0, content_index: 0, text: `${WIDE} ` }),
	completed({ output: [] }),
	'data: [DONE]\n\n',
].join('');
const WITHOUT_DONE = TALE.replace('data: [DONE]\n\n', '');

const EXPECTED = {
	json: { ...BEGUN.response, status: 'completed', output: [message(`${WIDE} `)] },
	pieces: WIDE.split(' ').map((word) => `${word} `),
};

/** Each event's JSON over several `data:` lines. */
const IN_LINES = TALE.replace(/^data: (\{.*\})$/gm, (_line, json: string) =>
	JSON.stringify(JSON.parse(json), null, 1).replace(/^/gm, 'data: '),
);

const between = (stream: string, filler: string) => stream.replaceAll('\n\n', `\n\n${filler}`);
const NO_JSON = 'data: {"broken\n\ndata: 7\n\ndata: null\n\ndata:\n\n';

test.each<[string, string[]]>([
	['as the gateway sends it', [TALE]],
	['with CRLF or CR', [TALE.replaceAll('\n', '\r\n'), TALE.replaceAll('\n', '\r')]],
	['with line ends of all kinds', [TALE.replaceAll('}\n\n', '}\r\n\n').replace('\n', '\r')]],
	['with a byte order mark', [`\ufeff${TALE}`, `\ufeff${TALE.replaceAll('\n', '\r\n')}`]],
	['with comments', [`: welcome\n${between(TALE, ': a comment\n:\n')}`]],
	['with keep-alives', [`: ping\n\n\n${between(TALE, ': ping\n\n')}`]],
	['with blank lines as keep-alives', [`\n\n\n${between(TALE, '\n\n\n')}`]],
	['with data over several lines', [IN_LINES, IN_LINES.replaceAll('\n', '\r\n')]],
	['with no space behind the colon', [TALE.replace(/^(event|data): /gm, '$1:')]],
	['with IDs and unknown fields', [between(TALE, 'id: 7\nretry: 10\nweather\nx: y\n')]],
	['with the data before the name', [TALE.replace(/(event: .*\n)(data: .*\n)/g, '$2$1')]],
	['without [DONE]', [WITHOUT_DONE, WITHOUT_DONE.trimEnd()]],
	['by type alone, without names', [TALE.replace(/^event: .*\n/gm, '')]],
	['by name alone, without types', [TALE.replace(/\{"type":"[a-z_.]+",/g, '{')]],
	['with events of no known kind', [between(TALE, event('response.telemetry', { delta: 'no' }))]],
	['with data that is no JSON', [between(TALE, NO_JSON)]],
])('A stream comes to the same %s: in one piece and byte by byte', async (_, streams) => {
	for (const stream of streams) {
		// A chunk may hold nothing.
		for (const chunks of [[bytes(stream)], [bytes(''), ...oneByOne(stream), bytes('')]])
			await expect(outcome(chunks)).resolves.toEqual(EXPECTED);
	}
});

describe('The events of a stream', () => {
	async function read(...given: Array<string | number[]>) {
		const seen: string[][] = [];
		const chunks = given.map((one) =>
			typeof one === 'string' ? bytes(one) : Uint8Array.from(one),
		);
		for await (const events of readEvents(decode(Readable.from(chunks))))
			seen.push(events.map(({ name = '', data }) => `${name}: ${data}`));
		return seen;
	}

	test('come out as soon as they are whole, with a \ufffd for a byte that is no UTF-8', async () => {
		const named = 'event: a\ndata: 1\ndata:\ndata:  2\n\ndata: x\n\nevent: b\n\n';
		const first = ['a: 1\n\n 2', ': x'];
		expect(await read(named)).toEqual([first]);
		const all = await read('', named, ': hi\n\n', 'data: a', [0xff], 'b\n', '\n', 'data: c', [
			0xe2,
		]);
		expect(all).toEqual([first, [': a\ufffdb'], [': c\ufffd']]);
	});

	test('need no text where a chunk ends within a character', async () => {
		const texts: string[] = [];
		for await (const text of decode(Readable.from(oneByOne('ä€')))) texts.push(text);
		expect(texts).toEqual(['ä', '€']);
	});
});
