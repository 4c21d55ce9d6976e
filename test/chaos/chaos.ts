import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { IDataObject, INodeExecutionData, INodeType } from 'n8n-workflow';
import { startGateway, type Gateway, type ProfileName } from '../../gateway';
import { chanceOf, startSniffer, type Sniffer } from '../../gateway/faults/catalogue';
import * as own from '../nodes/arrange';
import * as engine from '../../scripts/engine/index';
import { expectNoSecret } from '../support/secrets';
import { VirtualTime } from '../../scripts/engine/virtual-time';
import { auditOf, type Work } from './audit';
import { befall } from './faults';
import { realChaos } from './real';

export interface ChaosOptions {
	items: number;
	seed: number;
	/** `real`: tasks are refused, charged and lost as real gateways do it. */
	profile?: ProfileName;
	/** The nodes of this package, their waits on a clock that is driven. */
	nodes?: typeof NODES;
	onBatch?: (done: number) => void;
}

type MakeNode = (time: VirtualTime) => INodeType;
const NODES = { text: own.textNode as MakeNode, image: own.imageNode as MakeNode };

/** Items of one batch: each has a gateway of its own, so that its usage log stay small. */
const BATCH = 250;

/** Share of the exchanges that something happens to. */
const SHARE = 0.3;

/** Runs items of every kind through the nodes while a share of all exchanges goes wrong. */
export async function runChaos({ items, seed, profile, nodes = NODES, onBatch }: ChaosOptions) {
	const before = resources();
	// What is loaded and compiled once counts for nobody's memory.
	await runBatch(newReport(), { from: 0, seed: 'warm', count: 40, profile, nodes });
	const heap = heapUsed();
	const report = newReport();
	for (let from = 0; from < items; from += BATCH) {
		const count = Math.min(BATCH, items - from);
		await runBatch(report, { from, seed, count, profile, nodes });
		onBatch?.(from + count);
	}
	report.growth = heapUsed() - heap;
	const open = await leftOver(before);
	report.violations.push(...open.map((resource) => `left open: ${resource}`));
	return report;
}

type Report = ReturnType<typeof newReport>;

const newReport = () => ({
	/** Requests to the gateway and to the storage. */
	exchanges: 0,
	faults: {} as Record<string, number>,
	/** Items that came to what they were for, and items that came to an error. */
	fulfilled: 0,
	failed: 0,
	seconds: 0,
	/** Bytes by which the heap is larger at the end than after the first batch. */
	growth: 0,
	/** What is not as it must be; nothing, if all is well. */
	violations: [] as string[],
});

/** Driven time that knows how many waits are under way. */
class CountingTime extends VirtualTime {
	waiting = 0;

	override async sleep(ms: number, signal?: AbortSignal) {
		this.waiting++;
		await super.sleep(ms, signal).finally(() => this.waiting--);
	}
}

type Batch = { from: number; count: number; seed: number | string };
type Given = Batch & Required<Pick<ChaosOptions, 'nodes'>> & Pick<ChaosOptions, 'profile'>;

/** Runs so many items, the first of which has the number `from`. */
async function runBatch(report: Report, { from, count, seed, profile, nodes }: Given) {
	// One chance for all waits of a batch: which item waits first depends on the machine.
	const jitter = chanceOf(seed, 'jitter', from);
	const time = new CountingTime(undefined, () => jitter);
	const started = time.now();
	const gateway = await startGateway({
		time: time.gateway,
		defaultSize: '16x16',
		taskLifetime: 10 ** 9,
		taskSeconds: ({ prompt }) => 2 + Math.floor(8 * chanceOf(seed, 'duration', prompt)),
		failTask: ({ prompt }) => (chanceOf(seed, 'fails', prompt) < 0.03 ? {} : undefined),
		...(profile === 'real' ? realChaos(seed, from) : {}),
	});
	const elsewhere = await startSniffer();
	const disk = await engine.storeBinaryOnDisk();
	const setting = { time: time.gateway, elsewhere: elsewhere.origin };
	const misfortune = befall(gateway, { seed, share: SHARE, profile }, setting);
	const { violations } = report;
	try {
		const works = await runWorks({ from, count, nodes, gateway, time, violations });
		// Connections that a peer has closed are gone a few turns later.
		await time.advance(1000);
		const { images, ...audit } = await auditOf(works, gateway, misfortune);
		violations.push(...audit.violations, ...leftBy(gateway, time, elsewhere));
		const files = (await disk.files()).filter((file) => !file.endsWith('.metadata'));
		if (files.length !== images) violations.push(`${files.length} files for ${images} images`);
		report.fulfilled += audit.fulfilled;
		report.failed += audit.failed;
		report.exchanges += misfortune.met.size;
		report.seconds += (time.now() - started) / 1000;
		for (const fault of misfortune.met.values()) {
			if (fault) report.faults[fault.name] = (report.faults[fault.name] ?? 0) + 1;
		}
	} finally {
		await Promise.all([gateway.close(), elsewhere.close(), disk.remove()]);
	}
}

