import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createParser } from 'eventsource-parser';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { Agent, request, type Dispatcher } from 'undici';
import type { Clock } from '../nodes/shared/api/http/clock';
import { startGateway } from '../gateway';
import { runNode, storeBinaryOnDisk, type RunNodeOptions } from '../scripts/engine/index';
import { VirtualTime } from '../scripts/engine/virtual-time';
import { nodesOnTime, packedNodes, type OwnNodes } from './own-nodes';
import { collectGarbage, needsOf, type Needs } from './process-needs';
import type { FinishedTask } from './service';
import { imageOf, responseOf, TASK_WITH_FILE } from './workflows';

/** The input of every job. */
export interface JobAccess {
	baseUrl: string;
	key: string;
	/** Where the package is unpacked. */
	folder: string;
}

/** The result of a job: what it needed and how much work it did. */
export interface Done extends Needs {
	count: number;
	/** Bytes of the heap that the result occupies after garbage collection. */
	keptBytes?: number;
	/** Single values, if the job measured several. */
	counts?: number[];
}

/** Work that is done and measured in a separate process. */
export type Job =
	| { job: 'undici answers'; calls: number; keepAlive: boolean }
	| { job: 'undici downloads'; tasks: FinishedTask[]; sideBySide: number }
	| { job: 'parsed events' }
	| { job: 'engine images'; items: number; concurrency: number }
	| { job: 'engine answers'; items: number; concurrency: number }
	| { job: 'engine downloads'; tasks: FinishedTask[] }
	| { job: 'engine stream' }
	| { job: 'growth'; what: 'images' | 'answers'; items: number }
	| { job: 'polls'; taskSeconds: number[] };

const TEXT_MODEL = 'aurora-text-1';

/** Calls before the measured ones, so that loading and compiling do not count. */
const WARM_UP = 100;

/** Does a job in this process. */
export async function doJob(job: Job, access: JobAccess): Promise<Done> {
	switch (job.job) {
		case 'undici answers':
			return await undiciAnswers(access, job.calls, job.keepAlive);
		case 'undici downloads':
			return await undiciDownloads(job.tasks, job.sideBySide);
		case 'parsed events':
			return await parsedEvents(access);
		case 'engine images':
			return await inEngine(access, 'image', imageOf({ concurrency: job.concurrency }), {
				rows: prompts(job.items),
			});
		case 'engine answers':
			return await inEngine(access, 'text', responseOf(job.concurrency), {
				warmUp: prompts(WARM_UP),
				rows: prompts(job.items),
			});
		case 'engine downloads':
			return await inEngine(access, 'image', TASK_WITH_FILE, {
				rows: job.tasks.map((task) => ({ ...task })),
			});
		case 'engine stream':
			return await inEngine(
				access,
				'text',
				{ ...responseOf(1), stream: true },
				{ rows: prompts(1) },
			);
		case 'growth':
			return await growth(access, job.what, job.items);
		case 'polls':
			return await polls(job.taskSeconds);
	}
}

/** Items with prompts that are unique across all calls. */
export function prompts(count: number): Array<{ prompt: string }> {
	const call = Math.random().toString(36).slice(2);
	return Array.from({ length: count }, (_row, n) => ({ prompt: `Image ${n} of ${call}` }));
}

const headersOf = ({ key }: JobAccess, more: Record<string, string> = {}) => ({
	authorization: `Bearer ${key}`,
	'content-type': 'application/json',
	...more,
});

async function undiciAnswers(access: JobAccess, calls: number, keepAlive: boolean): Promise<Done> {
	const dispatcher: Dispatcher = new Agent({ pipelining: keepAlive ? 1 : 0 });
	const call = async () => {
		const { body } = await request(`${access.baseUrl}/responses`, {
			dispatcher,
			method: 'POST',
			headers: headersOf(access),
			body: JSON.stringify({ model: TEXT_MODEL, input: 'Hello' }),
		});
		return await body.json();
	};
	for (let n = 0; n < WARM_UP; n++) await call();
	const needs = await needsOf(async () => {
		for (let n = 0; n < calls; n++) await call();
	});
	await dispatcher.close();
	return { ...needs, count: calls };
}

async function undiciDownloads(tasks: FinishedTask[], sideBySide: number): Promise<Done> {
	const folder = await mkdtemp(join(tmpdir(), 'bench-downloads-'));
	try {
		const left = [...tasks];
		const work = async () => {
			for (let task = left.pop(); task; task = left.pop()) {
				const { body } = await request(task.image_url);
				await pipeline(body, createWriteStream(join(folder, task.task_id)));
			}
		};
		const needs = await needsOf(
			async () => await Promise.all(Array.from({ length: sideBySide }, work)),
		);
		return { ...needs, count: tasks.length };
	} finally {
		await rm(folder, { recursive: true });
	}
}

