import type { IDataObject } from 'n8n-workflow';
import type { Fault } from '../gateway';
import { newRecord, storeBinaryInMemory } from '../support/engine';
import { cancelledAfter, createResponse, numbered, shown, startStory, type Story } from './arrange';

let story: Story;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = await startStory();
});
afterEach(async () => await story.close());

const streamed = (given: IDataObject = {}) => createResponse({ stream: true, ...given });

/** The bodies of the two runs' items, without what differs by nature. */
const comparable = (json: IDataObject | undefined) => ({ ...json, id: '', request_id: '' });

const event = (type: string, fields: object = {}) =>
	`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const delta = (text: string) =>
	event('response.output_text.delta', { output_index: 0, delta: text });

/** Writes a stream by hand, then does what `end` says. */
function writeStream(pieces: string[], end: 'end' | 'cut' | 'silence' = 'end') {
	story.gateway.settings.intercept = ({ stage, res, gone }): Fault | undefined =>
		stage === 'after'
			? undefined
			: {
					kind: 'take',
					write: async () => {
						res.writeHead(200, { 'Content-Type': 'text/event-stream' });
						for (const piece of pieces) {
							await new Promise<void>((resolve) => res.write(piece, () => resolve()));
						}
						if (end === 'end') res.end();
						if (end === 'cut') res.destroy();
						if (end === 'silence' && !gone.aborted) await story.time.gateway.sleep(3600_000);
					},
				};
}

describe('A streamed response', () => {
	test('asks for a stream and gives the same item as one that is not', async () => {
		const whole = await story.text(createResponse());
		const run = await story.text(streamed());

		expect(story.gateway.requests[0]?.body).not.toHaveProperty('stream');
		expect(story.gateway.requests[1]?.body).toEqual({
			model: 'aurora-text-1',
			input: 'Hello there',
			stream: true,
		});
		expect(comparable(run.items[0]?.json)).toEqual(comparable(whole.items[0]?.json));
		expect(run.items[0]?.pairedItem).toEqual({ item: 0 });
	});

	test('gives the final response untouched where Simplify is off', async () => {
		const whole = await story.text(createResponse({ simplify: false }));
		const run = await story.text(streamed({ simplify: false }));
		expect(Object.keys(run.items[0]?.json ?? {}).sort()).toEqual(
			Object.keys(whole.items[0]?.json ?? {}).sort(),
		);
		expect(run.items[0]?.json).toMatchObject({ object: 'response', status: 'completed' });
	});

	test('takes as long as it takes, as long as it is never silent for too long', async () => {
		story.gateway.settings.deltaMs = 50_000;
		const run = await story.text(
			streamed({ prompt: '[[words:5]] Hi', options: { timeout: 3000 } }),
		);
		expect(run.items[0]?.json.status).toBe('completed');
	});

	test('passes unknown events and lacks of [DONE] silently', async () => {
		writeStream([
			': a comment\n\n',
			event('response.created', { response: { id: 'r1', model: 'm', status: 'in_progress' } }),
			event('response.telemetry', { beat: 1 }),
			'data: not json\n\n',
			delta('Hel'),
			delta('lo'),
			event('response.completed', { response: { id: 'r1', status: 'completed', output: [] } }),
		]);
		const run = await story.text(streamed());
		expect(run.items[0]?.json).toMatchObject({ id: 'r1', status: 'completed', text: 'Hello' });
	});

	test('may come as a JSON document after all', async () => {
		story.gateway.settings.intercept = () => ({
			kind: 'reply',
			status: 200,
			body: {
				id: 'r1',
				status: 'completed',
				output: [{ type: 'message', content: [{ type: 'output_text', text: 'Whole' }] }],
			},
		});
		const run = await story.text(streamed());
		expect(run.items[0]?.json.text).toBe('Whole');
	});

	test('is sent again where the gateway asks to slow down', async () => {
		const run = await story.text(streamed({ prompt: '[[once:429]] Hello' }));
		expect(run.items[0]?.json.text).toBe('You said: Hello');
		expect(story.gateway.count()).toBe(2);
	});
});

describe('A stream that fails', () => {
	async function failure(given: IDataObject = {}) {
		const run = await story.textError(streamed(given));
		expect(story.gateway.count()).toBe(1);
		expect(shown(run).description).toMatch(/may have been executed and charged/);
		expect(shown(run).context.details).toMatchObject({ retryable: false });
		return shown(run);
	}

	test.each(['[[fail]]', '[[error]]'])(
		'with %s is an error with the reason and the text so far',
		async (directive) => {
			const error = await failure({ prompt: `${directive} [[words:20]] Hello` });
			expect(error.message).toBe('The model’s response failed: The model failed on purpose.');
			expect(error.context.details?.partial_text).toEqual(expect.stringMatching(/\w/));
		},
	);

	test('by a lost connection is an error with the text so far', async () => {
		writeStream([delta('Once upon '), delta('a time')], 'cut');
		const error = await failure();
		expect(error.message).toMatch(/^The connection was lost in the middle of the answer/);
		expect(error.context.details?.partial_text).toBe('Once upon a time');
	});

	test('by an end without a final event is an error with the text so far', async () => {
		writeStream([delta('Once upon')]);
		const error = await failure();
		expect(error.message).toBe('The answer ended before it was complete');
		expect(error.context.details?.partial_text).toBe('Once upon');
	});

	test('by silence ends at Idle Timeout', async () => {
		writeStream([delta('Once')], 'silence');
		const error = await failure({ options: { idleTimeout: 20 } });
		expect(error.message).toMatch(/^Nothing arrived for 20 s in the middle of the answer/);
		expect(error.context.details?.partial_text).toBe('Once');
	});

	test('by taking too long in all ends at Timeout', async () => {
		story.gateway.settings.deltaMs = 10_000;
		const error = await failure({ prompt: '[[words:50]] Hi', options: { timeout: 45 } });
		expect(error.message).toMatch(/^The answer was not complete within 45 s/);
	});

	test('before it begins is an error as any other', async () => {
		const run = await story.textError(streamed({ prompt: '[[status:403]] x' }));
		expect(run.error.message).toMatch(/^The gateway does not permit this \(HTTP 403\)/);
	});

	test('by a cancelled execution ends at once', async () => {
		story.gateway.settings.deltaMs = 5000;
		const before = story.time.now();
		const signal = cancelledAfter(story.time, 12_000);
		const run = await story.textError(streamed({ prompt: '[[words:90]] Hi' }), { signal });

		expect(run.error.message).toMatch(/^The execution was canceled/);
		expect(story.time.now() - before).toBeLessThanOrEqual(13_000);
		expect(story.gateway.count()).toBe(1);
	});
});

describe('In an execution that streams to its caller', () => {
	/** The chunks of a run: their types, and the text of each item. */
	const told = (chunks: Awaited<ReturnType<Story['text']>>['chunks']) => ({
		types: chunks.map(({ type }) => type),
		texts: chunks.reduce<Record<number, string>>((texts, { metadata, content, type }) => {
			const item = Number(metadata.itemIndex ?? 0);
			if (type === 'item') texts[item] = (texts[item] ?? '') + String(content);
			return texts;
		}, {}),
	});

	test('the text is passed on as it is written', async () => {
		const run = await story.text(createResponse(), { streaming: true });

		const { types, texts } = told(run.chunks);
		expect(types[0]).toBe('begin');
		expect(types.at(-1)).toBe('end');
		expect(types.slice(1, -1).every((type) => type === 'item')).toBe(true);
		expect(types.length).toBeGreaterThan(3);
		expect(texts[0]).toBe('You said: Hello there');
		expect(run.items[0]?.json.text).toBe('You said: Hello there');
	});

	test('the items speak one after the other, in their order', async () => {
		story.gateway.settings.deltaMs = 100;
		const run = await story.text(
			createResponse({ prompt: '={{ $json.n === 0 ? "[[words:30]] x" : "Hello " + $json.n }}' }),
			{ items: numbered(3), streaming: true },
		);

		const order = run.chunks.map(({ metadata }) => Number(metadata.itemIndex));
		expect(order).toEqual([...order].sort((a, b) => a - b));
		expect(told(run.chunks).texts[2]).toBe('You said: Hello 2');
	});

	test('a failure is told to the caller, once, and the node fails', async () => {
		const record = newRecord();
		const run = await story.textError(createResponse({ prompt: '[[error]] [[words:9]] x' }), {
			streaming: true,
			record,
		});
		expect(run.error.message).toBe('The model’s response failed: The model failed on purpose.');
		const errors = record.chunks.filter(({ type }) => type === 'error');
		expect(errors.map(({ content }) => content)).toEqual([run.error.message]);
		expect(record.chunks.at(-1)?.type).toBe('end');
	});

	test('an execution that does not stream sends no chunk', async () => {
		const run = await story.text(streamed());
		expect(run.chunks).toEqual([]);
	});
});
