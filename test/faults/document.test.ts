import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { faultsDocument } from './document';

test('docs/faults.md is what npm run docs:faults writes', () => {
	const page = readFileSync(join(__dirname, '..', '..', 'docs', 'faults.md'), 'utf8');
	// Where this fails: npm run docs:faults
	expect(page).toBe(faultsDocument());
});
