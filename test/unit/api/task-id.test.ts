import { parseTaskId } from '../../../nodes/shared/api/images/task-id';
import { expectError, refusalOf } from './arrange';

const BASE = 'https://gw.example:8443/ai/v1';
const PATH = '/v1/images/tasks';

test.each([
	['an ID', 'task_1', 'task_1'],
	['an ID with special characters', 'a:b?c#d%2F', 'a:b?c#d%2F'],
	['an ID with a dot before it', '.a', '.a'],
	['an ID with dots behind it', 'a..', 'a..'],
	['a number from an expression', 12345, '12345'],
	['a poll path with prefix', '/ai/v1/images/tasks/task_1', 'task_1'],
	['a poll path with a slash behind', `${PATH}/task_1/`, 'task_1'],
	['a poll path with a query', `${PATH}/task_1?x=1#y`, 'task_1'],
	['a poll path without the first slash', 'v1/images/tasks/task_1', 'task_1'],
	['a poll URL in upper case', 'HTTPS://GW.example:8443/v1/images/tasks/Task_1', 'Task_1'],
	['an encoded ID', `${PATH}/a%2Fb%20c`, 'a/b c'],
	['an ID in encoded quotes', `${BASE}/images/tasks/%22task_1%22`, 'task_1'],
])('a task’s ID is read from what a user has: %s: %j', (_, given, id) => {
	expect(parseTaskId(given, BASE)).toBe(id);
});

test('what copying adds to a task’s ID, path or URL is taken off', () => {
	for (const text of ['task_1', `${BASE}/images/tasks/task_1`, `${PATH}/task_1`]) {
		const quoted = [`"${text}"`, `'${text}'`, `\`${text}\``, `“${text}”`, `‘${text}’`];
		const spaced = [` "${text}"\n`, `" ${text} "`, `"\n${text}\r\n"`, `\t${text}\u00a0`];
		for (const pasted of [...quoted, ...spaced])
			expect([pasted, parseTaskId(pasted, BASE)]).toEqual([pasted, 'task_1']);
	}
});

const OTHER = 'is not the address of an image task';
const ELSEWHERE = 'is an address of another gateway';

test.each<[string, unknown[], string]>([
	['nothing', ['', ' \n', undefined, null, '""', "' '", '“”'], 'is empty'],
	['an object', [{ task_id: 'task_1' }], 'is not a text'],
	['another host', [`https://evil.example${PATH}/t`, `//evil.example${PATH}/t`], ELSEWHERE],
	['another port', [`https://gw.example${PATH}/t`], ELSEWHERE],
	['another scheme', [`http://gw.example:8443${PATH}/t`], ELSEWHERE],
	['the host as a user name', ['https://gw.example:8443@evil/images/tasks/t'], ELSEWHERE],
	['a file', [`file://${PATH}/t`], ELSEWHERE],
	['an address that is none', ['https://[/images/tasks/task_1'], 'is not a valid address'],
	['another path', ['/v1/models', 'https://gw.example:8443/files/1.png'], OTHER],
	['a path without ID', [`${PATH}/`], OTHER],
	['a path below a task', [`${PATH}/task_1/cancel`], OTHER],
	['a broken encoding', [`${PATH}/%E0%A4%A`], OTHER],
	['dots', ['.', '..', '"."', `${BASE}/images/tasks/%22%22`], 'is not a task ID'],
	['dots in a path', [`${PATH}/..`, `${PATH}/%2e%2e`], OTHER],
	['several words', ['Task ID: t1', 't1 t2', 't1\t2', 't1\u200b2'], 'contains a space'],
	['several lines', ['t1\nt2', `${BASE}/images\n/tasks/t`, 'a\u0000b'], 'contains a line break'],
	['a quote without its other', ['"t1', "t1'", `"'t1'"`, '"t1","t2"'], 'contains a quote'],
	['a text without end', ['x'.repeat(4097)], 'is longer than 4096 characters'],
])('what is no task’s ID is refused by its name: %s: %j', (_, values, problem) => {
	for (const given of values) {
		const error = refusalOf(() => parseTaskId(given, BASE));
		const advice = /task_id that Image → Generate returned/;
		expectError(error, 'ValidationError', new RegExp(`^Task ID ${problem}`), { advice });
		expect([given, error]).toMatchObject([given, { field: 'Task ID' }]);
	}
});
