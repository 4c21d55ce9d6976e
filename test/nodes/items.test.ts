import { getEventListeners } from 'node:events';
import { errorReply } from '../../gateway';
import { CONTINUE, createResponse, file, generateImage, getModels, itemsOf } from './arrange';
import { numbered, shown, useHarness, waitForTask, type RunOptions } from './arrange';
import type { ShownError, IDataObject } from './arrange';
import { expectImages, runChecked } from './image.arrange';

const harness = useHarness();
/** An expression that fails. */
const LOST = '$("Nowhere").item.json.a';

describe('A batch', () => {
	test('keeps the order of its items and their images, whichever is done first', async () => {
		const durations = [20, 1, 13, 4, 8];
		harness.gateway.settings.taskSeconds = ({ prompt }) => durations[Number(prompt)]!;
		const options = { concurrency: 5, n: 2 };
		const given = generateImage({ prompt: '={{ String($json.n) }}', options });
		const { items } = await harness.image(given, { items: numbered(5) });
		const asked = [0, 1, 2, 3, 4].flatMap((item) =>
			[0, 1].map((image_index) => ({ json: { image_index }, pairedItem: { item } })),
		);
		expect(items).toMatchObject(asked);
		const prompts = asked.map(({ pairedItem }) => String(pairedItem.item));
		await expectImages(items, prompts);
	});

	test.each([
		['4 items', {}, 4],
		['as many items as its first one says', { concurrency: '={{ $json.c }}' }, 2],
	])('works on %s at once', async (_name, options, most) => {
		let seen = 0;
		harness.gateway.settings.intercept = ({ stage }) => {
			if (stage !== 'before') return undefined;
			seen = Math.max(seen, harness.gateway.inFlight);
			return { kind: 'delay', ms: 1000 };
		};
		const items = itemsOf({ c: '2' }, ...Array<IDataObject>(8).fill({ c: 9 }));
		await harness.text(createResponse({ options }), { items });
		expect(seen).toBe(most);
	});

	test('leaves nothing at the signal by which n8n cancels the execution', async () => {
		const { signal } = new AbortController();
		await harness.text(getModels(), { items: numbered(9), signal });
		expect(getEventListeners(signal, 'abort')).toEqual([]);
	});

	test('begins the next item as soon as one is done', async () => {
		harness.gateway.settings.taskSeconds = ({ prompt }) => (prompt === '0' ? 12 : 3);
		const start = harness.time.now();
		const given = generateImage({ prompt: '={{ String($json.n) }}', options: { concurrency: 2 } });
		await harness.image(given, { items: numbered(5) });
		const began = harness.gateway.tasks.map(({ createdAt }) => (createdAt - start) / 1000);
		expect(began).toEqual([0, 0, 3, 6, 9]);
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
		const run = await harness.text(ask, { items, ...CONTINUE });

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
		const texts = ended.items('Ask', 0).map(({ json }) => json.text);
		expect(texts).toEqual(Array(2).fill('You said: Hello'));
		const kept = ended.items('Ask', 1).map(({ json, binary }) => [json, binary]);
		const photo = expect.objectContaining({ fileName: 'photo-1.png' }) as object;
		expect(kept).toEqual([[{ n: 1, customer: 'C1', error, error_details }, { photo }]]);
		// By this field n8n tells which items go to the error output.
		const { items: outputs } = await harness.text(ask, { items, onError });
		expect(outputs[1]?.error).toMatchObject({ name: 'NodeApiError', httpCode: '403' });
	});

	const hot = { options: { temperature: '={{ $json.n === 1 ? "hot" : 1 }}' } };
	const lost = { prompt: `={{ $json.n === 1 ? ${LOST} : "x" }}` };
	test.each<[error: string, IDataObject, advice: RegExp]>([
		['Temperature is not a number', hot, /^Enter a number/],
		["Referenced node doesn't exist", lost, /Check the expressions of the fields/],
	])('what is wrong for one item is its error: %s', async (error, given, advice) => {
		const run = await harness.text(createResponse(given), { items: numbered(3), ...CONTINUE });
		expect(run.items.map(({ json }) => 'error' in json)).toEqual([false, true, false]);
		const error_details = { retryable: false, advice: expect.stringMatching(advice) as string };
		expect(run.items[1]?.json).toEqual({ error, error_details });
		expect(harness.gateway.count()).toBe(2);
	});

	const http = { baseUrl: 'http://gateway.example.com' };
	test.each<[string, IDataObject, RunOptions]>([
		['Base URL uses http, which would send the key unencrypted', {}, { access: http }],
		['API Key contains a space', {}, { access: { apiKey: 'two words' } }],
		['Concurrency is not a number', { options: { concurrency: '={{ "x" }}' } }, {}],
	])('what is wrong for all items is the error of each: %s', async (error, given, more) => {
		const run = await harness.text(createResponse(given), { items, ...CONTINUE, ...more });
		const failed = [0, 1, 2].map((item) => ({ json: { error }, pairedItem: { item } }));
		expect(run.items).toMatchObject(failed);
		const onError = 'continueErrorOutput';
		const other = await harness.text(createResponse(given), { items, onError, ...more });
		expect(other.items.map(({ binary }) => binary)).toEqual(items.map(({ binary }) => binary));
		expect(harness.gateway.count()).toBe(0);
	});
});

