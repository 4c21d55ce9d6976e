import type { NamedFault } from '../../gateway/faults/catalogue';
import { ALL_SITES, CALL_SITES, knowsTask, optionNamesAt } from './call-sites';
import type { CallSite, Kind } from './call-sites';
import type { BadAddress, Mode, Timeouts } from './harness';

/** How often the request is sent with three retries, and whether its error calls itself retryable. */
type Retries = Record<Kind, [sent: number, retryable: boolean]>;

/** By what is certain about a request that went wrong. */
const RETRIES = {
	/** The gateway did nothing, and later it may. */
	later: { read: [4, true], response: [4, true], image: [4, true], download: [4, true] },
	/** Nothing reached the gateway. */
	unreached: { read: [4, true], response: [4, true], image: [4, true], download: [4, true] },
	/** An internal error (500). */
	internal: { read: [2, true], response: [2, false], image: [1, false], download: [4, true] },
	/** The request may have been executed. */
	doubt: { read: [4, true], response: [1, false], image: [1, false], download: [4, true] },
	/** The request was executed, and its answer is of no use. */
	unusable: { read: [1, true], response: [1, false], image: [1, false], download: [1, false] },
	/** The gateway did nothing, and will not. */
	refused: { read: [1, false], response: [1, false], image: [1, false], download: [1, false] },
} satisfies Record<string, Retries>;

type Outcome = keyof typeof RETRIES;

const BACKOFF = [1, 2, 4];

const CHECK = 'Check the usage in the gateway’s console before you';

/** What the error says where the request may have been executed. */
const IN_DOUBT: Record<Kind, string[]> = {
	read: [],
	response: [`The request may have been executed and charged. ${CHECK} send it again.`],
	image: [
		`An image task may exist and be charged although no task ID arrived. ${CHECK} submit it again.`,
	],
	download: [],
};

const PAID_FOR =
	'The image is paid for. Do not submit it again: fetch it with Task → Get and its task ID.';

/** A sentence of an advice; one with `ifOption` is for operations that have this option. */
export type Sentence = string | { ifOption: string; text: string };

/** How a request fails, the same at every call site. */
export interface Failure {
	outcome: Outcome;
	/** At downloads: what stands behind the host. */
	message: string;
	/** Sentences that the error has, among others. */
	advice: Sentence[];
	/** Beside `advice`, `retryable` and the task. */
	details: Record<string, unknown>;
	/** Requests, where the retry table does not say how many. */
	sent?: number;
	/** Seconds between them, where it is not the backoff. */
	waits?: number[];
	retryable?: boolean;
	/** The same for one kind of request. */
	ofKind?: Partial<Record<Kind, Pick<Failure, 'sent' | 'waits'>>>;
}

/** What comes of a fault at a call site: the right output, or a failure. */
export type Expected = Partial<Record<CallSite, Failure | 'right'>>;

export interface Row {
	name: string;
	group: string;
	fault?: NamedFault;
	/** Where the gateway or the storage is said to be, in place of its own address. */
	address?: BadAddress;
	/** Which requests time out at once. */
	timeouts?: Timeouts;
	modes: readonly Mode[];
	expected: Expected;
}

export const fails = (
	outcome: Outcome,
	message: string,
	advice: Sentence[] = [],
	more: Partial<Failure> = {},
): Failure => ({ outcome, message, advice, details: {}, ...more });

/** A row of the matrix; where it does not say otherwise, the node stops on an error. */
export const row = (
	group: string,
	fault: NamedFault,
	expected: Expected,
	more: Partial<Row> | false = {},
): Row => ({ name: fault.name, group, fault, modes: ['throw'], expected, ...more });

/** Rows for all faults of a list, each by its name: none is left out, and none is unknown. */
export function rowsFor(group: string, all: NamedFault[], table: Record<string, Expected>): Row[] {
	const names = all.map(({ name }) => name).sort();
	const told = Object.keys(table).sort();
	if (names.join() !== told.join())
		throw new Error(`The faults ${names.join()}, told: ${told.join()}`);
	return all.map((fault) => row(group, fault, table[fault.name]!));
}

export const at = (sites: CallSite[], what: Failure | 'right'): Expected =>
	Object.fromEntries(sites.map((callSite) => [callSite, what]));

const mayBeExecuted = ({ outcome }: Failure) => ['internal', 'doubt', 'unusable'].includes(outcome);

/** Whether the storage host says that it has no such file. */
const isDeadLink = ({ details }: Failure) => [403, 404, 410].includes(Number(details.http_status));

/** What a user sees of a failure at a call site, and how often its request is sent. */
export function failureAt(callSite: CallSite, failure: Failure) {
	const { kind } = CALL_SITES[callSite];
	const { outcome, message, details } = failure;
	const { sent: most, waits = BACKOFF } = { ...failure, ...failure.ofKind?.[kind] };
	// A look at a task is free: a reply that is no task is looked at again.
	const isPoll = callSite === 'get' || callSite === 'wait';
	const [tableSent, retryable] =
		RETRIES[isPoll && outcome === 'unusable' ? 'later' : outcome][kind];
	const sent = most ?? tableSent;
	const isDownload = kind === 'download';
	const costs = kind === 'response' || kind === 'image';
	return {
		sent,
		waits: waits.slice(0, sent - 1),
		message: isDownload ? `The image could not be downloaded from {host}: ${message}` : message,
		details: {
			...(costs && mayBeExecuted(failure) && { request_id: '{sent}' }),
			...details,
			...(knowsTask(callSite) && { task_id: '{task}' }),
			...(isDownload && { image_urls: 1 }),
			retryable: failure.retryable ?? retryable,
		},
	};
}

/** The sentences that the error of a failure has at a call site, and those that it must not have. */
export function adviceAt(callSite: CallSite, failure: Failure) {
	const { kind } = CALL_SITES[callSite];
	const options = optionNamesAt(callSite);
	const said: string[] = [];
	const unsaid: string[] = [];
	if (kind === 'download') (isDeadLink(failure) ? unsaid : said).push(PAID_FOR);
	(mayBeExecuted(failure) ? said : unsaid).push(...IN_DOUBT[kind]);
	for (const sentence of failure.advice) {
		if (typeof sentence === 'string') said.push(sentence);
		else (options.has(sentence.ifOption) ? said : unsaid).push(sentence.text);
	}
	return { said, unsaid };
}

/** The call sites of a row, each with what comes of it there. */
export const sitesOf = ({ expected }: Row) =>
	ALL_SITES.filter((site) => expected[site]).map((site) => [site, expected[site]!] as const);
