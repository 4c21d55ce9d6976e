import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { CHROMIUM } from './chromium';
import { freePort } from './stage/port';
import { hasRedis, postgresPrograms } from './stage/services';

/** A program that tests need, and how it is told that a file of tests needs it. */
interface Need {
	name: string;
	/** What the file says if it needs it. */
	pattern: RegExp;
	/** Debian's package. */
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
		debian: 'chromium',
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

/**
 * Looks for everything that files of tests need, before anything is installed or started for them.
 * @param files paths of the test files
 * @throws {Error} something is missing; one sentence that says which Debian packages bring it
 */
export async function checkNeeds(files: string[]): Promise<void> {
	const texts = await Promise.all(files.map(async (file) => await readFile(file, 'utf8')));
	const missing: Need[] = [];
	const waiting = new Set<string>();
	for (const need of NEEDS) {
		const users = files.filter((_file, at) => need.pattern.test(texts[at] ?? ''));
		if (users.length === 0 || (await need.isHere())) continue;
		missing.push(need);
		for (const file of users) waiting.add(basename(file));
	}
	if (missing.length > 0) {
		const names = missing.map(({ name }) => name).join(' and ');
		const debians = missing.map(({ debian }) => debian).join(' ');
		throw new Error(`${[...waiting].join(', ')} needs ${names}: apt-get install ${debians}`);
	}
	await freePort();
}
