import { join } from 'node:path';
import { prompts, type Done, type Job } from './jobs';
import { installedPackage, loadingTime, OTHER_PACKAGES } from './packages';
import { pause, type Needs } from './process-needs';
import { middleOf, short, times, type CaseResult, type Goal, type Line } from './results';
import type { BackgroundLimits, Counts, Service } from './service';
import type { MeasuredN8n } from './n8n-server';
import { streamingWorkflows } from './workflows';
import { done } from './worker';

/** What a case can use. */
export interface Bench {
	service: Service;
	/** n8n itself; absent in quick mode. */
	n8nServer?: MeasuredN8n;
	/** Folder of the unpacked package. */
	folder: string;
	/** Bytes of the tarball and of the installed files. */
	own: { tarballBytes: number; installedBytes: number; files: number };
	/** Folder for packages of others, which are kept. */
	cache: string;
	/** Number of runs of each contender. */
	rounds: number;
	say: (text: string) => void;
}

/** Most cases have one table. */
type Case = (bench: Bench) => Promise<CaseResult | CaseResult[]>;
/** One run of a contender: a value for each column. */
type Contender = { who: string; once?: boolean; run: () => Promise<Record<string, number>> };

const MB = 2 ** 20;
const OURS = 'ours';
const WALL = 'wall time (s)';
const CPU = 'CPU (s)';
const MEMORY = 'memory at the peak, over idle (MB)';

const inSeconds = (needs: Needs) => ({ [WALL]: needs.ms / 1000, [CPU]: needs.cpuMs / 1000 });
const withMemory = (needs: Needs) => ({
	...inSeconds(needs),
	...(needs.addedBytes !== undefined && { [MEMORY]: needs.addedBytes / MB }),
});

/**
 * Runs the contenders in turn, round after round, so that other load on the machine affects all of
 * them.
 */
async function inTurn(bench: Bench, contenders: Contender[]): Promise<Line[]> {
	const lines = contenders.map(({ who }): Line => ({ who, values: {} }));
	for (let round = 0; round < bench.rounds; round++) {
		for (const [at, { who, once, run }] of contenders.entries()) {
			if (once && round > 0) continue;
			const values = await run();
			const told = Object.entries(values).map(([name, value]) => `${name} ${short(value)}`);
			bench.say(`  ${who}: ${told.join(', ')}`);
			for (const [name, value] of Object.entries(values)) {
				(lines[at]!.values[name] ??= []).push(value);
			}
		}
	}
	return lines;
}

/** Does a job in a separate process, with n8n's Node. */
async function job({ service, folder, n8nServer }: Bench, what: Job): Promise<Done> {
	const { baseUrl, key } = service;
	return await done(what, { baseUrl, key, folder }, n8nServer?.node);
}

function atMost(goal: string, found: number, limit: number, unit: string): Goal {
	return { goal, found: `${short(found)} ${unit}`, met: found <= limit };
}

function expectCount(what: string, found: number, wanted: number) {
	if (found !== wanted) throw new Error(`${what}: ${found} instead of ${wanted}`);
}

const IMAGES = 20;
const TASK_S = 6;

