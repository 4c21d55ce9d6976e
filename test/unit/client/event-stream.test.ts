import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import fc from '../../support/fast-check';
import { decode, readEvents, type StreamEvent } from '../../../nodes/shared/client/event-stream';
import {
	bytes,
	completed,
	delta,
	event,
	oneByOne,
	outcome,
	outcomeOrFailure,
	recordStreams,
	streaming,
	type Chunks,
} from './recorded-streams';

// The large ones take a second or two; on a busy machine more.
jest.setTimeout(60_000);

let recorded: Array<[string, string]>;
beforeAll(async () => {
	recorded = await recordStreams();
});

async function* flow(chunks: Chunks): AsyncGenerator<Uint8Array> {
	yield* chunks;
}

async function eventsOf(chunks: Chunks): Promise<StreamEvent[]> {
	const events: StreamEvent[] = [];
	for await (const some of readEvents(decode(flow(chunks)))) events.push(...some);
	return events;
}

/** Every character of it takes more than one byte. */
const WIDE = 'Größe: 你好 – 😀👩‍🚀';

const TALE = [
	event('response.created', { response: { id: 'r1', model: 'text-1', status: 'in_progress' } }),
	event('response.in_progress', { response: { id: 'r1', model: 'text-1', status: 'in_progress' } }),
	...WIDE.split(' ').map((word) => delta(`${word} `)),
	event('response.output_text.done', { output_index: 0, content_index: 0, text: `${WIDE} ` }),
	completed({ output: [] }),
	'data: [DONE]\n\n',
].join('');

const EXPECTED = {
	json: {
		id: 'r1',
		model: 'text-1',
		status: 'completed',
		output: [
			{
				type: 'message',
				role: 'assistant',
				content: [{ type: 'output_text', text: `${WIDE} ` }],
			},
		],
	},
	pieces: WIDE.split(' ').map((word) => `${word} `),
};

/** Each event's JSON over several `data:` lines. */
const inManyLines = (stream: string) =>
	stream.replace(/^data: (\{.*\})$/gm, (_line, json: string) =>
		JSON.stringify(JSON.parse(json), null, 1).replace(/^/gm, 'data: '),
	);

const between = (stream: string, filler: string) => stream.replaceAll('\n\n', `\n\n${filler}`);

