import { taskState, type TaskState } from '../../../nodes/shared/api/images/task';
import { imageTaskSchema } from '../../../nodes/shared/api/schemas';

const stateOf = (task: object) => taskState(imageTaskSchema.parse(task));

const IMAGE = { image_url: 'https://store.example/1.png' };
const ENTRY = { result: { data: [{}, { url: 'https://store.example/1.png' }] } };
const ERROR = { error: { message: 'no' } };

const KNOWN = /^(processing|submitted),/;

test.each<[TaskState, words: string]>([
	['working', 'processing,queued,in_queue,pending,waiting,in_progress,running,started,starting'],
	['working', 'submitted,accepted,created,generating,NOT_START,NotStart,In Progress,IN-PROGRESS'],
	['completed', 'completed,Completed,complete,succeeded,SUCCESS,successful,Done,finished'],
	['failed', 'failed,FAILURE,fail,error,errored,cancelled,Canceled,rejected,aborted,expired'],
	['failed', 'timeout,time_out,timed_out,TimedOut, Failed '],
	// A word that no list has: keep waiting, since the task may be paid for.
	['working', 'x,almost done,unfailed,processing_2,成功'],
])('a task is %s by the words %s', (state, words) => {
	for (const status of words.split(',')) {
		expect([status, stateOf({ status })]).toEqual([status, state]);
		// An error counts unless the task is known to be at work.
		const withError = stateOf({ status, ...ERROR });
		expect([status, withError]).toEqual([status, KNOWN.test(words) ? 'working' : 'failed']);
		// Whatever the word, an image is an image, also beside an error.
		for (const image of [IMAGE, ENTRY, { ...IMAGE, ...ERROR }])
			expect([status, stateOf({ status, ...image })]).toEqual([status, 'completed']);
	}
});

test.each<[string, TaskState, task: object]>([
	['an error in place of images', 'failed', { status: 'completed', result: ERROR }],
	['an error without content', 'working', { status: 'x', error: {} }],
	['an error of empty fields', 'working', { status: 'x', error: { code: 0, message: '' } }],
	['an error that is empty or none', 'completed', { status: 'done', error: '' }],
	['an error that is null', 'working', { status: 'x', error: null, result: { error: null } }],
	['an empty address', 'working', { status: 'x', image_url: '', result: { data: [{ url: '' }] } }],
	['a result without addresses', 'completed', { status: 'done', result: { data: [{}] } }],
])('a task with %s is %s', (_, state, task) => {
	expect(stateOf(task)).toBe(state);
});