const images: Case = async (bench) => {
	const { service, n8nServer } = bench;
	await service.ask({ wish: 'behave', plan: { taskSeconds: TASK_S } });
	const counted = async (run: () => Promise<Needs>) => {
		await service.ask({ wish: 'behave', plan: { taskSeconds: TASK_S } });
		const needs = await run();
		const seen = await service.ask({ wish: 'count' });
		expectCount('Tasks', seen.accepted, IMAGES);
		expectCount('Downloads', seen.downloads, IMAGES);
		return { ...inSeconds(needs), 'requests an image': seen.requests / IMAGES };
	};
	const inN8n = (name: string) => async () =>
		await counted(async () => (await n8nServer!.run(name, prompts(IMAGES))).needs);
	const ONE = 'HTTP Request, Wait, IF; one at a time';
	const ALL = 'HTTP Request, Wait, IF; all at once, built by an expert';
	const lines = await inTurn(
		bench,
		n8nServer
			? [
					{ who: OURS, run: inN8n('imagesOurs') },
					{ who: ALL, run: inN8n('imagesExpert') },
					{ who: ONE, once: true, run: inN8n('imagesOneByOne') },
				]
			: [
					{
						who: OURS,
						run: async () =>
							await counted(
								async () =>
									await job(bench, { job: 'engine images', items: IMAGES, concurrency: IMAGES }),
							),
					},
				],
	);
	const ours = middleOf({ lines }, OURS, WALL);
	const goals = [atMost(`ours ≤ limit + 1 s`, ours, TASK_S + 1, 's')];
	if (n8nServer) {
		const one = middleOf({ lines }, ONE, WALL) / ours;
		const all = middleOf({ lines }, ALL, WALL);
		goals.push(
			{ goal: 'one at a time ÷ ours ≥ 10', found: times(one), met: one >= 10 },
			atMost('ours ≤ all at once', ours, all, `s, theirs ${short(all)} s`),
		);
	}
	return {
		name: `${IMAGES} images, tasks of ${TASK_S} s`,
		limit: `${TASK_S} s: the slowest task, whose end falls on a poll`,
		lines,
		goals,
	};
};

const MANY = 100;
const AT_ONCE = 10;

const limited: Case = async (bench) => {
	const { service, n8nServer } = bench;
	const run = (name: string) => async () => {
		await service.ask({ wish: 'behave', plan: { taskSeconds: TASK_S } });
		const { needs, items } = await n8nServer!.run(name, prompts(MANY));
		expectCount('Images', items, MANY);
		const seen = await service.ask({ wish: 'count' });
		expectCount('Tasks', seen.accepted, MANY);
		expectCount('Tasks made twice', seen.doubled, 0);
		expectCount('Downloads', seen.downloads, MANY);
		return { ...inSeconds(needs), 'answers of 429': seen.refused, polls: seen.polls };
	};
	const EXPERT = 'HTTP Request, Wait, IF; ten at a time, built by an expert who knows the limit';
	const lines = await inTurn({ ...bench, rounds: Math.min(2, bench.rounds) }, [
		{ who: OURS, run: run('limitedOurs') },
		{ who: 'ours, concurrency set to the limit', run: run('limitedOursTen') },
		{ who: EXPERT, run: run('limitedExpert') },
	]);
	const ours = middleOf({ lines }, OURS, WALL);
	const theirs = middleOf({ lines }, EXPERT, WALL);
	return {
		name: `${MANY} images, tasks of ${TASK_S} s, a gateway that takes ${AT_ONCE} at once`,
		limit: `${(MANY / AT_ONCE) * TASK_S} s: ${MANY / AT_ONCE} rounds of ${TASK_S} s`,
		lines,
		goals: [
			{ goal: 'all arrive, none lost or doubled', found: `${MANY} of ${MANY}`, met: true },
			atMost('ours ≤ expert', ours, theirs, `s, theirs ${short(theirs)} s`),
		],
	};
};

/** Run time of a task with background limits, in seconds. */
const LONG_TASK_S = 40;
const SUBMITS = 'submits';
const REFUSED = 'refused tasks';
const OVER = 'over the least (s)';
const MINUTE_MS = 60_000;
const AGAIN = 'refused images again after 30 s, built by an expert';
const AGAIN_ONE_BY_ONE = `HTTP Request, Wait, IF; one at a time, ${AGAIN}`;
const AGAIN_AT_ONCE = `HTTP Request, Wait, IF; all at once, ${AGAIN}`;

