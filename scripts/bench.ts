import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { CASES, type Bench } from '../bench/cases';
import { installedPackage } from '../bench/packages';
import { asMarkdown, type CaseResult } from '../bench/results';
import { Service } from '../bench/service';
import { MeasuredN8n } from '../bench/n8n-server';
import { cacheFolder, dataFolder } from './n8n/folders';
import { N8N_VERSION } from './n8n/installation';
import { PACKAGE, packPackage, PROJECT } from './n8n/package';
import { askedToEnd } from './ending';

const HELP = `Compares our nodes with what a builder would use instead, on the built-in gateway.

npm run bench                      everything, in n8n ${N8N_VERSION} (installed the first time); about 50 minutes
npm run bench -- --quick           without n8n: ours in n8n's engine, and the limits; two minutes
npm run bench -- --only stream     one case, or several: ${Object.keys(CASES).join(', ')}
npm run bench -- --rounds 5        runs of each contender (3; in quick mode 1)
npm run bench -- --json FILE       the results as JSON too, every single value
npm run bench -- --markdown FILE   the tables as Markdown too
npm run bench -- --tarball FILE    an existing tarball of the package
npm run bench -- --profile FOLDER  a profile of the processor for each run, for the DevTools of Chrome;
                                   what it costs is in the table too`;

interface Wishes {
	quick: boolean;
	only: string[];
	rounds: number;
	json?: string;
	markdown?: string;
	tarball?: string;
	profile?: string;
}

function wishesIn(args: string[]): Wishes {
	const after = (name: string) => {
		const at = args.indexOf(name);
		const value = at < 0 ? undefined : args[at + 1];
		if (at >= 0 && (value === undefined || value.startsWith('--'))) {
			throw new Error(`${name} needs a value`);
		}
		return value;
	};
	const quick = args.includes('--quick');
	const only = after('--only')?.split(',') ?? Object.keys(CASES);
	for (const name of only) {
		if (!(name in CASES)) throw new Error(`Unknown case "${name}"`);
	}
	const rounds = Number(after('--rounds') ?? (quick ? 1 : 3));
	if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds needs a number');
	return {
		quick,
		only,
		rounds,
		json: after('--json'),
		markdown: after('--markdown'),
		tarball: after('--tarball'),
		profile: after('--profile'),
	};
}

const began = Date.now();

function say(text: string) {
	console.error(`${((Date.now() - began) / 1000).toFixed(0).padStart(5)} s  ${text}`);
}

/** The package, packed and installed as on a host. */
async function ownPackage(given: string | undefined) {
	const data = await dataFolder();
	const tarball = given ?? (await packPackage(join(data, 'packed')));
	const place = join(data, 'bench-package');
	await rm(place, { recursive: true, force: true });
	return { tarball, own: await installedPackage(place, PACKAGE, resolve(tarball)) };
}

async function versions(bench: Bench): Promise<Record<string, string>> {
	const { version } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')) as {
		version: string;
	};
	const [processor] = cpus();
	return {
		date: new Date().toISOString().slice(0, 10),
		[PACKAGE]: version,
		n8n: bench.n8nServer ? N8N_VERSION : 'not used',
		node: process.version,
		...(bench.n8nServer && { 'node of n8n': bench.n8nServer.nodeVersion }),
		machine: `${cpus().length} × ${processor?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform}`,
		command: `npm run bench -- ${process.argv.slice(2).join(' ')}`.replace(/ -- $/, ''),
	};
}

async function main() {
	if (process.argv.includes('--help')) return console.log(HELP);
	const wishes = wishesIn(process.argv.slice(2));
	// All child processes end with this process.
	void askedToEnd().then(() => process.exit(1));
	const { quick, only, rounds, json, markdown, tarball: given, profile } = wishes;
	if (profile !== undefined) {
		await mkdir(profile, { recursive: true });
		process.env.BENCH_PROFILE = resolve(profile);
	}
	say(given === undefined ? 'Packing the package' : 'Unpacking the package');
	const { tarball, own } = await ownPackage(given);
	const service = await Service.start();
	let n8nServer: MeasuredN8n | undefined;
	try {
		if (!quick) {
			n8nServer = await MeasuredN8n.setUp(service, resolve(tarball), say);
		}
		const bench: Bench = {
			service,
			n8nServer,
			folder: own.folder,
			own,
			cache: await cacheFolder(),
			rounds,
			say,
		};
		const results: Array<CaseResult & { case: string }> = [];
		for (const name of only) {
			const { run, quick: isQuick } = CASES[name]!;
			if (quick && !isQuick) continue;
			say(name);
			for (const result of [await run(bench)].flat()) results.push({ case: name, ...result });
		}
		const about = await versions(bench);
		const head = Object.entries(about).map(([name, value]) => `- ${name}: ${value}`);
		const text = [head.join('\n'), '', ...results.map(asMarkdown)].join('\n');
		console.log(text);
		if (markdown !== undefined) await writeFile(markdown, text);
		if (json !== undefined) {
			await writeFile(json, `${JSON.stringify({ about, results }, undefined, '\t')}\n`);
		}
		if (results.some(({ goals }) => goals.some(({ met }) => !met))) process.exitCode = 1;
	} finally {
		n8nServer?.close();
		await service.close();
	}
}

main().catch((error: unknown) => {
	console.error(error);
	process.exitCode = 1;
});
