import type { INodeExecutionData } from 'n8n-workflow';
import { imageBelongsTo, type Gateway, type ImageTask, type RequestRecord } from '../../gateway';
import { readBinary } from '../../scripts/engine/index';
import { maySendAgain, type Misfortune } from './faults';
import { calledFree, wasTooMany } from './real';

export interface Work {
	kind: 'generate' | 'edit' | 'response' | 'stream' | 'submit' | 'wait' | 'get';
	/** Prompts; for `wait` and `get` the IDs of tasks. */
	subjects: string[];
	outputs: INodeExecutionData[];
	logged: string;
}

const newAudit = () => ({ fulfilled: 0, failed: 0, images: 0, violations: [] as string[] });

/** Holds what the nodes made against the usage log of the gateway. */
export async function auditOf(works: Work[], gateway: Gateway, misfortune: Misfortune) {
	const audit = newAudit();
	for (const work of works) await auditWork(work, gateway, audit);
	audit.violations.push(
		...sentTwice(gateway, misfortune),
		...lostTasks(works, gateway, misfortune),
		...(misfortune.profile === 'real' ? calledFree(works, gateway) : []),
	);
	return audit;
}

/** Every item has an output or an error, and every output is the right one. */
async function auditWork(work: Work, gateway: Gateway, audit: ReturnType<typeof newAudit>) {
	const { kind, subjects, outputs } = work;
	for (const [index, subject] of subjects.entries()) {
		const own = outputs.filter((output) => itemOf(output) === index);
		const [output] = own;
		if (own.length !== 1 || !output) {
			audit.violations.push(`"${subject}" came to ${own.length} items`);
			continue;
		}
		// A failed task that was looked at has an error of its own, which is an object.
		if (typeof output.json.error === 'string') {
			audit.failed++;
			audit.violations.push(...unreadable(subject, output));
			continue;
		}
		audit.fulfilled++;
		const isOwn = ({ id, request }: ImageTask) => [id, request.prompt].includes(subject);
		const task = gateway.tasks.findLast(isOwn);
		const image = output.binary?.data;
		if (kind === 'response' || kind === 'stream') {
			if (output.json.text !== `You said: ${subject}`) {
				audit.violations.push(`"${subject}" was answered by ${JSON.stringify(output.json.text)}`);
			}
		} else if (output.json.task_id !== task?.id) {
			audit.violations.push(`"${subject}" is said to be task ${output.json.task_id as string}`);
		} else if (image) {
			audit.images++;
			if (!imageBelongsTo(task?.request.prompt ?? '', await readBinary(image))) {
				audit.violations.push(`"${subject}" has the image of another prompt, or half of one`);
			}
		} else if (kind !== 'submit' && !(kind === 'get' && !isDone(output, task))) {
			audit.violations.push(`"${subject}" is fulfilled without an image`);
		}
	}
}

const isDone = ({ json }: INodeExecutionData, task: ImageTask | undefined) =>
	json.status === 'completed' && task?.errorInResult === undefined;

/** The number of the input item that an output belongs to. */
export const itemOf = ({ pairedItem }: INodeExecutionData): number =>
	typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : -1;

function unreadable(subject: string, { json }: INodeExecutionData): string[] {
	const { error, error_details: details } = json as Told;
	const message = typeof error === 'string' ? error : '';
	const faults = [
		[message === '', 'no message'],
		[message.length > 1000, 'a message without end'],
		// eslint-disable-next-line no-control-regex
		[/[\u0000-\u001f\u007f]/.test(message), 'a message with control characters'],
		[/signature=/.test(message), 'a message with a signed address'],
		[!details?.advice, 'no advice'],
	] as const;
	return faults.filter(([fault]) => fault).map(([, what]) => `"${subject}": ${what}: ${message}`);
}

const PAID = ['generations', 'edits', 'responses'];

/** Nothing that costs money was sent again, unless it had been refused without effect. */
function sentTwice(gateway: Gateway, misfortune: Misfortune): string[] {
	const sent = gateway.requests.filter(({ route }) => PAID.includes(route));
	const tooMany = gateway.outcomes.filter((outcome) => wasTooMany(gateway, outcome));
	const refused = new Set(tooMany.map(({ requestId }) => requestId));
	const violations: string[] = [];
	for (const prompt of new Set(sent.map(promptOf))) {
		const records = sent.filter((record) => promptOf(record) === prompt);
		for (const record of records.slice(0, -1)) {
			const fault = misfortune.met.get(record);
			if (maySendAgain(record.route, fault) || refused.has(record.id)) continue;
			violations.push(`"${prompt}" was sent again after ${fault?.name ?? 'no fault at all'}`);
		}
		const ids = records.map(({ id }) => id);
		const paid = gateway.charges.filter(({ requestId }) => ids.includes(requestId));
		if (paid.length > 1) violations.push(`"${prompt}" was paid for ${paid.length} times`);
	}
	return violations;
}

function promptOf({ body }: RequestRecord): string {
	const { prompt, input } = (body ?? {}) as { prompt?: unknown; input?: unknown };
	return String(typeof prompt === 'string' ? prompt : input);
}

type Details = { task_id?: string; advice?: string };
export type Told = { task_id?: unknown; error?: unknown; error_details?: Details };

/** Each task that was accepted stands in an output or in an error, or the item says that it may be. */
function lostTasks(works: Work[], gateway: Gateway, misfortune: Misfortune): string[] {
	const named = new Set<string>();
	const inDoubt = new Set<string>();
	for (const { subjects, outputs } of works) {
		for (const output of outputs) {
			const { error_details: details, task_id } = output.json as Told;
			const id = details?.task_id ?? task_id;
			if (typeof id === 'string') named.add(id);
			const subject = subjects[itemOf(output)];
			const doubt = details?.advice?.includes('An image task may exist and be charged');
			if (subject !== undefined && doubt) inDoubt.add(subject);
		}
	}
	// The log is enough for a task that was refused, and whose item went on with another one.
	const logged = works.map((work) => work.logged).join('\n');
	const free = gateway.outcomes.filter(({ refused }) => refused).map(({ taskId }) => taskId);
	return gateway.tasks
		.filter(({ id }) => !named.has(id) && !(free.includes(id) && logged.includes(id)))
		.flatMap(({ id, requestId, request }) => {
			const record = gateway.requests.find((sent) => sent.id === requestId);
			const fault = record && misfortune.met.get(record)?.name;
			if (fault && inDoubt.has(request.prompt)) return [];
			return [`task ${id} of "${request.prompt}" is lost after ${fault ?? 'no fault'}`];
		});
}
