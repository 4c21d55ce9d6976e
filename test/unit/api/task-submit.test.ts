import type { Client } from '../../../nodes/shared/api/http/client';
import { submitImageTask } from '../../../nodes/shared/api/images/submit-task';
import { expectError, fail, KEY, reply, shown, START, succeed } from './arrange';

const BODY = { model: 'image-1', prompt: 'a red fox' };
const PATH = '/v1/images/tasks/task_1';
const TASK = { task_id: 'task_1', status: 'processing', created_at: START / 1000 };
const HEADERS = { location: PATH, 'retry-after': '3' };

const submitting =
	(kind: 'generations' | 'edits' = 'generations') =>
	async (client: Client) =>
		await submitImageTask(client, kind, BODY);

const KINDS = ['generations', 'edits'] as const;
test.each(KINDS)('a submit of %s is one POST of the body, and tells when to look', async (kind) => {
	const task = { ...TASK, id: 'task_1', expires_at: START, queue_position: 4, poll_url: PATH };
	const headers = { ...HEADERS, date: 'Thu, 01 Jan 2026 00:05:00 GMT' };
	const { value, sent } = await succeed([reply(202, task, headers)], submitting(kind));
	const path = `/images/${kind}/async`;
	expect(sent).toEqual([{ method: 'POST', path, body: BODY, timeoutMs: 60_000, at: START }]);
	const clocks = { now: START, gatewayTime: START + 300_000 };
	const seen = { task, json: task, retryAfter: 3, ...clocks, state: 'working' };
	expect(value).toEqual({ taskId: 'task_1', ...seen });
});

describe('the ID of an accepted task is found:', () => {
	const IN_DATA = { data: { task_id: 'task_1', status: 'queued' } };
	const ADDRESS = `https://gw.example${PATH}`;
	const USER = { user: { id: 5 } };
	const UUID = '0b9c1c52-6a0e-4a53-8d5c-9f2f4f0a7c11';

	test.each<[string, body: unknown, location?: string | string[], id?: string]>([
		['as task_id', { task_id: 'task_1' }],
		['as task_id before another id', { task_id: 'task_1', id: 'other', status: 'x' }],
		['as id beside an empty task_id', { task_id: '', id: 'task_1' }],
		['as id beside a task_id of another type', { task_id: {}, id: 'task_1' }],
		['beside a status of another type', { ...TASK, status: 7 }],
		['beside malformed extras', { ...TASK, expires_at: 'soon', result: 5, error: 'none' }],
		['as a number', { task_id: 7 }, undefined, '7'],
		['in data', { code: 0, message: 'ok', ...IN_DATA }],
		['in data, as id alone', { success: true, data: { id: 'task_1' } }],
		['in a list', { data: [{ task_id: 'task_1', status: 'queued' }] }],
		['in a list alone', [{ task_id: 'task_1' }]],
		['in a list, as a number called id', { data: [{ id: 7, status: 'x' }] }, undefined, '7'],
		['deep inside', { result: { data: { tasks: [{ task_id: 'task_1' }] } } }],
		['before the id of the reply', { id: 'req_1', data: { task_id: 'task_1' } }],
		['before the id of the user', { ...USER, data: { id: 'task_1', status: 'queued' } }],
		['before an empty one', { task_id: '', ...IN_DATA }],
		['in the body, not in another Location', IN_DATA, '/v1/images/tasks/other'],
		['in the Location before other IDs', USER, PATH],
		...['', '{"task_', 'accepted', '<html>ok</html>', [1], null].map(
			(body): [string, unknown, string] => ['in the Location of no object', body, PATH],
		),
		['in a Location with host', '', ADDRESS],
		['in a Location with a query', '', `${PATH}?a=/b#c`],
		['in the first of two Locations', '', [PATH, '/other']],
		['encoded in a Location', '', '/v1/images/tasks/a%2Fb%20c', 'a/b c'],
		['as taskId', { taskId: 'task_1' }],
		['as taskID before another id', { id: 'req_1', data: { taskID: 'task_1' } }],
		['as taskId beside a message', { code: 202, message: 'accepted', taskId: 'task_1' }],
		['as the text of data', { code: 0, message: 'ok', data: 'task_0815' }, undefined, 'task_0815'],
		['as the text of result', { success: true, result: UUID }, undefined, UUID],
		['as the text of data inside', { data: { task: UUID } }, undefined, UUID],
		['as a long number in a text', { data: '174567890123456789' }, undefined, '174567890123456789'],
		['in the Location, not the text', { data: 'batch-0001' }, PATH],
		['in the poll_url', { status: 'queued', poll_url: `${ADDRESS}?a=b` }],
		['in a poll_url inside', { data: { links: { poll: PATH } } }],
	])('%s, in %j', async (_, body, location = undefined, id = 'task_1') => {
		for (const status of [200, 202]) {
			const { value, sent } = await succeed([reply(status, body, { location })], submitting());
			expect(value.taskId).toBe(id);
			expect(sent).toHaveLength(1);
		}
	});

	test('and the task is the one inside as it came, or processing if it can’t be read', async () => {
		const processing = { task_id: 'task_1', status: 'processing' };
		for (const [body, task] of [
			[{ code: 0, data: [TASK] }, TASK],
			['', processing],
		]) {
			const { value } = await succeed([reply(202, body, HEADERS)], submitting());
			expect(value).toMatchObject({ task, json: task, retryAfter: 3 });
		}
	});
});

