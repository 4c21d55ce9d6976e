import 'reflect-metadata';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import { ModelAccessApi } from '../credentials/ModelAccessApi.credentials';
import { ModelAccessImage } from '../nodes/ModelAccessImage/ModelAccessImage.node.js';
import { drawImage, startGateway, type FormRecord } from '../gateway';
import { prepareNode, runNode, storeBinaryOnDisk } from './engine/index';

/**
 * Measures the memory for images, with n8n-core's real helpers and binary data on disk. It runs 20
 * downloads of 32 MB, 4 at once, and an edit of three files of 20 MB. Gateway and storage run in a
 * separate process, so that they do not count. It fails if a limit is exceeded.
 *
 * Most of the memory is garbage: pieces that are on disk already. V8 collects them when they reach
 * some 50 MB, or later on a busy machine. For this reason each value is the median of three runs.
 */

const MB = 2 ** 20;
const FILES = 20;
const FILE_MB = 32;
const CONCURRENCY = 4;
const UPLOADS = 3;
const UPLOAD_MB = 20;
/** The most memory that the downloads may add to the process (MB). */
const DOWNLOAD_LIMIT_MB = 64;
/** Less than twice the files: they are in memory once, and parts of them while they are sent. */
const UPLOAD_LIMIT_MB = 2 * UPLOADS * UPLOAD_MB;
const RUNS = 3;

interface Address {
	baseUrl: string;
	apiKey: string;
}

const IMAGE = drawImage({ prompt: 'large', index: 0, width: 32, height: 24 });

/** The other process: a gateway whose tasks complete at once and whose images are large. */
async function serve() {
	let large = false;
	const service = await startGateway({
		taskSeconds: 0,
		defaultSize: '32x24',
		intercept: ({ reply }) => {
			if (reply) reply.headers['Retry-After'] = '0';
			return undefined;
		},
		storageIntercept: ({ stage, res }) => {
			if (stage !== 'before' || !large) return undefined;
			const write = async () => {
				res.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': FILE_MB * MB });
				await pipeline(Readable.from(largeImage()), res);
			};
			return { kind: 'take', write };
		},
	});
	process.on('message', (wish) => {
		large ||= wish === 'large';
		const edit = service.requests.findLast(({ route }) => route === 'edits');
		process.send?.(((edit?.body as FormRecord)?.files ?? []).map(({ size }) => size));
	});
	process.on('disconnect', () => void service.close().then(() => process.exit()));
	process.send?.({ baseUrl: service.baseUrl, apiKey: service.keys.active } satisfies Address);
}

function* largeImage() {
	const filler = Buffer.alloc(64 * 1024, 7);
	yield IMAGE;
	for (let left = FILE_MB * MB - IMAGE.length; left > 0; left -= filler.length) {
		yield filler.subarray(0, left);
	}
}

let gateway: ChildProcess | undefined;

/**
 * Sends a message to the other process.
 * @returns the file sizes of the last edit
 */