/** Runs a workflow with a gateway that checks its limits after it accepted a submit. */
async function inBackground(
	{ service, n8nServer }: Bench,
	{ workflow, images, limits }: { workflow: string; images: number; limits: BackgroundLimits },
): Promise<{ needs: Needs; seen: Counts }> {
	const plan = { taskSeconds: LONG_TASK_S, backgroundLimits: limits };
	await service.ask({ wish: 'behave', plan });
	const { needs, items } = await n8nServer!.run(workflow, prompts(images));
	const seen = await service.ask({ wish: 'count' });
	expectCount('Images', items, images);
	expectCount('Charges', seen.charged, images);
	expectCount('Images charged twice', seen.chargedTwice, 0);
	expectCount('Downloads', seen.downloads, images);
	return { needs, seen };
}

const ofBackground = (needs: Needs, seen: Counts) => ({
	...inSeconds(needs),
	[SUBMITS]: seen.submits,
	[REFUSED]: seen.refusedTasks,
});

const arrived = (images: number): Goal => ({
	goal: 'all arrive, none lost or charged twice',
	found: `${images} of ${images}`,
	met: true,
});

const ONE_PLACE_IMAGES = 8;

async function onePlace(bench: Bench): Promise<CaseResult> {
	const run = (workflow: string) => async () => {
		const work = { workflow, images: ONE_PLACE_IMAGES, limits: { places: 1 } };
		const { needs, seen } = await inBackground(bench, work);
		return ofBackground(needs, seen);
	};
	const lines = await inTurn({ ...bench, rounds: 1 }, [
		{ who: OURS, run: run('backgroundOurs') },
		{ who: AGAIN_ONE_BY_ONE, run: run('backgroundOneByOne') },
	]);
	const least = ONE_PLACE_IMAGES * LONG_TASK_S;
	return {
		name: `${ONE_PLACE_IMAGES} images, tasks of ${LONG_TASK_S} s, one at work at once, limits checked in the background`,
		limit: `${least} s: ${ONE_PLACE_IMAGES} tasks of ${LONG_TASK_S} s, one after the other`,
		lines,
		goals: [
			arrived(ONE_PLACE_IMAGES),
			atMost('ours ≤ limit + 30 s', middleOf({ lines }, OURS, WALL), least + 30, 's'),
			atMost('ours: refused tasks ≤ 16', middleOf({ lines }, OURS, REFUSED), 16, 'tasks'),
		],
	};
}

const MINUTE_IMAGES = 5;
const A_MINUTE = 2;

/** Seconds from the first submit until the last image can be done. */
function leastSeconds(firstSubmit: number): number {
	const lastMinute = Math.floor(firstSubmit / MINUTE_MS) + Math.ceil(MINUTE_IMAGES / A_MINUTE) - 1;
	return (lastMinute * MINUTE_MS - firstSubmit) / 1000 + LONG_TASK_S;
}

async function twoAMinute(bench: Bench): Promise<CaseResult> {
	let lastSubmit = 0;
	const run = (workflow: string) => async () => {
		// The submits of the previous contender count in their minute.
		const freshAt = (Math.floor(lastSubmit / MINUTE_MS) + 1) * MINUTE_MS;
		await pause(Math.max(0, freshAt - Date.now()));
		const limits = { requestsPerClockMinute: A_MINUTE };
		const work = { workflow, images: MINUTE_IMAGES, limits };
		const { needs, seen } = await inBackground(bench, work);
		lastSubmit = Math.max(...seen.submittedAt);
		const least = leastSeconds(Math.min(...seen.submittedAt));
		return {
			...ofBackground(needs, seen),
			'the least (s)': least,
			[OVER]: needs.ms / 1000 - least,
		};
	};
	const lines = await inTurn({ ...bench, rounds: 1 }, [
		{ who: OURS, run: run('backgroundOurs') },
		{ who: AGAIN_AT_ONCE, run: run('backgroundAllAtOnce') },
		{ who: AGAIN_ONE_BY_ONE, run: run('backgroundOneByOne') },
	]);
	return {
		name: `${MINUTE_IMAGES} images, tasks of ${LONG_TASK_S} s, ${A_MINUTE} requests a minute of the clock, limits checked in the background`,
		limit: `the least: until the third minute of the clock begins, and a task of ${LONG_TASK_S} s. It depends on the second of the first submit`,
		lines,
		// Each run starts at another second of the minute.
		alike: false,
		goals: [
			arrived(MINUTE_IMAGES),
			atMost('ours ≤ the least + 60 s', middleOf({ lines }, OURS, OVER), 60, 's over'),
			atMost('ours: refused tasks ≤ 15', middleOf({ lines }, OURS, REFUSED), 15, 'tasks'),
		],
	};
}

