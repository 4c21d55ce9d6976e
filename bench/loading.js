/*
 * Loads the nodes of a package as n8n does, in a process that has n8n's own modules already, and
 * prints the milliseconds that it took. Plain JavaScript: a compiler on the way would be measured.
 */
const { createRequire } = require('node:module');
const { join } = require('node:path');

const [, , folder] = process.argv;
// From the package's place: the checkout, in which this file lies, has a copy of its own.
createRequire(join(folder, 'package.json'))('n8n-workflow');
const { n8n } = require(join(folder, 'package.json'));
const files = [...n8n.nodes, ...(n8n.credentials ?? [])];
const began = process.hrtime.bigint();
for (const file of files) require(join(folder, file));
console.log(Number(process.hrtime.bigint() - began) / 1e6);
process.exit();
