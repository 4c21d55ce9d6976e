import { createHash } from 'node:crypto';
import type { KeyHolder } from '../access';
import type { UsageLog } from '../usage-log';
import { ApiError, taskNotFound } from '../errors';
import type { Reply } from '../faults';
import type { GatewaySettings } from '../options';
import { jsonReply } from '../reply';
import type { Submission } from './submit';
import { statusOf, taskBody, type ImageTask, type TaskFailure, type TaskRequest } from './task';

/** Seconds of the `Retry-After` of submits and polls (contract: Limits). */
const RETRY_AFTER = '3';

/** The image tasks of a gateway (contract: States and transitions, Image task). */
export class ImageTasks {
	constructor(
		private readonly usageLog: UsageLog,
		private readonly settings: GatewaySettings,
		private readonly urlOf: (task: ImageTask, index: number) => string,
	) {}

	/**
	 * Refuses where the key has as many tasks processing as it may.
	 * @throws ApiError 429
	 */
	limitConcurrency({ name, maxConcurrentTasks }: KeyHolder, now: number) {
		if (maxConcurrentTasks === undefined) return;
		const running = this.usageLog.tasks.filter(
			(task) => task.key === name && statusOf(task, now) === 'processing',
		);
		if (running.length < maxConcurrentTasks) return;
		const next = Math.min(...running.map(({ completesAt }) => completesAt));
		throw new ApiError(429, {
			code: 'concurrent_tasks',
			message: `more than ${maxConcurrentTasks} image tasks at once`,
			retryAfter: Math.max(1, Math.ceil((next - now) / 1000)),
		});
	}

	/**
	 * Makes a task of a valid submission (contract: Endpoints, both submits).
	 * @param requestId the submit's `X-Request-ID`
	 * @param now milliseconds since the Unix epoch
	 */
	accept({ request, ...submission }: Submission, requestId: string, now: number): Reply {
		const { taskSeconds, taskLifetime } = this.settings;
		const runs = typeof taskSeconds === 'number' ? taskSeconds : taskSeconds(request);
		const task: ImageTask = {
			...submission,
			id: `imgtask_${digest(`${this.usageLog.tasks.length}:${requestId}:${request.prompt}`)}`,
			key: request.key,
			requestId,
			request,
			createdAt: now,
			completesAt: now + runs * 1000,
			expiresAt: (Math.floor(now / 1000) + taskLifetime) * 1000,
			failure: this.failureOf(request),
		};
		this.usageLog.addTask(task);
		const poll_url = `/v1/images/tasks/${task.id}`;
		return jsonReply(
			202,
			{ ...taskBody(task, 'processing', () => ''), poll_url },
			{ Location: poll_url, 'Retry-After': RETRY_AFTER },
		);
	}

	/**
	 * A poll (contract: Endpoints, `GET /v1/images/tasks/<task_id>`).
	 * @throws ApiError 404, the same for unknown, expired and foreign tasks
	 */
	poll(id: string, holder: KeyHolder, now: number): Reply {
		const task = this.usageLog.task(id);
		const status = task && statusOf(task, now);
		if (!task || !status || task.key !== holder.name) throw taskNotFound();
		const body = taskBody(task, status, (index) => this.urlOf(task, index));
		return jsonReply(200, body, status === 'processing' ? { 'Retry-After': RETRY_AFTER } : {});
	}

	private failureOf(request: TaskRequest): TaskFailure | undefined {
		const asked = this.settings.failTask?.(request);
		const trigger = /\[\[fail(?::(\d{3}))?\]\]/.exec(request.prompt);
		if (!asked && !trigger) return undefined;
		return {
			type: 'image_generation_error',
			message: 'the picture could not be made',
			httpStatus: Number(trigger?.[1] ?? 500),
			...asked,
		};
	}
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 24);
