import { TaskError } from '../../../nodes/shared/api/errors/errors';
import { pictureOutput, picturesOf } from '../../../nodes/shared/api/images/task-images';
import { imageTaskSchema, type ImageTask } from '../../../nodes/shared/api/schemas';
import { refusalOf } from './arrange';

const A = 'https://store.example/a.png?signature=1';
const B = 'https://store.example/b.png?signature=2';

const TASK = { task_id: 't', status: 'completed' };

describe('the images of a task', () => {
	test('are the entries of its result, in order', () => {
		const entries = [{ url: A, revised_prompt: 'a fox' }, { url: B }];
		const task: ImageTask = { ...TASK, image_url: A, result: { created: 1, data: entries } };
		expect(picturesOf('t', task)).toEqual([
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
		expect(picturesOf('t', { ...TASK, image_url: A, ...more })).toEqual([
			{ url: A, entry: { url: A }, index: 0, count: 1 },
		]);
	});

	test('leave out entries without a URL, and count the others', () => {
		const task = { ...TASK, result: { data: [{}, { url: B }, { url: '' }] } };
		expect(picturesOf('t', task)).toEqual([{ url: B, entry: { url: B }, index: 0, count: 1 }]);
	});

	test.each<[string, Partial<ImageTask>]>([
		['neither', {}],
		['an empty image_url', { image_url: '' }],
		['an empty result', { result: { data: [] }, http_status: 200 }],
	])('that names %s are an error which carries the task', (_, more) => {
		const error = refusalOf(() => picturesOf('task_1', { ...TASK, ...more }));
		expect(error).toBeInstanceOf(TaskError);
		expect(error.message).toBe('The image task is completed, but names no picture');
		expect(error.facts).toMatchObject({ taskId: 'task_1', retryable: false });
		expect(error.facts.httpStatus).toBe(more.http_status);
		expect(error.facts.advice).toContain('Task → Get');
	});

	test('survive fields of the task that are malformed', () => {
		const task = imageTaskSchema.parse({
			...TASK,
			image_url: A,
			result: { created: 'now', data: 'none' },
			error: 'none',
			http_status: 'ok',
		});
		expect(picturesOf('t', task)).toMatchObject([{ url: A, count: 1 }]);
	});
});

describe('an image’s output', () => {
	const task: ImageTask = {
		...TASK,
		created_at: 1,
		completed_at: 2,
		expires_at: 3,
		http_status: 200,
		image_url: A,
		result: { data: [{ url: A }, { url: B, revised_prompt: 'a fox', seed: 7 }] },
	};
	const [, second] = picturesOf('t', task);

	test('has the fields of the design, and the gateway’s entry untouched', () => {
		expect(pictureOutput(task, second!, { taskId: 't', model: 'm', prompt: 'p' })).toEqual({
			task_id: 't',
			status: 'completed',
			model: 'm',
			prompt: 'p',
			image_url: B,
			image_index: 1,
			image_count: 2,
			created_at: 1,
			completed_at: 2,
			expires_at: 3,
			http_status: 200,
			image: { url: B, revised_prompt: 'a fox', seed: 7 },
		});
	});

	test('leaves out what is not known of a task that was started elsewhere', () => {
		const output = pictureOutput(task, second!, { taskId: 't' });
		expect(output).not.toHaveProperty('model');
		expect(output).not.toHaveProperty('prompt');
	});
});