const backgroundLimits: Case = async (bench) => [await onePlace(bench), await twoAMinute(bench)];

const polls: Case = async (bench) => {
	const seconds = [1, 2, 3, 4, 6, 9, 10, 15, 30, 60, 120];
	const { counts = [] } = await job(bench, { job: 'polls', taskSeconds: seconds });
	const lines = seconds.map(
		(taskSeconds, at): Line => ({
			who: `${taskSeconds} s`,
			values: { polls: [counts[at] ?? NaN], 'T ÷ 3, rounded up': [Math.ceil(taskSeconds / 3)] },
		}),
	);
	const over = seconds.map((taskSeconds, at) => (counts[at] ?? NaN) - Math.ceil(taskSeconds / 3));
	const most = Math.max(...over);
	return {
		name: 'Polls for one image of T seconds',
		limit: 'T ÷ 3, rounded up: the gateway asks for 3 s between two polls',
		lines,
		alike: false,
		goals: [{ goal: 'polls ≤ limit + 1', found: `at most ${most} more`, met: most <= 1 }],
	};
};

const FILES = 20;
const FILE_MB = 32;
const FILES_SIDE_BY_SIDE = 4;

const downloads: Case = async (bench) => {
	const { service, n8nServer } = bench;
	const plan = { imageBytes: FILE_MB * MB };
	await service.ask({ wish: 'behave', plan });
	const tasks = await service.ask({ wish: 'finish', tasks: FILES });
	const whole = async (run: () => Promise<Needs>) => {
		await service.ask({ wish: 'behave', plan });
		const needs = await run();
		expectCount('Downloads', (await service.ask({ wish: 'count' })).downloads, FILES);
		return withMemory(needs);
	};
	const inN8n = (name: string) => async () =>
		await whole(async () => (await n8nServer!.run(name, tasks)).needs);
	const IN_TURN = 'ours, one file after the other';
	const HTTP = 'HTTP Request, file response (it saves one file after the other)';
	const LIMIT = 'undici, piped to files';
	const lines = await inTurn(bench, [
		n8nServer
			? { who: OURS, run: inN8n('downloadsOurs') }
			: {
					who: OURS,
					run: async () =>
						await whole(async () => await job(bench, { job: 'engine downloads', tasks })),
				},
		...(n8nServer
			? [
					{ who: IN_TURN, run: inN8n('downloadsOursInTurn') },
					{ who: HTTP, run: inN8n('downloadsHttp') },
				]
			: []),
		{
			who: LIMIT,
			run: async () =>
				await whole(
					async () =>
						await job(bench, {
							job: 'undici downloads',
							tasks,
							sideBySide: FILES_SIDE_BY_SIDE,
						}),
				),
		},
	]);
	const goals: Goal[] = [];
	if (n8nServer) {
		const theirs = middleOf({ lines }, HTTP, MEMORY);
		const memory = middleOf({ lines }, OURS, MEMORY) / theirs;
		const inTurnToo = middleOf({ lines }, IN_TURN, MEMORY) / theirs;
		const time = middleOf({ lines }, OURS, WALL) / middleOf({ lines }, HTTP, WALL);
		goals.push(
			{ goal: 'memory ≤ ½ of HTTP Request’s', found: times(memory), met: memory <= 0.5 },
			{
				goal: 'one file after the other, as HTTP Request: memory ≤ its',
				found: times(inTurnToo),
				met: inTurnToo <= 1,
			},
			{ goal: 'time ≤ 1.1 of HTTP Request’s', found: times(time), met: time <= 1.1 },
		);
	}
	return {
		name: `${FILES} downloads of ${FILE_MB} MB, binary data on disk`,
		limit: `undici piping to files, ${FILES_SIDE_BY_SIDE} side by side as ours`,
		lines,
		goals,
	};
};

