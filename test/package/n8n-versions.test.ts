import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { install, readSourceMap } from './built';

const run = promisify(execFile);

/** n8n-workflow of each n8n that is supported, by the name of the development dependency. */
const WORKFLOWS = ['', '-1.123', '-2.10', '-2.30'].map((version) => `n8n-workflow${version}`);

/** Requires the package as a host does: the names of its classes, and those that n8n-workflow lacks. */
const LOAD = `
	const [folder, ...wanted] = process.argv.slice(1);
	const host = require('node:module').createRequire(folder + '/index.js');
	const offered = host('n8n-workflow');
	const made = Object.values(host(folder)).map((Class) => new Class());
	const loaded = made.map(({ description, name }) => description?.name ?? name).sort();
	const missing = wanted.filter((name) => offered[name] === undefined);
	console.log(JSON.stringify({ loaded, missing }));
`;

it.each(WORKFLOWS)('%s has what the built files take, and each class loads', async (name) => {
	const imports = readSourceMap().sourcesContent.flatMap((text) => [
		...text.matchAll(/^import \{([^}]*)\} from 'n8n-workflow';/gm),
	]);
	const names = imports.flatMap(([, list = '']) => list.split(',').map((word) => word.trim()));
	const wanted = names.filter((word) => word !== '' && !word.startsWith('type '));
	expect(wanted).toEqual(expect.arrayContaining(['NodeApiError', 'NodeOperationError', 'sleep']));
	const { folder, remove } = await install(name);
	try {
		const { stdout } = await run(process.execPath, ['-e', LOAD, folder, ...wanted]);
		const loaded = ['lmChatModelAccess', 'modelAccess', 'modelAccessApi', 'modelAccessImage'];
		expect(JSON.parse(stdout)).toEqual({ loaded, missing: [] });
	} finally {
		await remove();
	}
});
