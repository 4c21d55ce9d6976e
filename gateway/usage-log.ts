import type { IncomingHttpHeaders } from 'node:http';
import type { ImageTask } from './images/task';
import type { RouteName } from './routes';

/** One request to the API, as it came in and as it was answered. */
export interface RequestRecord {
	/** The `X-Request-ID` of the reply. */
	id: string;
	method: string;
	/** Path and query. */
	path: string;
	route: RouteName;
	headers: IncomingHttpHeaders;
	/** Name of the key, where it is a known one; never the key itself. */
	key?: string;
	/** Parsed JSON, a parsed form, or the text of a body that could not be parsed. */
	body?: unknown;
	/** Bytes of the body. */
	rawLength: number;
	/** 1 for the first request of this method, path, key and body, 2 for the next such, … */
	attempt: number;
	/** Status sent; 499 when the client left first; absent while nothing is sent or after a fault. */
	status?: number;
	/** The kind of fault that met the exchange. */
	fault?: string;
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

/** What one piece of work cost (contract: What the service does, 4). */
export interface Charge {
	key: string;
	account: string;
	credits: number;
	requestId: string;
	what: 'response' | 'pictures';
}

export interface RequestFilter {
	method?: string;
	/** The exact path, or a pattern for it. */
	path?: string | RegExp;
	route?: RouteName;
	key?: string;
	status?: number;
}

/** Everything that happened at a gateway, in order. */
export class UsageLog {
	readonly requests: RequestRecord[] = [];
	readonly storageRequests: StorageRecord[] = [];
	readonly tasks: ImageTask[] = [];
	readonly charges: Charge[] = [];
	private readonly tasksById = new Map<string, ImageTask>();

	addTask(task: ImageTask) {
		this.tasks.push(task);
		this.tasksById.set(task.id, task);
	}

	task(id: string) {
		return this.tasksById.get(id);
	}

	/** How many requests fit the filter; without one: all. */
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

	/** Requests whose handling has not ended. */
	get inFlight() {
		return this.requests.filter((record) => record.endedAt === undefined).length;
	}
}
