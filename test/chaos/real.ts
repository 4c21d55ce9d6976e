import type { Gateway, GatewayOptions, TaskEndName, TaskOutcome } from '../../gateway';
import { chanceOf, pick } from '../../gateway/faults/catalogue';
import { itemOf, type Told, type Work } from './audit';

/** Ends by which a task was refused as too many: it may be submitted again. */
const TOO_MANY: TaskEndName[] = ['line is full', 'too many requests', 'no account', 'overloaded'];

/** How tasks end at the gateway of the profile `real`, if they do not succeed. */
const ENDS: TaskEndName[] = [
	...TOO_MANY,
	...(['not stored', 'server error', 'no status', 'error in the result'] as const),
	...(['refused by the model', 'quota used up', 'provider 500', 'lost', 'orphaned'] as const),
];

/** Share of the submits whose task does not succeed. */
const SHARE = 0.3;

/**
 * A gateway as real ones are, where each submit has a chance of its own. Neither the places in line
 * nor parked accounts are part of it: they would make what happens to one item depend on the others.
 */
export function realChaos(seed: number | string, from: number): GatewayOptions {
	const visits = new Map<string, number>();
	return {
		profile: 'real',
		parkSeconds: undefined,
		linkSeconds: 4,
		linkRenewal: pick(['same', 'fresh'] as const, chanceOf(seed, 'renewal', from)),
		strayPollEvery: 4,
		pollCacheSeconds: 5,
		taskEnd: ({ prompt }) => {
			const visit = (visits.get(prompt) ?? 0) + 1;
			visits.set(prompt, visit);
			if (chanceOf(seed, 'ends', prompt, visit) >= SHARE) return undefined;
			return pick(ENDS, chanceOf(seed, 'end', prompt, visit));
		},
	};
}

export const wasTooMany = (gateway: Gateway, { httpStatus, refused, taskId }: TaskOutcome) => {
	const failure = gateway.tasks.find(({ id }) => id === taskId)?.failure;
	const limited = httpStatus !== undefined && [429, 503, 529].includes(httpStatus);
	return refused && limited && failure?.code !== 'insufficient_quota';
};

/** Words by which an error says that nothing was paid. */
const FREE = /nothing was (?:made|charged|sent)|not charged|free of charge/i;

/** Items that are called free although their task was charged, or that keep silent about it. */
export function calledFree(works: Work[], gateway: Gateway): string[] {
	const paid = gateway.outcomes.filter(({ charged }) => charged);
	return works.flatMap(({ subjects, outputs, kind }) =>
		outputs.flatMap((output) => {
			const { error, error_details: { task_id: id, advice } = {} } = output.json as Told;
			if (typeof error !== 'string') return [];
			const subject = subjects[itemOf(output)];
			const outcome = paid.find(
				({ taskId, prompt }) => taskId === id || taskId === subject || prompt === subject,
			);
			if (!outcome) return [];
			const said = `${error} ${advice}`;
			if (FREE.test(said)) return [`${kind} "${subject}" is called free, and was charged: ${said}`];
			// A completed task can still be fetched.
			if (outcome.status === 'completed' || /charged/i.test(said)) return [];
			return [`${kind} "${subject}" was charged, and its error does not say so: ${said}`];
		}),
	);
}
