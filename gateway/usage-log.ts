import type { IncomingHttpHeaders } from 'node:http';
import { statusOf, type ImageTask, type TaskStatus } from './images/task';
import type { RouteName } from './routes';
import type { GatewayTime } from './time';

/** One request to the API and its reply. */
export interface RequestRecord {
	/** The `X-Request-ID` of the reply, or the first of two. */
	id: string;
	/** The ID of the request in the console, if the gateway uses two. */
	clientId?: string;
	method: string;
	/** Path and query. */
	path: string;
	route: RouteName;
	headers: IncomingHttpHeaders;
	/** Name of the key, if it is known; never the key itself. */
	key?: string;
	/** Parsed JSON, a parsed form, or the text of a body that could not be parsed. */
	body?: unknown;
	/** Bytes of the body. */
	rawLength: number;
	/** 1 for the first request of this method, path, key and body, 2 for the next such, … */
	attempt: number;
	/** The sent status; 499 if the client left first. Absent before the reply and after a fault. */
	status?: number;
	/** The kind of fault of the exchange. */
	fault?: string;
	/** Input tokens of a response, including those of the gateway's own instructions. */
	inputTokens?: number;
	/** Milliseconds since the Unix epoch. */
	startedAt: number;
	endedAt?: number;
}

/** One request to the storage. */
export interface StorageRecord {
	method: string;
	path: string;
	headers: IncomingHttpHeaders;
	status?: number;
	fault?: string;
	startedAt: number;
	endedAt?: number;
}

/** A charge (contract: What the service does, 4). */
export interface Charge {
	key: string;
	account: string;
	credits: number;
	requestId: string;
	what: 'response' | 'images';
	/** The image task that was charged. */
	taskId?: string;
	/** Milliseconds since the Unix epoch. */
	at: number;
}

/** The outcome of an image task, and whether it was charged. */
export interface TaskOutcome {
	taskId: string;
	requestId: string;
	prompt: string;
	/** `gone`: the gateway no longer knows it. */
	status: TaskStatus | 'gone';
	httpStatus?: number;
	charged: boolean;
	/** It failed and is not charged. */
	refused: boolean;
}

export interface RequestFilter {
	method?: string;
	/** The exact path, or a pattern for it. */
	path?: string | RegExp;
	route?: RouteName;
	key?: string;
	status?: number;
}

/** All requests, tasks and charges of a gateway, in order. */
export class UsageLog {
	readonly requests: RequestRecord[] = [];
	readonly storageRequests: StorageRecord[] = [];
	readonly tasks: ImageTask[] = [];
	private booked: Charge[] = [];
	private readonly tasksById = new Map<string, ImageTask>();

	constructor(private readonly time: GatewayTime) {}

	/** All charges until now. */
	get charges(): readonly Charge[] {
		const now = this.time.now();
		return this.booked.filter(({ at }) => at <= now);
	}

	/** Records a charge, possibly one in the future. */
	book(charge: Charge) {
		this.booked.push(charge);
	}

	/** Cancels the future charges of an image task. */
	cancel(taskId: string): Charge[] {
		const now = this.time.now();
		const canceled = this.booked.filter((charge) => charge.taskId === taskId && charge.at > now);
		this.booked = this.booked.filter((charge) => !canceled.includes(charge));
		return canceled;
	}

	/** Each image task with its state and whether it was charged, in order. */
	get outcomes(): TaskOutcome[] {
		const now = this.time.now();
		const charged = new Set(this.charges.map(({ taskId }) => taskId));
		return this.tasks.map((task) => {
			const status = statusOf(task, now) ?? 'gone';
			const isCharged = charged.has(task.id);
			return {
				taskId: task.id,
				requestId: task.requestId,
				prompt: task.request.prompt,
				status,
				httpStatus: status === 'failed' ? task.failure?.httpStatus : undefined,
				charged: isCharged,
				refused: status === 'failed' && !isCharged,
			};
		});
	}

	addTask(task: ImageTask) {
		this.tasks.push(task);
		this.tasksById.set(task.id, task);
	}

	task(id: string) {
		return this.tasksById.get(id);
	}

	/** Number of requests that fit the filter, or of all requests. */
	count(filter: RequestFilter = {}) {
		return this.requests.filter(
			(record) =>
				(filter.method === undefined || record.method === filter.method) &&
				(filter.path === undefined ||
					(typeof filter.path === 'string'
						? record.path === filter.path
						: filter.path.test(record.path))) &&
				(filter.route === undefined || record.route === filter.route) &&
				(filter.key === undefined || record.key === filter.key) &&
				(filter.status === undefined || record.status === filter.status),
		).length;
	}

	/** Number of requests that are being handled. */
	get inFlight() {
		return this.requests.filter((record) => record.endedAt === undefined).length;
	}
}
