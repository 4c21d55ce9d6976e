import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

/** A function in a profile of the heap, with those that it called. */
interface Place {
	callFrame: { url: string };
	/** Bytes that it allocated itself. */
	selfSize: number;
	children: Place[];
}

/** Bytes from one sample to the next, on average. */
const INTERVAL = 1024;

const SOURCES = join(__dirname, '..', 'nodes');
const BUNDLED = /node_modules\/(zod|eventsource-parser|p-limit|yocto-queue)\//;

/** Our nodes and what is bundled with them; what n8n allocates is its own affair. */
const isOwn = (url: string) => url.includes(SOURCES) || BUNDLED.test(url);

/**
 * Bytes that our nodes allocate while work is done, whether they are garbage by then or not. V8
 * samples them: of some hundred kilobytes the sum is right within a few hundredths.
 */
export async function allocatedBy(work: () => Promise<unknown>): Promise<number> {
	const session = new Session();
	session.connect();
	try {
		await session.post('HeapProfiler.startSampling', {
			samplingInterval: INTERVAL,
			includeObjectsCollectedByMajorGC: true,
			includeObjectsCollectedByMinorGC: true,
		});
		await work();
		const { profile } = await session.post('HeapProfiler.stopSampling');
		return ownBytes(profile.head, false);
	} finally {
		session.disconnect();
	}
}

/** @param forUs whether it is called by our files: what V8's own functions allocate counts for these */
function ownBytes({ callFrame: { url }, selfSize, children }: Place, forUs: boolean): number {
	const ours = url === '' ? forUs : isOwn(url);
	const called = children.map((child) => ownBytes(child, ours));
	return called.reduce((sum, bytes) => sum + bytes, ours ? selfSize : 0);
}
