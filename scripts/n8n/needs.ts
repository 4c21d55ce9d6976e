import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { CHROMIUM } from './chromium';
import { freePort } from './port';
import { hasRedis, postgresPrograms } from './services';

/** A program that tests need, and how it is told that a file of tests needs it. */
interface Need {
	name: string;
	/** What the file says if it needs it. */
	pattern: RegExp;
	/** Debian's packages of it. */
	debian: string;
	isHere: () => Promise<boolean>;
}

const isThere = async (file: string) =>
	await access(file, constants.X_OK).then(
		() => true,
		() => false,
	);

const NEEDS: Need[] = [
	{
		name: `Chromium (${CHROMIUM}, or the one that $CHROMIUM names)`,
		pattern: /\bopenBrowser\(/,
		// With fonts, for the screenshots.
		debian: 'chromium fonts-liberation',
		isHere: async () => await isThere(CHROMIUM),
	},
	{
		name: 'PostgreSQL',
		pattern: /\bstartPostgres\(/,
		debian: 'postgresql',
		isHere: async () => (await postgresPrograms()) !== undefined,
	},
	{
		name: 'Redis',
		pattern: /\bstartRedis\(/,
		debian: 'redis-server',
		isHere: hasRedis,
	},
];

/** What files of tests need and is not here, with the files that need it. */
async function lacks(files: string[]): Promise<Array<Need & { files: string[] }>> {
	const texts = await Promise.all(files.map(async (file) => await readFile(file, 'utf8')));
	const needed = NEEDS.map((need) => ({
		...need,
		files: files.filter((_file, at) => need.pattern.test(texts[at] ?? '')),
	})).filter((need) => need.files.length > 0);
	const here = await Promise.all(needed.map(async ({ isHere }) => await isHere()));
	return needed.filter((_need, at) => !here[at]);
}

/**
 * Names Debian's packages of what files of tests need and is not here.
 * @param files paths of the test files
 */
export async function missingPackages(files: string[]): Promise<string[]> {
	return (await lacks(files)).map(({ debian }) => debian);
}

/**
 * Looks for everything that files of tests need, before anything is installed or started for them.
 * @param files paths of the test files
 * @throws {Error} something is missing; one sentence that says which Debian packages bring it. Or
 * no port of loopback is free
 */
export async function checkNeeds(files: string[]): Promise<void> {
	await freePort();
	const all = await lacks(files);
	if (all.length === 0) return;
	const users = [...new Set(all.flatMap((lack) => lack.files))].map((file) => basename(file));
	const names = all.map(({ name }) => name).join(' and ');
	const debians = all.map(({ debian }) => debian).join(' ');
	throw new Error(
		`${users.sort().join(', ')} ${users.length > 1 ? 'need' : 'needs'} ${names}: apt-get install ${debians}`,
	);
}