const CALLS = 500;

const answers: Case = async (bench) => {
	const { service, n8nServer } = bench;
	await service.ask({ wish: 'behave', plan: {} });
	const EACH = 'wall time a call (ms)';
	const EACH_CPU = 'CPU a call (ms)';
	const perCall = ({ ms, cpuMs }: Needs) => ({
		[EACH]: ms / CALLS,
		[EACH_CPU]: cpuMs / CALLS,
	});
	const inN8n = (name: string) => async () => {
		const { needs, items } = await n8nServer!.run(name, prompts(CALLS));
		expectCount('Answers', items, CALLS);
		return perCall(needs);
	};
	const ofJob = (what: Job) => async () => perCall(await job(bench, what));
	const LIMIT = 'undici, connections kept';
	const CLOSED = 'undici, a connection for each call';
	const HTTP_LOOP = 'HTTP Request in a loop, one after the other';
	const HTTP = 'HTTP Request, all at once (it knows no other way)';
	const OPENAI = 'n8n’s OpenAI node, one after the other';
	const SIDE = 'ours, 20 side by side';
	const lines = await inTurn(bench, [
		...(n8nServer
			? [
					{ who: OURS, run: inN8n('answersOurs') },
					{ who: SIDE, run: inN8n('answersOursSide') },
					{ who: HTTP_LOOP, run: inN8n('answersHttpLoop') },
					{ who: HTTP, run: inN8n('answersHttp') },
					{ who: OPENAI, run: inN8n('answersOpenAi') },
				]
			: [
					{ who: OURS, run: ofJob({ job: 'engine answers', items: CALLS, concurrency: 1 }) },
					{ who: SIDE, run: ofJob({ job: 'engine answers', items: CALLS, concurrency: 20 }) },
				]),
		{ who: CLOSED, run: ofJob({ job: 'undici answers', calls: CALLS, keepAlive: false }) },
		{ who: LIMIT, run: ofJob({ job: 'undici answers', calls: CALLS, keepAlive: true }) },
	]);
	const goals: Goal[] = [];
	if (n8nServer) {
		const alike = [
			['one after the other', OURS, HTTP_LOOP],
			['several at once', SIDE, HTTP],
		] as const;
		for (const [how, who, beside] of alike) {
			for (const column of [EACH, EACH_CPU]) {
				const ours = middleOf({ lines }, who, column);
				const theirs = middleOf({ lines }, beside, column);
				goals.push({
					goal: `${how}: ${column} ≤ that of HTTP Request`,
					found: `${short(ours)}, theirs ${short(theirs)}`,
					met: ours <= theirs,
				});
			}
		}
	}
	return {
		name: `${CALLS} responses, the gateway answers at once`,
		limit:
			'undici. n8n’s helpers open a connection for each request, so undici without kept connections is the limit inside n8n',
		lines,
		goals,
	};
};

const SLOW_CALLS = 200;
const SLOW_MS = 1000;

