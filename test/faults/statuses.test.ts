import { CALL_SITES, operationNames } from './call-sites';
import { faultsDocument } from '../../scripts/faults-document';
import { MATRIX } from './answers';
import { runRows } from './run';
import { STATUS_ROWS } from './statuses';
import { TASK_END_ROWS } from './task-ends';

runRows(STATUS_ROWS);

test('faults meet every operation', () => {
	const met = Object.values(CALL_SITES).map(({ operation }) => operation);
	expect([...new Set(met)].sort()).toEqual(operationNames().sort());
});

test('the table that npm run docs:faults writes holds every fault and every end of a task', () => {
	const lines = faultsDocument().match(/^\| .*/gm) ?? [];
	const first = lines.map((line) => line.split(/(?<!\\)\|/)[1]!.trim());
	const cells = first.map((cell) => cell.replace(/\\(.)/g, '$1'));
	const names = [...MATRIX.map(({ name }) => name), ...TASK_END_ROWS.map(({ end }) => end)];
	expect(names.length).toBeGreaterThan(80);
	expect(names.filter((name) => !cells.includes(name))).toEqual([]);
});
