import { CALL_SITES, operationNames } from './call-sites';
import { runRows } from './run';
import { STATUS_ROWS } from './statuses';

runRows(STATUS_ROWS);

test('faults meet every operation', () => {
	const met = Object.values(CALL_SITES).map(({ operation }) => operation);
	expect([...new Set(met)].sort()).toEqual(operationNames().sort());
});