describe('After a failure that ends the node', () => {
	const promptOf = ({ body }: { body?: unknown }) => ((body ?? {}) as { prompt?: string }).prompt;

	test('no new item starts', async () => {
		harness.gateway.settings.responseMs = 1000;
		const prompt = '={{ $json.n === 0 ? "[[status:403]] x" : "Hello" }}';
		const given = createResponse({ prompt, options: { concurrency: 2 } });
		const run = await harness.textError(given, { items: numbered(8) });
		expect(shown(run).context.itemIndex).toBe(0);
		// The one beside it, which was under way already.
		expect(harness.gateway.count()).toBe(2);
	});

	test('the error is that of the item which failed first', async () => {
		harness.gateway.settings.taskSeconds = ({ prompt }) => (prompt.startsWith('0') ? 9 : 3);
		const prompt = '={{ $json.n }} [[fail:400]]';
		const given = generateImage({ prompt, options: { concurrency: 3 } });
		const { context } = shown(await harness.imageError(given, { items: numbered(3) }));
		expect(context.itemIndex).toBe(1);
		expect(context.details?.task_id).toBe(harness.gateway.tasks[1]?.id);
	});

	test('waits end, and the accepted tasks stand in the description, one a line, in the order of the items, to be fetched later', async () => {
		// The later an item stands, the sooner its submit is answered; the last, at 3 s, is refused.
		harness.gateway.settings.intercept = ({ record, stage }) => {
			const n = /good (\d)/.exec(promptOf(record) ?? '')?.[1];
			return stage === 'before' && n ? { kind: 'delay', ms: 1000 - 100 * Number(n) } : undefined;
		};
		harness.gateway.settings.taskSeconds = ({ prompt }) => (prompt.startsWith('bad') ? 3 : 60);
		const prompt = '={{ $json.n === 8 ? "bad [[fail:400]]" : "good " + $json.n }}';
		const given = generateImage({ prompt, options: { concurrency: 9 } });
		const run = await harness.imageError(given, { items: numbered(9) });
		expect(harness.seconds()).toBe(3);
		const sent = harness.gateway.count();
		await harness.time.advance(120_000);
		expect(harness.gateway.count()).toBe(sent);

		// As n8n saves it.
		const error = JSON.parse(JSON.stringify(run.error)) as ShownError;
		const { tasks } = harness.gateway;
		const isOwn = ({ request }: (typeof tasks)[0]) => request.prompt.startsWith('bad');
		const accepted = tasks.filter((task) => !isOwn(task)).reverse();
		const own = tasks.find(isOwn)?.id;
		expect(run.error.message).toMatch(/^[^\n]+ – 8 image tasks of other items were accepted$/);
		const [about, charged, ...lines] = error.description?.split('<br>\n') ?? [];
		expect([about, charged]).toEqual([
			expect.stringContaining(`Task ID: ${own}.`),
			expect.stringMatching(/^Image tasks of other items were accepted and may be charged\./),
		]);
		// The waits that ended are no doubts.
		expect(lines).toEqual(accepted.map(({ id }, item) => `Item ${item}: ${id}`));
		const acceptedTasks = accepted.map(({ id }, item) => ({ item, task_id: id }));
		const details = { task_id: own };
		expect(error.context).toMatchObject({ itemIndex: 8, acceptedTasks, details });
		const later = waitForTask('={{ $json.task_id }}');
		const { items } = await harness.image(later, { items: itemsOf(...acceptedTasks) });
		const prompts = accepted.map(({ request }) => request.prompt);
		await expectImages(items, prompts);
	});

	test('a task that is accepted only after the failure is listed too', async () => {
		harness.gateway.settings.intercept = ({ record, stage }) => {
			const prompt = promptOf(record);
			if (stage !== 'before' || prompt === undefined) return undefined;
			return prompt === 'bad' ? errorReply(400) : { kind: 'delay', ms: 5000 };
		};
		const given = generateImage({ prompt: '={{ $json.n === 0 ? "bad" : "good" }}' });
		const { context } = shown(await harness.imageError(given, { items: numbered(2) }));
		const task_id = harness.gateway.tasks[0]?.id;
		expect(context.acceptedTasks).toEqual([{ item: 1, task_id }]);
	});

	test('an expression that failed names its item, and the task whose image was fetched already', async () => {
		const prompt = `={{ $json.n === 1 ? ${LOST} : "good" }}`;
		const given = generateImage({ prompt, options: { concurrency: 1 } });
		const error = shown(await harness.imageError(given, { items: numbered(2) }));
		expect(error.message).toMatch(/ – 1 image task of another item was accepted$/);
		const acceptedTasks = harness.gateway.tasks.map(({ id }) => ({ item: 0, task_id: id }));
		expect(error.context).toMatchObject({ itemIndex: 1, acceptedTasks });
		expect(acceptedTasks).toHaveLength(1);
	});
});

