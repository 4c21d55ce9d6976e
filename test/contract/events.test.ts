import { setTheScene } from './support/client';
import { eventsOf, joined, kindsOf } from './support/events';

const MESSAGE = [
	'response.output_item.added',
	'response.content_part.added',
	'response.output_text.delta',
	'response.output_text.done',
	'response.content_part.done',
	'response.output_item.done',
];
const BEGIN = ['response.created', 'response.in_progress'];

describe('Events', () => {
	it('1 — a text: events in order, numbered, named as their type', async () => {
		const { client } = await setTheScene();
		const events = eventsOf(await client.respond({ input: 'Hello there', stream: true }));
		expect(kindsOf(events)).toEqual([...BEGIN, ...MESSAGE, 'response.completed']);
		expect(events.map(({ data }) => data.sequence_number)).toEqual(events.map((_e, at) => at));
		expect(events.map(({ event }) => event)).toEqual(events.map(({ data }) => data.type));
		expect(joined(events, 'response.output_text.delta')).toBe('You said: Hello there');
	});

	it('1 — normal end: the last event carries the response that an unstreamed request gets', async () => {
		const { client } = await setTheScene();
		const request = { input: 'Hello there', reasoning: { summary: 'auto' }, metadata: { a: 'b' } };
		const whole = (await client.respond(request)).json as Record<string, unknown>;
		const events = eventsOf(await client.respond({ ...request, stream: true }));
		const last = events.at(-1)?.data.response as Record<string, unknown>;
		const withoutIds = (response: unknown): unknown =>
			JSON.parse(JSON.stringify(response, (name, value: unknown) => (name === 'id' ? 0 : value)));
		expect(withoutIds(last)).toEqual(withoutIds(whole));
		const first = events[0]?.data.response as Record<string, unknown>;
		expect(first).toMatchObject({ id: last.id, status: 'in_progress', output: [], usage: null });
	});

	it('1 — each event says where it belongs', async () => {
		const { client } = await setTheScene();
		const events = eventsOf(await client.respond({ stream: true, input: 'Hi [[two]]' }));
		const response = events.at(-1)?.data.response as { output: Array<{ id: string }> };
		for (const [output_index, { id: item_id }] of response.output.entries()) {
			const mine = events.filter(({ data }) => data.item_id === item_id);
			expect(kindsOf(mine)).toEqual(MESSAGE.slice(1, -1));
			for (const { data } of mine) expect(data).toMatchObject({ output_index, content_index: 0 });
			const items = events.filter(({ data }) => (data.item as { id?: string })?.id === item_id);
			expect(items.map(({ data }) => [data.type, data.output_index])).toEqual([
				['response.output_item.added', output_index],
				['response.output_item.done', output_index],
			]);
		}
	});

	it('1 — incremental events: the time between deltas is the gateway’s', async () => {
		const { client, time } = await setTheScene({ responseMs: 5_000, deltaMs: 100 });
		const start = time.now();
		const reply = await client.open('POST', '/v1/responses', {
			body: JSON.stringify({ model: 'aurora-text-1', input: 'a b c', stream: true }),
		});
		expect(reply.statusCode).toBe(200);
		const seen: Array<[number, number]> = [];
		let text = '';
		const reading = (async () => {
			for await (const chunk of reply.body) {
				text += String(chunk);
				seen.push([time.now() - start, text.match(/output_text\.delta\n/g)?.length ?? 0]);
			}
		})();
		await time.drive(reading);
		expect(seen[0]).toEqual([0, 0]);
		expect(time.now() - start).toBe(5_000 + 5 * 100);
		for (const [at, deltas] of seen) {
			if (deltas > 0) expect(at).toBeGreaterThanOrEqual(5_000 + deltas * 100);
		}
		expect(joined(eventsOf({ text }), 'response.output_text.delta')).toBe('You said: a b c');
	});

	it('1 — partial output: response.incomplete', async () => {
		const { client } = await setTheScene();
		const events = eventsOf(await client.respond({ stream: true, max_output_tokens: 2 }));
		expect(joined(events, 'response.output_text.delta')).toBe('You said:');
		expect(events.at(-1)?.data).toMatchObject({
			type: 'response.incomplete',
			response: {
				status: 'incomplete',
				incomplete_details: { reason: 'max_output_tokens' },
				output: [{ status: 'incomplete' }],
			},
		});
	});

	it('1 — error events: response.failed, after partial output', async () => {
		const { client } = await setTheScene();
		const input = 'Tell me much more [[fail]]';
		const events = eventsOf(await client.respond({ stream: true, input }));
		expect(joined(events, 'response.output_text.delta')).toBe('You said: Tell');
		expect(kindsOf(events)).toEqual([...BEGIN, ...MESSAGE.slice(0, 3), 'response.failed']);
		expect(events.at(-1)?.data.response).toMatchObject({
			status: 'failed',
			error: { code: 'server_error', message: 'The model failed on purpose.' },
		});
	});

	it('1 — error events: error, after partial output', async () => {
		const { client } = await setTheScene();
		const events = eventsOf(await client.respond({ stream: true, input: 'Tell me [[error]]' }));
		expect(joined(events, 'response.output_text.delta')).toBe('You said: Tell');
		expect(events.at(-1)).toMatchObject({
			event: 'error',
			data: { code: 'server_error', message: 'The model failed on purpose.', param: null },
		});
		expect((await client.respond({ input: 'Tell me [[error]]' })).status).toBe(500);
	});

	it('1 — network interruption: a client that leaves ends the stream', async () => {
		const { client, gateway, time } = await setTheScene({ deltaMs: 1_000 });
		const leaving = new AbortController();
		const reply = await client.open('POST', '/v1/responses', {
			body: JSON.stringify({ model: 'aurora-text-1', input: '[[words:1000]] x', stream: true }),
			signal: leaving.signal,
		});
		const reading = reply.body.text();
		await time.advance(3_000);
		expect(gateway.inFlight).toBe(1);
		leaving.abort();
		await expect(reading).rejects.toThrow();
		while (gateway.inFlight > 0) await new Promise(setImmediate);
		expect(gateway.requests[0]).toMatchObject({ status: 499, endedAt: time.now() });
	});

	it.each([
		[true, true],
		[false, false],
	])('1 — a stream ends by [DONE] where the gateway is set so: %s', async (streamDone, ends) => {
		const { client } = await setTheScene({ streamDone });
		const answer = await client.respond({ stream: true });
		expect(answer.text.endsWith('\n\ndata: [DONE]\n\n')).toBe(ends);
		expect(eventsOf(answer).at(-1)?.event).toBe('response.completed');
	});

	it('1 — a long stream arrives whole', async () => {
		const { client } = await setTheScene();
		const events = eventsOf(await client.respond({ stream: true, input: '[[words:5000]]' }));
		expect(events.filter(({ event }) => event === 'response.output_text.delta')).toHaveLength(5000);
		expect(joined(events, 'response.output_text.delta')).toMatch(/^w1 w2 .* w5000$/);
	});

	it('2 — a refusal', async () => {
		const { client } = await setTheScene();
		const events = eventsOf(await client.respond({ stream: true, input: 'Hi [[refuse]]' }));
		expect(kindsOf(events)).toEqual([
			...BEGIN,
			'response.output_item.added',
			'response.content_part.added',
			'response.refusal.delta',
			'response.refusal.done',
			'response.content_part.done',
			'response.output_item.done',
			'response.completed',
		]);
		expect(joined(events, 'response.refusal.delta')).toBe('I cannot help with that.');
	});

	it('2 — function calls', async () => {
		const { client } = await setTheScene();
		const tools = ['get_weather', 'get_time'].map((name) => ({
			type: 'function',
			name,
			parameters: { type: 'object', properties: { city: { type: 'string' } } },
		}));
		const input = 'get weather and get time in Oslo';
		const events = eventsOf(await client.respond({ stream: true, input, tools }));
		const call = [
			'response.output_item.added',
			'response.function_call_arguments.delta',
			'response.function_call_arguments.done',
			'response.output_item.done',
		];
		expect(kindsOf(events)).toEqual([...BEGIN, ...call, ...call, 'response.completed']);
		const { output } = events.at(-1)?.data.response as {
			output: Array<{ id: string; name: string; arguments: string; call_id: string }>;
		};
		expect(output.map(({ name }) => name)).toEqual(['get_weather', 'get_time']);
		for (const item of output) {
			const mine = events.filter(({ data }) => data.item_id === item.id);
			expect(joined(mine, 'response.function_call_arguments.delta')).toBe(item.arguments);
			expect(mine.at(-1)?.data).toMatchObject({ name: item.name, arguments: item.arguments });
		}
	});

	it('2 — reasoning, search with a source, a picture, and kinds that nobody knows', async () => {
		const { client } = await setTheScene({ defaultSize: '8x8' });
		const events = eventsOf(
			await client.respond({
				stream: true,
				input: 'Oslo [[unknown]]',
				reasoning: { summary: 'auto' },
				tools: [{ type: 'web_search' }, { type: 'image_generation', partial_images: 2 }],
			}),
		);
		expect(kindsOf(events)).toEqual([
			...BEGIN,
			'response.output_item.added',
			'response.telemetry.reading',
			'response.output_item.done',
			'response.output_item.added',
			'response.reasoning_summary_part.added',
			'response.reasoning_summary_text.delta',
			'response.reasoning_summary_text.done',
			'response.reasoning_summary_part.done',
			'response.output_item.done',
			'response.output_item.added',
			'response.web_search_call.in_progress',
			'response.web_search_call.searching',
			'response.web_search_call.completed',
			'response.output_item.done',
			'response.output_item.added',
			'response.image_generation_call.in_progress',
			'response.image_generation_call.generating',
			'response.image_generation_call.partial_image',
			'response.image_generation_call.completed',
			'response.output_item.done',
			...MESSAGE.slice(0, 3),
			'response.output_text.annotation.added',
			...MESSAGE.slice(3),
			'response.completed',
		]);
	});
});
