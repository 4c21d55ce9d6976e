import { imageBelongsTo, sizeOf } from '../../gateway';
import { completed, errorOf, start } from './client';

const ID = expect.any(String) as string;
const NOW = Date.UTC(2026, 0, 1) / 1000;

type Data = Record<string, unknown> & { type: string; delta?: string };

const eventsOf = (text: string) =>
	[...text.matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)].map(([, event, data]) => {
		return { event, data: JSON.parse(data!) as Data };
	});

const deltasOf = (events: ReturnType<typeof eventsOf>) =>
	events.map(({ data }) => data.delta ?? '').join('');

test('The model list has the models of the calling key, and may be empty', async () => {
	const { client, gateway } = await start();
	const own = await client.ask('models', {}, { key: 'imagesOnly' });
	const model = { id: 'aurora-image-1', object: 'model' };
	expect([own.status, own.json]).toMatchObject([200, { object: 'list', data: [model] }]);
	delete gateway.settings.models['aurora-image-1'];
	const none = await client.ask('models', {}, { key: 'imagesOnly' });
	expect([none.status, none.json]).toEqual([200, { object: 'list', data: [] }]);
});

describe('Response', () => {
	test('has the fields of the contract, and another ID each time', async () => {
		const { client } = await start();
		const { json, status } = await client.ask('responses');
		const other = await client.ask('responses', { stream: false });
		const content = [{ type: 'output_text', text: 'You said: Hello there' }];
		const output = [{ type: 'message', role: 'assistant', content }];
		const usage = { input_tokens: 2, output_tokens: 4, total_tokens: 6 };
		const fields = { id: ID, object: 'response', created_at: NOW, status: 'completed' };
		const response = { ...fields, model: 'aurora-text-1', output, usage };
		expect([status, json]).toMatchObject([200, response]);
		expect(other.json).not.toMatchObject({ id: (json as { id: string }).id });
	});

	test('accepts an array of items, tools, unknown fields, and store: false', async () => {
		const { client } = await start();
		const input = [
			{ role: 'developer', content: [{ type: 'input_text', text: 'Be kind.' }] },
			{ role: 'user', content: 'One' },
			{ role: 'assistant', content: [{ type: 'output_text', text: 'Yes?' }] },
			{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Two' }] },
		];
		const more = { input, store: false, tools: [], some_new_field: { a: [1] } };
		const first = await client.ask('responses', more);
		const text = 'You said: Two\\nBefore that you said: One\\nI keep to: Be kind.';
		expect([first.status, first.text]).toEqual([200, expect.stringContaining(text)]);
		const { id: previous_response_id } = first.json as { id: string };
		const next = await client.ask('responses', { previous_response_id });
		expect(errorOf(next)).toBe('400 previous_response_not_found previous_response_id');
	});

	test('comes as the text of its events if it is incomplete and the switch says so', async () => {
		const { client } = await start({ unfinishedAsEvents: true });
		const whole = await client.ask('responses');
		const unfinished = await client.ask('responses', { max_output_tokens: 3 });
		const types = [whole, unfinished].map(({ headers }) => headers['content-type']);
		expect(types.join()).toMatch(/^application\/json.*,text\/event-stream/);
		expect(unfinished.text).toContain('event: response.incomplete\n');
	});

	test('is incomplete if max_output_tokens is too small', async () => {
		const { client } = await start();
		const { json } = await client.ask('responses', { max_output_tokens: 3 });
		const output = [{ status: 'incomplete', content: [{ text: 'You said: Hello' }] }];
		const incomplete_details = { reason: 'max_output_tokens' };
		expect(json).toMatchObject({ status: 'incomplete', incomplete_details, output });
	});
});

describe('Events', () => {
	test('are numbered, named as their type, and end with the whole response', async () => {
		const { client } = await start();
		const answer = await client.ask('responses', { stream: true });
		expect(answer.headers['content-type']).toMatch(/^text\/event-stream/);
		expect(answer.text).toMatch(/\n\ndata: \[DONE\]\n\n$/);
		const events = eventsOf(answer.text);
		const begun = ['created', 'in_progress', 'output_item.added', 'content_part.added'];
		const texts = ['output_text.delta', 'output_text.done', 'content_part.done'];
		const types = [...begun, ...texts, 'output_item.done', 'completed'];
		const seen = [...new Set(events.map(({ data }) => data.type))];
		expect(seen).toEqual(types.map((type) => `response.${type}`));
		expect(events.map(({ data }) => data.sequence_number)).toEqual([...events.keys()]);
		expect(events.map(({ event }) => event)).toEqual(events.map(({ data }) => data.type));
		expect(deltasOf(events)).toBe('You said: Hello there');
		const whole = (await client.ask('responses')).json as { output: object[] };
		const output = whole.output.map((item) => ({ ...item, id: ID }));
		expect(events.at(-1)?.data.response).toEqual({ ...whole, id: ID, output });
	});

	test('arrive one after the other: responseMs before the first delta, deltaMs before each', async () => {
		const { client, time } = await start({ responseMs: 5_000, deltaMs: 100, streamDone: false });
		const from = time.now();
		const body = JSON.stringify({ model: 'aurora-text-1', input: 'a b c', stream: true });
		const reply = await client.open('POST', '/v1/responses', { body });
		const seen: string[] = [];
		const reading = (async () => {
			for await (const chunk of reply.body) {
				for (const { data } of eventsOf(String(chunk))) {
					if (data.delta) seen.push(`${data.delta} ${time.now() - from}`);
				}
			}
		})();
		await time.drive(reading);
		expect(seen).toEqual(['You 5100', ' said: 5200', ' a 5300', ' b 5400', ' c 5500']);
	});

	test.each([
		['[[fail]]', { type: 'response.failed', response: { status: 'failed' } }],
		['[[error]]', { type: 'error', code: 'server_error' }],
	])('%s: a stream ends by an error event after partial output', async (word, last) => {
		const { client } = await start();
		const input = `Tell me more ${word}`;
		const events = eventsOf((await client.ask('responses', { stream: true, input })).text);
		expect(deltasOf(events)).toBe('You said: Tell');
		expect(events.at(-1)?.data).toMatchObject(last);
	});
});

test.each([408, 429, 503])('[[status:%i]] always, [[once:%i]] the first time', async (status) => {
	const { client, gateway } = await start();
	const seen: unknown[] = [];
	for (const input of [`[[status:${status}]]`, `[[once:${status}]]`, `[[once:${status}]]`]) {
		const response = await client.ask('responses', { input });
		const submit = await client.ask('generations', { prompt: input });
		seen.push(response.status, response.headers['retry-after'], submit.status);
	}
	const refused = [status, [429, 503].includes(status) ? '2' : undefined, status];
	expect(seen).toEqual([...refused, ...refused, 200, undefined, 202]);
	expect(gateway.charges).toHaveLength(2);
});

/** A gateway with a task that is over: see {@link completed}. */
async function finished(change: Record<string, unknown> = {}) {
	const harness = await start({ taskLifetime: 3600 });
	return { ...harness, ...(await completed(harness, change)) };
}

const always = (id: string) =>
	({ id, task_id: id, object: 'image.generation.task', expires_at: NOW + 3600 }) as const;

describe('Image task: states and fields', () => {
	const SUBMITS = ['generations', 'edits'] as const;
	test.each(SUBMITS)('%s: 202 and a running task, each time a new one', async (endpoint) => {
		const { client, gateway } = await start({ taskLifetime: 3600 });
		const own = { headers: { 'idempotency-key': 'one' } };
		const { status, headers, json } = await client.ask(endpoint, {}, own);
		const [{ id = '' } = {}] = gateway.tasks;
		const path = `/v1/images/tasks/${id}`;
		expect([status, headers.location, headers['retry-after']]).toEqual([202, path, '3']);
		const task = { ...always(id), status: 'processing', created_at: NOW };
		expect(json).toEqual({ ...task, poll_url: path });
		const poll = await client.send('GET', path);
		expect([poll.status, poll.headers['retry-after']]).toEqual([200, '3']);
		expect(poll.json).toEqual(task);
		expect((await client.ask(endpoint, {}, own)).json).not.toMatchObject({ id });
	});

	test('completed: http_status 200, image_url, result and completed_at, and no Retry-After', async () => {
		const { id, poll, urls, gateway } = await finished({ n: 2, response_format: 'b64_json' });
		expect([poll.status, poll.headers['retry-after']]).toEqual([200, undefined]);
		const revised_prompt = expect.anything() as string;
		const [image_url] = urls;
		expect(poll.json).toEqual({
			...always(id),
			status: 'completed',
			created_at: NOW,
			completed_at: NOW + 6,
			http_status: 200,
			image_url,
			result: { created: NOW + 6, data: urls.map((url) => ({ url, revised_prompt })) },
		});
		expect(urls).toHaveLength(2);
		expect([new URL(image_url).origin, gateway.storageUrl]).not.toContain(gateway.origin);
	});

	test('failed: http_status of the job and an error with type and message', async () => {
		const { id, poll } = await finished({ prompt: 'a tree [[fail:422]]' });
		expect([poll.status, poll.headers['retry-after']]).toEqual([200, undefined]);
		expect(poll.json).toEqual({
			...always(id),
			status: 'failed',
			http_status: 422,
			error: { type: 'image_generation_error', message: 'the image could not be made' },
		});
	});

	test('a task ends when its time has passed, and changes no more; it cannot be canceled', async () => {
		const { client, time } = await start({ taskSeconds: 6 });
		const [good, bad] = [await client.submit(), await client.submit({ prompt: '[[fail]] x' })];
		expect((await client.send('DELETE', `/v1/images/tasks/${good}`)).status).toBe(405);
		const seen: unknown[] = [];
		for (const ms of [5_999, 1, 10 ** 6]) {
			await time.advance(ms);
			for (const id of [good, bad]) seen.push((await client.poll(id)).json);
		}
		const states = ['processing', 'processing', 'completed', 'failed', 'completed', 'failed'];
		expect(seen).toMatchObject(states.map((status) => ({ status })));
	});

	test('unknown, expired and foreign tasks get the same 404; the image expires as well', async () => {
		const { client, time, id, urls } = await finished();
		const missing = [await client.poll(id, { key: 'second' }), await client.poll('__proto__')];
		await time.advance((3600 - 6) * 1000 - 1);
		const kept = [await client.poll(id), await client.download(urls[0])];
		expect(kept.map(({ status }) => status)).toEqual([200, 200]);
		await time.advance(1);
		missing.push(await client.poll(id));
		const type = 'IMAGE_TASK_NOT_FOUND';
		const error = { type, code: type, message: 'image task not found' };
		for (const { status, json } of missing) expect([status, json]).toEqual([404, { error }]);
		expect((await client.download(urls[0])).status).toBe(403);
	});
});

describe('Images and their storage', () => {
	test('an image has the requested size and belongs to its prompt alone', async () => {
		const { client, urls } = await finished({ n: 2, prompt: '灯台 🌊' });
		const { bytes, headers } = await client.download(urls[0]);
		const facts = [headers['content-type'], headers['content-length'], sizeOf(bytes)];
		expect(facts).toEqual(['image/png', `${bytes.length}`, { width: 64, height: 48 }]);
		expect(imageBelongsTo('灯台 🌊', bytes)).toBe(true);
		expect(imageBelongsTo('another', bytes)).toBe(false);
		expect(imageBelongsTo('灯台 🌊', bytes.subarray(0, -20))).toBe(false);
		expect((await client.download(urls[1]!)).bytes.equals(bytes)).toBe(false);
	});

	test('the storage refuses changed addresses and requests with a key, and records the key', async () => {
		const { client, gateway, urls } = await finished({ n: 2 });
		const [url] = urls;
		const changed = [
			url.replace(/signature=.*/, `signature=${'0'.repeat(64)}`),
			url.replace(/&signature=.*/, ''),
			url.replace(/expires=\d+/, 'expires=9999999999'),
			url.replace('/0.png', '/1.png'),
		];
		for (const address of changed) expect((await client.download(address)).status).toBe(403);
		expect((await client.download(url, { key: 'active' })).status).toBe(400);
		const { headers } = gateway.storageRequests.at(-1)!;
		expect(headers.authorization).toBe(`Bearer ${gateway.keys.active}`);
	});
});
