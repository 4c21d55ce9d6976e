import type { Exchange, Gateway, ProfileName, StorageExchange } from '../../gateway';
import * as faults from '../../gateway/faults/catalogue';

const { statusFault, redirectFault, retryAfterFault } = faults;

/** Refusals by which nothing was done. */
const REFUSALS = [
	statusFault(429),
	statusFault(503),
	statusFault(503, 'a web page'),
	...['7', 'a date in 12 s'].map((form) => retryAfterFault(429, `Retry-After: ${form}`)),
	...['1.5', 'soon'].map((form) => retryAfterFault(503, `Retry-After: ${form}`)),
];

const DOUBTS = [statusFault(408, 'nothing'), statusFault(502, 'a web page'), statusFault(504)];

const ONCE_MORE = [statusFault(500), statusFault(500, 'plain text')];
const ON_THE_WIRE = [...faults.CONNECTION_FAULTS, ...faults.HEADER_FAULTS];
const ANYWHERE = [...REFUSALS, ...DOUBTS, ...ON_THE_WIRE, ...ONCE_MORE];

const FORBIDDEN = statusFault(403, 'plain text');
const REFUSED = [statusFault(400), FORBIDDEN, redirectFault(307, 'another origin')];
const SUBMITS = [...ANYWHERE, ...REFUSED, ...faults.ANSWER_FAULTS, ...faults.EXTRA_FAULTS];

const BY_ROUTE: Partial<Record<Exchange['route'] | 'image', faults.NamedFault[]>> = {
	generations: SUBMITS,
	edits: SUBMITS,
	responses: [...ANYWHERE, ...REFUSED, ...faults.EXTRA_FAULTS, ...faults.STREAM_FAULTS],
	task: [...ANYWHERE, ...faults.EXTRA_FAULTS],
	image: [...ANYWHERE, ...faults.SILENT_FAULTS, redirectFault(302, 'itself, in a loop')],
};

/** Faults after which a request may be sent once more. */
const HARMLESS = new Set([...REFUSALS, ...faults.ERROR_ANSWER_FAULTS].map(({ name }) => name));

/** Whether a request that met this fault may be sent again although it costs money. */
export function maySendAgain(
	route: Exchange['route'],
	fault: faults.NamedFault | undefined,
): boolean {
	if (!fault) return false;
	const internal = ONCE_MORE.some(({ name }) => name === fault.name);
	return HARMLESS.has(fault.name) || (route === 'responses' && internal);
}

export type Misfortune = ReturnType<typeof befall>;

/** Errors in a 200 come from gateways of the profile alone, and not from a storage. */
function faultsOf(route: keyof typeof BY_ROUTE, profile?: ProfileName): faults.NamedFault[] {
	const own = BY_ROUTE[route] ?? [];
	const hasMore = profile === 'real' && own.length > 0 && route !== 'image';
	return hasMore ? [...own, ...faults.ERROR_ANSWER_FAULTS] : own;
}

/**
 * Faults that follow from the seed, from whose request it is and how often it came: what happens
 * to an item does not depend on what the others do meanwhile.
 * @param share of the exchanges that something happens to
 */
export function befall(
	gateway: Gateway,
	{ seed, share, profile }: { seed: number | string; share: number; profile?: ProfileName },
	setting: faults.FaultSetting,
) {
	/** What met each exchange, by its record. */
	const met = new Map<object, faults.NamedFault | undefined>();
	const visits = new Map<string, number>();
	const ownerOf = ({ record }: Exchange | StorageExchange): string => {
		const body = 'body' in record ? (record.body as Record<string, unknown>) : undefined;
		const own = body?.prompt ?? body?.input;
		if (typeof own === 'string') return own;
		const [id] = /imgtask_[0-9a-f]+/.exec(record.path) ?? [];
		return gateway.tasks.find((task) => task.id === id)?.request.prompt ?? record.path;
	};
	const drawn = (route: keyof typeof BY_ROUTE, owner: string) => {
		const visit = (visits.get(`${route} ${owner}`) ?? 0) + 1;
		visits.set(`${route} ${owner}`, visit);
		const seeds = [seed, route, owner, visit];
		const all = faultsOf(route, profile);
		const isFine = all.length === 0 || faults.chanceOf('whether', ...seeds) >= share;
		return isFine ? undefined : faults.pick(all, faults.chanceOf('which', ...seeds));
	};
	const happens = (exchange: Exchange | StorageExchange) => {
		const { stage, record, route } = exchange;
		if (stage === 'before') met.set(record, drawn(route, ownerOf(exchange)));
		const fault = met.get(record);
		return fault?.stage === stage ? fault.make(exchange, setting) : undefined;
	};
	Object.assign(gateway.settings, { intercept: happens, storageIntercept: happens });
	return { met, profile };
}