const slowAnswers: Case = async (bench) => {
	const { service, n8nServer } = bench;
	await service.ask({ wish: 'behave', plan: { responseMs: SLOW_MS } });
	const inN8n = (name: string) => async () => {
		const { needs, items } = await n8nServer!.run(name, prompts(SLOW_CALLS));
		expectCount('Answers', items, SLOW_CALLS);
		return inSeconds(needs);
	};
	const OPENAI = 'n8n’s OpenAI node';
	const lines = await inTurn(bench, [
		{ who: OURS, run: inN8n('answersOursSide') },
		{ who: OPENAI, once: true, run: inN8n('answersOpenAi') },
	]);
	const ratio = middleOf({ lines }, OPENAI, WALL) / middleOf({ lines }, OURS, WALL);
	return {
		name: `${SLOW_CALLS} responses of ${SLOW_MS / 1000} s, concurrency 20`,
		limit: `${SLOW_CALLS / 20} s: ${SLOW_CALLS / 20} rounds of 20`,
		lines,
		goals: [{ goal: 'OpenAI node ÷ ours ≥ 15', found: times(ratio), met: ratio >= 15 }],
	};
};

const DELTAS = 100_000;
/** Number of characters of `w1 w2 … w100000`. */
const CHARACTERS = Array.from({ length: DELTAS }, (_word, n) => `w${n + 1}`).join(' ').length;

const stream: Case = async (bench) => {
	const { service, n8nServer } = bench;
	const behave = async (deltas: number) => await service.ask({ wish: 'behave', plan: { deltas } });
	await behave(DELTAS);
	const RATE = 'deltas a second';
	const FIRST = 'first piece (ms)';
	const ofNeeds = (needs: Needs) => ({
		[RATE]: DELTAS / (needs.ms / 1000),
		...withMemory(needs),
	});
	const PARSER = 'eventsource-parser alone';
	const parser = {
		who: PARSER,
		run: async () => ofNeeds(await job(bench, { job: 'parsed events' })),
	};
	const ENGINE = 'ours, the node alone in n8n’s engine';
	const engine = {
		who: ENGINE,
		run: async () => ofNeeds(await job(bench, { job: 'engine stream' })),
	};
	if (!n8nServer) {
		const lines = await inTurn(bench, [{ ...engine, who: OURS }, parser]);
		return { ...streamCase(lines, RATE, OURS, PARSER), lines };
	}
	const MODEL = 'ours, the chat model under n8n’s agent';
	const OPENAI = 'n8n’s OpenAI chat model under n8n’s agent';
	const workflows = streamingWorkflows();
	const lines = await n8nServer.serving(async (server) => {
		const call = (name: string) => async () => {
			const { firstMs, needs, characters } = await server.call(workflows[name]?.id ?? '');
			expectCount('Characters', characters, CHARACTERS);
			return { ...ofNeeds(needs), [FIRST]: firstMs };
		};
		// The first call of each one loads its modules and n8n's token table.
		await behave(10);
		for (const { id } of Object.values(workflows)) await server.call(id ?? '');
		await behave(DELTAS);
		return await inTurn(bench, [
			{ who: OURS, run: call('node') },
			{ who: MODEL, run: call('chatModel') },
			{ who: OPENAI, run: call('openAi') },
			engine,
			parser,
		]);
	});
	const result = streamCase(lines, RATE, ENGINE, PARSER);
	const ratio = middleOf({ lines }, OURS, RATE) / middleOf({ lines }, OPENAI, RATE);
	result.goals.unshift({
		goal: '≥ 5 times n8n’s chat model on LangChain',
		found: times(ratio),
		met: ratio >= 5,
	});
	return result;
};

function streamCase(lines: Line[], rate: string, ours: string, parser: string): CaseResult {
	const share = middleOf({ lines }, ours, rate) / middleOf({ lines }, parser, rate);
	return {
		name: `A stream of ${DELTAS.toLocaleString('en-US')} deltas`,
		limit: 'eventsource-parser, which does nothing with the events',
		lines,
		goals: [{ goal: 'reading ≥ 0.5 of the limit', found: times(share), met: share >= 0.5 }],
	};
}

