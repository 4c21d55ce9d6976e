import { TASK_ENDS, type TaskEndName } from './images/ends';
import type { TaskRequest, TaskStatus } from './images/task';

/** What real gateways do beyond the contract. Each is off unless set. */
export interface GatewaySwitches {
	/** Submits always get 202. The gateway checks limits, and charges, in the background. */
	backgroundLimits?: boolean;
	/** Image tasks of an account that run at once; the others wait in a queue. */
	places?: number;
	/** Seconds a task waits in the queue before it fails with 429; 30 if absent. */
	lineSeconds?: number;
	/** Submits and responses of a group in a clock minute, refused ones included. */
	requestsPerClockMinute?: number;
	/** No group has an account at a provider. */
	noAccounts?: boolean;
	/** Seconds without an account after the provider answered with 429 or 5xx. */
	parkSeconds?: number;
	/** How image tasks end. `[[end:NAME]]` in a prompt does the same for one task. */
	taskEnd?: TaskEndName | ((request: TaskRequest) => TaskEndName | undefined);
	/** Tasks have all fields of real ones: usage, real size and format, times of a failed task. */
	fullTasks?: boolean;
	/** Seconds after which the address of an image expires. */
	linkSeconds?: number;
	/** The status of the storage for an expired address; 403 if absent. */
	linkDeath?: 403 | 404 | 410;
	/** Whether each poll returns a `fresh` address, or always the `same` (if absent). */
	linkRenewal?: 'same' | 'fresh';
	/** Other names of the states of a task. */
	statusWords?: Partial<Record<TaskStatus, string>>;
	/** Each Nth poll of a task gets a web page or an error in a 200, alternately. */
	strayPollEvery?: number;
	/** Seconds for which a cache repeats the reply to a poll, unless the request has `no-cache`. */
	pollCacheSeconds?: number;
	/** Wraps submits and polls: `{ code, data: task }` or `{ data: [task] }`. */
	envelope?: 'data' | 'list';
	/** The most images that a task makes, whatever the request says. */
	maxImages?: number;
	/** Size of each image, whatever the request says. */
	imageSize?: string;
	/** Errors of keys, groups and image endpoints in the words of the recorded gateway. */
	realErrors?: boolean;
	/** Wrong paths get 404 in plain text instead of JSON or a web page. */
	plainNotFound?: boolean;
	/** The platform behind the group has no images: submits get 404. */
	platformWithoutImages?: boolean;
	/** Wrong keys from an address in any 60 seconds. After these, every key gets 429 there. */
	wrongKeysPerMinute?: number;
	/** `twice`: `X-Request-ID` of gateway and provider; or another header's name. */
	requestIds?: 'twice' | 'request-id' | 'x-litellm-call-id' | 'x-oneapi-request-id';
	/** Patterns in the list of models. */
	listedPatterns?: string[];
	/** The storage compresses although the client forbids it. */
	storageCompression?: boolean;
	/** The value of each `Retry-After` of an error. */
	retryAfter?: string;
	/** Overloads get 529 instead of 503. */
	overload529?: boolean;
	/** Requests without instructions get the gateway's own. These count 5,333 input tokens. */
	ownInstructions?: boolean;
	/** Incomplete plain responses come as the text of their event stream. */
	unfinishedAsEvents?: boolean;
	/** Streams get 429 and 503 as `response.failed` with status 200, after comment pings. */
	limitsInStreams?: boolean;
	/** Nothing is stored: responses have `store: false`, and IDs of items are unknown. */
	storesNothing?: boolean;
	/** Temperature, top_p, max_output_tokens, metadata, user and safety_identifier are dropped. */
	dropsOptions?: boolean;
	/** Files do not reach the model. */
	dropsFiles?: boolean;
	/** The format of the answer does not reach the model. */
	dropsFormat?: boolean;
	/** The previous response does not reach the model. */
	dropsPreviousResponse?: boolean;
}

export type SwitchName = keyof GatewaySwitches;

/** A switch on the command line. */
export interface Switch {
	/** The value after the option; nothing if the switch is on or off. */
	value?: string;
	text: string;
	/** @throws Error if the value is invalid */
	read: (value: string) => unknown;
}

const flag = (text: string): Switch => ({ text, read: () => true });

const number = (text: string): Switch => ({
	value: 'N',
	text,
	read: (value) => {
		if (!/^\d+(\.\d+)?$/.test(value)) throw new Error('a number');
		return Number(value);
	},
});

const word = (text: string, words: ReadonlyArray<string | number>): Switch => ({
	value: 'WORD',
	text: `${text}: ${words.join(', ')}`,
	read: (value) => {
		const known = words.find((candidate) => String(candidate) === value);
		if (known === undefined) throw new Error(`one of ${words.join(', ')}`);
		return known;
	},
});

