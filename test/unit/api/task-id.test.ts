import { ValidationError } from '../../../nodes/shared/api/errors/errors';
import { parseTaskId } from '../../../nodes/shared/api/images/task-id';
import { refusalOf } from './arrange';

const BASE = 'https://gw.example:8443/ai/v1';

describe('a task’s ID is read from what a user has', () => {
	test.each([
		['an ID', 'task_1', 'task_1'],
		['an ID with spaces around it', '  task_1\n', 'task_1'],
		['an ID with special characters', 'a:b?c#d%2F', 'a:b?c#d%2F'],
		['an ID with a dot before it', '.a', '.a'],
		['an ID with dots behind it', 'a..', 'a..'],
		['a number from an expression', 12345, '12345'],
		['a poll path in spaces', ' /v1/images/tasks/task_1 ', 'task_1'],
		['a poll path with a no-break space behind', '/v1/images/tasks/task_1\u00a0', 'task_1'],
		['a poll path with prefix', '/ai/v1/images/tasks/task_1', 'task_1'],
		['a poll path with a slash behind', '/v1/images/tasks/task_1/', 'task_1'],
		['a poll path with a query', '/v1/images/tasks/task_1?x=1#y', 'task_1'],
		['a poll path without the first slash', 'v1/images/tasks/task_1', 'task_1'],
		['a poll URL', `${BASE}/images/tasks/task_1`, 'task_1'],
		['a poll URL in upper case', 'HTTPS://GW.example:8443/v1/images/tasks/Task_1', 'Task_1'],
		['an encoded ID', '/v1/images/tasks/a%2Fb%20c', 'a/b c'],
	])('%s: %j', (_, given, id) => {
		expect(parseTaskId(given, BASE)).toBe(id);
	});
});

describe('anything else is refused', () => {
	const PATH = '/v1/images/tasks';
	const OTHER = 'not the address of an image task';
	const ELSEWHERE = 'another gateway';

	test.each<[string, unknown[], string]>([
		['nothing', ['', ' \n', undefined, null], 'is empty'],
		['an object', [{ task_id: 'task_1' }], 'is not a text'],
		['another host', [`https://evil.example${PATH}/t`, `//evil.example${PATH}/t`], ELSEWHERE],
		['another port', [`https://gw.example${PATH}/t`], ELSEWHERE],
		['another scheme', [`http://gw.example:8443${PATH}/t`], ELSEWHERE],
		['the host as a user name', ['https://gw.example:8443@evil/images/tasks/t'], ELSEWHERE],
		['a file', [`file://${PATH}/t`], ELSEWHERE],
		['an address that is none', ['https://[/images/tasks/task_1'], 'not a valid address'],
		['another path', ['/v1/models', 'https://gw.example:8443/files/1.png'], OTHER],
		['a path without ID', [`${PATH}/`], OTHER],
		['a path below a task', [`${PATH}/task_1/cancel`], OTHER],
		['a broken encoding', [`${PATH}/%E0%A4%A`], OTHER],
		['dots', ['.', '..'], 'is no task ID'],
		['dots in a path', [`${PATH}/..`, `${PATH}/%2e%2e`], OTHER],
	])('%s: %j', (_, values, problem) => {
		for (const given of values) {
			const error = refusalOf(() => parseTaskId(given, BASE));
			expect(error).toBeInstanceOf(ValidationError);
			expect([given, error]).toMatchObject([given, { field: 'Task ID' }]);
			expect(error.message).toMatch(/^Task ID is /);
			expect(error.message).toContain(problem);
			expect(error.details.advice).toContain('task_id that Image → Generate returned');
		}
	});
});
