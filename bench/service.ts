import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ServiceAnswer, ServiceWish } from './service-process';

export type { BackgroundLimits, Counts, FinishedTask, ServicePlan } from './service-process';

/** The built-in gateway in a separate process, so that its needs do not count. */
export class Service {
	private constructor(
		private readonly child: ChildProcess,
		/** Ends in `/v1`. */
		readonly baseUrl: string,
		/** A key without restrictions. */
		readonly key: string,
		/** A key with at most ten image tasks at once. */
		readonly keyOfTen: string,
	) {}

	static async start(): Promise<Service> {
		const child = fork(join(__dirname, 'service-process.ts'));
		const [{ baseUrl, key, keyOfTen }] = (await once(child, 'message')) as [
			{ baseUrl: string; key: string; keyOfTen: string },
		];
		return new Service(child, baseUrl, key, keyOfTen);
	}

	/** Sends a message to the process, one at a time. */
	async ask<W extends ServiceWish>(wish: W): Promise<ServiceAnswer<W>> {
		this.child.send(wish);
		const [answer] = (await once(this.child, 'message')) as [ServiceAnswer<W>];
		return answer;
	}

	async close(): Promise<void> {
		const ended = once(this.child, 'exit');
		this.child.disconnect();
		await ended;
	}
}
