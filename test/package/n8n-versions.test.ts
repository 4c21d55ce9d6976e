import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { install, readSourceMap } from './built';

const run = promisify(execFile);

/** n8n-workflow of each n8n that is supported, by the name of the development dependency. */
const WORKFLOWS = ['', '-1.123', '-2.10', '-2.30'].map((version) => `n8n-workflow${version}`);

/** What the sources of the built files take from n8n-workflow, types left out. */
function importedNames(): string[] {
	const names = readSourceMap().sourcesContent.flatMap((text) =>
		[...text.matchAll(/^import \{([^}]*)\} from 'n8n-workflow';/gm)].flatMap(([, list = '']) =>
			list.split(',').map((name) => name.trim()),
		),
	);
	return [...new Set(names)].filter((name) => name !== '' && !name.startsWith('type '));
}

/**
 * Requires the package as a host does, and prints the names of what it holds, and those that
 * n8n-workflow lacks.
 */
const LOAD = `
	const [folder, wanted] = process.argv.slice(1);
	const host = require('node:module').createRequire(folder + '/index.js');
	const offered = host('n8n-workflow');
	const loaded = Object.values(host(folder)).map((Class) => {
		const made = new Class();
		return made.description ? made.description.name : made.name;
	});
	const missing = JSON.parse(wanted).filter((name) => offered[name] === undefined);
	console.log(JSON.stringify({ loaded: loaded.sort(), missing }));
`;

it.each(WORKFLOWS)('%s has what the built files take, and each class loads', async (name) => {
	const wanted = importedNames();
	expect(wanted).toEqual(expect.arrayContaining(['NodeApiError', 'NodeOperationError', 'sleep']));
	const { folder, remove } = await install(name);
	try {
		const { stdout } = await run(process.execPath, ['-e', LOAD, folder, JSON.stringify(wanted)]);
		expect(JSON.parse(stdout)).toEqual({
			loaded: ['lmChatModelAccess', 'modelAccess', 'modelAccessApi', 'modelAccessImage'],
			missing: [],
		});
	} finally {
		await remove();
	}
});
