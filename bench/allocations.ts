import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

/** A function in a heap profile, with the functions that it called. */
interface Place {
	callFrame: { url: string };
	/** Bytes that the function itself allocated. */
	selfSize: number;
	children: Place[];
}

/** Average number of bytes between two samples. */
const INTERVAL = 1024;

const SOURCES = join(__dirname, '..', 'nodes');
const BUNDLED = /node_modules\/(zod|eventsource-parser|p-limit|yocto-queue)\//;

/** Our nodes and the code bundled with them. Allocations of n8n do not count. */
const isOwn = (url: string) => url.includes(SOURCES) || BUNDLED.test(url);

/**
 * Bytes that our nodes allocate during some work, garbage included. V8 takes samples: for some
 * hundred kilobytes the sum is accurate to a few percent.
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

/**
 * @param forUs whether our files call it; allocations of V8's own functions count for these calls
 */
function ownBytes({ callFrame: { url }, selfSize, children }: Place, forUs: boolean): number {
	const ours = url === '' ? forUs : isOwn(url);
	const called = children.map((child) => ownBytes(child, ours));
	return called.reduce((sum, bytes) => sum + bytes, ours ? selfSize : 0);
}
