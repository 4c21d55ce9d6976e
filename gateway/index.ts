import { Api } from './api';
import { UsageLog } from './usage-log';
import { Listener } from './listener';
import { resolveOptions, type DefaultKeyName, type GatewayOptions } from './options';
import type { GatewaySettings } from './options';
import { Storage } from './storage/storage';

export type {
	UsageLog,
	Charge,
	RequestFilter,
	RequestRecord,
	StorageRecord,
	TaskOutcome,
} from './usage-log';
export { errorReply } from './faults';
export type { Exchange, Fault, Intercept, Reply, StorageExchange } from './faults';
export type { FormFile, FormRecord } from './images/form';
export { statusOf } from './images/task';
export type { TaskEndName } from './images/ends';
export type { ImageTask, TaskFailure, TaskRequest, TaskStatus } from './images/task';
export type {
	AccountOptions,
	DefaultKeyName,
	GatewayOptions,
	GatewaySettings,
	GroupOptions,
	KeyOptions,
	ModelOptions,
} from './options';
export { drawImage } from './drawing/draw';
export { descriptionOf, imageBelongsTo, sizeOf } from './drawing/png';
export type { RouteName } from './routes';
export { realProfile, type GatewaySwitches, type ProfileName } from './switches';
export type { GatewayTime } from './time';

/** A running gateway. */
export interface Gateway
	extends Pick<UsageLog, 'count' | 'requests' | 'storageRequests' | 'tasks'> {
	/** The address to give to a client; ends in `/v1`. */
	readonly baseUrl: string;
	/** Origin of the API. */
	readonly origin: string;
	/** Origin of the storage, which is not that of the API. */
	readonly storageUrl: string;
	/** The keys by name. */
	readonly keys: Record<DefaultKeyName, string> & Record<string, string>;
	/** All charges until now. */
	readonly charges: UsageLog['charges'];
	/** The outcome of each image task, and whether it was charged. */
	readonly outcomes: UsageLog['outcomes'];
	/** Settings that can change while the gateway runs, with `intercept` and `storageIntercept`. */
	readonly settings: GatewaySettings;
	/** Number of API requests that are being handled. */
	readonly inFlight: number;
	/** Open connections to API and storage. */
	readonly connections: number;
	/** Errors in the gateway itself; a test may check that there are none. */
	readonly crashes: unknown[];
	/** Restarts: cuts all connections. Running tasks stay `processing` until they expire. */
	restart(): void;
	/** Forgets every task: polls get the 404 of unknown tasks. */
	clearMemory(): void;
	/** Stops listening, cuts every connection, and waits until all are closed. */
	close(): Promise<void>;
	/** Stops listening and cuts every connection at once, as a crash would. */
	kill(): void;
}

/**
 * Starts the service of the Model Access API contract on loopback. The API and the storage of its
 * images listen on two ports.
 * @param options see `GatewayOptions`; the defaults are a gateway without faults on free ports
 * @throws the system's error if a port is taken
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
	const { settings, keys, time } = resolveOptions(options);
	const usageLog = new UsageLog(time);
	const crashes: unknown[] = [];
	const run = (work: Promise<void>) => void work.catch((error: unknown) => crashes.push(error));

	const storage = new Storage(usageLog, settings, time);
	const storageListener = await Listener.open(options.storagePort ?? 0, (req, res) =>
		run(storage.serve(req, res)),
	);
	const storageUrl = `http://127.0.0.1:${storageListener.port}`;
	const api = new Api({
		usageLog,
		settings,
		keys,
		time,
		urlOf: (task, index) => storageUrl + storage.addressOf(task, index),
		onRequest: options.onRequest,
	});
	const apiListener = await Listener.open(options.port ?? 0, (req, res) =>
		run(api.serve(req, res)),
	).catch(async (error: unknown) => {
		await storageListener.close();
		throw error;
	});
	const origin = `http://127.0.0.1:${apiListener.port}`;

	return {
		baseUrl: `${origin}/v1`,
		origin,
		storageUrl,
		keys: Object.fromEntries(
			Object.entries(keys).map(([name, { key }]) => [name, key]),
		) as Gateway['keys'],
		settings,
		requests: usageLog.requests,
		storageRequests: usageLog.storageRequests,
		tasks: usageLog.tasks,
		crashes,
		count: (filter) => usageLog.count(filter),
		get charges() {
			return usageLog.charges;
		},
		get outcomes() {
			return usageLog.outcomes;
		},
		get inFlight() {
			return usageLog.inFlight;
		},
		get connections() {
			return apiListener.connections + storageListener.connections;
		},
		restart: () => {
			api.restart();
			apiListener.cut();
		},
		clearMemory: () => api.clearMemory(),
		close: async () => {
			await Promise.all([apiListener.close(), storageListener.close()]);
		},
		kill: () => {
			apiListener.kill();
			storageListener.kill();
		},
	};
}
