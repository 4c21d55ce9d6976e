import type { RouteName } from '../gateway';
import { FAULT_GROUPS, findFault, type NamedFault } from '../gateway/faults/catalogue';

/** What the command line of `npm run gateway` asks for. */
export interface GatewayWishes {
	help: boolean;
	port?: number;
	taskSeconds: number;
	fault?: NamedFault;
	/** The requests that meet the fault; all if absent. */
	route?: FaultyRoute;
}

type FaultyRoute = Exclude<RouteName, 'unknown' | 'page'> | 'picture';

const ROUTES: readonly FaultyRoute[] = [
	'models',
	'responses',
	'generations',
	'edits',
	'task',
	'picture',
];

/** Each option with its explanation. Settings that belong together (a profile) get one line here. */
const OPTIONS = [
	['--port N', 'The port of the API (4040, or a free one if it is taken)'],
	['--task-seconds N', 'How long an image task runs (6)'],
	['--fault NAME', 'The fault that every request meets; the names stand below'],
	['--at ROUTE', `Only these requests meet the fault: ${ROUTES.join(', ')}`],
	['--help', 'This text'],
] as const;

/**
 * Reads the command line.
 * @throws Error if a value is missing or unknown
 */
export function readGatewayWishes(words: string[]): GatewayWishes {
	const known: string[] = OPTIONS.map(([option]) => option.split(' ', 1)[0]!);
	const unknown = words.find((word) => word.startsWith('--') && !known.includes(word));
	if (unknown !== undefined) throw new Error(`There is no option ${unknown}; see --help`);
	const after = (option: string) => {
		const at = words.indexOf(option);
		if (at < 0) return undefined;
		const value = words[at + 1];
		if (value === undefined || value.startsWith('--')) throw new Error(`${option} needs a value`);
		return value;
	};
	const numberAfter = (option: string) => {
		const value = after(option);
		if (value === undefined) return undefined;
		if (!/^\d+(\.\d+)?$/.test(value)) throw new Error(`${option} needs a number`);
		return Number(value);
	};
	const name = after('--fault');
	const fault = name === undefined ? undefined : findFault(name);
	if (name !== undefined && !fault) throw new Error(`There is no fault "${name}"; see --help`);
	const at = after('--at');
	const route = ROUTES.find((candidate) => candidate === at);
	if (at !== undefined && !route) throw new Error(`--at needs one of ${ROUTES.join(', ')}`);
	return {
		help: words.includes('--help'),
		port: numberAfter('--port'),
		taskSeconds: numberAfter('--task-seconds') ?? 6,
		fault,
		route,
	};
}

/** What `npm run gateway -- --help` prints: the options, and every fault of the catalogue. */
export function gatewayHelp(): string {
	const width = Math.max(...OPTIONS.map(([option]) => option.length));
	return [
		'The built-in gateway: the service of the Model Access API, on this machine.',
		'',
		'npm run gateway                       starts it and prints what to paste where',
		'npm run gateway -- --task-seconds 20  starts it with slower images',
		'npm run gateway -- --fault "503 with JSON" --at task',
		'',
		...OPTIONS.map(([option, text]) => `${option.padEnd(width)}  ${text}`),
		'',
		'Faults. (executed): the gateway carries out the request, and only its reply is faulty.',
		...Object.entries(FAULT_GROUPS).flatMap(([title, faults]) => [
			'',
			...groupLines(title, faults),
		]),
		'',
		'What else the gateway can do: docs/gateway.md',
	].join('\n');
}

/** The names of a group. Names that differ only in their status share a line. */
function groupLines(title: string, faults: readonly NamedFault[]): string[] {
	const statuses = [...new Set(faults.flatMap(({ name }) => /^\d{3}/.exec(name) ?? []))];
	const names = faults.map(
		({ name, stage }) =>
			`  ${name.replace(/^\d{3}/, 'STATUS')}${stage === 'after' ? ' (executed)' : ''}`,
	);
	const heading = statuses.length === 0 ? title : `${title}, STATUS being ${statuses.join(', ')}`;
	return [heading, ...new Set(names)];
}
