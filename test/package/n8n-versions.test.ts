import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { install, manifest, project, readBuilt } from './built';

const run = promisify(execFile);

/** n8n-workflow of each n8n that the README names, by the name of the development dependency. */
const WORKFLOWS = Object.keys(manifest.devDependencies)
	.filter((name) => /^n8n-workflow(-|$)/.test(name))
	.sort();

const requireHere = createRequire(path.join(project, 'package.json'));

/** What the built files take from n8n-workflow, by file. */
async function importedNames(): Promise<Array<[string, string]>> {
	const built = Object.entries(await readBuilt()).filter(([file]) => file.endsWith('.js'));
	return built.flatMap(([file, text]) => {
		const variables = [...text.matchAll(/(\w+) = require\("n8n-workflow"\)/g)].map(
			([, name]) => name,
		);
		const names = variables.flatMap((variable) =>
			[...text.matchAll(new RegExp(`\\b${variable}\\.(\\w+)`, 'g'))].map(([, name = '']) => name),
		);
		return [...new Set(names)].map((name): [string, string] => [file, name]);
	});
}

/** Requires the package as a host does, and prints the names of what it holds. */
const LOAD = `
	const classes = require(process.argv[1]);
	const names = Object.values(classes).map((Class) => {
		const made = new Class();
		return made.description ? made.description.name : made.name;
	});
	console.log(JSON.stringify(names));
`;

it('knows an older n8n-workflow for each older n8n that is supported', () => {
	expect(WORKFLOWS).toEqual([
		'n8n-workflow',
		'n8n-workflow-1.123',
		'n8n-workflow-2.10',
		'n8n-workflow-2.30',
	]);
});

it('finds what the built files take from n8n-workflow', async () => {
	const names = (await importedNames()).map(([, name]) => name);
	expect(names).toEqual(expect.arrayContaining(['NodeApiError', 'NodeOperationError', 'sleep']));
});

describe.each(WORKFLOWS)('%s', (workflowPackage) => {
	it('has every name that the built files take from it', async () => {
		const offered = requireHere(workflowPackage) as Record<string, unknown>;
		const missing = (await importedNames()).filter(([, name]) => offered[name] === undefined);
		expect(missing).toEqual([]);
	});

	it('is enough to load each class', async () => {
		const { folder, remove } = await install(workflowPackage);
		try {
			const { stdout } = await run(process.execPath, ['-e', LOAD, folder]);
			expect((JSON.parse(stdout) as string[]).sort()).toEqual([
				'lmChatModelAccess',
				'modelAccess',
				'modelAccessApi',
				'modelAccessImage',
			]);
		} finally {
			await remove();
		}
	});
});
