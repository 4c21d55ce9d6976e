import { getEventListeners } from 'node:events';
import type { IDataObject } from 'n8n-workflow';
import { errorReply, imageBelongsTo } from '../../gateway';
import { readBinary } from '../../scripts/engine/index';
import { file, itemsOf, numbered, shown, useHarness, type ShownError } from './arrange';
import { runChecked } from './image.arrange';
import { createResponse, generateImage, getModels } from './parameters';

const harness = useHarness();

/** The most requests that were being answered at once, each within a second. */
function watchInFlight() {
	const seen = { most: 0 };
	harness.gateway.settings.intercept = ({ stage }) => {
		if (stage !== 'before') return undefined;
		seen.most = Math.max(seen.most, harness.gateway.inFlight);
		return { kind: 'delay', ms: 1000 };
	};
	return seen;
}

describe('A batch', () => {
	test('keeps the order of its items and their images, whichever is done first', async () => {
		const durations = [20, 1, 13, 4, 8];
		harness.gateway.settings.taskSeconds = ({ prompt }) => durations[Number(prompt)]!;
		const run = await harness.image(
			generateImage({ prompt: '={{ String($json.n) }}', options: { concurrency: 5, n: 2 } }),
			{ items: numbered(5) },
		);

		expect(
			run.items.map(({ json, pairedItem }) => [json.prompt, json.image_index, pairedItem]),
		).toEqual(
			numbered(5).flatMap((_item, item) => [
				[String(item), 0, { item }],
				[String(item), 1, { item }],
			]),
		);
		for (const n of [0, 1, 2, 3, 4]) {
			const { binary } = run.items[2 * n]!;
			expect(imageBelongsTo(String(n), await readBinary(binary?.data))).toBe(true);
		}
	});

	test.each<[string, () => Promise<unknown>, most: number]>([
		['4 items', async () => await harness.text(getModels(), { items: numbered(9) }), 4],
		[
			'as many items as its first one says',
			async () =>
				await harness.text(createResponse({ options: { concurrency: '={{ $json.c }}' } }), {
					items: itemsOf({ c: '2' }, { c: 9 }, { c: 9 }, { c: 9 }),
				}),
			2,
		],
	])('works on %s at once', async (_name, run, most) => {
		const seen = watchInFlight();
		await run();
		expect(seen.most).toBe(most);
	});

	test('leaves nothing at the signal by which n8n cancels the execution', async () => {
		const { signal } = new AbortController();
		await harness.text(getModels(), { items: numbered(9), signal });
		expect(getEventListeners(signal, 'abort')).toEqual([]);
	});

	test('begins the next item as soon as one is done', async () => {
		harness.gateway.settings.taskSeconds = ({ prompt }) => (prompt === '0' ? 12 : 3);
		const start = harness.time.now();
		await harness.image(
			generateImage({ prompt: '={{ String($json.n) }}', options: { concurrency: 2 } }),
			{ items: numbered(5) },
		);
		expect(harness.gateway.tasks.map(({ createdAt }) => (createdAt - start) / 1000)).toEqual([
			0, 0, 3, 6, 9,
		]);
		expect(harness.seconds()).toBe(12);
	});
});

