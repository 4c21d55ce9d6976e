import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { faultsDocument } from '../test/faults/document';

/** Writes the page of all faults from the table of the tests. */
const folder = join(__dirname, '..', 'docs');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'faults.md'), faultsDocument());
console.log('docs/faults.md is written');