type Surroundings = Pick<Given, 'from' | 'count' | 'nodes'> & {
	gateway: Gateway;
	time: VirtualTime;
	violations: string[];
};

const prompt = '={{ $json.prompt }}';
const options = { concurrency: 16 };

/** The share of each kind of work, and its parameters. */
const KINDS: Array<[Work['kind'], number, IDataObject]> = [
	['generate', 0.3, own.generateImage({ prompt, options })],
	['edit', 0.15, own.editImage({ prompt, options })],
	['response', 0.2, own.createResponse({ prompt, options })],
	['stream', 0.15, own.createResponse({ prompt, stream: true, options })],
	['wait', 0.1, own.waitForTask(prompt, { options })],
	['get', 0.1, own.getTask(prompt, { options })],
];

async function runWorks(surroundings: Surroundings): Promise<Work[]> {
	const { count, from, time } = surroundings;
	const works: Work[] = [];
	for (const [kind, part, parameters] of KINDS) {
		const length = Math.round(count * part);
		let subjects = Array.from({ length }, (_unused, index) => `${kind} number ${from + index}`);
		if (kind === 'wait' || kind === 'get') {
			const submitting = own.generateImage({ prompt, waitForCompletion: false, options });
			const submit = await run(surroundings, 'submit', subjects, submitting);
			works.push(submit);
			const ids = submit.outputs.map(({ json }) => json.task_id);
			subjects = ids.filter((id) => typeof id === 'string');
			if (kind === 'get') await time.advance(6000);
		}
		works.push(await run(surroundings, kind, subjects, parameters));
	}
	return works;
}

/** Runs one node for all of these, going on where one fails. */
async function run(
	{ gateway, time, nodes, violations }: Surroundings,
	kind: Work['kind'],
	subjects: string[],
	parameters: IDataObject,
): Promise<Work> {
	if (subjects.length === 0) return { kind, subjects, outputs: [], logged: '' };
	const node = kind === 'response' || kind === 'stream' ? nodes.text(time) : nodes.image(time);
	const record = engine.newRecord();
	const apiKey = gateway.keys.active;
	let outputs: INodeExecutionData[] = [];
	try {
		const items = own.itemsOf(...subjects.map((prompt) => ({ prompt })));
		const access = own.credentialOf({ baseUrl: gateway.baseUrl, apiKey });
		const options = { node, items, time, record, ...access, ...own.CONTINUE };
		const run = await engine.runNode({ ...options, parameters } as engine.RunNodeOptions);
		outputs = run.items;
		expectNoSecret(apiKey, outputs, run.hints, run.nodeContext, record);
	} catch (error) {
		violations.push(`${kind}: ${String(error)}`);
	}
	const logged = record.logs.map(({ message }) => message).join('\n');
	if (logged.includes('signature=')) violations.push(`${kind}: a log holds a signed address`);
	return { kind, subjects, outputs, logged };
}

/** What is still going on, or went where it must not. */
function leftBy(gateway: Gateway, time: CountingTime, elsewhere: Sniffer): string[] {
	return [
		...gateway.crashes.map((error) => `the gateway crashed: ${String(error)}`),
		...(gateway.connections > 0 ? [`${gateway.connections} connections are open`] : []),
		...(gateway.inFlight > 0 ? [`${gateway.inFlight} requests are under way`] : []),
		...(time.waiting > 0 ? [`${time.waiting} waits are under way`] : []),
		...elsewhere.seen.map(({ path }) => `somebody else was sent ${path}`),
		...gateway.storageRequests
			.filter(({ headers }) => headers.authorization !== undefined)
			.map(({ path }) => `the storage was sent a key: ${path}`),
	];
}

function resources(): Map<string, number> {
	const counts = new Map<string, number>();
	for (const name of process.getActiveResourcesInfo())
		counts.set(name, (counts.get(name) ?? 0) + 1);
	return counts;
}

const LASTING = ['TCPSocketWrap', 'TCPServerWrap', 'TLSWrap', 'Timeout', 'FSReqPromise'];

/** Sockets, servers, timers and files that were not open before. */
async function leftOver(before: Map<string, number>): Promise<string[]> {
	let open: string[] = [];
	for (let attempt = 0; attempt < 20; attempt++) {
		await new Promise((resolve) => setTimeout(resolve, 50));
		const now = resources();
		open = LASTING.filter((name) => (now.get(name) ?? 0) > (before.get(name) ?? 0));
		if (open.length === 0) break;
	}
	return open;
}

/** Bytes on the heap that are in use, after what is garbage has been collected. */
function heapUsed(): number {
	setFlagsFromString('--expose_gc');
	const collect = runInNewContext('gc') as () => void;
	collect();
	collect();
	return process.memoryUsage().heapUsed;
}
