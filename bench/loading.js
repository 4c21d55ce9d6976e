/**
 * Loads the nodes of a package as n8n does, and prints the milliseconds that it took. The process
 * has loaded n8n's own modules before. It is plain JavaScript, because the time of a compiler would
 * count.
 */
const { createRequire } = require('node:module');
const { join } = require('node:path');

const [, , folder] = process.argv;
// Resolved from the package's folder, because the checkout has its own copy.
createRequire(join(folder, 'package.json'))('n8n-workflow');
const { n8n } = require(join(folder, 'package.json'));
const files = [...n8n.nodes, ...(n8n.credentials ?? [])];
const began = process.hrtime.bigint();
for (const file of files) require(join(folder, file));
console.log(Number(process.hrtime.bigint() - began) / 1e6);
process.exit();
