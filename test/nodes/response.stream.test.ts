import type { ServerResponse } from 'node:http';
import type { IDataObject } from 'n8n-workflow';
import type { Fault } from '../../gateway';
import { newRecord, storeBinaryInMemory } from '../../scripts/engine/index';
import {
	cancelledAfter,
	createResponse,
	itemsOf,
	numbered,
	shown,
	startStory,
	type Story,
} from './arrange';

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

describe('The connection of a stream', () => {
	/** Begins a stream that falls silent, and says when its connection is closed. */
	function fallSilent(begun: (res: ServerResponse) => void = () => {}): Promise<void> {
		return new Promise<void>((resolve) => {
			story.gateway.settings.intercept = ({ res, gone }) => ({
				kind: 'take',
				write: async () => {
					gone.addEventListener('abort', () => resolve(), { once: true });
					res.writeHead(200, { 'Content-Type': 'text/event-stream' });
					await new Promise<void>((done) => res.write(delta('Once'), () => done()));
					begun(res);
					await story.time.gateway.sleep(3600_000, gone);
				},
			});
		});
	}

	test('is closed by a cancel, in the middle of a silence', async () => {
		const closed = fallSilent();
		const signal = cancelledAfter(story.time, 5_000);
		const run = await story.textError(streamed({ options: { timeout: 3000 } }), { signal });
		expect(run.error.message).toMatch(/^The execution was canceled/);
		await closed;
	});

	test('that was given up by Idle Timeout is closed at the next byte', async () => {
		let reply: ServerResponse | undefined;
		const closed = fallSilent((res) => {
			reply = res;
		});
		const run = await story.textError(streamed({ options: { idleTimeout: 20 } }));
		expect(run.error.message).toMatch(/^Nothing arrived for 20 s/);
		reply?.write(': ping\n\n');
		await closed;
	});

	test('is closed after an error event, though the gateway goes on', async () => {
		let left = false;
		story.gateway.settings.intercept = ({ res, gone }) => ({
			kind: 'take',
			write: async () => {
				res.writeHead(200, { 'Content-Type': 'text/event-stream' });
				res.write(delta('Once') + event('error', { message: 'Enough' }));
				while (!gone.aborted) {
					res.write(': go on\n\n');
					await new Promise(setImmediate);
				}
				left = true;
			},
		});
		const run = await story.textError(streamed());
		expect(run.error.message).toBe('The model’s response failed: Enough');
		while (!left) await new Promise(setImmediate);
	});
});

