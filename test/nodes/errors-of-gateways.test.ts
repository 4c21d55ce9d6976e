import type { IDataObject } from 'n8n-workflow';
import {
	byId,
	createResponse,
	generateImage,
	itemsOf,
	numbered,
	startHarness,
	waitForTask,
	submitted,
	type Harness,
} from './arrange';

/*
 * What builders see of errors as real gateways make them, by the nodes in n8n's engine.
 */

let harness: Harness;
beforeEach(async () => {
	harness = await startHarness();
});
afterEach(async () => await harness.close());

const CONTINUE = { onError: 'continueRegularOutput' as const };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The gateway answers each POST, or each request, so. */
function answering(status: number, body: object, headers: Record<string, string> = {}) {
	harness.gateway.settings.intercept = ({ stage }) =>
		stage === 'before' ? { kind: 'reply', status, body, headers } : undefined;
}

/** The error items' messages and details. */
const errorsOf = (items: Array<{ json: IDataObject }>) =>
	items.map(({ json }) => ({
		message: json.error as string,
		details: json.error_details as IDataObject,
	}));

describe('after a 401', () => {
	test.each([1, 4])('with %i side by side no more requests carry the key', async (concurrency) => {
		answering(401, { code: 'INVALID_API_KEY', message: 'Invalid API key' });
		const { items } = await harness.text(
			createResponse({ prompt: '=Number {{ $json.n }}', options: { concurrency } }),
			{ items: numbered(40), ...CONTINUE },
		);
		expect(harness.gateway.requests.length).toBeLessThanOrEqual(concurrency);
		const errors = errorsOf(items);
		expect(errors).toHaveLength(40);
		const said =
			'The gateway did not accept the API key (HTTP 401, INVALID_API_KEY): Invalid API key';
		expect(new Set(errors.map(({ message }) => message))).toEqual(new Set([said]));
		for (const { details } of errors) expect(details.advice).toMatch(/does not know this API key/);
	});

	test('polls end as well, and the error has the task', async () => {
		const task = await submitted(harness);
		harness.gateway.settings.intercept = ({ route }) =>
			route === 'task'
				? { kind: 'reply', status: 401, body: { code: 'API_KEY_DISABLED', message: 'x' } }
				: undefined;
		const before = harness.gateway.count({ route: 'task' });
		const { items } = await harness.image(
			waitForTask('={{ $json.id }}', { options: { concurrency: 1 } }),
			{
				items: itemsOf({ id: task.id }, { id: task.id }, { id: task.id }),
				...CONTINUE,
			},
		);
		expect(harness.gateway.count({ route: 'task' }) - before).toBe(1);
		for (const { message, details } of errorsOf(items)) {
			expect(message).toContain('(HTTP 401, API_KEY_DISABLED)');
			expect(details.task_id).toBe(task.id);
		}
	});
});

describe('request IDs', () => {
	test('each POST carries a UUID of its own, and the answer names it where the gateway has none', async () => {
		harness.gateway.settings.intercept = ({ stage, reply, record }) => {
			if (stage === 'before' && record.attempt === 1) {
				return { kind: 'reply', status: 503, body: { error: { message: 'busy' } } };
			}
			if (reply) reply.headers['X-Client-Request-ID'] = 'console-7';
			return undefined;
		};
		const { items } = await harness.text(createResponse());
		const ids = harness.gateway.requests.map(({ headers }) => headers['x-request-id']);
		expect(ids).toHaveLength(2);
		for (const id of ids) expect(id).toMatch(UUID);
		expect(new Set(ids).size).toBe(2);
		const keys = Object.keys(items[0]!.json);
		expect(keys.indexOf('client_request_id')).toBe(keys.indexOf('request_id') + 1);
		expect(items[0]!.json).toMatchObject({ client_request_id: 'console-7' });
	});

	test('an image’s submit carries one, its polls and downloads none', async () => {
		await harness.image(generateImage());
		const carried = harness.gateway.requests.map(({ route, headers }) => [
			route,
			headers['x-request-id'] !== undefined,
		]);
		expect(carried.filter(([route]) => route === 'generations')).toEqual([['generations', true]]);
		expect(carried.filter(([route]) => route === 'task').length).toBeGreaterThan(0);
		expect(carried.filter(([route, has]) => route === 'task' && has)).toEqual([]);
		const stored = harness.gateway.storageRequests.map(({ headers }) => headers['x-request-id']);
		expect(stored.every((id) => id === undefined)).toBe(true);
	});

	test('error_details have both', async () => {
		answering(400, { error: { message: 'no' } }, { 'X-Client-Request-ID': 'console-7' });
		const { items } = await harness.text(createResponse(), CONTINUE);
		const { details } = errorsOf(items)[0]!;
		expect(details).toMatchObject({ client_request_id: 'console-7' });
		expect(details.request_id).toEqual(expect.any(String));
	});

	test('a request whose reply never came can be asked for', async () => {
		harness.gateway.settings.intercept = () => ({ kind: 'destroy' });
		const { items } = await harness.text(createResponse(), CONTINUE);
		const { details } = errorsOf(items)[0]!;
		expect(details.request_id).toBe(harness.gateway.requests[0]!.headers['x-request-id']);
		expect(details.request_id).toMatch(UUID);
		expect(details.advice).toMatch(/^The request may have been executed.*Give the request ID to/);
	});
});

