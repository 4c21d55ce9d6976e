import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import {
	ApiError,
	CanceledError,
	NetworkError,
	type ErrorDetails,
} from '../../../nodes/shared/api/errors/errors';
import type { SavedWork } from '../../../nodes/shared/n8n/resume/resume-store';
import { WorkTracker } from '../../../nodes/shared/n8n/resume/work-tracker';

let kept: IDataObject;
let hints: unknown[];
let logged: unknown[][];
beforeEach(() => {
	kept = {};
	hints = [];
	logged = [];
});

/** One try of a node, in an execution that keeps {@link kept}. */
const tryOf = (retryOnFail = true, executionId = '7', isTool = false) =>
	new WorkTracker({
		getContext: () => kept,
		getExecutionId: () => executionId,
		getNode: () => ({ name: 'Draw', retryOnFail }),
		getWorkflowDataProxy: () => ({ $runIndex: 0 }),
		isToolExecution: () => isTool,
		addExecutionHints: (hint: unknown) => hints.push(hint),
		logger: { info: (...line: unknown[]) => logged.push(line) },
	} as unknown as IExecuteFunctions);

const task = (taskId: string): SavedWork => ({ kind: 'task', taskId, accepted: {} });
const answer: SavedWork = { kind: 'answer', json: { id: 'resp_1' } };
const BOAT = { prompt: 'A boat' };
const details = (given: Partial<ErrorDetails>) => ({ advice: '', retryable: false, ...given });
const lost = (given: Partial<ErrorDetails> = {}) =>
	new NetworkError('Lost', details({ maybeExecuted: true, ...given }));
const refused = new ApiError('Refused', details({ httpStatus: 400 }));

/** What another item's failure tells of this try. */
const left = (of: WorkTracker) => of.unfinished({ error: new Error('bad'), index: 9 });

/** An item that submitted a task, or asked for an answer. */
function paid(by: WorkTracker, index: number, work: SavedWork) {
	const item = by.item(index);
	item.restore(BOAT);
	item.save(work);
	return item;
}

test.each([true, false])('a task is kept and logged at once (Retry On Fail: %p)', (retryOnFail) => {
	paid(tryOf(retryOnFail), 2, task('t1'));
	expect(logged).toEqual([
		[
			'Execution 7, node "Draw", item 2: image task t1 was accepted',
			{ executionId: '7', node: 'Draw', item: 2, taskId: 't1' },
		],
	]);
	expect(tryOf(retryOnFail).item(2).restore(BOAT)).toMatchObject(task('t1'));
	expect(left(tryOf()).tasks).toEqual([{ itemIndex: 2, taskId: 't1' }]);
});

test('a task that another call of a tool takes up is told by its error', () => {
	paid(tryOf(true, '7', true), 0, task('t1'));
	const again = tryOf(true, '7', true);
	expect(left(again).tasks).toEqual([]);
	again.item(0).restore(BOAT);
	expect(left(again).tasks).toEqual([{ itemIndex: 0, taskId: 't1' }]);
});

test('an answer is kept only where another try may come', () => {
	paid(tryOf(false), 0, answer);
	expect(kept).toEqual({});
	paid(tryOf(), 0, answer);
	expect(tryOf().item(0).restore(BOAT)).toMatchObject(answer);
	expect(logged).toEqual([]);
});

test('a task that ended without an image is forgotten, and stands in the log', () => {
	const first = tryOf();
	paid(first, 0, task('t1')).dropTask('t1');
	expect(left(first).tasks).toEqual([]);
	expect(kept).toEqual({});
	expect(logged[1]).toEqual([
		'Execution 7, node "Draw", item 0: image task t1 ended without an image',
		{ executionId: '7', node: 'Draw', item: 0, taskId: 't1' },
	]);
});

test('a task of an earlier execution that the gateway does not know is forgotten', () => {
	paid(tryOf(), 0, task('t1')).dropUnknownTask('t1');
	expect(kept).not.toEqual({});
	tryOf(true, '8').item(0).dropUnknownTask('t1');
	expect(kept).toEqual({});
});

