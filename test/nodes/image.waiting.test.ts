import type { IDataObject } from 'n8n-workflow';
import { errorReply, type Exchange, type Fault } from '../../gateway';
import { newRecord, storeBinaryInMemory, storeBinaryOnDisk } from '../../scripts/engine/index';
import {
	cancelledAfter,
	editImage,
	generateImage,
	getTask,
	numbered,
	shown,
	startStory,
	submitted,
	waitForTask,
	type Story,
} from './arrange';
import { TaskBooks } from './image.arrange';

const books = new TaskBooks();
let story: Story;
let start: number;
beforeEach(async () => {
	await storeBinaryInMemory();
	story = books.follow(await startStory({ taskSeconds: 120 }));
	start = story.time.now();
});
afterEach(async () => await story.close());

/** What one poll is answered with: a `Retry-After`, none, a status of the task, or a fault. */
type Look = { retryAfter?: string; status?: string } | Fault;

const isFault = (look: Look): look is Fault => 'kind' in look;

/**
 * Answers the polls in this order; the one behind them finds the task done. The 202 has the
 * `Retry-After` that is given.
 */
function script(looks: Look[], ofSubmit: string | null = '3') {
	let next = 0;
	const change = (reply: Exchange['reply'], { retryAfter, status }: Exclude<Look, Fault>) => {
		if (!reply) return;
		if (retryAfter === undefined) delete reply.headers['Retry-After'];
		else reply.headers['Retry-After'] = retryAfter;
		if (status) reply.body = String(reply.body).replace('"processing"', `"${status}"`);
	};
	story.gateway.settings.intercept = ({ stage, route, reply }) => {
		if (route === 'generations' && stage === 'after')
			change(reply, { retryAfter: ofSubmit ?? undefined });
		if (route !== 'task') return undefined;
		const look = looks[next];
		if (!look) {
			for (const task of story.gateway.tasks) task.completesAt = story.time.now();
			return undefined;
		}
		if (isFault(look)) {
			if (stage === 'before') next++;
			return stage === 'before' ? look : undefined;
		}
		if (stage === 'after') {
			next++;
			change(reply, look);
		}
		return undefined;
	};
}

/** Seconds between the looks at the task, from the submission on. */
function waits() {
	const looks = story.gateway.requests
		.filter(({ route }) => route === 'task')
		.map(({ startedAt }) => startedAt);
	return looks.map((at, index) => (at - (looks[index - 1] ?? start)) / 1000);
}

/** An HTTP date so many milliseconds behind the stories’ begin. */
const dateIn = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toUTCString();
const LOST: Fault = { kind: 'destroy' };

