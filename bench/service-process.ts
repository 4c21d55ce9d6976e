import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Pool } from 'undici';
import {
	drawImage,
	startGateway,
	type Gateway,
	type GatewaySwitches,
	type StorageExchange,
} from '../gateway';

/** Limits that the gateway checks after it accepted a submit. */
export type BackgroundLimits = Pick<GatewaySwitches, 'places' | 'requestsPerClockMinute'>;

/** How the gateway behaves in a case. Absent fields are as in `PLAIN`. */
export interface ServicePlan {
	/** Run time of an image task, seconds. */
	taskSeconds?: number;
	/** Milliseconds until a response. */
	responseMs?: number;
	/** Size of the images in bytes; absent means their usual size. */
	imageBytes?: number;
	/**
	 * Number of deltas of a streamed answer. The stream is prepared, so that the gateway needs no
	 * time.
	 */
	deltas?: number;
	/** `Retry-After` of submits and polls, in seconds. */
	retryAfter?: number;
	/** If set, every submit gets 202, and a task over the limit fails with 429. */
	backgroundLimits?: BackgroundLimits;
}

/** What the gateway has counted since its last plan. */
export interface Counts {
	/** All requests. */
	requests: number;
	submits: number;
	/** Submits that got 429. */
	refused: number;
	accepted: number;
	/** Prompts with more than one task. */
	doubled: number;
	/** Tasks that failed without a charge. */
	refusedTasks: number;
	/** Tasks that were charged. */
	charged: number;
	/** Prompts with more than one charged task. */
	chargedTwice: number;
	/** Time of each submit, in milliseconds since the Unix epoch. */
	submittedAt: number[];
	polls: number;
	responses: number;
	downloads: number;
	/** Number of connections. */
	connections: number;
}

/** A completed task: the fields that a download needs. */
export interface FinishedTask {
	task_id: string;
	image_url: string;
}

export type ServiceWish =
	| { wish: 'behave'; plan: ServicePlan }
	| { wish: 'count' }
	| { wish: 'finish'; tasks: number };

export type ServiceAnswer<W extends ServiceWish> = W['wish'] extends 'count'
	? Counts
	: W['wish'] extends 'finish'
		? FinishedTask[]
		: 'done';

const PIECE = 64 * 1024;
const IMAGE = drawImage({ prompt: 'large', index: 0, width: 32, height: 24 });

/** An image of any size. Filler follows its end, and then its end is repeated. */
function* largeImage(bytes: number) {
	const filler = Buffer.alloc(PIECE, 7);
	yield IMAGE;
	for (let left = bytes - IMAGE.length; left > 0; left -= PIECE) {
		yield filler.subarray(0, left);
	}
}

function pieces(body: Buffer): Buffer[] {
	return Array.from({ length: Math.ceil(body.length / PIECE) }, (_piece, at) =>
		body.subarray(at * PIECE, (at + 1) * PIECE),
	);
}

/** The stream of the gateway for a number of words, prepared once. */
async function streamOf(gateway: Gateway, deltas: number): Promise<Buffer> {
	const pool = new Pool(gateway.origin);
	const { body } = await pool.request({
		method: 'POST',
		path: '/v1/responses',
		headers: {
			authorization: `Bearer ${gateway.keys.active}`,
			'content-type': 'application/json',
		},
		body: JSON.stringify({ model: 'aurora-text-1', input: `[[words:${deltas}]]`, stream: true }),
	});
	const text = Buffer.from(await body.arrayBuffer());
	await pool.close();
	return text;
}