async function tell(wish: 'large' | 'edits'): Promise<number[]> {
	if (!gateway) throw new Error('The gateway is not running');
	gateway.send(wish);
	const [sizes] = (await once(gateway, 'message')) as [number[]];
	return sizes;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const CLEAR_PEAK = '/proc/self/clear_refs';

/** The process's resident memory now, and its peak since the last reset (bytes). */
function resident(): { now: number; peak: number } {
	const now = process.memoryUsage.rss();
	try {
		const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
		return { now, peak: Number(peak) * 1024 };
	} catch {
		return { now, peak: now };
	}
}

/** Resets the kernel's peak value. Without this file, samples are used. */
function resetPeak() {
	try {
		writeFileSync(CLEAR_PEAK, '5');
	} catch {
		// Not Linux.
	}
}

const pause = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

/** The needs of some work: bytes at the peak over those before, and time. */
interface Needs {
	added: number;
	ms: number;
}

async function measured(work: () => Promise<void>): Promise<Needs> {
	for (let round = 0; round < 3; round++) {
		collectGarbage();
		await pause(200);
	}
	resetPeak();
	const idle = resident().now;
	let peak = idle;
	const sampler = setInterval(() => {
		peak = Math.max(peak, process.memoryUsage.rss());
	}, 5);
	const start = performance.now();
	try {
		await work();
	} finally {
		clearInterval(sampler);
	}
	return { added: Math.max(peak, resident().peak) - idle, ms: performance.now() - start };
}

const nodeOf = (address: Address) => ({
	node: ModelAccessImage,
	credentials: { modelAccessApi: { ...address } },
	credentialTypes: [new ModelAccessApi()],
});

/** Runs the image node and returns its items. */
async function run(address: Address, parameters: IDataObject, items: INodeExecutionData[]) {
	const given = parameters as Parameters<typeof runNode>[0]['parameters'];
	return (await runNode({ ...nodeOf(address), parameters: given, items })).items;
}

const GENERATE: IDataObject = {
	resource: 'image',
	operation: 'generate',
	model: 'aurora-image-1',
	prompt: '=Image {{ $json.n }}',
	advanced: { concurrency: CONCURRENCY, pollInterval: 1 },
};

const rows = (count: number) => Array.from({ length: count }, (_row, n) => ({ json: { n } }));

async function measureDownloads(address: Address): Promise<Needs> {
	// Small images first, to load and compile everything.
	await run(address, GENERATE, rows(CONCURRENCY));
	await tell('large');
	return await measured(async () => {
		const items = await run(address, GENERATE, rows(FILES));
		const whole = items.filter(({ json }) => (json.file as IDataObject).size === FILE_MB * MB);
		if (whole.length !== FILES) throw new Error(`Only ${whole.length} files are whole`);
	});
}

const EDIT: IDataObject = {
	...GENERATE,
	operation: 'edit',
	images: {
		image: [{ source: 'binary', binaryPropertyName: '={{ Object.keys($binary) }}' }],
	},
	waitForCompletion: false,
};

async function measureUploads(address: Address): Promise<Needs> {
	const { helpers } = prepareNode(nodeOf(address)).context;
	const itemWith = async (bytes: number): Promise<INodeExecutionData> => {
		const file = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(bytes - 4, 7)]);
		const binary: Record<string, IBinaryData> = {};
		for (let n = 0; n < UPLOADS; n++) {
			binary[`photo${n}`] = await helpers.prepareBinaryData(file, `${n}.jpg`, 'image/jpeg');
		}
		return { json: { n: bytes }, binary };
	};
	await run(address, EDIT, [await itemWith(1024)]);
	const item = await itemWith(UPLOAD_MB * MB);
	const needs = await measured(async () => void (await run(address, EDIT, [item])));
	const sizes = await tell('edits');
	if (sizes.length !== UPLOADS || sizes.some((size) => size !== UPLOAD_MB * MB)) {
		throw new Error('Not all files are complete');
	}
	return needs;
}

interface Measurement {
	what: string;
	limitMb: number;
	measure: (address: Address) => Promise<Needs>;
}

const MEASUREMENTS: Record<string, Measurement> = {
	downloads: {
		what: `${FILES} downloads of ${FILE_MB} MB, ${CONCURRENCY} side by side`,
		limitMb: DOWNLOAD_LIMIT_MB,
		measure: measureDownloads,
	},
	uploads: {
		what: `An edit of ${UPLOADS} files of ${UPLOAD_MB} MB`,
		limitMb: UPLOAD_LIMIT_MB,
		measure: measureUploads,
	},
};

/** Measures once in this process, with the gateway in another. */
async function measureHere({ measure }: Measurement) {
	gateway = fork(__filename, ['gateway']);
	const storage = await storeBinaryOnDisk();
	try {
		const [address] = (await once(gateway, 'message')) as [Address];
		process.send?.(await measure(address));
	} finally {
		gateway.disconnect();
		process.disconnect();
		await storage.remove();
	}
}

/**
 * Each run is in a fresh process, because freed memory of earlier runs would distort the result.
 */
async function runOf(name: string): Promise<Needs> {
	const child = fork(__filename, [name]);
	const ended = once(child, 'exit');
	const [needs] = (await Promise.race([once(child, 'message'), ended])) as [Needs | number | null];
	await ended;
	if (typeof needs !== 'object' || needs === null) throw new Error(`The run of ${name} failed`);
	return needs;
}

async function measureAll() {
	for (const [name, { what, limitMb }] of Object.entries(MEASUREMENTS)) {
		const runs: Needs[] = [];
		for (let n = 0; n < RUNS; n++) runs.push(await runOf(name));
		const megabytes = runs.map(({ added }) => Math.round(added / MB)).sort((a, b) => a - b);
		const middle = megabytes[Math.floor(RUNS / 2)]!;
		const verdict = middle < limitMb ? 'below' : 'NOT BELOW';
		const seconds = Math.min(...runs.map(({ ms }) => ms)) / 1000;
		console.log(
			`${what}: ${middle} MB over idle at the peak (${verdict} ${limitMb} MB; runs: ${megabytes.join(', ')}), ${seconds.toFixed(1)} s`,
		);
		if (middle >= limitMb) process.exitCode = 1;
	}
}

async function main([role]: string[]) {
	if (role === 'gateway') return await serve();
	const measurement = MEASUREMENTS[role ?? ''];
	await (measurement ? measureHere(measurement) : measureAll());
}

main(process.argv.slice(2)).catch((error: unknown) => {
	console.error(error);
	process.exitCode = 1;
});