describe('A stream over a socket', () => {
	test('comes whole, however the gateway cuts it', async () => {
		const text = 'Größe: 你好 – 😀';
		const whole = Buffer.from(
			'\ufeff' +
				event('response.created', { response: { id: 'r1', model: 'm' } }) +
				': ping\r\n\r\n' +
				delta(text) +
				event('response.completed', { response: { id: 'r1', output: [] } }),
		);
		story.gateway.settings.intercept = ({ res }) => ({
			kind: 'take',
			write: async () => {
				res.writeHead(200, { 'Content-Type': 'text/event-stream' });
				for (let at = 0; at < whole.length; at += 7) {
					const piece = whole.subarray(at, at + 7);
					await new Promise<void>((done) => res.write(piece, () => done()));
				}
				res.end();
			},
		});
		const run = await story.text(streamed());
		expect(run.items[0]?.json).toMatchObject({ id: 'r1', status: 'completed', text });
	});

	test.each<[string, string, object]>([
		['refuses', '[[refuse]] Hi', { text: '', refusal: 'I cannot help with that.' }],
		['says nothing', '[[empty]] Hi', { text: '' }],
		['says two things', '[[two]] Hi', { text: 'You said: HiAnd one more thing.' }],
		['says unknown things', '[[unknown]] Hi', { text: 'You said: Hi' }],
		['says much', '[[words:3000]] Hi', { text: expect.stringMatching(/^w1 .* w3000$/) as string }],
	])('of a model that %s gives the same item as without', async (_name, prompt, expected) => {
		const whole = await story.text(createResponse({ prompt }));
		const run = await story.text(streamed({ prompt }));
		expect(run.items[0]?.json).toMatchObject(expected);
		expect(comparable(run.items[0]?.json)).toEqual(comparable(whole.items[0]?.json));
	});

	test('calls tools as without, and points out where it is cut off', async () => {
		const tools = JSON.stringify(
			['get_weather', 'get_time'].map((name) => ({
				type: 'function',
				name,
				parameters: { type: 'object', properties: { city: { type: 'string' } } },
			})),
		);
		const prompt = 'get weather and get time of Oslo';
		const run = await story.text(streamed({ prompt, options: { tools } }));
		expect(run.items[0]?.json.tool_calls).toMatchObject([
			{ name: 'get_weather', arguments: { city: prompt } },
			{ name: 'get_time', arguments: { city: prompt } },
		]);
		const cut = await story.text(streamed({ options: { maxOutputTokens: 1 } }));
		expect(cut.items[0]?.json).toMatchObject({
			status: 'incomplete',
			incomplete_details: { reason: 'max_output_tokens' },
		});
		expect(cut.hints).toHaveLength(1);
	});

	test('of a key that may not stream is an error with the gateway’s reason', async () => {
		const run = await story.textError(streamed(), {
			access: { apiKey: story.gateway.keys.plain },
		});
		expect(run.error.message).toMatch(/\(HTTP 403\): .*stream/i);
		expect(shown(run).context.details).toMatchObject({ http_status: 403 });
		expect(shown(run).context.details).not.toHaveProperty('partial_text');
	});

	test('that is a web page says so', async () => {
		story.gateway.settings.intercept = () => ({
			kind: 'reply',
			status: 200,
			headers: { 'Content-Type': 'text/html' },
			body: '<!DOCTYPE html><title>Log in</title>',
		});
		const run = await story.textError(streamed());
		expect(run.error.message).toMatch(/web page \(HTML\) in place of JSON/);
	});

	test('that fails leaves its text in the item where the node continues', async () => {
		const { items } = await story.text(
			streamed({ prompt: '={{ $json.say }} [[words:20]]', options: { concurrency: 1 } }),
			{ items: itemsOf({ say: '[[fail]]' }, { say: 'Hi' }), onError: 'continueRegularOutput' },
		);
		expect(items[0]).toMatchObject({
			json: {
				error: 'The model’s response failed: The model failed on purpose.',
				error_details: { code: 'server_error', partial_text: 'w1 w2 w3' },
			},
			pairedItem: { item: 0 },
		});
		expect(items[1]?.json.text).toMatch(/^w1 .* w20$/);
	});
});

