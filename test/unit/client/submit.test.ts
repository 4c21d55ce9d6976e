import { AnswerError, CancelledError } from '../../../nodes/shared/client/errors';
import { submitImageTask } from '../../../nodes/shared/client/image-task';
import { arrange, fault, KEY, reply, shown, START } from './arrange';

const BODY = { model: 'image-1', prompt: 'a red fox' };
const PATH = '/v1/images/tasks/task_1';
const TASK = {
	id: 'task_1',
	task_id: 'task_1',
	object: 'image.generation.task',
	status: 'processing',
	created_at: START / 1000,
	expires_at: START / 1000 + 3600,
	poll_url: PATH,
};
const HEADERS = { location: PATH, 'retry-after': '3' };

test('a submit is one POST with the body as it is', async () => {
	for (const kind of ['generations', 'edits'] as const) {
		const { client, sent, drive } = arrange([reply(202, TASK, HEADERS)]);
		await drive(submitImageTask(client, kind, BODY));
		expect(sent).toEqual([
			{ method: 'POST', path: `/images/${kind}/async`, body: BODY, timeoutMs: 60_000, at: START },
		]);
	}
});

test('an accepted task comes with its ID, the body as sent, and when to look', async () => {
	const body = { ...TASK, queue_position: 4 };
	const { client, drive } = arrange([
		reply(202, body, { ...HEADERS, date: 'Thu, 01 Jan 2026 00:05:00 GMT' }),
	]);
	await expect(drive(submitImageTask(client, 'generations', BODY))).resolves.toEqual({
		taskId: 'task_1',
		task: body,
		json: body,
		retryAfter: 3,
		now: START,
		gatewayNow: START + 300_000,
	});
});

describe('the ID of an accepted task is found wherever it stands:', () => {
	const minimal = { status: 'processing' };

	test.each([
		['task_id alone', reply(202, { ...minimal, task_id: 'task_1' })],
		['id alone', reply(202, { ...minimal, id: 'task_1' })],
		['task_id before another id', reply(202, { ...minimal, task_id: 'task_1', id: 'other' })],
		['id beside an empty task_id', reply(202, { ...minimal, task_id: '', id: 'task_1' })],
		['task_id beside an id of another type', reply(202, { ...minimal, task_id: 'task_1', id: [] })],
		['a 200 in place of the 202', reply(200, TASK)],
		['a 201', reply(201, TASK)],
		['an unknown status', reply(202, { ...TASK, status: 'queued' })],
		['a task that is completed already', reply(202, { ...TASK, status: 'completed' })],
		['no status', reply(202, { task_id: 'task_1' })],
		['a status of another type', reply(202, { task_id: 'task_1', status: 7 })],
		['malformed extras', reply(202, { ...TASK, expires_at: 'soon', result: 5, error: 'none' })],
		['the body, not another Location', reply(202, TASK, { location: '/v1/images/tasks/other' })],
		['the Location of a body without ID', reply(202, minimal, HEADERS)],
		['the Location of an empty body', reply(202, '', HEADERS)],
		['the Location of a broken body', reply(202, '{"task_', HEADERS)],
		['the Location of a body that is text', reply(202, 'accepted', HEADERS)],
		['the Location of a web page', reply(202, '<html>ok</html>', HEADERS)],
		['the Location of a list', reply(202, [1], HEADERS)],
		['the Location of null', reply(202, null, HEADERS)],
		['a Location with host', reply(202, '', { location: `https://gw.example${PATH}` })],
		['a Location with a query', reply(202, '', { location: `${PATH}?a=/b#c` })],
		['a Location with a slash behind', reply(202, '', { location: `${PATH}/` })],
		['the first of two Locations', reply(202, '', { location: [PATH, '/other'] })],
	])('%s', async (_, answer) => {
		const { client, sent, drive } = arrange([answer]);
		const accepted = await drive(submitImageTask(client, 'generations', BODY));
		expect(accepted.taskId).toBe('task_1');
		expect(sent).toHaveLength(1);
	});

	test('an ID in a Location may be encoded', async () => {
		const { client, drive } = arrange([reply(202, '', { location: '/v1/images/tasks/a%2Fb%20c' })]);
		const accepted = await drive(submitImageTask(client, 'generations', BODY));
		expect(accepted.taskId).toBe('a/b c');
	});

	test('a task whose body can’t be read is taken to be processing', async () => {
		const { client, drive } = arrange([reply(202, '', HEADERS)]);
		const accepted = await drive(submitImageTask(client, 'generations', BODY));
		expect(accepted).toMatchObject({
			task: { task_id: 'task_1', status: 'processing' },
			json: { task_id: 'task_1', status: 'processing' },
			retryAfter: 3,
		});
	});
});