describe('Each single wait', () => {
	const after = (retryAfter?: string, status?: string): Look => ({ retryAfter, status });

	test.each<[string, string | null, Look[], number[]]>([
		['is that of the header, in seconds', '5', [after('7'), after('4')], [5, 7, 4]],
		['changes as the header does', '3', [after('20'), after('3'), after('60')], [3, 20, 3, 60]],
		['is that of the header, as a date', dateIn(9000), [after(dateIn(30_000))], [9, 21]],
		[
			'grows by half from 3 s to 15 s where the header is absent',
			null,
			Array<Look>(7).fill(after()),
			[3, 4.5, 6.75, 10.125, 15, 15, 15, 15],
		],
		['is no less than the interval for 0', '0', [after('0'), after('0')], [3, 3, 3]],
		['is no less than the interval for a date gone by', dateIn(-5000), [after(dateIn(0))], [3, 3]],
		['grows for a negative number, as for none', '-7', [after('-1'), after('-1')], [3, 4.5, 6.75]],
		['grows for nonsense, as for none', 'soon', [after('3 s'), after('next week')], [3, 4.5, 6.75]],
		['begins to grow anew behind a header', null, [after(), after('10'), after()], [3, 4.5, 10, 3]],
		[
			'goes on over statuses that nobody knows',
			'3',
			[
				after('3', 'queued'),
				after(undefined, 'in_progress'),
				after('5', 'COMPLETED'),
				after('3', '?'),
			],
			[3, 3, 3, 5, 3],
		],
		[
			'is that of a 503 or 429 between two looks, then that of the task again',
			'3',
			[
				after('4'),
				errorReply(503, { retryAfter: 8 }),
				errorReply(429, { retryAfter: 2 }),
				after('6'),
			],
			[3, 4, 8, 2, 6],
		],
		[
			'backs off over 503, 429 and lost connections that name no time',
			'3',
			[errorReply(503), errorReply(429), LOST, after('3')],
			[3, 1, 2, 4, 3],
		],
		[
			'has retries anew for each look',
			'3',
			[LOST, LOST, LOST, after('3'), LOST, LOST, LOST],
			[3, 1, 2, 4, 3, 1, 2, 4],
		],
		['goes on over one 500', '3', [errorReply(500), after('3')], [3, 1, 3]],
	])('%s', async (_name, ofSubmit, looks, expected) => {
		script(looks, ofSubmit);
		const run = await story.image(generateImage());

		expect(waits()).toEqual(expected);
		expect(run.items[0]?.json.status).toBe('completed');
		expect(story.gateway.count({ route: 'generations' })).toBe(1);
	});

	test.each<[string, string | null, Look[], number, number[]]>([
		['the submission’s header', '100', [], 60, []],
		['a later header', '3', [{ retryAfter: '3' }, { retryAfter: '55' }], 60, [3, 3]],
		['a date', dateIn(3600_000), [], 60, []],
		['the growing wait', null, Array<Look>(9).fill({}), 30, [3, 4.5, 6.75, 10.125]],
	])(
		'that is larger than what is left is not begun: %s',
		async (_name, ofSubmit, looks, maxWait, expected) => {
			script(looks, ofSubmit);
			const before = story.time.now();
			const run = await story.imageError(generateImage({ options: { maxWait } }));

			expect(waits()).toEqual(expected);
			expect(story.time.now() - before).toBe(expected.reduce((sum, wait) => sum + wait, 0) * 1000);
			expect(run.error.message).toBe('The image was not done within Max Wait');
			expect(shown(run).description).toMatch(/The next look at it would have been in \d+ s/);
		},
	);

	test('ends by the task’s expiry where that is before Max Wait', async () => {
		story.gateway.settings.taskLifetime = 20;
		script(Array<Look>(20).fill({ retryAfter: '7' }));
		const run = await story.imageError(generateImage({ options: { maxWait: 60 } }));

		expect(waits()).toEqual([3, 7, 7]);
		expect(run.error.message).toBe('The image task is about to expire and is not done');
		expect(shown(run).description).toContain('2026-01-01T00:00:20.000Z');
	});

	test('ends by Max Wait where that is before the task’s expiry', async () => {
		story.gateway.settings.taskLifetime = 60;
		script(Array<Look>(20).fill({ retryAfter: '7' }));
		const run = await story.imageError(generateImage({ options: { maxWait: 20 } }));

		expect(waits()).toEqual([3, 7, 7]);
		expect(run.error.message).toBe('The image was not done within Max Wait');
		expect(shown(run).description).toContain('2026-01-01T00:01:00.000Z');
	});

	test('that a 503 asks for and that is larger than what is left ends the waiting, the task named', async () => {
		script([{ retryAfter: '3' }, errorReply(503, { retryAfter: 500 })]);
		const run = await story.imageError(generateImage({ options: { maxWait: 60 } }));

		expect(waits()).toEqual([3, 3]);
		expect(run.error.message).toMatch(/HTTP 503/);
		expect(shown(run).description).toContain(story.gateway.tasks[0]!.id);
		expect(shown(run).description).toMatch(/asked to wait 500 s/);
	});

	test('holds for Task → Wait, whose first look is at once', async () => {
		const task = await submitted(story);
		script([{ retryAfter: '9' }, {}, {}]);
		await story.image(waitForTask(task.id));

		expect(waits()).toEqual([0, 9, 3, 4.5]);
	});

	test('is each item’s own', async () => {
		story.gateway.settings.intercept = ({ route, stage, reply, record }) => {
			if (route !== 'generations' || stage !== 'after' || !reply) return undefined;
			const { prompt } = record.body as { prompt: string };
			reply.headers['Retry-After'] = prompt;
			return undefined;
		};
		story.gateway.settings.taskSeconds = 1;
		await story.image(generateImage({ prompt: '={{ String(4 + $json.n * 3) }}' }), {
			items: numbered(3),
		});
		const looks = story.gateway.requests.filter(({ route }) => route === 'task');
		expect(looks.map(({ startedAt }) => (startedAt - start) / 1000)).toEqual([4, 7, 10]);
	});
});

