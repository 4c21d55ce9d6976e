import { spawn } from 'node:child_process';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { installN8n, N8N_VERSION } from '../test/e2e/stage/installation';
import { packPackage, PROJECT } from '../test/e2e/stage/package';
import { DATA } from '../test/e2e/stage/stage';

const HELP = `The package in a real n8n, in a real browser.

npm run test:e2e                     everything; installs n8n ${N8N_VERSION} the first time
npm run test:e2e -- editor           the files whose name holds "editor"
npm run test:e2e -- --screenshots    also renews the pictures in docs/images
Other words go to jest. E2E_TARBALL names a package that is packed already.

It needs Debian's packages chromium, redis-server and postgresql, or the same of another system.`;

const HERE = join(PROJECT, 'test', 'e2e');

/** A program's output goes to ours; a failure ends everything. */
async function run(words: string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
	const [program = '', ...rest] = words;
	const child = spawn(process.execPath, [join(PROJECT, 'node_modules', program), ...rest], {
		cwd: PROJECT,
		env: { ...process.env, ...env },
		stdio: 'inherit',
	});
	const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
	if (code !== 0) throw new Error(`${program} ended with code ${code}`);
}

async function main() {
	const words = process.argv.slice(2);
	if (words.includes('--help')) return console.log(HELP);
	const say = (text: string) => console.log(text);
	const { folder } = await installN8n(N8N_VERSION, say);
	// What drives the browser is installed beside n8n, outside of the checkout.
	const modules = join(HERE, 'node_modules');
	await rm(modules, { recursive: true, force: true });
	await symlink(join(folder, 'node_modules'), modules, 'junction');

	// Of a part alone only the part is looked at.
	if (words.every((word) => word.startsWith('-'))) {
		say('Types and lint of the end-to-end tests');
		await run(['typescript/bin/tsc', '-p', 'test/e2e']);
		await run(['eslint/bin/eslint.js', '-c', 'eslint.e2e.config.mjs', 'test/e2e']);
	}

	const given = process.env.E2E_TARBALL;
	if (given === undefined) say('Packing the package');
	const tarball = given ?? (await packPackage(join(DATA, 'packed')));
	const forJest = words.filter((word) => word !== '--screenshots');
	await run(['jest/bin/jest.js', '-c', 'test/e2e/jest.config.js', ...forJest], {
		E2E_TARBALL: tarball,
		...(words.includes('--screenshots') && { E2E_SCREENSHOTS: join(PROJECT, 'docs', 'images') }),
	});
}

main().catch((error: unknown) => {
	console.error((error as Error).message);
	process.exitCode = 1;
});
