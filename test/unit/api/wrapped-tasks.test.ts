import { pollImageTask } from '../../../nodes/shared/api/images/poll-task';
import { submitImageTask } from '../../../nodes/shared/api/images/submit-task';
import { arrange, fail, reply, START, succeed } from './arrange';

const submit = async (client: ReturnType<typeof arrange>['client']) =>
	await submitImageTask(client, 'generations', {});
const poll = async (client: ReturnType<typeof arrange>['client']) =>
	await pollImageTask(client, 'task_1');

const TASK = { task_id: 'task_1', status: 'queued', created_at: START / 1000 };
const UUID = '0b9c1c52-6a0e-4a53-8d5c-9f2f4f0a7c11';
const ADDRESS = '/v1/images/tasks/task_1';

describe('The ID of an accepted task is found', () => {
	test.each<[string, body: unknown, id?: string, headers?: Record<string, string>]>([
		['in data', { code: 0, message: 'ok', data: { task_id: 'task_1' } }],
		['in a list', { data: [{ task_id: 'task_1', status: 'queued' }] }],
		['in a list alone', [{ task_id: 'task_1' }]],
		['deep inside', { result: { data: { tasks: [{ task_id: 'task_1' }] } } }],
		['as a number', { code: 200, data: { task_id: 12345 } }, '12345'],
		['as a number called id', { data: [{ id: 7, status: 'queued' }] }, '7'],
		['as id', { success: true, data: { id: 'task_1', status: 'pending' } }],
		['as id alone', { data: { id: 'task_1' } }],
		['before the id of the reply', { id: 'req_1', data: { task_id: 'task_1' } }],
		['before the id of the user', { user: { id: 5 }, data: { id: 'task_1', status: 'queued' } }],
		['before an empty one', { task_id: '', data: { task_id: 'task_1' } }],
		['as taskId', { taskId: 'task_1' }],
		['as taskId in data', { code: 200, msg: 'success', data: { taskId: 'task_1' } }],
		['as taskID before another id', { id: 'req_1', data: { taskID: 'task_1' } }],
		['as taskId beside a code and a message', { code: 202, message: 'accepted', taskId: 'task_1' }],
		['as a taskId that is a number', { taskId: 12345 }, '12345'],
		['as the text of data', { code: 0, message: 'ok', data: 'task_0815' }, 'task_0815'],
		['as the text of result', { success: true, result: UUID }, UUID],
		['as the text of data inside', { data: { task: UUID } }, UUID],
		['as a long number in a text', { data: '1745678901234567890' }, '1745678901234567890'],
		['in the Location, not the text', { data: 'batch-0001' }, 'task_1', { location: ADDRESS }],
		['in the Location', { code: 0, data: {} }, 'task_1', { location: ADDRESS }],
		['in the poll_url', { status: 'queued', poll_url: `https://gw.example${ADDRESS}?a=b` }],
		['in a poll_url inside', { data: { links: { poll: ADDRESS } } }],
		['in the Location before other IDs', { user: { id: 5 } }, 'task_1', { location: ADDRESS }],
		['before the Location', { data: TASK }, 'task_1', { location: '/v1/images/tasks/other' }],
		['beside a code that says that all is well', { code: 'success', message: 'ok', data: TASK }],
	])('%s', async (_, body, id = 'task_1', headers = {}) => {
		for (const status of [200, 202]) {
			const { value, sent } = await succeed([reply(status, body, headers)], submit);
			expect(value).toMatchObject({ taskId: id, state: 'working' });
			expect(sent).toHaveLength(1);
		}
	});

	test('and the task is the one inside, as it came', async () => {
		const { value } = await succeed([reply(202, { code: 0, data: [TASK] })], submit);
		expect(value).toMatchObject({ task: TASK, json: TASK });
	});

	test.each<[string, unknown]>([
		['too deep', { a: { b: { c: { d: { e: { task_id: 'task_1' } } } } } }],
		['nowhere', { code: 0, message: 'ok', data: { status: 'queued' } }],
		['of another kind', { data: { task_id: { id: true } } }],
		...[
			'success',
			'accepted',
			'The task was accepted at 10',
			'2026-01-01',
			'1767225600',
			'ok-1',
		].map((data): [string, unknown] => [`the text ${data}`, { code: 0, data }]),
		['an address in a text', { data: 'https://gw.example/12345678' }],
		['a number as data', { data: 1745678901234567 }],
		['a long text', { data: `a1${'x'.repeat(200)}` }],
	])('but not %s: a task may exist then', async (_, body) => {
		const { error } = await fail([reply(202, body)], submit);
		expect(error.message).toMatch(/named no task ID$/);
		expect(error.details).toMatchObject({ maybeExecuted: true, retryable: false });
	});
});

test.each<[string, body: object, status: number, message: RegExp, details: object]>([
	['limits', { error: { type: 'rate_limit_error' } }, 429, /slow down/, { refusal: 'rateLimited' }],
	['overload', { code: 503, message: 'x' }, 503, /overloaded/, { refusal: 'unavailable' }],
	['a used-up quota', { error: { code: 'insufficient_quota' } }, 429, /quota or budget/, {}],
	['a wrong field', { success: false, code: 'invalid_size', message: 'no' }, 400, /: no$/, {}],
	['an outage', { error: { type: 'upstream_error' } }, 502, /./, { maybeExecuted: true }],
	['no known kind', { error: { message: 'no' } }, 200, /: no$/, { maybeExecuted: true }],
])('a submit answered by 200 and an error about %s accepted nothing', async (...row) => {
	const [, body, httpStatus, message, details] = row;
	const { error, sent } = await fail([reply(200, body)], submit);
	expect(sent).toHaveLength(1);
	expect(error.message).toMatch(message);
	expect(error.details).toMatchObject({ httpStatus, ...details });
	expect(error.details).not.toHaveProperty('taskId');
	expect(error.details.refusal).toBe((details as { refusal?: string }).refusal);
});

describe('A poll is unwrapped', () => {
	const NAMELESS = { status: 'SUCCESS', image_url: 'https://store.example/1.png' };
	const DONE = { ...TASK, ...NAMELESS };

	test.each<[string, body: unknown, inner: object]>([
		['from data', { code: 0, message: 'ok', data: DONE }, DONE],
		['from a list', { data: [DONE] }, DONE],
		['from a list of several', { data: [{ ...DONE, task_id: 'other' }, DONE] }, DONE],
		['from what has a status and an ID as well', { id: 'r', status: 'ok', data: DONE }, DONE],
		['with an ID of another form', { data: { ...NAMELESS, id: 77 } }, { ...NAMELESS, id: 77 }],
		['without an ID', { code: 0, data: NAMELESS }, NAMELESS],
	])('%s', async (_, body, inner) => {
		const { value } = await succeed([reply(200, body)], poll);
		expect(value).toMatchObject({ json: inner, state: 'completed' });
	});

	test('and found by its taskId', async () => {
		const { status, image_url } = DONE;
		const inner = { taskId: 'task_1', status, image_url };
		const { value } = await succeed(
			[reply(200, { data: [{ ...DONE, task_id: 'x' }, inner] })],
			poll,
		);
		expect(value).toMatchObject({ json: inner, state: 'completed' });
	});

	test('but not if the task itself has objects with a status', async () => {
		const task = { ...TASK, steps: [{ id: 's', status: 'completed' }] };
		const { value } = await succeed([reply(200, task)], poll);
		expect(value).toMatchObject({ json: task, state: 'working' });
	});
});
