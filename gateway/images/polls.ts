import type { Reply } from '../faults';
import type { GatewaySettings } from '../options';
import { jsonReply, pageReply } from '../reply';

type Settings = Pick<GatewaySettings, 'pollCacheSeconds' | 'strayPollEvery'>;

interface Poll {
	path: string;
	key: string;
	/** The `Cache-Control` of the request. */
	cacheControl?: string;
	now: number;
}

/** What lies between a poll and its task: a cache, and a proxy that sometimes answers itself. */
export class Polls {
	private readonly cache = new Map<string, { reply: Reply; at: number }>();
	private readonly counts = new Map<string, number>();

	constructor(private readonly settings: Settings) {}

	/** @param ask the reply of the gateway itself */
	answer({ path, key, cacheControl, now }: Poll, ask: () => Reply): Reply {
		const address = `${key} ${path}`;
		const { pollCacheSeconds = 0 } = this.settings;
		const cached = this.cache.get(address);
		const isFresh = cached !== undefined && now < cached.at + pollCacheSeconds * 1000;
		if (isFresh && !/\bno-cache\b/i.test(cacheControl ?? '')) return hit(cached, now);
		const reply = this.stray(address) ?? ask();
		if (pollCacheSeconds > 0) this.cache.set(address, { reply, at: now });
		return reply;
	}

	/** Replaces each Nth reply by a web page or an error in a 200, alternately. */
	private stray(address: string): Reply | undefined {
		const { strayPollEvery } = this.settings;
		if (!strayPollEvery) return undefined;
		const count = (this.counts.get(address) ?? 0) + 1;
		this.counts.set(address, count);
		if (count % strayPollEvery !== 0) return undefined;
		return (count / strayPollEvery) % 2 === 1 ? pageReply() : busyReply();
	}
}

const hit = ({ reply, at }: { reply: Reply; at: number }, now: number): Reply => ({
	...reply,
	headers: { ...reply.headers, 'X-Cache': 'HIT', Age: String(Math.floor((now - at) / 1000)) },
});

const busyReply = () =>
	jsonReply(200, {
		error: {
			type: 'server_error',
			code: 'server_busy',
			message: 'server is busy, try again later',
		},
	});
