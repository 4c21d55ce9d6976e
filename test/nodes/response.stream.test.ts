import type { ServerResponse } from 'node:http';
import { newRecord } from '../../scripts/engine/index';
import { canceledAfter, CONTINUE, createResponse, itemsOf, numbered, useHarness } from './arrange';
import type { Harness, IDataObject } from './arrange';

const harness = useHarness();

const streamed = (given: IDataObject = {}) => createResponse({ stream: true, ...given });

const BODY = { model: 'aurora-text-1', input: 'Hello there' };
const FAILED = 'The model’s response failed (server_error): The model failed on purpose.';

/** An item's JSON without what differs from run to run. */
const comparable = (json: IDataObject | undefined) => ({ ...json, id: '', request_id: '' });

const event = (type: string, fields: object = {}) =>
	`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const delta = (text: string) =>
	event('response.output_text.delta', { output_index: 0, delta: text });

/** Answers with a stream that begins like this. */
function streamWith(begin: string, then: (res: ServerResponse, gone: AbortSignal) => unknown) {
	harness.gateway.settings.intercept = ({ res, gone }) => ({
		kind: 'take',
		write: async () => {
			res.writeHead(200, { 'Content-Type': 'text/event-stream' });
			await new Promise<void>((done) => res.write(begin, () => done()));
			await then(res, gone);
		},
	});
}

describe('A streamed response', () => {
	test('asks for a stream and gives the same item, and no chunk to a caller that takes none', async () => {
		const whole = await harness.text(createResponse());
		const run = await harness.text(streamed());
		expect(harness.bodies()).toEqual([BODY, { ...BODY, stream: true }]);
		expect(harness.gateway.requests[1]?.headers.accept).toBe('text/event-stream, application/json');
		expect(comparable(run.items[0]?.json)).toEqual(comparable(whole.items[0]?.json));
		expect(run.items[0]?.pairedItem).toEqual({ item: 0 });
		expect(run.chunks).toEqual([]);
		// Where Simplify is off, the final response is untouched.
		const raw = await harness.text(createResponse({ simplify: false }));
		const { items } = await harness.text(streamed({ simplify: false }));
		expect(Object.keys(items[0]!.json).sort()).toEqual(Object.keys(raw.items[0]!.json).sort());
		expect(items[0]?.json).toMatchObject({ object: 'response', status: 'completed' });
	});

	// What else closes it is in test/unit/api/stream-failures.test.ts.
	test('is closed by a cancel at once, in the middle of a silence', async () => {
		const closed = new Promise<void>((resolve) =>
			streamWith(delta('Once'), async (_res, gone) => {
				gone.addEventListener('abort', () => resolve(), { once: true });
				await harness.time.gateway.sleep(3600_000, gone);
			}),
		);
		const signal = canceledAfter(harness.time, 12_000);
		const options = { timeout: 3000, idleTimeout: 3000 };
		const run = await harness.textError(streamed({ options }), { signal });
		expect(run.error.message).toMatch(/^The execution was canceled/);
		expect(harness.seconds()).toBeLessThanOrEqual(13);
		expect(harness.gateway.count()).toBe(1);
		await closed;
	});
});

describe('In an execution that streams to its caller', () => {
	type Chunks = Awaited<ReturnType<Harness['text']>>['chunks'];

	/** The chunks of a run, each as `<item> <type> <content>`. */
	const listed = (chunks: Chunks) =>
		chunks.map(({ metadata, type, content }) =>
			[metadata.itemIndex, type, content].filter((part) => part !== undefined).join(' '),
		);

	const textOf = (chunks: Chunks) => chunks.map(({ content }) => content ?? '').join('');

	/** Makes the gateway take its time over each piece, by item. */
	function atSpeeds(pauseMs: (n: number) => number, before?: (piece: string) => void) {
		harness.gateway.settings.intercept = ({ stage, reply, record }) => {
			if (stage === 'before' || !reply?.stream) return undefined;
			const { stream } = reply;
			const n = Number(/\d+$/.exec((record.body as { input: string }).input)?.[0]);
			reply.stream = async (write) =>
				await stream(async (piece) => {
					await harness.time.gateway.sleep(pauseMs(n));
					before?.(piece);
					await write(piece);
				});
			return undefined;
		};
	}

	test('the text is there before its end is, whether Stream is on or not', async () => {
		const record = newRecord();
		let heard = '';
		const hear = (piece: string) => {
			if (piece.startsWith('event: response.completed')) heard = textOf(record.chunks);
		};
		atSpeeds(() => 100, hear);
		const off = await harness.text(createResponse(), { streaming: true, record });
		expect(heard).toBe('You said: Hello there');
		const on = await harness.text(streamed(), { streaming: true });
		expect(listed(on.chunks)).toEqual(listed(off.chunks));
		expect(comparable(on.items[0]?.json)).toEqual(comparable(off.items[0]?.json));
		expect(harness.bodies()).toEqual(Array(2).fill({ ...BODY, stream: true }));
	});

	test('items at different speeds speak one after the other, and the output is in order', async () => {
		atSpeeds((n) => [900, 10, 400, 100, 10, 600][n] ?? 0);
		const given = createResponse({ prompt: '=Tell me of number {{ $json.n }}' });
		const { items, chunks } = await harness.text(given, { items: numbered(6), streaming: true });
		const said = [0, 1, 2, 3, 4, 5].map((n) => `You said: Tell me of number ${n}`);
		const linked = said.map((text, item) => ({ json: { text }, pairedItem: { item } }));
		expect(items).toMatchObject(linked);
		const of = (n: number) => chunks.filter(({ metadata }) => metadata.itemIndex === n);
		expect(chunks).toEqual(said.flatMap((_text, n) => of(n)));
		for (const [n, text] of said.entries()) {
			const lines = listed(of(n));
			expect(lines.length).toBeGreaterThan(5);
			expect([lines[0], lines.at(-1)]).toEqual([`${n} begin`, `${n} end`]);
			expect(textOf(of(n))).toBe(text);
		}
	});

	test('each item begins and ends once, failed ones with an error between', async () => {
		const prompts = ['A', '[[error]] x', '', '[[bad-json]] x', '[[status:403]] x', 'B'];
		const options = { concurrency: 4, outputFormat: { format: { type: 'json_object' } } };
		const given = createResponse({ prompt: '={{ $json.say }}', options });
		const { items, chunks } = await harness.text(given, {
			items: itemsOf(...prompts.map((say) => ({ say }))),
			...{ streaming: true, ...CONTINUE },
		});
		const errors = items.map(({ json }) => json.error as string | undefined);
		expect(errors).toEqual([
			undefined,
			FAILED,
			'The expression in Prompt gave nothing',
			'The model’s answer is not JSON: { "answer":',
			expect.stringMatching(/^The gateway does not permit this \(HTTP 403, not_permitted\)/),
			undefined,
		]);
		const between = (error?: string) => (error === undefined ? [] : [`error ${error}`]);
		expect(listed(chunks).filter((line) => !/^\d item/.test(line))).toEqual(
			errors.flatMap((said, n) => ['begin', ...between(said), 'end'].map((end) => `${n} ${end}`)),
		);
	});

	test('a failure that ends the node is told to the caller once, after the text', async () => {
		const record = newRecord();
		const given = createResponse({ prompt: '[[error]] [[words:9]] x' });
		const { error } = await harness.textError(given, { streaming: true, record });
		expect(error.message).toBe(FAILED);
		const lines = listed(record.chunks);
		expect(lines.slice(0, 2)).toEqual(['0 begin', expect.stringMatching(/^0 item w1/)]);
		const rest = lines.filter((line) => !line.startsWith('0 item'));
		expect(rest).toEqual(['0 begin', `0 error ${FAILED}`, '0 end']);
		expect(lines.slice(-2)).toEqual(rest.slice(-2));
	});

	test('an empty piece is passed over, and a refusal is passed on', async () => {
		const refused = createResponse({ prompt: '[[refuse]] x' });
		const { chunks } = await harness.text(refused, { streaming: true });
		expect(textOf(chunks)).toBe('I cannot help with that.');
		const response = { id: 'r1', status: 'completed', output: [] };
		const end = event('response.completed', { response });
		streamWith(delta('') + delta('Hi') + end, (res) => res.end());
		const next = await harness.text(createResponse(), { streaming: true });
		expect(listed(next.chunks)).toEqual(['0 begin', '0 item Hi', '0 end']);
	});

	test('a caller who has left does no harm', async () => {
		const record = newRecord();
		record.chunks.push = () => {
			throw new Error('The caller has left');
		};
		const { items } = await harness.text(createResponse(), { streaming: true, record });
		expect(items[0]?.json.text).toBe('You said: Hello there');
	});
});