async function serve() {
	let plan: ServicePlan = {};
	let written: Buffer | undefined;
	const seen = { requests: 0, downloads: 0, tasks: 0 };
	const sockets = new Set<unknown>();
	const gateway = await startGateway({
		defaultSize: '32x24',
		keys: { ten: { key: 'mak-test-ten-at-once-0100', maxConcurrentTasks: 10 } },
		intercept: ({ stage, route, res, reply, req }) => {
			sockets.add(req.socket);
			if (stage === 'after' && reply && plan.retryAfter !== undefined) {
				if (reply.status < 300) reply.headers['Retry-After'] = String(plan.retryAfter);
			}
			const body = written;
			if (stage !== 'before' || route !== 'responses' || !body) return undefined;
			const write = async () => {
				res.writeHead(200, { 'Content-Type': 'text/event-stream' });
				await pipeline(Readable.from(pieces(body)), res);
			};
			return { kind: 'take', write };
		},
		storageIntercept: ({ stage, res }: StorageExchange) => {
			const bytes = plan.imageBytes;
			if (stage !== 'before' || bytes === undefined) return undefined;
			const write = async () => {
				res.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': bytes });
				await pipeline(Readable.from(largeImage(bytes)), res);
			};
			return { kind: 'take', write };
		},
	});

	const behave = async (wanted: ServicePlan) => {
		plan = {};
		written = undefined;
		gateway.settings.taskSeconds = wanted.taskSeconds ?? 6;
		gateway.settings.responseMs = wanted.responseMs ?? 0;
		const { backgroundLimits: limits } = wanted;
		gateway.settings.backgroundLimits = limits !== undefined;
		gateway.settings.places = limits?.places;
		gateway.settings.requestsPerClockMinute = limits?.requestsPerClockMinute;
		if (wanted.deltas !== undefined) written = await streamOf(gateway, wanted.deltas);
		plan = wanted;
		seen.requests = gateway.requests.length;
		seen.downloads = gateway.storageRequests.length;
		seen.tasks = gateway.tasks.length;
		sockets.clear();
	};

	const count = (): Counts => {
		const requests = gateway.requests.slice(seen.requests);
		const of = (route: string) => requests.filter((request) => request.route === route);
		const submits = [...of('generations'), ...of('edits')];
		const prompts = gateway.tasks.slice(seen.tasks).map(({ request }) => request.prompt);
		const outcomes = gateway.outcomes.slice(seen.tasks);
		const charged = outcomes.filter((outcome) => outcome.charged).map(({ prompt }) => prompt);
		return {
			requests: requests.length,
			submits: submits.length,
			refused: submits.filter(({ status }) => status === 429).length,
			accepted: prompts.length,
			doubled: prompts.length - new Set(prompts).size,
			refusedTasks: outcomes.filter(({ refused }) => refused).length,
			charged: charged.length,
			chargedTwice: charged.length - new Set(charged).size,
			submittedAt: submits.map(({ startedAt }) => startedAt),
			polls: of('task').length,
			responses: of('responses').length,
			downloads: gateway.storageRequests.length - seen.downloads,
			connections: sockets.size,
		};
	};

	const finish = async (tasks: number): Promise<FinishedTask[]> => {
		const pool = new Pool(gateway.origin);
		const headers = {
			authorization: `Bearer ${gateway.keys.active}`,
			'content-type': 'application/json',
		};
		const { taskSeconds } = gateway.settings;
		gateway.settings.taskSeconds = 0;
		const done: FinishedTask[] = [];
		for (let n = 0; n < tasks; n++) {
			const submitted = await pool.request({
				method: 'POST',
				path: '/v1/images/generations/async',
				headers,
				body: JSON.stringify({ model: 'aurora-image-1', prompt: `finished ${n}` }),
			});
			const { task_id } = (await submitted.body.json()) as FinishedTask;
			const polled = await pool.request({
				method: 'GET',
				path: `/v1/images/tasks/${task_id}`,
				headers,
			});
			const { image_url } = (await polled.body.json()) as FinishedTask;
			done.push({ task_id, image_url });
		}
		await pool.close();
		gateway.settings.taskSeconds = taskSeconds;
		return done;
	};

	const fulfil = async (wish: ServiceWish) => {
		switch (wish.wish) {
			case 'behave':
				await behave(wish.plan);
				return 'done';
			case 'count':
				return count();
			case 'finish':
				return await finish(wish.tasks);
		}
	};
	process.on('message', (wish: ServiceWish) => {
		void fulfil(wish).then((answer) => process.send?.(answer));
	});
	process.on('disconnect', () => void gateway.close().then(() => process.exit()));
	process.send?.({
		baseUrl: gateway.baseUrl,
		key: gateway.keys.active,
		keyOfTen: gateway.keys.ten,
	});
}

void serve();
