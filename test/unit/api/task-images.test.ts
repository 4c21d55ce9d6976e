import {
	getTaskImages,
	rawImage,
	simplifyImage,
} from '../../../nodes/shared/api/images/task-images';
import { imageTaskSchema, type ImageTask } from '../../../nodes/shared/api/schemas';
import { expectError, refusalOf } from './arrange';

const A = 'https://store.example/a.png?signature=1';
const B = 'https://store.example/b.png?signature=2';

const TASK = { task_id: 't', status: 'completed' };

describe('the images of a task', () => {
	test('are the entries of its result, in order, without those that have no URL', () => {
		const entries = [{ url: A, revised_prompt: 'a fox' }, { url: B }];
		const data = [{}, entries[0]!, { url: '' }, entries[1]!];
		const task: ImageTask = { ...TASK, image_url: A, result: { created: 1, data } };
		expect(getTaskImages('t', task)).toEqual([
			{ url: A, entry: entries[0], index: 0, count: 2 },
			{ url: B, entry: entries[1], index: 1, count: 2 },
		]);
	});

	test.each<[string, Partial<ImageTask>]>([
		['there is no result', {}],
		['the result has no data', { result: {} }],
		['the result is empty', { result: { data: [] } }],
		['no entry has a URL', { result: { data: [{}, { url: '' }, { b64_json: 'x' }] } }],
	])('are its image_url where %s', (_, more) => {
		expect(getTaskImages('t', { ...TASK, image_url: A, ...more })).toEqual([
			{ url: A, entry: { url: A }, index: 0, count: 1 },
		]);
	});

	test('that names none are an error which carries the task', () => {
		for (const more of [{}, { image_url: '' }, { result: { data: [] }, http_status: 200 }]) {
			const error = refusalOf(() => getTaskImages('task_1', { ...TASK, ...more }));
			const details = { taskId: 'task_1', retryable: false, advice: /Task → Get/ };
			expectError(error, 'TaskError', 'The image task is completed, but names no image', details);
			expect(error.details.httpStatus).toBe('http_status' in more ? 200 : undefined);
		}
	});

	test('survive fields of the task that are malformed', () => {
		const malformed = { result: { created: 'now', data: 'x' }, error: 'none', http_status: 'ok' };
		const task = imageTaskSchema.parse({ ...TASK, image_url: A, ...malformed });
		expect(getTaskImages('t', task)).toMatchObject([{ url: A, count: 1 }]);
	});
});

describe('an image’s output', () => {
	const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
	const entry = { url: B, revised_prompt: 'a fox', seed: 7 };
	const result = { data: [{ url: A }, entry], usage, size: '1x1', unknown: 1 };
	const dates = { created_at: 1, expires_at: 1_767_225_600, http_status: 200 };
	const task: ImageTask = { ...TASK, status: 'SUCCESS', ...dates, image_url: A, result };
	const [, second] = getTaskImages('t', task);
	const place = { image_index: 1, image_count: 2 };

	test('is simple: what is used further, the words of the contract, and its usage', () => {
		const output = { task_id: 't', status: 'completed', image_url: B, ...place };
		const more = { model: 'm', prompt: 'p' };
		const simple = simplifyImage(task, second!, { taskId: 't', ...more });
		const expires_at = '2026-01-01T00:00:00.000Z';
		expect(simple).toEqual({ ...output, ...more, expires_at, usage });
		// Of a task that was started elsewhere they are not known.
		const less = { expires_at: undefined, result: undefined };
		for (const bare of [less, { expires_at: 1e300, result: { data: [] } }])
			expect(simplifyImage({ ...task, ...bare }, second!, { taskId: 't' })).toEqual(output);
	});

	test('is the task as the gateway sent it, with the IDs of its request', () => {
		const json = { ...task, unknown: 1 };
		const seen = { task, json, state: 'completed', now: 0, gatewayTime: 0 } as const;
		const raw = { ...json, image: entry, ...place };
		expect(rawImage(seen, second!)).toEqual(raw);
		const named = rawImage({ ...seen, requestId: 'r', clientRequestId: 'c' }, second!);
		expect(named).toEqual({ ...raw, request_id: 'r', client_request_id: 'c' });
	});
});
