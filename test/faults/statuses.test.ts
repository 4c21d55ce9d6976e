import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CALL_SITES, operationNames } from './call-sites';
import { faultsDocument } from './document';
import { runRows } from './run';
import { STATUS_ROWS } from './statuses';

runRows(STATUS_ROWS);

test('faults meet every operation', () => {
	const met = Object.values(CALL_SITES).map(({ operation }) => operation);
	expect([...new Set(met)].sort()).toEqual(operationNames().sort());
});

test('docs/faults.md is what npm run docs:faults writes', () => {
	const page = readFileSync(join(__dirname, '../../docs/faults.md'), 'utf8');
	expect(page).toBe(faultsDocument());
});
