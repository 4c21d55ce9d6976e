/**
 * Loads every node and credential of n8n in a separate process, by n8n's Node and lists. Prints as
 * JSON how many there are and which do not load.
 */
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, join } = require('node:path');

const [, , folder] = process.argv;
const fromN8n = createRequire(join(folder, 'node_modules', 'n8n', 'package.json'));
const faults = [];
let count = 0;

for (const name of ['n8n-nodes-base', '@n8n/n8n-nodes-langchain']) {
	const place = dirname(fromN8n.resolve(`${name}/package.json`));
	for (const kind of ['nodes', 'credentials']) {
		const list = readFileSync(join(place, 'dist', 'known', `${kind}.json`), 'utf8');
		for (const [known, { className, sourcePath }] of Object.entries(JSON.parse(list))) {
			count++;
			try {
				new (fromN8n(join(place, sourcePath))[className])();
			} catch (error) {
				faults.push(`${known}: ${error.message.split('\n')[0]}`);
			}
		}
	}
}
console.log(`\n${JSON.stringify({ count, faults })}`);
// Some of them keep the process alive.
process.exit();