describe('Under Continue', () => {
	const error = 'The gateway does not permit this (HTTP 403, not_permitted): this is not permitted';
	const error_details = {
		http_status: 403,
		type: 'permission_error',
		code: 'not_permitted',
		request_id: expect.stringMatching(/^req_/) as string,
		retryable: false,
		advice: expect.stringMatching(/balance/) as string,
	};

	/** A node of which item 1 fails, and items with a file each. */
	const ask = createResponse({ prompt: '={{ $json.n === 1 ? "[[status:403]] x" : "Hello" }}' });
	const items = [0, 1, 2].map((n) => ({
		json: { n, customer: `C${n}` },
		binary: { photo: file(`photo ${n}`, `photo-${n}.png`) },
	}));

	test('a failed item becomes an item with the error alone, and the others go on', async () => {
		const run = await harness.text(ask, { items, onError: 'continueRegularOutput' });

		expect(run.outputs).toHaveLength(1);
		expect(run.items).toMatchObject([0, 1, 2].map((item) => ({ pairedItem: { item } })));
		const [done, failed, next] = run.items;
		for (const { json, binary } of [done!, next!]) {
			expect(json.text).toBe('You said: Hello');
			// As other nodes of an API do, it leaves the rest of its input behind.
			expect([json.customer, binary]).toEqual([undefined, undefined]);
		}
		expect(failed?.json).toEqual({ error, error_details });
		expect([failed?.binary, failed?.error]).toEqual([undefined, undefined]);
	});

	test('an item on the error output keeps the fields and the files of its input item', async () => {
		const onError = 'continueErrorOutput';
		const type = 'n8n-nodes-model-access.modelAccess';
		const node = { name: 'Ask', type, parameters: ask, onError } as const;
		const ended = await runChecked(harness, [node], { items });
		expect(ended.items('Ask', 0).map(({ json }) => json.text)).toEqual(
			Array(2).fill('You said: Hello'),
		);
		expect(ended.items('Ask', 1)).toEqual([
			expect.objectContaining({
				json: { n: 1, customer: 'C1', error, error_details },
				binary: { photo: expect.objectContaining({ fileName: 'photo-1.png' }) as object },
			}),
		]);
		// By this field n8n tells which items go to the error output.
		const { items: outputs } = await harness.text(ask, { items, onError });
		expect(outputs[1]?.error).toMatchObject({ name: 'NodeApiError', httpCode: '403' });
	});

	test('what fails for all items keeps the files of each on the error output', async () => {
		const access = { apiKey: 'two words' };
		const run = await harness.text(ask, { items, onError: 'continueErrorOutput', access });
		expect(run.items.map(({ binary }) => binary?.photo?.fileName)).toEqual(
			[0, 1, 2].map((n) => `photo-${n}.png`),
		);
	});

	test.each<[string, IDataObject, error: RegExp, advice: RegExp]>([
		[
			'a bad value',
			{ options: { temperature: '={{ $json.n === 1 ? "hot" : 1 }}' } },
			/^Temperature is not a number$/,
			/^Enter a number/,
		],
		[
			'an expression that fails',
			{ prompt: '={{ $json.n === 1 ? $("Nowhere").item.json.a : "x" }}' },
			/^Referenced node doesn't exist$/,
			/Check the expressions of the fields/,
		],
	])('%s is the error of its item', async (_name, given, message, advice) => {
		const run = await harness.text(createResponse(given), {
			items: numbered(3),
			onError: 'continueRegularOutput',
		});

		expect(run.items.map(({ json }) => 'error' in json)).toEqual([false, true, false]);
		expect(run.items[1]?.json).toEqual({
			error: expect.stringMatching(message) as string,
			error_details: { retryable: false, advice: expect.stringMatching(advice) as string },
		});
		expect(harness.gateway.count()).toBe(2);
	});

	test.each<[string, IDataObject, object]>([
		[
			'Base URL uses http, which would send the key unencrypted',
			{},
			{ access: { baseUrl: 'http://gateway.example.com' } },
		],
		['API Key contains a space', {}, { access: { apiKey: 'two words' } }],
		['Concurrency is not a number', { options: { concurrency: '={{ "x" }}' } }, {}],
	])('what is wrong for all items is the error of each: %s', async (message, given, more) => {
		const run = await harness.text(createResponse(given), {
			items: numbered(3),
			onError: 'continueRegularOutput',
			...more,
		});
		expect(run.items.map(({ json, pairedItem }) => [json.error, pairedItem])).toEqual(
			[0, 1, 2].map((item) => [message, { item }]),
		);
		expect(harness.gateway.count()).toBe(0);
	});
});

