import 'reflect-metadata';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PROJECT } from '../scripts/n8n/package';
import { doJob, type Done, type Job, type JobAccess } from './jobs';

/**
 * Does a job in a fresh process, so that memory which was once in use does not look idle.
 * @param node the Node to do it with; this process's if absent
 * @throws {Error} it failed; what it says of that is on the standard error output
 */
export async function done(job: Job, access: JobAccess, node?: string): Promise<Done> {
	const child = fork(__filename, [JSON.stringify({ job, access })], {
		env: {
			...process.env,
			BENCH_PROFILE_NAME: job.job,
			// The unpacked package lies outside the checkout: n8n-core of the checkout is its n8n here.
			NODE_PATH: join(PROJECT, 'node_modules'),
		},
		...(node !== undefined && { execPath: node }),
	});
	const ended = once(child, 'exit');
	const [result] = (await Promise.race([once(child, 'message'), ended])) as [Done | number | null];
	await ended;
	if (typeof result !== 'object' || result === null) throw new Error(`${job.job} failed`);
	return result;
}

async function work(told: string) {
	const { job, access } = JSON.parse(told) as { job: Job; access: JobAccess };
	process.send?.(await doJob(job, access));
	process.disconnect();
}

const [, script, told] = process.argv;
if (script === __filename && told !== undefined) {
	work(told).catch((error: unknown) => {
		console.error(error);
		process.exit(1);
	});
}
