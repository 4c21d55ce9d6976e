import { createHash } from 'node:crypto';
import { accountOf, type KeyHolder } from '../access';
import { ApiError, taskNotFound } from '../errors';
import type { Reply } from '../faults';
import { jsonReply } from '../reply';
import type { RequestRecord } from '../usage-log';
import { wrapPoll, wrapSubmit } from './envelope';
import { planInBackground, planWork, type PlanParts, type TaskPlan } from './plan';
import { readSize, type Submission } from './submit';
import { statusOf, taskBody, type ImageTask, type TaskRequest } from './task';

/** Seconds of the `Retry-After` of submits and polls (contract: Limits). */
const RETRY_AFTER = '3';

/** The price of an image in credits. */
const CREDITS_PER_IMAGE = 10;

interface TasksParts extends PlanParts {
	/** The signed address of a task's image. */
	urlOf: (task: ImageTask, index: number) => string;
}

/** The image tasks of a gateway (contract: States and transitions, Image task). */
export class ImageTasks {
	constructor(private readonly parts: TasksParts) {}

	/**
	 * Makes a task from a valid submission, and charges for it (contract: Endpoints, both submits).
	 * @param now milliseconds since the Unix epoch
	 * @throws ApiError 403, 429, 503, unless limits are checked in the background
	 */
	accept(
		submission: Submission,
		holder: KeyHolder,
		{ record, now }: { record: RequestRecord; now: number },
	): Reply {
		const { settings, access, usageLog } = this.parts;
		const { request } = submission;
		const images = Math.min(request.n, settings.maxImages ?? Infinity);
		const credits = CREDITS_PER_IMAGE * images;
		const plan = this.plan(request, holder, { credits, now });
		const id = `imgtask_${digest(`${usageLog.tasks.length}:${record.id}:${request.prompt}`)}`;
		if (plan.end.charged) {
			const at = settings.backgroundLimits ? plan.completesAt : now;
			const charge = { credits, requestId: record.id, taskId: id, at };
			access.charge(holder, { ...charge, what: 'images' });
		}
		const task: ImageTask = {
			...submission,
			...(settings.imageSize && readSize('auto', settings.imageSize)),
			id,
			key: request.key,
			account: accountOf(holder),
			requestId: record.id,
			createdAt: now,
			startsAt: plan.startsAt,
			completesAt: plan.completesAt,
			expiresAt: (Math.floor(now / 1000) + settings.taskLifetime) * 1000,
			failure: plan.end.failure,
			errorInResult: plan.end.errorInResult,
			orphaned: plan.end.fate === 'orphaned',
			forgottenAt: plan.end.fate === 'lost' ? plan.completesAt : undefined,
			images,
		};
		usageLog.addTask(task);
		return this.accepted(task);
	}

	/**
	 * A poll (contract: Endpoints, `GET /v1/images/tasks/<task_id>`).
	 * @throws ApiError 404, the same for unknown, expired and foreign tasks
	 */
	poll(id: string, holder: KeyHolder, now: number): Reply {
		const { usageLog, settings } = this.parts;
		const task = usageLog.task(id);
		const status = task && statusOf(task, now);
		if (!task || !status || task.key !== holder.name) throw taskNotFound();
		const headers = status === 'processing' ? { 'Retry-After': RETRY_AFTER } : undefined;
		const body = taskBody(task, status, this.view(task));
		return jsonReply(200, wrapPoll(body, settings.envelope), { ...this.noStore(), ...headers });
	}

	/** The gateway restarts. Tasks that were running or queued keep that state forever. */
	restart(now: number) {
		for (const task of this.parts.usageLog.tasks) {
			if (statusOf(task, now) !== 'processing') continue;
			task.orphaned = true;
			this.parts.access.cancelCharge(task.id);
		}
	}

	/** The gateway forgets every task. */
	clearMemory(now: number) {
		for (const task of this.parts.usageLog.tasks) {
			task.forgottenAt = Math.min(task.forgottenAt ?? now, now);
		}
	}

	private accepted(task: ImageTask): Reply {
		const { envelope } = this.parts.settings;
		const body = taskBody(task, 'processing', this.view(task));
		if (envelope) return jsonReply(202, wrapSubmit(body, envelope));
		const poll_url = `/v1/images/tasks/${task.id}`;
		const headers = { Location: poll_url, 'Retry-After': RETRY_AFTER };
		return jsonReply(202, { ...body, poll_url }, { ...this.noStore(), ...headers });
	}

	private plan(
		request: TaskRequest,
		holder: KeyHolder,
		bounds: { credits: number; now: number },
	): TaskPlan {
		if (this.parts.settings.backgroundLimits) {
			return planInBackground(this.parts, request, holder, bounds);
		}
		this.parts.upstream.admit(holder, bounds.now);
		this.limitConcurrency(holder, bounds.now);
		const plan = planWork(this.parts, request, bounds.now);
		if (plan.end.parks) this.parts.upstream.park(holder, plan.completesAt);
		return plan;
	}

	/**
	 * Refuses if the key has its maximum of tasks processing.
	 * @throws ApiError 429
	 */
	private limitConcurrency({ name, maxConcurrentTasks }: KeyHolder, now: number) {
		if (maxConcurrentTasks === undefined) return;
		const running = this.parts.usageLog.tasks.filter(
			(task) => task.key === name && !task.orphaned && statusOf(task, now) === 'processing',
		);
		if (running.length < maxConcurrentTasks) return;
		const next = Math.min(...running.map(({ completesAt }) => completesAt));
		throw new ApiError(429, {
			code: 'concurrent_tasks',
			message: `more than ${maxConcurrentTasks} image tasks at once`,
			retryAfter: Math.max(1, Math.ceil((next - now) / 1000)),
		});
	}

	private view(task: ImageTask) {
		const { fullTasks: full, statusWords: words } = this.parts.settings;
		return { urlOf: (index: number) => this.parts.urlOf(task, index), full, words };
	}

	private noStore(): Record<string, string> {
		return this.parts.settings.fullTasks ? { 'Cache-Control': 'no-store' } : {};
	}
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 24);
