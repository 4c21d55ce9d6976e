import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { faultsDocument } from './faults-document';

/** Writes the page of all faults from the table of the tests. Git ignores its folder. */
const folder = join(__dirname, '..', 'reports');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'faults.md'), faultsDocument());
console.log('reports/faults.md is written');
