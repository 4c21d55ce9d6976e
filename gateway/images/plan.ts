import type { Access, KeyHolder } from '../access';
import { accountOf } from '../access';
import type { GatewaySettings } from '../options';
import type { Upstream } from '../upstream';
import type { UsageLog } from '../usage-log';
import { endInPrompt, endNamed, type TaskEnd, type TaskEndName } from './ends';
import { startInLine } from './line';
import type { TaskRequest } from './task';

/** When a task starts, when it ends, and how. All of this is known at its submit. */
export interface TaskPlan {
	end: TaskEnd;
	/** Absent if the gateway refuses it first. */
	startsAt?: number;
	completesAt: number;
}

export interface PlanParts {
	usageLog: UsageLog;
	settings: GatewaySettings;
	access: Access;
	upstream: Upstream;
}

/** Seconds that a task may wait in the queue (setting `lineSeconds`). */
const LINE_SECONDS = 30;

/** Plans a task that starts now. */
export function planWork(
	{ settings }: Pick<PlanParts, 'settings'>,
	request: TaskRequest,
	at: number,
): TaskPlan {
	const end = endOf(settings, request);
	const { taskSeconds } = settings;
	const usual = typeof taskSeconds === 'number' ? taskSeconds : taskSeconds(request);
	const completesAt = at + (end.seconds ?? usual) * 1000;
	return { end, startsAt: end.seconds === 0 ? undefined : at, completesAt };
}

/**
 * Plans a task whose limits are checked in the background. It ends before any work if a limit is
 * reached, the model is unknown, or the balance is empty.
 * @param credits the price of the task
 */
export function planInBackground(
	parts: PlanParts,
	request: TaskRequest,
	holder: KeyHolder,
	{ credits, now }: { credits: number; now: number },
): TaskPlan {
	const { access, upstream, settings } = parts;
	if (upstream.countRequest(holder, now) !== undefined) return refused('too many requests', now);
	if (!access.modelsOf(holder).includes(request.model)) return unknownModel(request.model, now);
	if (!access.canPay(holder, credits)) return refused('no balance', now);
	const startsAt = startOf(parts, holder, now);
	const latestStart = now + (settings.lineSeconds ?? LINE_SECONDS) * 1000;
	if (startsAt > latestStart) return refused('line is full', latestStart);
	if (!upstream.isFree(holder, startsAt)) return refused('no account', startsAt);
	const plan = planWork(parts, request, startsAt);
	if (plan.end.parks) upstream.park(holder, plan.completesAt);
	return plan;
}

const refused = (name: TaskEndName, at: number): TaskPlan => ({
	end: endNamed(name),
	completesAt: at,
});

function unknownModel(model: string, now: number): TaskPlan {
	const message = `Model "${model}" is not supported by any configured account in this group`;
	const end = endNamed('no account has the model');
	return { end: { ...end, failure: { ...end.failure!, message } }, completesAt: now };
}

/** When the account and the key both have a free place. */
function startOf({ usageLog, access }: PlanParts, holder: KeyHolder, now: number): number {
	const { tasks } = usageLog;
	const account = accountOf(holder);
	const ofAccount = tasks.filter((task) => task.account === account);
	const ofKey = tasks.filter(({ key }) => key === holder.name);
	return Math.max(
		startInLine(ofAccount, access.placesOf(holder), now),
		startInLine(ofKey, holder.maxConcurrentTasks ?? Infinity, now),
	);
}

/** How a task ends that starts. */
function endOf({ taskEnd, failTask }: GatewaySettings, request: TaskRequest): TaskEnd {
	const ordered = typeof taskEnd === 'function' ? taskEnd(request) : taskEnd;
	const name = endInPrompt(request.prompt) ?? ordered;
	if (name !== undefined) return endNamed(name);
	const asked = failTask?.(request);
	const trigger = /\[\[fail(?::(\d{3}))?\]\]/.exec(request.prompt);
	if (!asked && !trigger) return { charged: true };
	const failure = {
		type: 'image_generation_error',
		message: 'the image could not be made',
		httpStatus: Number(trigger?.[1] ?? 500),
		...asked,
	};
	return { failure, charged: true };
}
