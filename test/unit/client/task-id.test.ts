import { InputError } from '../../../nodes/shared/client/errors';
import { parseTaskId } from '../../../nodes/shared/client/image-task';
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
	test.each([
		['nothing', '', 'is empty'],
		['white space', ' \n', 'is empty'],
		['undefined', undefined, 'is empty'],
		['null', null, 'is empty'],
		['an object', { task_id: 'task_1' }, 'is not a text'],
		['another host', 'https://evil.example/v1/images/tasks/task_1', 'another gateway'],
		['another host without scheme', '//evil.example/v1/images/tasks/task_1', 'another gateway'],
		['another port', 'https://gw.example/v1/images/tasks/task_1', 'another gateway'],
		['another scheme', 'http://gw.example:8443/v1/images/tasks/task_1', 'another gateway'],
		['the host as a user name', 'https://gw.example:8443@evil/images/tasks/t', 'another gateway'],
		['a file', 'file:///v1/images/tasks/task_1', 'another gateway'],
		['an address that is none', 'https://[/images/tasks/task_1', 'not a valid address'],
		['another path', '/v1/models', 'not the address of an image task'],
		['a path without ID', '/v1/images/tasks/', 'not the address of an image task'],
		['a path below a task', '/v1/images/tasks/task_1/cancel', 'not the address of an image task'],
		['a broken encoding', '/v1/images/tasks/%E0%A4%A', 'not the address of an image task'],
		['an image', 'https://gw.example:8443/files/1.png', 'not the address of an image task'],
		['a dot', '.', 'is no task ID'],
		['two dots', '..', 'is no task ID'],
		['two dots in a path', '/v1/images/tasks/..', 'not the address of an image task'],
		['two encoded dots in a path', '/v1/images/tasks/%2e%2e', 'not the address of an image task'],
	])('%s: %j', (_, given, problem) => {
		const error = refusalOf(() => parseTaskId(given, BASE));
		expect(error).toBeInstanceOf(InputError);
		expect(error).toMatchObject({ field: 'Task ID' });
		expect(error.message).toMatch(/^Task ID is /);
		expect(error.message).toContain(problem);
		expect(error.facts.advice).toContain('task_id that Image → Generate returned');
	});
});