test('a used-up quota is asked for once an item, and told as one', async () => {
	answering(429, {
		error: {
			code: 'insufficient_quota',
			message: 'API key 额度已用完',
			type: 'insufficient_quota',
		},
	});
	const { items } = await harness.text(createResponse({ prompt: '=Number {{ $json.n }}' }), {
		items: numbered(5),
		...CONTINUE,
	});
	expect(harness.gateway.requests).toHaveLength(5);
	for (const { message, details } of errorsOf(items)) {
		expect(message).toBe(
			'A quota or budget is used up (HTTP 429, insufficient_quota): API key 额度已用完',
		);
		expect(details).toMatchObject({ retryable: false, code: 'insufficient_quota' });
	}
});

test('an expired key is told in English, with the code, whatever the gateway’s words are', async () => {
	answering(403, { code: 'API_KEY_EXPIRED', message: 'API key 已过期' });
	const { items } = await harness.text(createResponse(), CONTINUE);
	const { message, details } = errorsOf(items)[0]!;
	expect(message).toBe(
		'The gateway does not permit this (HTTP 403, API_KEY_EXPIRED): API key 已过期',
	);
	expect(details.advice).toMatch(/^The API key has expired/);
});

test('where the model is not known the node looks at the list, once a run', async () => {
	const { items } = await harness.text(createResponse({ model: byId('aurora-text-9') }), {
		items: numbered(3),
		...CONTINUE,
	});
	expect(harness.gateway.count({ route: 'models' })).toBe(1);
	for (const { details } of errorsOf(items)) {
		expect(details.advice).toMatch(/^The key’s list has no model "aurora-text-9": it has/);
		expect(details.advice).toContain('"aurora-text-1"');
	}
});

test('the error of a previous response that is gone names the option', async () => {
	answering(400, {
		error: {
			code: 'continuation_state_unavailable',
			message:
				'This conversation can no longer be resumed because its upstream state is unavailable. Start a new conversation to continue.',
			type: 'invalid_request_error',
		},
	});
	const options = { previousResponseId: 'resp_1' };
	const { items } = await harness.text(createResponse({ options }), CONTINUE);
	const { details } = errorsOf(items)[0]!;
	expect(details.advice).toMatch(/^Remove the Previous Response ID option/);
});

test('a download goes on after a 401: it carries no key', async () => {
	await harness.close();
	harness = await startHarness({
		storageIntercept: ({ stage }) =>
			stage === 'before' ? { kind: 'delay', ms: 40_000 } : undefined,
	});
	harness.gateway.settings.intercept = ({ record, stage }) => {
		const { prompt } = (record.body ?? {}) as { prompt?: string };
		if (stage !== 'before' || prompt !== 'bad') return undefined;
		const body = { code: 'API_KEY_DISABLED', message: 'API key is disabled' };
		return { kind: 'delay', ms: 20_000, then: { kind: 'reply', status: 401, body } };
	};
	const { items } = await harness.image(
		generateImage({ prompt: '={{ $json.n === 0 ? "good" : "bad" }}' }),
		{ items: numbered(2), ...CONTINUE },
	);
	expect(items[0]!.binary).toHaveProperty('data');
	expect(items[1]!.json.error).toContain('(HTTP 401, API_KEY_DISABLED): API key is disabled');
});