test('After a response that ends the node the error lists what may be charged, with its text, and counts the answers of other items', async () => {
	harness.gateway.settings.intercept = ({ record, stage }) => {
		const { input } = record.body as IDataObject;
		if (input === 'bad') return errorReply(400);
		if (stage === 'before') return { kind: 'delay', ms: 5000 };
		return input === 'lost' ? { kind: 'destroy' } : undefined;
	};
	const prompts = ['lost', 'bad', '[[error]] Tell me much more', 'Hello', 'Ahoy'];
	const given = createResponse({
		prompt: '={{ $json.prompt }}',
		stream: '={{ $json.prompt.startsWith("[[error]]") }}',
		options: { concurrency: prompts.length },
	});
	const items = itemsOf(...prompts.map((prompt) => ({ prompt })));
	const { message, description, context } = shown(await harness.textError(given, { items }));
	expect(message).toMatch(/refused the request as invalid \(HTTP 400, invalid_request\)/);
	const lost = 'The connection to the gateway was lost before its answer arrived (ECONNRESET)';
	const broken = 'The model’s response failed (server_error): The model failed on purpose.';
	// The whole texts are in test/unit/n8n/error-of-a-run.test.ts.
	expect(description?.split('<br>\n')).toEqual([
		expect.stringMatching(/^Fix the request/),
		expect.stringMatching(/^These requests may have been executed and charged as well\./),
		...[`Item 0: ${lost}`, `Item 2: ${broken}`],
		expect.stringMatching(/^2 answers of other items were received\. They are lost unless/),
	]);
	const partial_text = expect.stringMatching(/^You said: \S/) as string;
	const inDoubt = [
		{ item: 0, message: lost },
		{ item: 2, message: broken, partial_text },
	];
	expect(context).toMatchObject({ itemIndex: 1, inDoubt });
});