describe('What the error of a run tells beside its own item', () => {
	test('is a task that an item only looks at, or that a cancel left behind', () => {
		const run = tryOf();
		run.item(0).onTaskAccepted('seen');
		run.noteFailure(new CanceledError().with({ taskId: 'left' }), 1);
		run.noteFailure(new CanceledError(), 2);
		run.noteFailure(refused.with({ taskId: 'failed' }), 3);
		run.noteFailure(new Error('a bug'), 4);
		expect(left(run)).toEqual({
			tasks: [
				{ itemIndex: 0, taskId: 'seen' },
				{ itemIndex: 1, taskId: 'left' },
			],
			doubts: [],
			answers: 0,
		});
		const own = run.unfinished({ error: refused.with({ taskId: 'seen' }), index: 0 });
		expect(own.tasks.map(({ taskId }) => taskId)).toEqual(['left']);
	});

	test('is each request that may be charged, unless its task is told', () => {
		const run = tryOf();
		paid(run, 0, task('t1'));
		run.noteFailure(lost({ taskId: 't1' }), 0);
		run.noteFailure(lost({ partialText: 'Once' }), 1);
		run.noteFailure(refused.with({ charged: true }), 2);
		run.noteFailure(refused, 3);
		const about = { taskId: undefined, partialText: undefined };
		expect(left(run).doubts).toEqual([
			{ ...about, itemIndex: 1, message: 'Lost', partialText: 'Once' },
			{ ...about, itemIndex: 2, message: 'Refused' },
		]);
		const own = run.unfinished({ error: lost(), index: 1 });
		expect(own.doubts.map(({ itemIndex }) => itemIndex)).toEqual([2]);
	});

	test('is the number of answers, without those of items that it tells already', () => {
		const run = tryOf();
		for (const index of [0, 1, 2, 3]) paid(run, index, answer);
		run.noteFailure(lost(), 1);
		expect(run.unfinished({ error: lost(), index: 0 }).answers).toBe(2);
	});
});

describe('A request that may have been executed', () => {
	const again = (retryOnFail?: boolean) => tryOf(retryOnFail).item(0).restore(BOAT);
	function fails(error: ApiError | NetworkError, retryOnFail?: boolean) {
		const first = tryOf(retryOnFail);
		first.item(0).restore(BOAT);
		first.noteFailure(error, 0);
	}

	test('is not sent by the next try, which fails with the same error', () => {
		fails(lost());
		expect(again).toThrow('Lost');
	});

	test.each<[string, ApiError | NetworkError, boolean]>([
		['there is no next try', lost(), false],
		['its answer arrived, and is charged', refused.with({ charged: true }), true],
		['it was refused', refused, true],
	])('is not kept where %s', (_name, error, retryOnFail) => {
		fails(error, retryOnFail);
		expect(kept).toEqual({});
	});

	test('is not kept where it had nothing to pay for', () => {
		tryOf().noteFailure(lost(), 0);
		expect(kept).toEqual({});
	});
});

describe('At the end of a run that hands on its output', () => {
	const output = (...errors: unknown[]) =>
		errors.map((error) => ({ json: { error } })) as INodeExecutionData[];

	test.each<[string, boolean, INodeExecutionData[], boolean]>([
		['without items', true, [], false],
		['whose first item is none of an error', true, output(undefined, 'x'), false],
		['whose first item has no error in its field (null)', true, output(null), false],
		['whose first item has no error in its field (false)', true, output(false), false],
		['whose first item is an error that n8n tries again', true, output('x'), true],
		['whose first item is an error, without Retry On Fail', false, output('x'), false],
	])(
		'%s, what it paid for is dropped, unless another try comes (Retry On Fail: %p)',
		(_name, retryOnFail, items, isKept) => {
			const run = tryOf(retryOnFail);
			paid(run, 0, task('t1'));
			run.finish(items);
			expect('modelAccess' in kept).toBe(isKept);
			expect(hints).toEqual([]);
		},
	);

	test('a task that this try did not ask for is a hint', () => {
		paid(tryOf(), 3, task('t1'));
		tryOf().finish([]);
		const message =
			'Item 3: an earlier try submitted image task t1 with another request. It may be charged; Task → Wait fetches it.';
		expect(hints).toEqual([{ message, type: 'warning', location: 'outputPane' }]);
	});
});
