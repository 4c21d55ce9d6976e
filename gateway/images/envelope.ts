import type { GatewaySwitches } from '../switches';

interface TaskLike {
	task_id: string;
	status: string;
}

/** The reply to a submit, wrapped as other gateways do. It then has only the necessary fields. */
export function wrapSubmit(task: TaskLike, envelope: GatewaySwitches['envelope']): object {
	const { task_id, status } = task;
	if (envelope === 'data') return { code: 200, data: { task_id } };
	return envelope === 'list' ? { data: [{ task_id, status }] } : task;
}

/** The reply to a poll, wrapped in the same way. */
export function wrapPoll(task: TaskLike, envelope: GatewaySwitches['envelope']): object {
	if (envelope === 'data') return { code: 200, data: task };
	return envelope === 'list' ? { data: [task] } : task;
}
