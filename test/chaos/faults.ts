import type { Exchange, Gateway, ProfileName, StorageExchange } from '../../gateway';
import {
	ANSWER_FAULTS,
	chanceOf,
	CONNECTION_FAULTS,
	ERROR_ANSWER_FAULTS,
	EXTRA_FAULTS,
	HEADER_FAULTS,
	pick,
	redirectFault,
	retryAfterFault,
	SILENT_FAULTS,
	statusFault,
	STREAM_FAULTS,
	type FaultSetting,
	type NamedFault,
} from '../../gateway/faults/catalogue';

/** Refusals by which nothing was done. */
const REFUSALS = [
	statusFault(429),
	statusFault(503),
	statusFault(503, 'a web page'),
	...['7', 'a date in 12 s'].map((form) => retryAfterFault(429, `Retry-After: ${form}`)),
	...['1.5', 'soon'].map((form) => retryAfterFault(503, `Retry-After: ${form}`)),
];

const DOUBTS = [statusFault(408, 'nothing'), statusFault(502, 'a web page'), statusFault(504)];

const ANYWHERE = [...REFUSALS, ...DOUBTS, ...CONNECTION_FAULTS, ...HEADER_FAULTS];

const ONCE_MORE = [statusFault(500), statusFault(500, 'plain text')];

const FORBIDDEN = statusFault(403, 'plain text');
const REFUSED = [statusFault(400), FORBIDDEN, redirectFault(307, 'another origin')];

const BY_ROUTE: Partial<Record<Exchange['route'] | 'image', NamedFault[]>> = {
	generations: [...ANYWHERE, ...ONCE_MORE, ...REFUSED, ...ANSWER_FAULTS, ...EXTRA_FAULTS],
	edits: [...ANYWHERE, ...ONCE_MORE, ...REFUSED, ...ANSWER_FAULTS, ...EXTRA_FAULTS],
	responses: [...ANYWHERE, ...ONCE_MORE, ...REFUSED, ...EXTRA_FAULTS, ...STREAM_FAULTS],
	task: [...ANYWHERE, ...ONCE_MORE, ...EXTRA_FAULTS],
	image: [...ANYWHERE, ...ONCE_MORE, ...SILENT_FAULTS, redirectFault(302, 'itself, in a loop')],
};

/** Faults after which a request may be sent once more. */
const HARMLESS = new Set([...REFUSALS, ...ERROR_ANSWER_FAULTS].map(({ name }) => name));

/** Whether a request that met this fault may be sent again although it costs money. */
export function maySendAgain(route: Exchange['route'], fault: NamedFault | undefined): boolean {
	if (!fault) return false;
	const internal = ONCE_MORE.some(({ name }) => name === fault.name);
	return HARMLESS.has(fault.name) || (route === 'responses' && internal);
}

/**
 * Faults that follow from the seed, from whose request it is and how often it came: what happens
 * to an item does not depend on what the others do meanwhile.
 */
export class Misfortune {
	/** What met each exchange, by its record. */
	readonly met = new Map<object, NamedFault>();
	readonly counts = new Map<string, number>();
	exchanges = 0;
	private readonly visits = new Map<string, number>();

	constructor(
		private readonly seed: number | string,
		/** Share of the exchanges that something happens to. */
		private readonly share: number,
		private readonly setting: FaultSetting,
		readonly profile?: ProfileName,
	) {}

	befall(gateway: Gateway) {
		const promptOf = new Map<string, string>();
		const ownerOf = ({ record }: Exchange | StorageExchange): string => {
			const body = 'body' in record ? (record.body as Record<string, unknown>) : undefined;
			const own = body?.prompt ?? body?.input;
			if (typeof own === 'string') return own;
			const id = /imgtask_[0-9a-f]+/.exec(record.path)?.[0] ?? '';
			const known =
				promptOf.get(id) ?? gateway.tasks.find((task) => task.id === id)?.request.prompt;
			if (known !== undefined) promptOf.set(id, known);
			return known ?? record.path;
		};
		const happens = (exchange: Exchange | StorageExchange) => {
			if (exchange.stage === 'before') this.draw(exchange, ownerOf(exchange));
			const fault = this.met.get(exchange.record);
			return fault?.stage === exchange.stage ? fault.make(exchange, this.setting) : undefined;
		};
		gateway.settings.intercept = happens;
		gateway.settings.storageIntercept = happens;
	}

	private draw({ route, record }: Exchange | StorageExchange, owner: string) {
		this.exchanges++;
		const visit = (this.visits.get(`${route} ${owner}`) ?? 0) + 1;
		this.visits.set(`${route} ${owner}`, visit);
		const seeds = [this.seed, route, owner, visit];
		const faults = this.faultsOf(route);
		if (faults.length === 0 || chanceOf('whether', ...seeds) >= this.share) return;
		const fault = pick(faults, chanceOf('which', ...seeds));
		this.met.set(record, fault);
		this.counts.set(fault.name, (this.counts.get(fault.name) ?? 0) + 1);
	}

	/** Errors in a 200 come from gateways of the profile alone, and not from a storage. */
	private faultsOf(route: Exchange['route'] | 'image'): NamedFault[] {
		const faults = BY_ROUTE[route] ?? [];
		const hasMore = this.profile === 'real' && faults.length > 0 && route !== 'image';
		return hasMore ? [...faults, ...ERROR_ANSWER_FAULTS] : faults;
	}
}