/** Forms that say the same. */
const FORMS: Array<[string, string]> = [
	['as the gateway sends it', TALE],
	['with CRLF', TALE.replaceAll('\n', '\r\n')],
	['with CR', TALE.replaceAll('\n', '\r')],
	['with line ends of all kinds', TALE.replaceAll('}\n\n', '}\r\n\n').replace('\n', '\r')],
	['with a byte order mark', `\ufeff${TALE}`],
	['with a byte order mark and CRLF', `\ufeff${TALE.replaceAll('\n', '\r\n')}`],
	['with comments', `: welcome\n${between(TALE, ': a comment\n:\n')}`],
	['with keep-alives', `: ping\n\n\n${between(TALE, ': ping\n\n')}`],
	['with blank lines as keep-alives', `\n\n\n${between(TALE, '\n\n\n')}`],
	['with data over several lines', inManyLines(TALE)],
	['with data over several lines and CRLF', inManyLines(TALE).replaceAll('\n', '\r\n')],
	[
		'with no space behind the colon',
		TALE.replaceAll('event: ', 'event:').replaceAll('data: ', 'data:'),
	],
	['with event IDs and retry times', between(`retry: 10\n${TALE}`, 'id: 7\nretry: 1000\n')],
	['with fields that nobody knows', between(TALE, 'weather: fine\nnothing\n')],
	['with the data before the name', TALE.replace(/(event: .*\n)(data: .*\n)/g, '$2$1')],
	['with no blank line at its end', TALE.replace('data: [DONE]\n\n', '').trimEnd()],
	['without [DONE]', TALE.replace('data: [DONE]\n\n', '')],
	['by type alone, without names', TALE.replace(/^event: .*\n/gm, '')],
	['by name alone, without types', TALE.replace(/\{"type":"[a-z_.]+",/g, '{')],
	['with events of no known kind', between(TALE, event('response.telemetry', { delta: 'no' }))],
	[
		'with data that is no JSON',
		between(TALE, 'data: {"broken\n\ndata: 7\n\ndata: null\n\ndata:\n\n'),
	],
];

describe('A stream comes to the same result', () => {
	test.each(FORMS)('%s: in one piece', async (_name, stream) => {
		await expect(outcome([bytes(stream)])).resolves.toEqual(EXPECTED);
	});

	test.each(FORMS)('%s: one byte at a time', async (_name, stream) => {
		await expect(outcome(oneByOne(stream))).resolves.toEqual(EXPECTED);
	});

	test('cut inside of every character that takes several bytes', async () => {
		const whole = bytes(TALE);
		const inside = [...whole.keys()].filter((at) => ((whole[at] ?? 0) & 0xc0) === 0x80);
		expect(inside.length).toBeGreaterThan(30);
		for (const at of inside) {
			await expect(outcome([whole.subarray(0, at), whole.subarray(at)])).resolves.toEqual(EXPECTED);
		}
	});

	test('with a byte order mark that is cut', async () => {
		const whole = bytes(`\ufeff${TALE}`);
		for (const at of [1, 2, 3]) {
			await expect(outcome([whole.subarray(0, at), whole.subarray(at)])).resolves.toEqual(EXPECTED);
		}
	});

	test('with chunks that hold nothing', async () => {
		const chunks = oneByOne(TALE).flatMap((chunk) => [new Uint8Array(), chunk]);
		await expect(outcome(chunks)).resolves.toEqual(EXPECTED);
	});
});

describe('Recorded streams', () => {
	test('hold every kind of event that is understood', () => {
		const all = recorded.map(([, stream]) => stream).join('');
		const kinds = new Set([...all.matchAll(/^event: (.*)$/gm)].map(([, kind]) => kind));
		expect([...kinds]).toEqual(
			expect.arrayContaining([
				'response.created',
				'response.in_progress',
				'response.output_item.added',
				'response.output_item.done',
				'response.output_text.delta',
				'response.output_text.done',
				'response.refusal.delta',
				'response.refusal.done',
				'response.function_call_arguments.delta',
				'response.function_call_arguments.done',
				'response.completed',
				'response.incomplete',
				'response.failed',
				'error',
			]),
		);
	});

	test('come to the same result one byte at a time', async () => {
		for (const [name, stream] of recorded) {
			const byByte = await outcomeOrFailure(oneByOne(stream));
			expect([name, byByte]).toEqual([name, await outcomeOrFailure([bytes(stream)])]);
		}
	});

	test('come to the same result wherever they are cut', async () => {
		const expected = new Map<string, unknown>();
		for (const [name, stream] of recorded) {
			expected.set(name, await outcomeOrFailure([bytes(stream)]));
		}
		const lineEnds = fc.constantFrom('\n', '\r\n', '\r');
		await fc.assert(
			fc.asyncProperty(
				fc.constantFrom(...recorded),
				lineEnds,
				fc.array(fc.nat(), { maxLength: 40 }),
				async ([name, stream], lineEnd, places) => {
					const whole = bytes(stream.replaceAll('\n', lineEnd));
					const cuts = places.map((place) => place % (whole.length + 1)).sort((a, b) => a - b);
					const chunks = [...cuts, whole.length].map((end, index) =>
						whole.subarray(cuts[index - 1] ?? 0, end),
					);
					expect(await outcomeOrFailure(chunks)).toEqual(expected.get(name));
				},
			),
			{ numRuns: 150 },
		);
	});

	test('come to the same result with their outputs left out of the final response', async () => {
		for (const [name, stream] of recorded) {
			if (!/^event: response\.(completed|incomplete)$/m.test(stream)) continue;
			const whole = await outcome([bytes(stream)]);
			const bare = stream.replace(
				/^(event: response\.(?:completed|incomplete)\ndata: )(.*)$/m,
				(_line, head: string, data: string) => {
					const json = JSON.parse(data) as { response: object };
					return head + JSON.stringify({ ...json, response: { ...json.response, output: [] } });
				},
			);
			expect([name, await outcome([bytes(bare)])]).toEqual([name, whole]);
		}
	});
});

describe('Events', () => {
	test('have their name and their data, lines joined', async () => {
		const events = await eventsOf([
			bytes('event: a\ndata: 1\ndata:\ndata:  2\n\ndata: x\n\nevent: b\n\n'),
		]);
		expect(events).toEqual([
			{ name: 'a', data: '1\n\n 2' },
			{ name: undefined, data: 'x' },
		]);
	});

	test('come out as soon as they are whole', async () => {
		const given: string[] = [];
		async function* slow() {
			for (const chunk of ['data: 1\n', '\n', 'data: 2\n\n']) {
				given.push(chunk);
				yield bytes(chunk);
			}
		}
		const events = readEvents(decode(slow()));
		await expect(events.next()).resolves.toMatchObject({ value: [{ data: '1' }] });
		expect(given).toHaveLength(2);
		await events.return(undefined);
	});

	test('that the end cuts off come out, for their data may be whole', async () => {
		await expect(eventsOf([bytes('data: 1')])).resolves.toEqual([{ name: undefined, data: '1' }]);
	});

	test('are none where nothing is', async () => {
		await expect(eventsOf([])).resolves.toEqual([]);
		await expect(eventsOf([bytes('\ufeff\n: hello\n\n')])).resolves.toEqual([]);
	});

	test('with bytes that are no UTF-8 have a replacement character, and nothing breaks', async () => {
		const broken = [
			bytes('data: a'),
			Uint8Array.of(0xff, 0xc3),
			bytes('b\n\n'),
			Uint8Array.of(0xe2),
		];
		const [first] = await eventsOf(broken);
		expect(first?.data).toMatch(/^a\ufffd+b$/);
	});
});

describe('Large streams', () => {
	const CHUNK = 16_384;

	/** Bytes in chunks as a socket brings them. */
	function* inChunks(whole: Uint8Array, size = CHUNK) {
		for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
	}

	/** Deltas that hold 10 characters each, and an end. */
	function* deltas(count: number) {
		for (let sent = 0; sent < count; sent++) yield bytes(delta('0123456789'));
		yield bytes(completed({ output: [] }));
	}

	const textOf = ({ json }: { json: Record<string, unknown> }) =>
		(json.output as Array<{ content: Array<{ text: string }> }>)[0]?.content[0]?.text;

	test('an event of 5 MB', async () => {
		const text = `${WIDE} `.repeat(5_000_000 / bytes(`${WIDE} `).length);
		const output = [{ type: 'message', content: [{ type: 'output_text', text }] }];
		const whole = bytes(completed({ output }));
		expect(whole.length).toBeGreaterThan(5_000_000);

		expect(textOf(await outcome([whole])) === text).toBe(true);
		expect(textOf(await outcome(inChunks(whole))) === text).toBe(true);
		expect(textOf(await outcome(inChunks(whole, 997))) === text).toBe(true);
	});

	test('100,000 events', async () => {
		const expected = '0123456789'.repeat(100_000);
		const whole = Buffer.concat([...deltas(100_000)]);
		const inOne = await outcome([whole]);
		const cut = await outcome(inChunks(whole));

		for (const result of [inOne, cut]) {
			expect(textOf(result) === expected).toBe(true);
			// What arrives together goes on together; nothing is lost or out of order by it.
			expect(result.pieces.join('') === expected).toBe(true);
		}
	});

	test('20,000 keep-alives before the first event', async () => {
		function* stream() {
			for (let sent = 0; sent < 20_000; sent++) yield bytes(': ping\n\n');
			yield bytes(TALE);
		}
		await expect(outcome(stream())).resolves.toEqual(EXPECTED);
	});

	test('take time in proportion to their length', async () => {
		const cost = async (count: number) => {
			const whole = Buffer.concat([...deltas(count)]);
			const before = process.cpuUsage();
			await outcome(inChunks(whole));
			const { user, system } = process.cpuUsage(before);
			return user + system;
		};
		const least = async (count: number) => Math.min(await cost(count), await cost(count));
		await cost(10_000);
		const short = await least(5_000);
		const long = await least(50_000);
		// Ten times the length: ten times the work where it is linear, a hundred where it is not.
		expect(long / short).toBeLessThan(35);
	});

	test('take no more memory than their text', async () => {
		setFlagsFromString('--expose-gc');
		const collect = runInNewContext('gc') as () => void;
		const used = () => {
			collect();
			const { heapUsed, arrayBuffers } = process.memoryUsage();
			return (heapUsed + arrayBuffers) / 2 ** 20;
		};
		const marks: number[] = [];
		const silent = event('response.telemetry', { reading: 'x'.repeat(900) });
		function* stream() {
			for (let sent = 0; sent <= 20_000; sent++) {
				if (sent === 2_000 || sent === 20_000) marks.push(used());
				yield bytes(silent + delta('0123456789'));
			}
			yield bytes(completed({ output: [] }));
		}
		const { run, seen } = streaming(stream());
		seen.pieces.push = () => 0;
		const { json } = await run();
		expect(textOf({ json })).toHaveLength(200_010);

		// 18 MB went through in between, of which 0.2 MB are text.
		const [before = 0, after = 0] = marks;
		expect(after - before).toBeLessThan(3);
	});
});