describe('After a failure that ends the node', () => {
	/** Images of which the last is refused, as a task, at 3 s; the others take a minute. */
	async function failedImages(count: number, given: IDataObject = {}) {
		harness.gateway.settings.taskSeconds = ({ prompt }) => (prompt.startsWith('bad') ? 3 : 60);
		const prompt = `={{ $json.n === ${count - 1} ? "bad [[fail:400]]" : "good " + $json.n }}`;
		const run = await harness.imageError(generateImage({ prompt, ...given }), {
			items: numbered(count),
		});
		const ids = (start: string) =>
			harness.gateway.tasks.flatMap(({ id, request }) =>
				request.prompt.startsWith(start) ? [id] : [],
			);
		return { error: shown(run), own: ids('bad')[0], others: ids('good') };
	}

	test('no new item starts', async () => {
		harness.gateway.settings.responseMs = 1000;
		const run = await harness.textError(
			createResponse({
				prompt: '={{ $json.n === 0 ? "[[status:403]] x" : "Hello" }}',
				options: { concurrency: 2 },
			}),
			{ items: numbered(8) },
		);

		expect(shown(run).context.itemIndex).toBe(0);
		// The one beside it, which was under way already.
		expect(harness.gateway.count()).toBe(2);
	});

	test('the error is that of the item which failed first', async () => {
		harness.gateway.settings.taskSeconds = ({ prompt }) => (prompt.startsWith('0') ? 9 : 3);
		const run = await harness.imageError(
			generateImage({ prompt: '={{ $json.n }} [[fail:400]]', options: { concurrency: 3 } }),
			{ items: numbered(3) },
		);

		expect(shown(run).context.itemIndex).toBe(1);
		expect(shown(run).context.details?.task_id).toBe(harness.gateway.tasks[1]?.id);
	});

	test('waits end, and the accepted tasks stand in the description, one a line, in the order of the items', async () => {
		// The later an item stands, the sooner its submit is answered.
		harness.gateway.settings.intercept = ({ record, stage }) => {
			const { prompt } = (record.body ?? {}) as { prompt?: string };
			const n = Number(/good (\d)/.exec(prompt ?? '')?.[1] ?? NaN);
			return stage === 'before' && n >= 0 ? { kind: 'delay', ms: 1000 - 100 * n } : undefined;
		};
		const { error, own, others } = await failedImages(9, { options: { concurrency: 9 } });

		expect(harness.seconds()).toBe(3);
		const sent = harness.gateway.count();
		await harness.time.advance(120_000);
		expect(harness.gateway.count()).toBe(sent);

		const accepted = others.reverse();
		expect(error.message).toMatch(/^[^\n]+ – 8 image tasks of other items were accepted$/);
		const [about, ...lines] = error.description?.split('<br>\n') ?? [];
		expect(about).toContain(`Task ID: ${own}.`);
		// The waits that ended are no doubts.
		expect(lines).toEqual([
			'Image tasks of other items were accepted and may be charged. Do not submit them again: fetch each with Task → Wait.',
			...accepted.map((id, item) => `Item ${item}: ${id}`),
		]);
		expect(error.context).toMatchObject({
			itemIndex: 8,
			acceptedTasks: accepted.map((task_id, item) => ({ item, task_id })),
		});
	});

	test('a task that is accepted only after the failure is listed too', async () => {
		harness.gateway.settings.intercept = ({ record, stage }) => {
			const { prompt } = (record.body ?? {}) as { prompt?: string };
			if (stage !== 'before' || prompt === undefined) return undefined;
			return prompt === 'bad' ? errorReply(400) : { kind: 'delay', ms: 5000 };
		};
		const run = await harness.imageError(
			generateImage({ prompt: '={{ $json.n === 0 ? "bad" : "good" }}' }),
			{ items: numbered(2) },
		);
		expect(shown(run).context.acceptedTasks).toEqual([
			{ item: 1, task_id: harness.gateway.tasks[0]?.id },
		]);
	});

	test('an expression that failed names its item, and the task whose image was fetched already', async () => {
		const run = await harness.imageError(
			generateImage({
				prompt: '={{ $json.n === 1 ? $("Nowhere").item.json.a : "good" }}',
				options: { concurrency: 1 },
			}),
			{ items: numbered(2) },
		);
		expect(run.error.message).toMatch(/ – 1 image task of another item was accepted$/);
		expect(harness.gateway.tasks).toHaveLength(1);
		expect(shown(run).context).toMatchObject({
			itemIndex: 1,
			acceptedTasks: harness.gateway.tasks.map(({ id }) => ({ item: 0, task_id: id })),
		});
	});
});

describe('After a response that ends the node', () => {
	/** Each item says what becomes of it. The gateway takes its time, but for the bad one. */
	async function failed(...prompts: string[]): Promise<ShownError & { inDoubt: unknown }> {
		harness.gateway.settings.intercept = ({ record, stage }) => {
			const { input } = record.body as IDataObject;
			if (input === 'bad') return errorReply(400);
			if (stage === 'before') return { kind: 'delay', ms: 5000 };
			return input === 'lost' ? { kind: 'destroy' } : undefined;
		};
		const run = await harness.textError(
			createResponse({
				prompt: '={{ $json.prompt }}',
				stream: '={{ $json.prompt.startsWith("[[error]]") }}',
				options: { concurrency: prompts.length },
			}),
			{ items: itemsOf(...prompts.map((prompt) => ({ prompt }))) },
		);
		const error = shown(run);
		expect(error.message).toMatch(/refused the request as invalid \(HTTP 400, invalid_request\)/);
		expect(error.description).toMatch(/^Fix the request/);
		expect(error.context.itemIndex).toBe(prompts.indexOf('bad'));
		return Object.assign(error, { inDoubt: (error.context as IDataObject).inDoubt });
	}

	test('the error lists what may have been executed and charged, with its text', async () => {
		const { description, inDoubt } = await failed('lost', 'bad', '[[error]] Tell me much more');

		const [lost, broken] = [
			'The connection to the gateway was lost before its answer arrived (ECONNRESET)',
			'The model’s response failed (server_error): The model failed on purpose.',
		];
		expect(description?.split('<br>\n').slice(1)).toEqual([
			'These requests may have been executed and charged as well. Check the usage in the gateway’s console.',
			`Item 0: ${lost}`,
			`Item 2: ${broken}`,
		]);
		expect(inDoubt).toHaveLength(2);
		expect(inDoubt).toEqual(
			expect.arrayContaining([
				{ item: 0, message: lost },
				{
					item: 2,
					message: broken,
					partial_text: expect.stringMatching(/^You said: \S/) as string,
				},
			]),
		);
	});

	test('the error counts the answers of other items, after what is in doubt', async () => {
		const { description } = await failed('Hello', 'bad', 'lost', 'Ahoy');
		expect(description).toMatch(/charged as well\. [^]*Item 2: The connection/);
		expect(description).toMatch(
			/<br>\n2 answers of other items were received\. They are lost unless Retry On Fail returns them\. Set On Error to Continue to keep what succeeds\.$/,
		);
	});

	test('the error says neither where there is none', async () => {
		const { description, inDoubt } = await failed('bad');
		expect(description).not.toMatch(/as well|received/);
		expect(inDoubt).toBeUndefined();
	});
});
