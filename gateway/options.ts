import type { Intercept, StorageExchange } from './faults';
import type { TaskFailure, TaskRequest } from './images/task';
import type { RequestRecord } from './usage-log';
import { PROFILES, SWITCHES, type GatewaySwitches, type ProfileName } from './switches';
import { realTime, type GatewayTime } from './time';

/** A model of the catalogue and what it can do. */
export interface ModelOptions {
	/** Answers `POST /v1/responses`. */
	text?: boolean;
	/** Draws image tasks. */
	images?: boolean;
}

/** What the keys of a group may use (contract: Authentication, 4). An absent field allows it. */
export interface GroupOptions {
	/** IDs of the catalog; absent means all. */
	models?: string[];
	/** `POST /v1/responses`. */
	responses?: boolean;
	/** `stream: true`. */
	streaming?: boolean;
	/** `tools`. */
	tools?: boolean;
	/** Both image submits. */
	images?: boolean;
	/** Image edits alone. */
	edits?: boolean;
	/** Accounts at a provider. Without any, tasks fail with 503 and responses get 503. */
	accounts?: boolean;
}

/** What a group can be denied. */
export type Capability = Exclude<keyof GroupOptions, 'models' | 'accounts'>;

/** The account that pays. A response costs 1 credit, an image 10, when the work is accepted. */
export interface AccountOptions {
	/** Credits left; absent means no limit. */
	balance?: number;
	/** Image tasks that run at once; replaces the setting `places`. */
	places?: number;
}

export interface KeyOptions {
	/** The key itself, as a client sends it. */
	key: string;
	status?: 'active' | 'revoked' | 'expired' | 'disabled';
	/** Unix seconds from which the key counts as expired. */
	expiresAt?: number;
	/** Name of a group; `default` if absent. */
	group?: string;
	/** Name of an account; `main` if absent. */
	account?: string;
	/** Requests in any 60 seconds; more get 429. */
	requestsPerMinute?: number;
	/** Image tasks that may be processing at once; further submits get 429. */
	maxConcurrentTasks?: number;
	/** Addresses that may use the key; others get 403. */
	allowedIps?: string[];
	/** What the key has used up. Every request gets 429 without `Retry-After`. */
	usedUp?: 'quota' | 'usage limit';
}

/** Settings that can change while the gateway runs: each request reads them. */
export interface GatewaySettings extends GatewaySwitches {
	/** The catalog by model ID, in the order of the list. */
	models: Record<string, ModelOptions>;
	groups: Record<string, GroupOptions>;
	accounts: Record<string, AccountOptions>;
	/** The async image feature; if off, submits get 404. */
	asyncImages: boolean;
	/** Run time of an image task, seconds. */
	taskSeconds: number | ((request: TaskRequest) => number);
	/** Seconds from submission until a task and its images expire. */
	taskLifetime: number;
	/** Makes a task fail that would succeed. */
	failTask?: (request: TaskRequest) => Partial<TaskFailure> | undefined;
	/** Size of an image if the request names none, or `auto`. */
	defaultSize: string;
	/** The most bytes of a request body; more get 413. */
	bodyLimit: number;
	/** The most bytes of an uploaded file; more get 413. */
	fileLimit: number;
	/** The most pixels of an uploaded image; more get 400. */
	pixelLimit: number;
	/** Milliseconds within which a body must arrive, or it gets 408; absent means no limit. */
	bodyMs?: number;
	/** Milliseconds until the reply to a submit. */
	submitMs: number;
	/** Milliseconds until a response begins. In a stream they follow the first two events. */
	responseMs: number;
	/** Milliseconds after which a response without streaming gets 504. */
	waitMs?: number;
	/** Milliseconds between the deltas of a stream. */
	deltaMs: number;
	/** Whether a stream ends with `data: [DONE]`. */
	streamDone: boolean;
	/** Called before a request is handled and before its reply is written. */
	intercept?: Intercept;
	/** The same for the storage. */
	storageIntercept?: Intercept<StorageExchange>;
}

/** Options of `startGateway`. Groups, accounts and keys are added to the default ones. */
export interface GatewayOptions extends Partial<GatewaySettings> {
	/** Port of the API; 0 (the default) takes a free one. */
	port?: number;
	/** Port of the storage; 0 (the default) takes a free one. */
	storagePort?: number;
	time?: GatewayTime;
	keys?: Record<string, KeyOptions>;
	/** A set of switches. Other options override it. */
	profile?: ProfileName;
	/** Called when a request has ended. */
	onRequest?: (record: RequestRecord) => void;
}