/** Reads `completed=SUCCESS,processing=queued`. */
function readStatusWords(value: string): Partial<Record<TaskStatus, string>> {
	const pairs = value.split(',').map((pair) => pair.split('='));
	const states: string[] = ['processing', 'completed', 'failed'] satisfies TaskStatus[];
	if (pairs.some(([state = '', said = '']) => !states.includes(state) || said === '')) {
		throw new Error('STATE=WORD, several separated by commas');
	}
	return Object.fromEntries(pairs) as Partial<Record<TaskStatus, string>>;
}

/** Every switch as an option of the command line. */
export const SWITCHES: Record<SwitchName, Switch> = {
	backgroundLimits: flag('Each submit gets 202; the limits make the task fail without a charge'),
	places: number('Image tasks of an account that run at once; the others wait in a queue'),
	lineSeconds: number('Seconds in the queue before a task fails with 429 (30)'),
	requestsPerClockMinute: number('Submits and responses of a group in a clock minute'),
	noAccounts: flag('No group has an account: tasks fail with 503, responses get 503'),
	parkSeconds: number('Seconds of 503 after the provider answered with 429 or 5xx'),
	taskEnd: word('How image tasks end', Object.keys(TASK_ENDS)),
	fullTasks: flag('Tasks have usage, real size and format; failed tasks have their times'),
	linkSeconds: number('Seconds after which the address of an image expires'),
	linkDeath: word('The status of the storage for an expired address', [403, 404, 410]),
	linkRenewal: word('The address that a later poll returns', ['same', 'fresh']),
	statusWords: {
		value: 'WORDS',
		text: 'Other names of states: completed=SUCCESS,processing=queued,failed=error',
		read: readStatusWords,
	},
	strayPollEvery: number('Each Nth poll of a task is a web page or an error in a 200'),
	pollCacheSeconds: number(
		'Seconds for which a cache repeats polls, unless Cache-Control: no-cache',
	),
	envelope: word('Wraps submits and polls', ['data', 'list']),
	maxImages: number('The most images that a task makes'),
	imageSize: {
		value: 'SIZE',
		text: 'Size of each image, whatever the request says: 1024x1024',
		read: (value) => {
			if (!/^[1-9]\d{0,3}x[1-9]\d{0,3}$/.test(value)) throw new Error('a size such as 64x48');
			return value;
		},
	},
	realErrors: flag('Errors of keys, groups and images in the words of the recorded gateway'),
	plainNotFound: flag('Wrong paths get 404 in plain text'),
	platformWithoutImages: flag('Submits get 404: the platform has no images'),
	wrongKeysPerMinute: number('Wrong keys after which an address gets 429 for every key'),
	requestIds: word('The header with the request ID', [
		'twice',
		'request-id',
		'x-litellm-call-id',
		'x-oneapi-request-id',
	]),
	listedPatterns: {
		value: 'IDS',
		text: 'Patterns in the list of models, separated by commas: aurora-*',
		read: (value) => value.split(','),
	},
	storageCompression: flag('The storage compresses although the client forbids it'),
	retryAfter: {
		value: 'TEXT',
		text: 'The value of each Retry-After of an error: "Monday 5"',
		read: (value) => value,
	},
	overload529: flag('Overloads get 529 instead of 503'),
	ownInstructions: flag('Requests without instructions count 5,333 more input tokens'),
	unfinishedAsEvents: flag('Incomplete plain responses come as the text of a stream'),
	limitsInStreams: flag('Streams get 429 and 503 as response.failed in a 200, after pings'),
	storesNothing: flag('Nothing is stored: a reasoning item without its content gets 404'),
	dropsOptions: flag('Temperature, top_p, max_output_tokens and metadata are dropped'),
	dropsFiles: flag('Files do not reach the model'),
	dropsFormat: flag('The format of the answer does not reach the model'),
	dropsPreviousResponse: flag('The previous response does not reach the model'),
};

/** The option of a switch: `--task-end` for `taskEnd`. */
export const optionOf = (name: string) =>
	`--${name.replace(/[A-Z]|\d+/g, (part) => `-${part.toLowerCase()}`)}`;

/** A set of switches that go together. */
export type ProfileName = 'real';

/** The switches of the recorded gateway. Its limits (`places`, requests a minute) are up to you. */
export const realProfile = (): GatewaySwitches => ({
	backgroundLimits: true,
	lineSeconds: 30,
	parkSeconds: 5,
	fullTasks: true,
	realErrors: true,
	plainNotFound: true,
	wrongKeysPerMinute: 120,
	requestIds: 'twice',
	ownInstructions: true,
	unfinishedAsEvents: true,
	limitsInStreams: true,
});

export const PROFILES: Record<ProfileName, () => GatewaySwitches> = { real: realProfile };
