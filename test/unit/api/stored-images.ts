import { Readable } from 'node:stream';
import type { RequestAborted } from '../../../nodes/shared/api/http/abort';
import type { Storage, StoredReply } from '../../../nodes/shared/api/images/download';
import { TransportFault, type Headers } from '../../../nodes/shared/api/http/transport';
import type { VirtualTime } from '../../../scripts/engine/virtual-time';

/** What happens next while a body is read: bytes come, nothing comes, or it breaks. */
export type Step = Uint8Array | { pause: number } | TransportFault;

/** A reply of the storage host, or none: a fault, or silence for ever. */
export type Stored =
	| { status: number; headers?: Headers; body?: Step[] }
	| TransportFault
	| RequestAborted
	| 'silence';

/** What lies in the host's storage after a download. */
type Saved = Record<'name' | 'mimeType', string> & { bytes: Buffer };

/** A storage host that answers as scripted, and a binary storage in memory. */
export class ScriptedStorage implements Storage<Saved> {
	/** Each address that was opened, and when. */
	readonly opened: Array<{ url: string; at: number }> = [];
	readonly saved: Saved[] = [];

	/** How many connections are open. */
	connections = 0;

	/** Bytes that were read from the host. */
	read = 0;

	constructor(
		private readonly time: VirtualTime,
		private readonly script: Stored[],
	) {}

	async open(url: string, signal: AbortSignal): Promise<StoredReply<Saved>> {
		this.opened.push({ url, at: this.time.now() });
		const next = this.script.length > 1 ? this.script.shift() : this.script[0];
		if (next === undefined) throw new Error('nothing is stored');
		if (next === 'silence') return await aborted(signal);
		if (next instanceof Error) throw next;
		const { status, headers = {}, body = [] } = next;
		let open = 1;
		this.connections++;
		return {
			status,
			headers,
			chunks: this.chunks(body, signal),
			save: async (file, chunks) => {
				const parts = (await Readable.from(chunks).toArray()) as Uint8Array[];
				this.saved.push({ ...file, bytes: Buffer.concat(parts) });
				return this.saved.at(-1)!;
			},
			discard: () => {
				this.connections -= open;
				open = 0;
			},
		};
	}

	private async *chunks(steps: Step[], signal: AbortSignal): AsyncGenerator<Uint8Array> {
		for (const step of steps) {
			signal.throwIfAborted();
			if (step instanceof TransportFault) throw step;
			if ('pause' in step) {
				await Promise.race([this.time.gateway.sleep(step.pause), aborted(signal)]);
			} else {
				this.read += step.length;
				yield step;
			}
		}
	}
}

/** Never settles but by an abort. */
async function aborted(signal: AbortSignal): Promise<never> {
	return await new Promise<never>((_, reject) => {
		if (signal.aborted) reject(signal.reason as Error);
		signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
	});
}