describe('In an execution that streams to its caller', () => {
	type Chunks = Awaited<ReturnType<Story['text']>>['chunks'];

	/** The chunks of a run, each as `<item> <type> <content>`. */
	const listed = (chunks: Chunks) =>
		chunks.map(({ metadata, type, content }) =>
			[metadata.itemIndex, type, content].filter((part) => part !== undefined).join(' '),
		);

	/** Makes the gateway take its time over each piece, by item. */
	function atSpeeds(pauseMs: (n: number) => number, before?: (piece: string) => void) {
		story.gateway.settings.intercept = ({ stage, reply, record }) => {
			if (stage === 'before' || !reply?.stream) return undefined;
			const { stream } = reply;
			const n = Number(/\d+$/.exec((record.body as { input: string }).input)?.[0]);
			reply.stream = async (write) =>
				await stream(async (piece) => {
					await story.time.gateway.sleep(pauseMs(n));
					before?.(piece);
					await write(piece);
				});
			return undefined;
		};
	}

	test('the text is there before its end is', async () => {
		const record = newRecord();
		let heard = '';
		atSpeeds(
			() => 100,
			(piece) => {
				if (piece.startsWith('event: response.completed')) {
					heard = record.chunks.map(({ content }) => content ?? '').join('');
				}
			},
		);
		await story.text(createResponse(), { streaming: true, record });
		expect(heard).toBe('You said: Hello there');
	});

	test('items at different speeds do not mix, and the output is complete and in order', async () => {
		atSpeeds((n) => [900, 10, 400, 100, 10, 600][n] ?? 0);
		const run = await story.text(createResponse({ prompt: '=Tell me of number {{ $json.n }}' }), {
			items: numbered(6),
			streaming: true,
		});

		const said = (n: number) => `You said: Tell me of number ${n}`;
		expect(run.items.map(({ json }) => json.text)).toEqual([0, 1, 2, 3, 4, 5].map(said));
		expect(run.items.map(({ pairedItem }) => pairedItem)).toEqual(
			[0, 1, 2, 3, 4, 5].map((item) => ({ item })),
		);
		const lines = listed(run.chunks);
		for (let n = 0, at = 0; n < 6; n++) {
			const mine = lines.filter((line) => line.startsWith(`${n} `));
			expect(lines.slice(at, at + mine.length)).toEqual(mine);
			expect(mine[0]).toBe(`${n} begin`);
			expect(mine.at(-1)).toBe(`${n} end`);
			const pieces = mine.slice(1, -1).map((line) => line.slice(`${n} item `.length));
			expect(pieces.length).toBeGreaterThan(3);
			expect(pieces.join('')).toBe(said(n));
			at += mine.length;
		}
	});

	test('each item begins and ends once, failed ones with an error between', async () => {
		const run = await story.text(
			createResponse({ prompt: '={{ $json.say }}', options: { concurrency: 4 } }),
			{
				items: itemsOf({ say: 'A' }, { say: '[[error]] x' }, { say: '' }, { say: 'B' }),
				streaming: true,
				onError: 'continueRegularOutput',
			},
		);
		const failed = 'The model’s response failed: The model failed on purpose.';
		expect(listed(run.chunks).filter((line) => !/^\d item/.test(line))).toEqual([
			'0 begin',
			'0 end',
			'1 begin',
			`1 error ${failed}`,
			'1 end',
			'2 begin',
			'2 error Prompt is empty',
			'2 end',
			'3 begin',
			'3 end',
		]);
		expect(run.items.map(({ json }) => json.text ?? json.error)).toEqual([
			'You said: A',
			failed,
			'Prompt is empty',
			'You said: B',
		]);
	});

	test('Stream need not be on, and may be', async () => {
		const off = await story.text(createResponse(), { streaming: true });
		const on = await story.text(streamed(), { streaming: true });
		expect(story.gateway.requests.map(({ body }) => body)).toEqual([
			{ model: 'aurora-text-1', input: 'Hello there', stream: true },
			{ model: 'aurora-text-1', input: 'Hello there', stream: true },
		]);
		expect(listed(on.chunks)).toEqual(listed(off.chunks));
		expect(comparable(on.items[0]?.json)).toEqual(comparable(off.items[0]?.json));
	});

	test('a JSON document in place of a stream is passed on in one piece', async () => {
		story.gateway.settings.intercept = () => ({
			kind: 'reply',
			status: 200,
			body: {
				id: 'r1',
				status: 'completed',
				output: [{ type: 'message', content: [{ type: 'output_text', text: 'Whole' }] }],
			},
		});
		const run = await story.text(createResponse(), { streaming: true });
		expect(listed(run.chunks)).toEqual(['0 begin', '0 item Whole', '0 end']);
		expect(run.items[0]?.json.text).toBe('Whole');
	});

	test('a refusal is passed on', async () => {
		const run = await story.text(createResponse({ prompt: '[[refuse]] x' }), { streaming: true });
		const said = run.chunks.map(({ content }) => content ?? '').join('');
		expect(said).toBe('I cannot help with that.');
	});

	test('an error before the first byte is told as well', async () => {
		const record = newRecord();
		const run = await story.textError(createResponse({ prompt: '[[status:403]] x' }), {
			streaming: true,
			record,
		});
		expect(listed(record.chunks)).toEqual(['0 begin', `0 error ${run.error.message}`, '0 end']);
	});

	test('text that is not the JSON that was asked for is told, and then the error', async () => {
		const run = await story.text(
			createResponse({
				prompt: '[[bad-json]] x',
				options: { outputFormat: { format: { type: 'json_object' } } },
			}),
			{ streaming: true, onError: 'continueRegularOutput' },
		);
		expect(listed(run.chunks).slice(-2)).toEqual([
			`0 error ${run.items[0]?.json.error as string}`,
			'0 end',
		]);
	});

	test('a caller who has left does no harm', async () => {
		const record = newRecord();
		record.chunks.push = () => {
			throw new Error('The caller has left');
		};
		const run = await story.text(createResponse(), { streaming: true, record });
		expect(run.items[0]?.json.text).toBe('You said: Hello there');
	});

	/** The chunks of a run: their types, and the text of each item. */
	const told = (chunks: Chunks) => ({
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
