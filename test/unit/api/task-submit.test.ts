import { InvalidResponseError } from '../../../nodes/shared/api/errors/errors';
import { submitImageTask } from '../../../nodes/shared/api/images/submit-task';
import type { GatewayReply } from '../../../nodes/shared/api/http/transport';
import { arrange, fail, fault, KEY, reply, shown, START, succeed } from './arrange';

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

type Kind = Parameters<typeof submitImageTask>[1];
const submitting =
	(kind: Kind = 'generations') =>
	async (client: Parameters<typeof submitImageTask>[0]) =>
		await submitImageTask(client, kind, BODY);

const at = (location: string | string[]) => reply(202, '', { location });

test.each<Kind>(['generations', 'edits'])(
	'a submit of %s is one POST of the body',
	async (kind) => {
		const { sent } = await succeed([reply(202, TASK, HEADERS)], submitting(kind));
		const path = `/images/${kind}/async`;
		expect(sent).toEqual([{ method: 'POST', path, body: BODY, timeoutMs: 60_000, at: START }]);
	},
);

test('an accepted task comes with its ID, the body as sent, and when to look', async () => {
	const body = { ...TASK, queue_position: 4 };
	const headers = { ...HEADERS, date: 'Thu, 01 Jan 2026 00:05:00 GMT' };
	const { value } = await succeed([reply(202, body, headers)], submitting());
	expect(value).toEqual({
		taskId: 'task_1',
		task: body,
		json: body,
		retryAfter: 3,
		now: START,
		gatewayTime: START + 300_000,
		state: 'working',
	});
});

describe('the ID of an accepted task is found wherever it stands:', () => {
	const task = (fields: object, headers = {}) => reply(202, { status: 'x', ...fields }, headers);
	const bodies = ['', '{"task_', 'accepted', '<html>ok</html>', [1], null];

	test.each<[string, GatewayReply[], id?: string]>([
		['task_id or id', [task({ task_id: 'task_1' }), task({ id: 'task_1' })]],
		['task_id before another id', [task({ task_id: 'task_1', id: 'other' })]],
		['id beside an empty task_id', [task({ task_id: '', id: 'task_1' })]],
		['id beside a task_id of another type', [task({ task_id: {}, id: 'task_1' })]],
		['task_id beside an id of another type', [task({ task_id: 'task_1', id: [] })]],
		['a 200 in place of the 202', [reply(200, TASK)]],
		['a task that is completed already', [reply(202, { ...TASK, status: 'completed' })]],
		[
			'no status, or one of another type',
			[task({ ...TASK, status: undefined }), task({ ...TASK, status: 7 })],
		],
		['malformed extras', [task({ ...TASK, expires_at: 'soon', result: 5, error: 'none' })]],
		['the body, not another Location', [reply(202, TASK, { location: '/v1/images/tasks/other' })]],
		['the Location of a body without ID', [task({}, HEADERS)]],
		['the Location of no object', bodies.map((body) => reply(202, body, HEADERS))],
		['a Location with host', [at(`https://gw.example${PATH}`)]],
		['a Location with a query or a slash behind', [at(`${PATH}?a=/b#c`), at(`${PATH}/`)]],
		['the first of two Locations', [at([PATH, '/other'])]],
		['an ID that is a number', [task({ task_id: 7 })], '7'],
		['an encoded ID in a Location', [at('/v1/images/tasks/a%2Fb%20c')], 'a/b c'],
	])('%s', async (_, answers, id = 'task_1') => {
		for (const answer of answers) {
			const { value, sent } = await succeed([answer], submitting());
			expect(value.taskId).toBe(id);
			expect(sent).toHaveLength(1);
		}
	});

	test('a task whose body can’t be read is taken to be processing', async () => {
		const { value } = await succeed([reply(202, '', HEADERS)], submitting());
		const task = { task_id: 'task_1', status: 'processing' };
		expect(value).toMatchObject({ task, json: task, retryAfter: 3 });
	});
});

const NO_ID = 'The gateway accepted the image task, but named no task ID';
const NO_JSON = 'The gateway’s answer is not JSON: accepted [API key]';

test.each([
	['an object without ID', { status: 'processing' }, {}, NO_ID],
	['an empty ID', { status: 'x', task_id: '', id: '' }, {}, NO_ID],
	['an empty body', '', {}, 'The gateway answered with nothing in place of JSON'],
	['text that echoes the key', `accepted ${KEY}`, {}, NO_JSON],
	['a Location elsewhere', {}, { location: '/v1/jobs/7' }, NO_ID],
	['a Location without ID', {}, { location: '/v1/images/tasks/' }, NO_ID],
	['a Location that can’t be decoded', {}, { location: '/v1/images/tasks/%E0%A4%A' }, NO_ID],
])('a submit answered by %s warns that a task may exist', async (_, body, headers, says) => {
	const answer = reply(202, body, { 'x-request-id': 'req_1', ...headers });
	const { error, sent } = await fail([answer], submitting());
	expect(error).toBeInstanceOf(InvalidResponseError);
	expect(error.message).toBe(says);
	expect(error.details.advice).toMatch(/task may exist.*Check the usage/);
	expect(error.details).toMatchObject({ retryable: false, httpStatus: 202, requestId: 'req_1' });
	expect(shown(error)).not.toContain(KEY);
	expect(sent).toHaveLength(1);
});

test.each([fault('lost', 'ECONNRESET'), reply(500)])('%j never submits twice', async (outcome) => {
	const { error, sent } = await fail([outcome], submitting());
	expect(sent).toHaveLength(1);
	expect(error.details.advice).toMatch(/^An image task may exist and be charged/);
});

test('a gateway that is not reached, then accepts, has one task', async () => {
	const script = [fault('unreached', 'ECONNREFUSED'), reply(202, TASK, HEADERS)];
	const { value, sent, time } = await succeed(script, submitting());
	expect(value.taskId).toBe('task_1');
	expect(sent).toHaveLength(2);
	expect(time.waits).toEqual([1000]);
});

test('a 404 on submit speaks of the model and of tasks that are switched off', async () => {
	const { error } = await fail([reply(404, { error: { message: 'not found' } })], submitting());
	expect(error.details.advice).toMatch(/model is in the list.*switched off/);
	expect(error.details.taskId).toBeUndefined();
});

test('a task accepted in the moment of a cancel is not lost', async () => {
	const { client, transport, cancel, drive } = arrange([reply(202, TASK, HEADERS)]);
	transport.during = cancel;
	await expect(drive(submitting()(client))).resolves.toMatchObject({ taskId: 'task_1' });
});
