import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PROJECT = join(__dirname, '..');

const HELP = `Prints the changelog's section of a version, for its release on GitHub.

node --import tsx scripts/changelog.ts            the version that package.json names
node --import tsx scripts/changelog.ts 1.2.3      another one`;

/**
 * The notes of a release: the changelog's section of the version. Links to files of the repository
 * become full addresses, because a release page has another base.
 * @param changelog the complete text
 * @param files the address of the repository's files in this version
 * @throws {Error} the version has no section, no date, or an empty section
 */
export function releaseNotes(changelog: string, version: string, files: string): string {
	const [, ...sections] = changelog.split(/^## /m);
	const section = sections.find((text) => text.startsWith(`[${version}]`));
	if (section === undefined) throw new Error(`CHANGELOG.md has no section "## [${version}]"`);
	const [heading = '', ...lines] = section.split('\n');
	if (!/ - \d{4}-\d{2}-\d{2}$/.test(heading)) {
		throw new Error(`CHANGELOG.md gives ${version} no date: "## ${heading}"`);
	}
	const notes = lines
		// Link definitions of the headings, at the end of the file.
		.filter((line) => !/^\[[^\]]+\]: /.test(line))
		.join('\n')
		.replace(/\]\((?!https?:|mailto:)([^)\s]+)\)/g, `](${files}/$1)`)
		.trim();
	if (notes === '') throw new Error(`CHANGELOG.md has no text about ${version}`);
	return notes;
}

/** Reads the project's own files. */
function main(args: string[]): void {
	if (args.includes('--help')) return console.log(HELP);
	const { version, homepage } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
		version: string;
		homepage: string;
	};
	const wanted = args[0] ?? version;
	const files = `${homepage.replace(/#.*$/, '')}/blob/v${wanted}`;
	console.log(releaseNotes(readFileSync(join(PROJECT, 'CHANGELOG.md'), 'utf8'), wanted, files));
}

if (require.main === module) {
	try {
		main(process.argv.slice(2));
	} catch (error) {
		console.error((error as Error).message);
		process.exit(1);
	}
}