/** The events of a stream, read by the parser alone: the minimum work of any reader. */
async function parsedEvents(access: JobAccess): Promise<Done> {
	let count = 0;
	const needs = await needsOf(async () => {
		const { body } = await request(`${access.baseUrl}/responses`, {
			method: 'POST',
			headers: headersOf(access),
			body: JSON.stringify({ model: TEXT_MODEL, input: 'Hello', stream: true }),
		});
		const parser = createParser({ onEvent: () => count++ });
		const decoder = new TextDecoder();
		for await (const chunk of body) {
			parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
		}
	});
	return { ...needs, count };
}

/** One run of one of our nodes in n8n-core's engine, with files on disk. */
async function run(
	{ baseUrl, key }: Pick<JobAccess, 'baseUrl' | 'key'>,
	nodes: OwnNodes,
	kind: 'text' | 'image',
	parameters: IDataObject,
	rows: IDataObject[],
	more: Partial<RunNodeOptions> = {},
) {
	return await runNode({
		node: nodes[kind],
		credentials: { modelAccessApi: { baseUrl, apiKey: key } },
		credentialTypes: [nodes.credential],
		parameters: parameters as RunNodeOptions['parameters'],
		items: rows.map((json) => ({ json })),
		...more,
	});
}

async function inEngine(
	access: JobAccess,
	kind: 'text' | 'image',
	parameters: IDataObject,
	{ warmUp, rows }: { warmUp?: IDataObject[]; rows: IDataObject[] },
): Promise<Done> {
	const storage = await storeBinaryOnDisk();
	try {
		const nodes = packedNodes(access.folder);
		if (warmUp) await run(access, nodes, kind, parameters, warmUp);
		let count = 0;
		const needs = await needsOf(async () => {
			count = (await run(access, nodes, kind, parameters, rows)).items.length;
		});
		return { ...needs, count };
	} finally {
		await storage.remove();
	}
}

/** Shorter waits end at once. Longer waits are time-outs of connections. */
const WATCHING_MS = 30_000;

/** A clock on which the waits between polls take no time. */
const hurried: Clock = {
	now: () => Date.now(),
	random: () => Math.random(),
	async sleep(ms, signal) {
		if (ms < WATCHING_MS) return await new Promise((resolve) => setImmediate(resolve));
		await new Promise<void>((resolve, reject) => {
			const timer = setTimeout(resolve, ms);
			signal?.addEventListener('abort', () => {
				clearTimeout(timer);
				reject(signal.reason as Error);
			});
		});
	},
};

/**
 * Items of the warm-up of `growth`, and of each measured size. The number is high enough for V8 to
 * compile the code and for each size to collect its own garbage.
 */
const GROWTH_ITEMS = 1000;

/** Processes the same number of items in runs of a given size, and keeps all output. */
async function growth(access: JobAccess, what: 'images' | 'answers', items: number): Promise<Done> {
	const storage = await storeBinaryOnDisk();
	try {
		const nodes = nodesOnTime(hurried);
		const [kind, parameters] =
			what === 'images'
				? (['image', imageOf({ concurrency: 20 })] as const)
				: (['text', responseOf(20)] as const);
		const runs = Math.ceil(GROWTH_ITEMS / items);
		const runAll = async () => {
			const output: INodeExecutionData[] = [];
			for (let n = 0; n < runs; n++) {
				output.push(...(await run(access, nodes, kind, parameters, prompts(items))).items);
			}
			return output;
		};
		await runAll();
		const heap = await heapInUse();
		let output: INodeExecutionData[] = [];
		const needs = await needsOf(async () => (output = await runAll()));
		const keptBytes = (await heapInUse()) - heap;
		return { ...needs, count: output.length, keptBytes };
	} finally {
		await storage.remove();
	}
}

async function heapInUse(): Promise<number> {
	await collectGarbage();
	return process.memoryUsage().heapUsed;
}

/** Number of polls of one image for each of several run times, on a driven clock. */
async function polls(runTimes: number[]): Promise<Done> {
	const counts: number[] = [];
	for (const taskSeconds of runTimes) {
		const time = new VirtualTime();
		const gateway = await startGateway({ taskSeconds, defaultSize: '32x24', time: time.gateway });
		try {
			const access = { baseUrl: gateway.baseUrl, key: gateway.keys.active };
			await run(access, nodesOnTime(time), 'image', imageOf({}), prompts(1), { time });
			counts.push(gateway.count({ route: 'task' }));
		} finally {
			await gateway.close();
		}
	}
	return { ms: 0, cpuMs: 0, count: counts.length, counts };
}