describe('What a waiting node tells', () => {
	const PROMPT = 'A very private garden with a pond';

	test('the editor hears of the submission and of each change of state, the log of each look', async () => {
		script([
			{ retryAfter: '3', status: 'queued' },
			{ retryAfter: '3', status: 'queued' },
			{ retryAfter: '3' },
			{ retryAfter: '3' },
		]);
		const run = await story.image(generateImage({ prompt: PROMPT }));

		const id = story.gateway.tasks[0]!.id;
		expect(run.uiMessages).toEqual(
			['processing', 'queued', 'processing', 'completed'].map((status) => [
				`Image task ${id}: ${status}`,
			]),
		);
		const lines = run.logs.filter(({ message }) => message.includes(`${id} is `));
		// The answer to the submission, and five looks.
		expect(lines.map(({ level }) => level)).toEqual(Array(6).fill('debug'));
		expect(story.gateway.count({ route: 'task' })).toBe(5);
	});

	test.each(['trigger', 'webhook', 'evaluation'] as const)(
		'the editor hears nothing of a run by %s',
		async (mode) => {
			script([{ retryAfter: '3' }]);
			const run = await story.image(generateImage({ prompt: PROMPT }), { mode });
			expect(run.uiMessages).toEqual([]);
		},
	);

	test.each<[string, IDataObject, string[]]>([
		['Image → Edit', editImage({ prompt: PROMPT }), ['processing', 'completed']],
		[
			'a submission without waiting',
			generateImage({ prompt: PROMPT, waitForCompletion: false }),
			['processing'],
		],
	])('the editor hears of %s', async (_name, parameters, statuses) => {
		story.gateway.settings.taskSeconds = 3;
		const run = await story.image(parameters);
		const id = story.gateway.tasks[0]!.id;
		expect(run.uiMessages).toEqual(statuses.map((status) => [`Image task ${id}: ${status}`]));
	});

	test('neither key nor prompt stands in messages or log', async () => {
		script([errorReply(503), { retryAfter: '3' }, LOST]);
		const run = await story.image(generateImage({ prompt: PROMPT }));

		const told = JSON.stringify([run.uiMessages, run.logs]);
		expect(told).toContain(story.gateway.tasks[0]!.id);
		expect(told).not.toContain('private garden');
		expect(told).not.toContain(story.access.apiKey);
	});

	test('a status of the gateway’s own cannot carry the key or a page of text into them', async () => {
		script([{ retryAfter: '3', status: `${story.access.apiKey} ${'x'.repeat(5000)}` }]);
		const run = await story.image(generateImage());

		expect(JSON.stringify(run.uiMessages).length).toBeLessThan(1000);
		expect(run.items[0]?.json.status).toBe('completed');
	});
});

