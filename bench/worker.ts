import 'reflect-metadata';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PROJECT } from '../scripts/n8n/package';
import { doJob, type Done, type Job, type JobAccess } from './jobs';

/**
 * Does a job in a fresh process, because freed memory of earlier work would distort the peak.
 * @param node the Node of the process; this process's if absent
 * @throws {Error} the job failed; its message is on the standard error output
 */
export async function done(job: Job, access: JobAccess, node?: string): Promise<Done> {
	const child = fork(__filename, [JSON.stringify({ job, access })], {
		env: {
			...process.env,
			BENCH_PROFILE_NAME: job.job,
			// The unpacked package is outside the checkout. It uses n8n-core of the checkout as its
			// n8n.
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