const NO_ID = 'The gateway accepted the image task, but named no task ID';
const NO_JSON = 'The gateway’s answer is not JSON: accepted [API key]';

test.each([
	['an object without ID', { code: 0, data: { status: 'processing' } }, {}, NO_ID],
	['an ID of another kind', { data: { task_id: { id: true } } }, {}, NO_ID],
	['an ID too deep inside', { a: { b: { c: { d: { e: { task_id: 'task_1' } } } } } }, {}, NO_ID],
	...['success', 'The task was accepted at 10', '2026-01-01', '1767225600', 'ok-1'].map(
		(data): [string, object, object, string] => ['a text without ID', { code: 0, data }, {}, NO_ID],
	),
	['an address', { data: 'https://gw.example/12345678' }, {}, NO_ID],
	['a number as data', { data: 1745678901234567 }, {}, NO_ID],
	['a long text', { data: `a1${'x'.repeat(200)}` }, {}, NO_ID],
	['an empty body', '', {}, 'The gateway answered with an empty body instead of JSON'],
	['events', 'data: 1', {}, 'The gateway answered with an event stream instead of JSON'],
	['text that echoes the key', `accepted ${KEY}`, {}, NO_JSON],
	['a Location elsewhere', {}, { location: '/v1/jobs/7' }, NO_ID],
	['a Location that can’t be decoded', {}, { location: '/v1/images/tasks/%E0%A4%A' }, NO_ID],
])('a submit answered by %s warns that a task may exist', async (_, body, headers, says) => {
	const answer = reply(202, body, { 'x-request-id': 'req_1', ...headers });
	const { error, sent } = await fail([answer], submitting());
	const doubt = { maybeExecuted: true, retryable: false, httpStatus: 202, requestId: 'req_1' };
	const advice = /task may exist.*Check the usage/;
	expectError(error, 'InvalidResponseError', says, { ...doubt, advice });
	expect(error.details.partialText).toBe(answer.body.replace(KEY, '[API key]') || undefined);
	expect(shown(error)).not.toContain(KEY);
	// Only what was refused is submitted again.
	expect(error.details.refusal).toBeUndefined();
	expect(sent).toHaveLength(1);
});

const LIMIT = { error: { type: 'rate_limit_error' } };
test.each<[string, body: object, status: number, message: RegExp, details: object]>([
	['limits', LIMIT, 429, /rate limit is reached/, { refusal: 'rateLimited' }],
	['overload', { code: 503, message: 'x' }, 503, /overloaded/, { refusal: 'unavailable' }],
	['a used-up quota', { error: { code: 'insufficient_quota' } }, 429, /quota or budget/, {}],
	['a wrong field', { success: false, code: 'invalid_size', message: 'no' }, 400, /: no$/, {}],
	['an outage', { error: { type: 'upstream_error' } }, 502, /./, { maybeExecuted: true }],
	['no known kind', { error: { message: 'no' } }, 200, /: no$/, { maybeExecuted: true }],
])('a submit answered by 200 and an error about %s accepted nothing', async (...row) => {
	const [, body, httpStatus, message, details] = row;
	const { error, sent } = await fail([reply(200, body)], submitting());
	expect(sent).toHaveLength(1);
	expectError(error, 'ApiError', message, { httpStatus, ...details });
	expect(error.details).not.toHaveProperty('taskId');
	expect(error.details.refusal).toBe((details as { refusal?: string }).refusal);
});
