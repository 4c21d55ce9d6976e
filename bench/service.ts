import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ServiceAnswer, ServiceWish } from './service-process';

export type { BackgroundLimits, Counts, FinishedTask, ServicePlan } from './service-process';

/** The built-in gateway in a process of its own, so that what it needs is not counted. */
export class Service {
	private constructor(
		private readonly child: ChildProcess,
		/** Ends in `/v1`. */
		readonly baseUrl: string,
		/** May do everything. */
		readonly key: string,
		/** May have ten image tasks at once. */
		readonly keyOfTen: string,
	) {}

	static async start(): Promise<Service> {
		const child = fork(join(__dirname, 'service-process.ts'));
		const [{ baseUrl, key, keyOfTen }] = (await once(child, 'message')) as [
			{ baseUrl: string; key: string; keyOfTen: string },
		];
		return new Service(child, baseUrl, key, keyOfTen);
	}

	/** Asks the process for something, one wish at a time. */
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
