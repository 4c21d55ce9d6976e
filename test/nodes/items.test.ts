import { pictureBelongsTo } from '../../gateway';
import { readBinary, storeBinaryInMemory } from '../../scripts/engine/index';
import {
	createResponse,
	generateImage,
	getModels,
	itemsOf,
	numbered,
	shown,
	startStory,
	type Story,
} from './arrange';

let story: Story;
let start: number;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = await startStory();
	start = story.time.now();
});
afterEach(async () => await story.close());

const seconds = () => (story.time.now() - start) / 1000;

/** The most requests that were being answered at once. */
function watchInFlight() {
	const seen = { most: 0 };
	story.gateway.settings.intercept = ({ stage }) => {
		if (stage === 'before') seen.most = Math.max(seen.most, story.gateway.inFlight);
		return undefined;
	};
	return seen;
}

/** The most tasks that were processing at once. */
function mostTasksAtOnce() {
	const { tasks } = story.gateway;
	return Math.max(
		...tasks.map(
			({ createdAt }) =>
				tasks.filter((other) => other.createdAt <= createdAt && createdAt < other.completesAt)
					.length,
		),
	);
}

describe('A batch', () => {
	test('of 8 items, 4 side by side, against tasks of 6 s takes the time of two tasks', async () => {
		const run = await story.image(
			generateImage({ prompt: '=Picture {{ $json.n }}', options: { concurrency: 4 } }),
			{ items: numbered(8) },
		);

		expect(seconds()).toBe(12);
		expect(story.gateway.count({ route: 'generations' })).toBe(8);
		// Each task is looked at after 3 s and after 6 s.
		expect(story.gateway.count({ route: 'task' })).toBe(16);
		expect(mostTasksAtOnce()).toBe(4);
		expect(run.items.map(({ pairedItem }) => pairedItem)).toEqual(
			numbered(8).map((_item, item) => ({ item })),
		);
		for (const [index, { json, binary }] of run.items.entries()) {
			expect(json.prompt).toBe(`Picture ${index}`);
			expect(pictureBelongsTo(`Picture ${index}`, await readBinary(binary?.data))).toBe(true);
		}
	});

	test('keeps the order of its items, whichever is done first', async () => {
		const durations = [20, 1, 13, 4, 8];
		story.gateway.settings.taskSeconds = ({ prompt }) => durations[Number(prompt)]!;
		const run = await story.image(
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
	});

	test.each([1, 2, 4, 7])(
		'works on %i items at once where that is asked for',
		async (concurrency) => {
			story.gateway.settings.responseMs = 2000;
			const seen = watchInFlight();
			await story.text(createResponse({ options: { concurrency } }), { items: numbered(8) });

			expect(seen.most).toBe(concurrency);
			expect(seconds()).toBe(Math.ceil(8 / concurrency) * 2);
		},
	);

	test.each<[string, () => Promise<unknown>]>([
		['Response → Create', async () => await story.text(createResponse(), { items: numbered(9) })],
		['Model → Get Many', async () => await story.text(getModels(), { items: numbered(9) })],
	])('works on 4 items at once where nothing is asked for: %s', async (_name, run) => {
		const seen = { most: 0 };
		story.gateway.settings.intercept = ({ stage }) => {
			if (stage !== 'before') return undefined;
			seen.most = Math.max(seen.most, story.gateway.inFlight);
			return { kind: 'delay', ms: 1000 };
		};
		await run();
		expect(seen.most).toBe(4);
	});

	test('takes the concurrency of its first item', async () => {
		story.gateway.settings.responseMs = 2000;
		const seen = watchInFlight();
		await story.text(createResponse({ options: { concurrency: '={{ $json.c }}' } }), {
			items: itemsOf({ c: '2' }, { c: 9 }, { c: 9 }, { c: 9 }),
		});
		expect(seen.most).toBe(2);
	});

	test('begins the next item as soon as one is done', async () => {
		story.gateway.settings.taskSeconds = ({ prompt }) => (prompt === '0' ? 12 : 3);
		await story.image(
			generateImage({ prompt: '={{ String($json.n) }}', options: { concurrency: 2 } }),
			{ items: numbered(5) },
		);
		expect(story.gateway.tasks.map(({ createdAt }) => (createdAt - start) / 1000)).toEqual([
			0, 0, 3, 6, 9,
		]);
		expect(seconds()).toBe(12);
	});

	test('leaves the other fields of its items behind, as other nodes of an API do', async () => {
		const run = await story.text(createResponse(), {
			items: [{ json: { secret: 1 }, binary: { data: { data: 'eA==', mimeType: 'text/plain' } } }],
		});
		expect(run.items[0]?.json).not.toHaveProperty('secret');
		expect(run.items[0]?.binary).toBeUndefined();
	});
});

describe('Under Continue', () => {
	const onlyThird = '={{ $json.n === 2 ? "[[status:403]] x" : "Hello " + $json.n }}';
	const details = {
		http_status: 403,
		type: 'permission_error',
		code: 'not_permitted',
		request_id: expect.stringMatching(/^req_/) as string,
		retryable: false,
		advice: expect.stringMatching(/balance/) as string,
	};

	test('a failed item becomes an item with the error, and the others go on', async () => {
		const run = await story.text(createResponse({ prompt: onlyThird }), {
			items: numbered(5),
			onError: 'continueRegularOutput',
		});

		expect(run.outputs).toHaveLength(1);
		expect(run.items).toHaveLength(5);
		expect(run.items[2]).toEqual({
			json: {
				error: 'The gateway does not permit this (HTTP 403): this is not permitted',
				error_details: details,
			},
			pairedItem: { item: 2 },
		});
		expect(Reflect.ownKeys(run.items[2]!)).toEqual(['json', 'pairedItem']);
		expect([0, 1, 3, 4].map((index) => run.items[index]?.json.text)).toEqual(
			[0, 1, 3, 4].map((index) => `You said: Hello ${index}`),
		);
	});

	test('the error output gets the item with an error by which n8n tells it', async () => {
		const run = await story.text(createResponse({ prompt: onlyThird }), {
			items: numbered(4),
			onError: 'continueErrorOutput',
		});

		const failed = run.items.filter(({ error }) => error !== undefined);
		expect(failed).toHaveLength(1);
		expect(failed[0]).toMatchObject({
			json: {
				error: 'The gateway does not permit this (HTTP 403): this is not permitted',
				error_details: details,
			},
			pairedItem: { item: 2 },
		});
		expect(failed[0]?.error).toMatchObject({ name: 'NodeApiError', httpCode: '403' });
		expect(run.items.indexOf(failed[0]!)).toBe(2);
	});

	test('an error of a task has its ID', async () => {
		const run = await story.image(
			generateImage({ prompt: '={{ $json.n === 0 ? "[[fail:429]] x" : "Fine" }}' }),
			{ items: numbered(2), onError: 'continueRegularOutput' },
		);

		expect(run.items[0]?.json).toEqual({
			error: 'The image task failed: the picture could not be made',
			error_details: {
				http_status: 429,
				type: 'image_generation_error',
				task_id: story.gateway.tasks[0]?.id,
				retryable: true,
				advice: expect.stringMatching(/submit a new task/) as string,
			},
		});
		expect(run.items[1]?.json.status).toBe('completed');
	});

	test('a bad value of one item is that item’s error', async () => {
		const run = await story.image(
			generateImage({ options: { size: '={{ $json.n === 1 ? "big" : "16x16" }}' } }),
			{ items: numbered(3), onError: 'continueRegularOutput' },
		);

		expect(run.items.map(({ json }) => json.error ?? json.status)).toEqual([
			'completed',
			'Size is neither auto nor <width>x<height>',
			'completed',
		]);
		expect(run.items[1]?.json.error_details).toEqual({
			retryable: false,
			advice: expect.stringMatching(/1024x1024/) as string,
		});
		expect(story.gateway.tasks).toHaveLength(2);
	});

	test('an expression that fails is that item’s error', async () => {
		const run = await story.text(
			createResponse({ prompt: '={{ $json.n === 1 ? $json.a.b.c : "Hello" }}' }),
			{ items: numbered(3), onError: 'continueRegularOutput' },
		);

		expect(run.items.map(({ json }) => Object.keys(json)[0])).toEqual(['id', 'error', 'id']);
		expect(run.items[1]?.json.error).toEqual(expect.stringMatching(/./));
		expect(story.gateway.count()).toBe(2);
	});

	test.each<[string, object]>([
		['an address that is not safe', { access: { baseUrl: 'http://gateway.example.com' } }],
		['a key with a space', { access: { apiKey: 'two words' } }],
	])('%s in the credential is an error of each item', async (_name, options) => {
		const run = await story.text(createResponse(), {
			items: numbered(3),
			onError: 'continueRegularOutput',
			...options,
		});
		expect(run.items.map(({ json, pairedItem }) => [json.error, pairedItem])).toEqual(
			[0, 1, 2].map((item) => [expect.stringMatching(/^(Base URL|API Key) /) as string, { item }]),
		);
	});

	test('a concurrency that is not a number is an error of each item', async () => {
		const run = await story.text(createResponse({ options: { concurrency: '={{ "x" }}' } }), {
			items: numbered(2),
			onError: 'continueRegularOutput',
		});
		expect(run.items.map(({ json }) => json.error)).toEqual([
			'Concurrency is not a number',
			'Concurrency is not a number',
		]);
		expect(story.gateway.count()).toBe(0);
	});
});

describe('After a failure that ends the node', () => {
	test('no new item starts', async () => {
		story.gateway.settings.responseMs = 1000;
		const run = await story.textError(
			createResponse({
				prompt: '={{ $json.n === 0 ? "[[status:403]] x" : "Hello" }}',
				options: { concurrency: 2 },
			}),
			{ items: numbered(8) },
		);

		expect(shown(run).context.itemIndex).toBe(0);
		// The one beside it, which was under way already.
		expect(story.gateway.count()).toBe(2);
	});

	test('the error is that of the item which failed first', async () => {
		story.gateway.settings.taskSeconds = ({ prompt }) => (prompt.startsWith('0') ? 9 : 3);
		const run = await story.imageError(
			generateImage({ prompt: '={{ $json.n }} [[fail:400]]', options: { concurrency: 3 } }),
			{ items: numbered(3) },
		);

		expect(shown(run).context.itemIndex).toBe(1);
		expect(shown(run).context.details?.task_id).toBe(story.gateway.tasks[1]?.id);
	});

	test('waits of the other items end, and nothing more is sent for them', async () => {
		story.gateway.settings.taskSeconds = ({ prompt }) => (prompt.startsWith('bad') ? 6 : 60);
		await story.imageError(
			generateImage({ prompt: '={{ $json.n === 1 ? "bad [[fail:400]]" : "good" }}' }),
			{ items: numbered(3) },
		);

		expect(seconds()).toBe(6);
		const sent = story.gateway.count();
		await story.time.advance(120_000);
		expect(story.gateway.count()).toBe(sent);
	});

	test('the accepted tasks of the other items stand in the error', async () => {
		story.gateway.settings.taskSeconds = ({ prompt }) => (prompt.startsWith('bad') ? 3 : 60);
		const run = await story.imageError(
			generateImage({ prompt: '={{ $json.n === 2 ? "bad [[fail:400]]" : "good" }}' }),
			{ items: numbered(4) },
		);

		const error = shown(run);
		const ids = story.gateway.tasks.map(({ id }) => id);
		const failed = story.gateway.tasks.find(({ request }) => request.prompt.startsWith('bad'))?.id;
		const others = ids.filter((id) => id !== failed);
		expect(others).toHaveLength(3);
		for (const id of others) {
			expect(error.message).toContain(id);
			expect(error.description).toContain(id);
		}
		expect(error.description).toMatch(/do not submit them again.*Task → Wait/);
		expect(error.description).toContain(`Task ID: ${failed}.`);
		expect(error.context.itemIndex).toBe(2);
		const prompts = error.context.acceptedTasks?.map(({ item, task_id }) => {
			const task = story.gateway.tasks.find(({ id }) => id === task_id);
			return [item, task?.request.prompt];
		});
		expect(prompts).toEqual(expect.arrayContaining([0, 1, 3].map((item) => [item, 'good'])));
		expect(prompts).toHaveLength(3);
	});

	test('tasks whose pictures were fetched already are listed too: they are in no output', async () => {
		const run = await story.imageError(
			generateImage({
				prompt: '={{ $json.n === 1 ? "bad [[fail:400]]" : "good" }}',
				options: { concurrency: 1 },
			}),
			{ items: numbered(2) },
		);
		expect(shown(run).context.acceptedTasks).toEqual([
			{ item: 0, task_id: story.gateway.tasks[0]?.id },
		]);
	});

	test('a task that is accepted only after the failure is listed too', async () => {
		story.gateway.settings.intercept = ({ record, stage }) => {
			const { prompt } = (record.body ?? {}) as { prompt?: string };
			if (stage !== 'before' || prompt === undefined) return undefined;
			return prompt === 'bad' ? { kind: 'reply', status: 400 } : { kind: 'delay', ms: 5000 };
		};
		const run = await story.imageError(
			generateImage({ prompt: '={{ $json.n === 0 ? "bad" : "good" }}' }),
			{ items: numbered(2) },
		);
		expect(shown(run).context.acceptedTasks).toEqual([
			{ item: 1, task_id: story.gateway.tasks[0]?.id },
		]);
	});

	test('many task IDs do not flood the message, and all are in the description', async () => {
		story.gateway.settings.taskSeconds = ({ prompt }) => (prompt.startsWith('bad') ? 3 : 60);
		const run = await story.imageError(
			generateImage({
				prompt: '={{ $json.n === 0 ? "bad [[fail:400]]" : "good" }}',
				options: { concurrency: 20 },
			}),
			{ items: numbered(20) },
		);

		const error = shown(run);
		const others = story.gateway.tasks
			.filter(({ request }) => request.prompt === 'good')
			.map(({ id }) => id);
		expect(others).toHaveLength(19);
		expect(others.filter((id) => error.message.includes(id)).length).toBeLessThan(10);
		expect(error.message).toContain('19 accepted image tasks');
		for (const id of others) expect(error.description).toContain(id);
		expect(error.context.acceptedTasks).toHaveLength(19);
	});

	test('a bad value of a later item names that item, and what the first had submitted', async () => {
		const run = await story.imageError(
			generateImage({ options: { size: '={{ $json.n === 1 ? "big" : "16x16" }}' } }),
			{ items: numbered(2) },
		);
		const error = shown(run);
		expect(error.message).toContain('Size is neither auto nor <width>x<height>');
		expect(error.context.itemIndex).toBe(1);
	});
});