const DEFAULT_MODELS: Record<string, ModelOptions> = {
	'aurora-text-1': { text: true },
	'aurora-text-1-mini': { text: true },
	'Aurora-Text-2.5-Preview': { text: true },
	'aurora-image-1': { images: true },
	'aurora-image-1-hd': { images: true },
	'aurora-omni-1': { text: true, images: true },
};

const DEFAULT_GROUPS = {
	/** Everything. */
	default: {},
	/** Text models, and no images. */
	text: { models: ['aurora-text-1', 'aurora-text-1-mini'], images: false },
	/** Image models, and no responses. */
	images: { models: ['aurora-image-1'], responses: false },
	/** Text without streams and tools. */
	plain: { models: ['aurora-text-1'], images: false, streaming: false, tools: false },
	/** Everything, but no account at a provider. */
	vacant: { accounts: false },
} satisfies Record<string, GroupOptions>;

const DEFAULT_KEYS = {
	active: { key: 'mak-test-active-0001' },
	/** Another key with the account and group of `active`. */
	second: { key: 'mak-test-second-0002' },
	textOnly: { key: 'mak-test-text-only-0003', group: 'text' },
	imagesOnly: { key: 'mak-test-images-only-0004', group: 'images' },
	plain: { key: 'mak-test-plain-0005', group: 'plain' },
	revoked: { key: 'mak-test-revoked-0006', status: 'revoked' },
	expired: { key: 'mak-test-expired-0007', status: 'expired' },
	disabled: { key: 'mak-test-disabled-0008', status: 'disabled' },
	/** Its account has no credits. */
	exhausted: { key: 'mak-test-exhausted-0009', account: 'empty' },
	/** Three requests a minute. */
	limited: { key: 'mak-test-limited-0010', requestsPerMinute: 3 },
	/** One image task at a time. */
	single: { key: 'mak-test-single-0011', maxConcurrentTasks: 1 },
	/** Its quota is used up. */
	spent: { key: 'mak-test-spent-0013', usedUp: 'quota' },
	/** Its subscription has reached a usage limit. */
	capped: { key: 'mak-test-capped-0014', usedUp: 'usage limit' },
	/** No account at a provider serves its group. */
	vacant: { key: 'mak-test-vacant-0015', group: 'vacant' },
	/** Allowed from one address only, which no test uses. */
	fenced: { key: 'mak-test-fenced-0012', allowedIps: ['203.0.113.7'] },
} satisfies Record<string, KeyOptions>;

export type DefaultKeyName = keyof typeof DEFAULT_KEYS;

/** Options with all defaults. */
export interface ResolvedOptions {
	settings: GatewaySettings;
	keys: Record<string, KeyOptions>;
	time: GatewayTime;
}

/** Fills in the defaults. */
export function resolveOptions(options: GatewayOptions): ResolvedOptions {
	const { time = realTime, keys } = options;
	const { models = DEFAULT_MODELS, groups, accounts } = options;
	return {
		time,
		keys: { ...DEFAULT_KEYS, ...keys },
		settings: {
			...switchesOf(options),
			models: { ...models },
			groups: { ...DEFAULT_GROUPS, ...groups },
			accounts: { main: {}, empty: { balance: 0 }, ...accounts },
			asyncImages: options.asyncImages ?? true,
			taskSeconds: options.taskSeconds ?? 6,
			taskLifetime: options.taskLifetime ?? 24 * 3600,
			failTask: options.failTask,
			defaultSize: options.defaultSize ?? '1024x1024',
			bodyLimit: options.bodyLimit ?? 128 * 2 ** 20,
			fileLimit: options.fileLimit ?? 32 * 2 ** 20,
			pixelLimit: options.pixelLimit ?? 64_000_000,
			bodyMs: options.bodyMs,
			submitMs: options.submitMs ?? 0,
			responseMs: options.responseMs ?? 0,
			waitMs: options.waitMs,
			deltaMs: options.deltaMs ?? 0,
			streamDone: options.streamDone ?? true,
			intercept: options.intercept,
			storageIntercept: options.storageIntercept,
		},
	};
}

/** The switches of the profile, and the switches that are set. */
function switchesOf(options: GatewayOptions): GatewaySwitches {
	const names = Object.keys(SWITCHES).filter((name) => Object.hasOwn(options, name));
	const single = Object.fromEntries(
		names.map((name) => [name, options[name as keyof GatewaySwitches]]),
	);
	return { ...(options.profile && PROFILES[options.profile]()), ...single };
}
