import type { GatewaySwitches, ProfileName, RouteName } from '../gateway';
import { FAULT_GROUPS, findFault, type NamedFault } from '../gateway/faults/catalogue';
import { optionOf, PROFILES, SWITCHES } from '../gateway/switches';

/** The options of `npm run gateway`. */
export interface GatewayWishes {
	help: boolean;
	port?: number;
	taskSeconds: number;
	asyncImages: boolean;
	profile?: ProfileName;
	/** Single switches of real gateways. */
	switches: GatewaySwitches;
	fault?: NamedFault;
	/** The requests that get the fault; all if absent. */
	route?: FaultyRoute;
	/** Share of these requests, from 0 to 1; all if absent. */
	share?: number;
}

type FaultyRoute = Exclude<RouteName, 'unknown' | 'page'> | 'image';

const ROUTES: readonly FaultyRoute[] = [
	'models',
	'responses',
	'generations',
	'edits',
	'task',
	'image',
];

/** Each option with its explanation. The switches have their own list. */
const OPTIONS = [
	['--port N', 'The port of the API (4040, or a free one if it is taken)'],
	['--task-seconds N', 'How long an image task runs (6)'],
	['--no-async-images', 'Asynchronous images are off: submits get 404'],
	['--profile NAME', `A set of switches that go together: ${Object.keys(PROFILES).join(', ')}`],
	['--fault NAME', 'The fault of every request; the names are below'],
	['--at ROUTE', `Only these requests get the fault: ${ROUTES.join(', ')}`],
	['--share N', 'The share of these requests that get the fault, from 0 to 1 (1)'],
	['--help', 'This text'],
] as const;

/** The switches of real gateways, as options with their explanation. */
const SWITCH_OPTIONS = Object.entries(SWITCHES).map(
	([name, { value, text }]) => [[optionOf(name), value].join(' ').trim(), text] as const,
);

const optionNames = [...OPTIONS, ...SWITCH_OPTIONS].map(([option]) => option.split(' ', 1)[0]!);

/**
 * Reads the command line.
 * @throws Error if a value is missing or unknown
 */
export function readGatewayWishes(args: string[]): GatewayWishes {
	const unknown = args.find((word) => word.startsWith('--') && !optionNames.includes(word));
	if (unknown !== undefined) throw new Error(`Unknown option ${unknown}; see --help`);
	const after = (option: string) => {
		const at = args.indexOf(option);
		if (at < 0) return undefined;
		const value = args[at + 1];
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
	if (name !== undefined && !fault) throw new Error(`Unknown fault "${name}"; see --help`);
	const at = after('--at');
	const route = ROUTES.find((candidate) => candidate === at);
	if (at !== undefined && !route) throw new Error(`--at needs one of ${ROUTES.join(', ')}`);
	const profile = after('--profile');
	if (profile !== undefined && !isProfile(profile)) {
		throw new Error(`Unknown profile "${profile}"; see --help`);
	}
	const share = numberAfter('--share');
	if (share !== undefined && share > 1) throw new Error('--share needs a number from 0 to 1');
	return {
		help: args.includes('--help'),
		port: numberAfter('--port'),
		taskSeconds: numberAfter('--task-seconds') ?? 6,
		asyncImages: !args.includes('--no-async-images'),
		profile,
		switches: readSwitches(args, after),
		fault,
		route,
		share,
	};
}

const isProfile = (name: string): name is ProfileName => Object.hasOwn(PROFILES, name);

function readSwitches(
	args: string[],
	after: (option: string) => string | undefined,
): GatewaySwitches {
	const set = Object.entries(SWITCHES).filter(([name]) => args.includes(optionOf(name)));
	return Object.fromEntries(
		set.map(([name, { value, read }]) => {
			const option = optionOf(name);
			try {
				return [name, read(value === undefined ? '' : after(option)!)];
			} catch (error) {
				const { message } = error as Error;
				throw new Error(message.startsWith(option) ? message : `${option} needs ${message}`);
			}
		}),
	);
}

/** The text of `npm run gateway -- --help`: the options, and every fault of the catalog. */
export function gatewayHelp(): string {
	const width = Math.max(...[...OPTIONS, ...SWITCH_OPTIONS].map(([option]) => option.length));
	const lines = (options: ReadonlyArray<readonly [string, string]>) =>
		options.map(([option, text]) => `${option.padEnd(width)}  ${text}`);
	return [
		'The built-in gateway: the service of the Model Access API, on this machine.',
		'',
		'npm run gateway                       starts it and prints what to paste into n8n',
		'npm run gateway -- --task-seconds 20  starts it with slower images',
		'npm run gateway -- --fault "503 with JSON" --at task',
		'npm run gateway -- --profile real     behaves like a gateway that was recorded',
		'',
		...lines(OPTIONS),
		'',
		'Switches: what real gateways do beyond the contract',
		'',
		...lines(SWITCH_OPTIONS),
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