describe('A cancel', () => {
	const SECOND = 1000;

	/** Cancels after `ms`: the run has to end within a second, and nothing may be sent afterwards. */
	async function cancelled(parameters: IDataObject, ms: number, items = numbered(1)) {
		const signal = cancelledAfter(story.time, ms);
		let sent = -1;
		signal.addEventListener('abort', () => {
			sent = story.gateway.requests.length + story.gateway.storageRequests.length;
		});
		const before = story.time.now();
		const run = await story.imageError(parameters, { signal, items, record: newRecord() });
		expect(story.time.now() - before).toBeLessThanOrEqual(ms + SECOND);
		await story.time.advance(3600_000);
		expect(story.gateway.requests.length + story.gateway.storageRequests.length).toBe(sent);
		expect(run.error.message).toMatch(/^The execution was canceled/);
		return shown(run);
	}

	const hang = (route: string) => {
		story.gateway.settings.intercept = (exchange) =>
			exchange.route === route && exchange.stage === 'before' ? { kind: 'hang' } : undefined;
	};

	test.each<[string, IDataObject]>([
		['generate', generateImage()],
		['edit', editImage()],
	])('while submitting: %s', async (_name, parameters) => {
		hang(parameters.operation === 'edit' ? 'edits' : 'generations');
		await cancelled(parameters, 7500);
		expect(story.gateway.tasks).toHaveLength(0);
	});

	test('while a submission waits to be sent again', async () => {
		story.gateway.settings.intercept = ({ route }) =>
			route === 'generations' ? errorReply(429, { retryAfter: 60 }) : undefined;
		await cancelled(generateImage(), 7500);
	});

	test.each([3000, 4321, 5999])('while waiting, after %i ms', async (ms) => {
		const error = await cancelled(generateImage(), ms);
		expect(error.description).toContain(story.gateway.tasks[0]!.id);
	});

	test('while waiting a long time that the gateway asked for', async () => {
		script([], '800');
		await cancelled(generateImage(), 400_000);
		expect(story.gateway.count({ route: 'task' })).toBe(0);
	});

	test('while polling', async () => {
		hang('task');
		const error = await cancelled(generateImage(), 12_345);
		expect(error.description).toContain(story.gateway.tasks[0]!.id);
	});

	test('while Task → Get looks', async () => {
		const task = await submitted(story);
		hang('task');
		const error = await cancelled(getTask(task.id), 1500);
		expect(error.description).toContain(task.id);
	});

	test('while a poll waits to be sent again', async () => {
		script([errorReply(503, { retryAfter: 300 })]);
		const error = await cancelled(generateImage(), 100_000);
		expect(error.description).toContain(story.gateway.tasks[0]!.id);
	});

	test.each<[string, Fault]>([
		['that does not begin', { kind: 'hang' }],
		['that waits to be tried again', errorReply(503, { retryAfter: 50 })],
	])('while a download %s', async (_name, fault) => {
		const storage = await storeBinaryOnDisk();
		try {
			story.gateway.settings.taskSeconds = 3;
			story.gateway.settings.storageIntercept = () => fault;
			const error = await cancelled(generateImage(), 20_500);

			expect(story.gateway.storageRequests).toHaveLength(1);
			expect(error.description).toContain(story.gateway.tasks[0]!.id);
			expect(await storage.files()).toEqual([]);
		} finally {
			await storage.remove();
		}
	});

	test('ends the items of a batch in all their phases at once, and names each task', async () => {
		// One waits, one polls, one downloads, one submits; the others have not begun.
		const phases = ['wait', 'poll', 'download', 'submit'];
		story.gateway.settings.taskSeconds = ({ prompt }) => (prompt === 'download' ? 3 : 600);
		story.gateway.settings.intercept = ({ stage, route, record }) => {
			if (stage !== 'before') return undefined;
			const polled = story.gateway.tasks.find(({ id }) => record.path.endsWith(id));
			const prompt = polled?.request.prompt ?? (record.body as { prompt?: string })?.prompt;
			const stuck =
				(prompt === 'poll' && route === 'task') || (prompt === 'submit' && route === 'generations');
			return stuck ? { kind: 'hang' } : undefined;
		};
		story.gateway.settings.storageIntercept = () => ({ kind: 'hang' });
		const items = [...phases, 'later', 'never'].map((what) => ({ json: { what } }));
		const error = await cancelled(
			generateImage({ prompt: '={{ $json.what }}', options: { concurrency: 4 } }),
			10_500,
			items,
		);

		expect(story.gateway.tasks.map(({ request }) => request.prompt).sort()).toEqual([
			'download',
			'poll',
			'wait',
		]);
		for (const { id } of story.gateway.tasks) expect(error.description).toContain(id);
	});
});

test('over all stories of this file no task was submitted twice, and none was lost', () => {
	expect(books.problems).toEqual([]);
	expect(books.accepted).toBeGreaterThan(30);
});
