import { join } from 'node:path';
import { runCommand } from './n8n/command';
import { dataFolder } from './n8n/folders';
import { installN8n, N8N_VERSION } from './n8n/installation';
import { checkNeeds, missingPackages } from './n8n/needs';
import { packPackage, PROJECT } from './n8n/package';
import { JEST, runJest } from './run-jest';

const HELP = `The package in a real n8n, in a real browser.

npm run test:e2e                     everything; installs n8n ${N8N_VERSION} the first time
npm run test:e2e -- editor           the files whose name holds "editor"
npm run test:e2e -- --screenshots    also updates the images in docs/images
npm run test:e2e -- --needs          names Debian's packages that are missing, and runs nothing
Other arguments go to jest. E2E_TARBALL names an existing tarball of the package.

It needs Debian's packages chromium, redis-server and postgresql, or the same of another system.`;

/** Options of this script, which jest does not get. */
const OWN_OPTIONS = ['--screenshots', '--needs'];

const CONFIG = join('test', 'e2e', 'jest.config.js');

/** The test files that jest runs for these arguments. */
async function chosenFiles(args: string[]): Promise<string[]> {
	// As JSON, or in a file, the list would not be printed.
	const choosing = args.filter((word) => !/^--(json|outputFile)\b/.test(word));
	const output = await runCommand(process.execPath, [JEST, ...choosing, '--listTests'], {
		cwd: PROJECT,
	});
	const files = output.split('\n').filter((line) => line !== '');
	if (files.length === 0) throw new Error('No end-to-end test has this name: see test/e2e');
	return files;
}

async function main() {
	const args = process.argv.slice(2);
	if (args.includes('--help')) return console.log(HELP);
	const say = (text: string) => console.log(text);
	const forJest = ['-c', CONFIG, ...args.filter((word) => !OWN_OPTIONS.includes(word))];
	const files = await chosenFiles(forJest);
	if (args.includes('--needs')) return (await missingPackages(files)).forEach(say);
	process.exitCode = await runJest(forJest, async () => {
		await checkNeeds(files);
		await installN8n(N8N_VERSION, say);
		const given = process.env.E2E_TARBALL;
		if (given === undefined) say('Packing the package');
		const tarball = given ?? (await packPackage(join(await dataFolder(), 'packed')));
		return {
			E2E_TARBALL: tarball,
			...(args.includes('--screenshots') && { E2E_SCREENSHOTS: join(PROJECT, 'docs', 'images') }),
		};
	});
}

main().catch((error: unknown) => {
	console.error((error as Error).message);
	process.exitCode = 1;
});