const loading: Case = async (bench) => {
	const { n8nServer, folder, own, cache } = bench;
	const node = n8nServer?.node ?? process.execPath;
	const modules = n8nServer?.modules ?? join(process.cwd(), 'node_modules');
	const sizes = (found: Bench['own']) => ({
		'tarball (KB)': found.tarballBytes / 1024,
		'installed (KB)': found.installedBytes / 1024,
		files: found.files,
	});
	const contender = (who: string, place: string, found: Bench['own']): Contender => ({
		who,
		run: async () => ({
			'loading (ms)': await loadingTime(node, modules, place),
			...sizes(found),
		}),
	});
	const others: Contender[] = [];
	for (const { name, version } of n8nServer ? OTHER_PACKAGES : []) {
		const place = join(cache, `bench-${name.replace('/', '-')}-${version}`);
		const found = await installedPackage(place, name, `${name}@${version}`);
		others.push(contender(`${name} ${version}`, found.folder, found));
	}
	const rounds = bench.rounds * 2 + 1;
	const lines = await inTurn({ ...bench, rounds }, [contender(OURS, folder, own), ...others]);
	const goals = ['loading (ms)', 'tarball (KB)', 'installed (KB)']
		.filter(() => others.length > 0)
		.map((column): Goal => {
			const ours = middleOf({ lines }, OURS, column);
			const best = Math.min(...others.map(({ who }) => middleOf({ lines }, who, column)));
			return {
				goal: `${column}: the least of all`,
				found: `${short(ours)}, the others’ least ${short(best)}`,
				met: ours <= best,
			};
		});
	return {
		name: 'Loading, and the size on the disk',
		limit: 'an empty package',
		lines,
		goals,
	};
};

const SIZES = [10, 100, 1000];

const growth: Case = async (bench) => {
	const { service } = bench;
	const lines: Line[] = [];
	const goals: Goal[] = [];
	const COST = 'CPU an item (ms)';
	const KEPT = 'heap kept by the output of an item (KB)';
	// Image tasks take real time, which quick mode does not have.
	for (const what of bench.n8nServer ? (['images', 'answers'] as const) : (['answers'] as const)) {
		await service.ask({ wish: 'behave', plan: { taskSeconds: 0 } });
		const measured = await inTurn(
			bench,
			SIZES.map((items) => ({
				who: `${items} ${what}`,
				run: async () => {
					const { cpuMs, addedBytes, keptBytes, count } = await job(bench, {
						job: 'growth',
						what,
						items,
					});
					expectCount('Items', count, Math.max(...SIZES));
					return {
						[COST]: cpuMs / count,
						[KEPT]: (keptBytes ?? NaN) / 1024 / count,
						...(addedBytes !== undefined && { [MEMORY]: addedBytes / MB }),
					};
				},
			})),
		);
		lines.push(...measured);
		const [, some = 0, many = 0] = SIZES;
		for (const column of [COST, KEPT]) {
			const of = (items: number) => middleOf({ lines }, `${items} ${what}`, column);
			const ratio = of(many) / of(some);
			goals.push({
				goal: `${what}: ${column} of ${many} at most 1.2 times that of ${some}`,
				found: times(ratio),
				met: ratio <= 1.2,
			});
		}
	}
	return {
		name: 'Cost as the work grows: 1,000 items in runs of 10, 100 and 1,000 (waits between polls take no time)',
		limit: 'the same for every item',
		lines,
		alike: false,
		goals,
	};
};

/** All cases by name. `quick` says whether quick mode runs them. */
export const CASES: Record<string, { run: Case; quick: boolean }> = {
	images: { run: images, quick: true },
	limited: { run: limited, quick: false },
	'background-limits': { run: backgroundLimits, quick: false },
	polls: { run: polls, quick: true },
	downloads: { run: downloads, quick: true },
	answers: { run: answers, quick: true },
	'slow-answers': { run: slowAnswers, quick: false },
	stream: { run: stream, quick: true },
	loading: { run: loading, quick: true },
	growth: { run: growth, quick: true },
};
