import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { MutantResult } from '@stryker-mutator/api/core';
import { EQUIVALENT, type EquivalentMutant } from './mutate/equivalent';
import { FILES } from './mutate/files';

const HELP = `Changes the code in small ways and checks whether a test notices.

npm run mutate                 all files; results are kept, so a run can be continued
npm run mutate -- retry.ts     the files with this in their path
npm run mutate -- --fresh      forgets the results first. Stryker sees changes of the file and of its
                               tests by itself, but none of what they import`;

const ROOT = path.join(__dirname, '..');
const RESULTS = path.join('reports', 'mutation');

interface Tally {
	file: string;
	killed: number;
	survived: number;
	noCoverage: number;
	timeout: number;
	/** The changed code does not load. It does not count. */
	invalid: number;
	equivalent: number;
	seconds: number;
}

/** Percentage of the counted mutants that a test has noticed. */
function score({ killed, survived, noCoverage, timeout }: Tally): number {
	const all = killed + survived + noCoverage + timeout;
	return all === 0 ? 100 : ((killed + timeout) / all) * 100;
}

/** Mutates one file. Results of the previous run that are still valid are kept. */
async function mutate(file: string, tests: string[]): Promise<MutantResult[]> {
	const { Stryker } = await import('@stryker-mutator/core');
	const stryker = new Stryker({
		configFile: 'scripts/mutate/stryker.config.mjs',
		mutate: [`${file}.ts`],
		incrementalFile: resultsOf(file),
		jest: { config: { testMatch: tests.map((test) => `<rootDir>/test/${test}.test.ts`) } },
	});
	return await stryker.runMutationTest();
}

const resultsOf = (file: string) => path.join(RESULTS, `${file.replaceAll('/', '.')}.json`);

/** A mutant in the form of the list of equivalent ones. */
interface Change extends Omit<EquivalentMutant, 'reason'> {
	at: number;
	status: MutantResult['status'];
	isLoop: boolean;
}

const onOneLine = (text: string) => text.trim().replace(/\s+/g, ' ');

function changesOf(file: string, mutants: MutantResult[]): Change[] {
	const lines = readFileSync(`${file}.ts`, 'utf8').split('\n');
	return mutants.map(({ location: { start, end }, replacement = '', status, statusReason }) => {
		// Stryker counts lines and columns from 1.
		const code = lines.slice(start.line - 1, end.line);
		const line = code[0]!.trim();
		code[code.length - 1] = code.at(-1)!.slice(0, end.column - 1);
		code[0] = code[0]!.slice(start.column - 1);
		return {
			file,
			line,
			original: onOneLine(code.join('\n')),
			replacement: onOneLine(replacement),
			at: start.line,
			status,
			isLoop: /^Hit limit/.test(statusReason ?? ''),
		};
	});
}

const isSame = (entry: EquivalentMutant, change: Change) =>
	entry.file === change.file &&
	entry.line === change.line &&
	entry.original === change.original &&
	entry.replacement === change.replacement;

function tally(file: string, changes: Change[], seconds: number): Tally {
	const isEquivalent = (change: Change) => EQUIVALENT.some((entry) => isSame(entry, change));
	const counted = changes.filter((change) => !isEquivalent(change));
	const count = (wanted: Change['status']) =>
		counted.filter(({ status }) => status === wanted).length;
	return {
		file,
		killed: count('Killed'),
		survived: count('Survived'),
		noCoverage: count('NoCoverage'),
		timeout: count('Timeout'),
		invalid: count('RuntimeError'),
		equivalent: changes.length - counted.length,
		seconds,
	};
}

/**
 * Prints the mutants that no test noticed, time-outs without a loop, and wrong entries in the list
 * of equivalent mutants.
 */
function printFindings(file: string, changes: Change[]) {
	for (const change of changes) {
		const { at, line, original, replacement, status, isLoop } = change;
		const isNoticed = status === 'Killed' || status === 'RuntimeError' || isLoop;
		if (isNoticed) continue;
		if (EQUIVALENT.some((entry) => isSame(entry, change))) continue;
		console.log(`\n${file}.ts:${at} ${status}\n  ${line}\n- ${original}\n+ ${replacement}`);
	}
	for (const entry of EQUIVALENT.filter((entry) => entry.file === file)) {
		const found = changes.filter((change) => isSame(entry, change));
		const noticed = found.filter(({ status }) => status === 'Killed' || status === 'Timeout');
		if (found.length > 0 && noticed.length === 0) continue;
		const wrong = found.length === 0 ? 'is no mutant' : 'is noticed by a test';
		console.log(`\nListed as equivalent, but ${wrong}: ${entry.line}: ${entry.replacement}`);
	}
}

function printTable(tallies: Tally[]) {
	console.table(
		tallies.map((row) => ({
			...row,
			file: row.file.replace('nodes/shared/', ''),
			score: score(row).toFixed(1),
		})),
	);
}

async function main() {
	const args = process.argv.slice(2);
	if (args.includes('--help')) return console.log(HELP);
	process.chdir(ROOT);
	const [part = ''] = args.filter((word) => word !== '--fresh');
	const files = Object.entries(FILES).filter(([file]) => `${file}.ts`.includes(part));
	if (files.length === 0) throw new Error(`No file of scripts/mutate/files.ts has "${part}"`);
	mkdirSync(RESULTS, { recursive: true });
	const tallies: Tally[] = [];
	const failed: string[] = [];
	for (const [file, tests] of files) {
		console.log(`\n${file}.ts`);
		if (args.includes('--fresh')) rmSync(resultsOf(file), { force: true });
		const started = Date.now();
		try {
			const changes = changesOf(file, await mutate(file, tests));
			printFindings(file, changes);
			tallies.push(tally(file, changes, Math.round((Date.now() - started) / 1000)));
			printTable(tallies);
		} catch {
			// Stryker has printed the reason.
			failed.push(file);
		}
	}
	for (const file of failed) console.log(`${file}.ts could not be done`);
	if (failed.length > 0) process.exitCode = 1;
}

main().catch((error: unknown) => {
	console.error(error);
	process.exitCode = 1;
});