describe('a submit that names no task anywhere', () => {
	test.each([
		['an object without ID', reply(202, { status: 'processing' }, { 'x-request-id': 'req_1' })],
		['an empty ID', reply(202, { status: 'x', task_id: '', id: '' }, { 'x-request-id': 'req_1' })],
		['an empty body', reply(202, '', { 'x-request-id': 'req_1' })],
		['text', reply(202, 'accepted', { 'x-request-id': 'req_1' })],
		['a Location elsewhere', reply(202, {}, { location: '/v1/jobs/7', 'x-request-id': 'req_1' })],
		[
			'a Location without ID',
			reply(202, {}, { location: '/v1/images/tasks/', 'x-request-id': 'req_1' }),
		],
		[
			'a Location that can’t be decoded',
			reply(202, {}, { location: '/v1/images/tasks/%E0%A4%A', 'x-request-id': 'req_1' }),
		],
	])('warns that a task may exist, and is not repeated: %s', async (_, answer) => {
		const { client, sent, failure } = arrange([answer]);
		const error = await failure(submitImageTask(client, 'generations', BODY));
		expect(error).toBeInstanceOf(AnswerError);
		expect(error.facts.advice).toMatch(/task may exist.*Check the usage/);
		expect(error.facts).toMatchObject({
			retryable: false,
			httpStatus: 202,
			requestId: 'req_1',
		});
		expect(sent).toHaveLength(1);
	});
});

test.each([
	['a lost connection', fault('lost', 'ECONNRESET')],
	['a time-out', fault('timeout', 'ECONNABORTED')],
	['408', reply(408)],
	['500', reply(500)],
	['502', reply(502)],
	['504', reply(504)],
])('%s never submits twice, and says that a task may exist', async (_, outcome) => {
	const { client, sent, failure } = arrange([outcome]);
	const { facts } = await failure(submitImageTask(client, 'generations', BODY));
	expect(sent).toHaveLength(1);
	expect(facts.advice).toContain('An image task may exist and be charged');
	expect(facts.retryable).toBe(false);
});

test('a gateway that is busy, then accepts, has one task', async () => {
	const { client, sent, time, drive } = arrange([
		reply(429, '', { 'retry-after': '5' }),
		fault('unreached', 'ECONNREFUSED'),
		reply(202, TASK, HEADERS),
	]);
	const { taskId } = await drive(submitImageTask(client, 'generations', BODY));
	expect(taskId).toBe('task_1');
	expect(sent).toHaveLength(3);
	expect(time.waits).toEqual([5000, 2000]);
});

test('a 404 on submit speaks of the model and of tasks that are switched off', async () => {
	const { client, failure } = arrange([reply(404, { error: { message: 'not found' } })]);
	const { facts } = await failure(submitImageTask(client, 'generations', BODY));
	expect(facts.advice).toMatch(/model is in the list.*switched off/);
	expect(facts.taskId).toBeUndefined();
});

test('a task accepted in the moment of a cancel is not lost', async () => {
	const { client, transport, cancel, drive } = arrange([reply(202, TASK, HEADERS)]);
	transport.during = cancel;
	const { taskId } = await drive(submitImageTask(client, 'generations', BODY));
	expect(taskId).toBe('task_1');
});

test('after a cancel nothing is submitted', async () => {
	const { client, sent, cancel, failure } = arrange();
	cancel();
	const error = await failure(submitImageTask(client, 'generations', BODY));
	expect(error).toBeInstanceOf(CancelledError);
	expect(sent).toHaveLength(0);
});

test('a gateway that echoes the key does not put it into the error', async () => {
	const { client, failure } = arrange([reply(202, `key ${KEY} is fine`)]);
	expect(shown(await failure(submitImageTask(client, 'generations', BODY)))).not.toContain(KEY);
});
