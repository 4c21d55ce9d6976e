import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { ApiError, CanceledError, NetworkError } from '../../../nodes/shared/api/errors/errors';
import { WorkTracker, type ItemWork } from '../../../nodes/shared/n8n/resume/work-tracker';

/** What n8n keeps of a node: one object for all its tries and runs in an execution. */
let kept: IDataObject;
let hints: unknown[];
let logged: unknown[][];
beforeEach(() => {
	[kept, hints, logged] = [{}, [], []];
});

type Try = Partial<{ retryOnFail: boolean; executionId: string; runIndex: number }> & {
	isToolExecution?: unknown;
};

/** One try of a node. */
const tryOf = ({ retryOnFail = true, executionId = '7', runIndex = 0, ...more }: Try = {}) =>
	new WorkTracker({
		getContext: () => kept,
		getExecutionId: () => executionId,
		getNode: () => ({ name: 'Draw', retryOnFail }),
		getWorkflowDataProxy: () => ({ $runIndex: runIndex }),
		isToolExecution: () => false,
		addExecutionHints: (hint: unknown) => hints.push(hint),
		logger: { info: (...line: unknown[]) => logged.push(line) },
		...more,
	} as unknown as IExecuteFunctions);

const AS_TOOL = { isToolExecution: () => true };

const task = (taskId: string) => ({ kind: 'task', taskId, accepted: {} }) as const;
const answer = { kind: 'answer', json: { id: 'resp_1' } } as const;
const [BOAT, TREE] = [{ prompt: 'A boat' }, { prompt: 'A tree' }];
const lost = (given = {}) =>
	new NetworkError('Lost', { advice: '', retryable: false, maybeExecuted: true, ...given });
const refused = new ApiError('Refused', { advice: '', retryable: false, httpStatus: 400 });

/** What another item's failure tells of this try. */
const left = (of: WorkTracker) => of.unfinished({ error: new Error('bad'), index: 9 });

/** What another try finds of an item. */
const found = (index = 0, request = BOAT, of = tryOf()) => of.item(index).restore(request);

/** An item that submitted a task, or asked for an answer. */
function pay(
	by: WorkTracker,
	index: number,
	work: Parameters<ItemWork['save']>[0],
	request = BOAT,
) {
	const item = by.item(index);
	item.restore(request);
	item.save(work);
	return item;
}

test.each([true, false])('a task is kept and logged at once (Retry On Fail: %p)', (retryOnFail) => {
	pay(tryOf({ retryOnFail }), 2, task('t1'));
	const line = 'Execution 7, node "Draw", item 2: image task t1 was accepted';
	expect(logged).toEqual([[line, { executionId: '7', node: 'Draw', item: 2, taskId: 't1' }]]);
	expect(found(2)).toMatchObject(task('t1'));
	// Also where n8n has saved the execution between the tries.
	kept = JSON.parse(JSON.stringify(kept)) as IDataObject;
	expect(found(2)).toMatchObject(task('t1'));
	expect(left(tryOf()).tasks).toEqual([{ itemIndex: 2, taskId: 't1' }]);
});

test('what was paid for is found for no other item, request or run of the node', () => {
	pay(tryOf(), 0, task('t1'));
	const others = [found(1), found(0, TREE), found(0, BOAT, tryOf({ runIndex: 1 }))];
	expect(others).toEqual([undefined, undefined, undefined]);
	// Neither a prompt nor a file is kept. Other nodes of the package look under the same name.
	expect(JSON.stringify(kept)).not.toMatch(/boat/i);
	expect(Object.keys(kept)).toEqual(['modelAccess']);
});

test('what was paid for is listed and dropped, of this run alone: run 1 is not run 10', () => {
	kept.mine = 1;
	const [first, tenth] = [{ runIndex: 1 }, { runIndex: 10 }];
	const run = tryOf(first);
	pay(run, 0, task('t1'));
	pay(run, 2, task('t2'));
	pay(run, 3, answer);
	pay(tryOf(tenth), 0, task('t10'));
	expect(left(tryOf(first)).tasks.map(({ taskId }) => taskId)).toEqual(['t1', 't2']);
	tryOf(first).finish([]);
	expect(hints).toHaveLength(2);
	expect(left(tryOf(tenth)).tasks).toEqual([{ itemIndex: 0, taskId: 't10' }]);
	tryOf(tenth).finish([]);
	expect(kept).toEqual({ mine: 1 });
});

test('a call of an agent’s tool finds a task by its request, and drops only what it asked for', () => {
	const one = tryOf(AS_TOOL);
	expect(found(0, TREE, one)).toBeUndefined();
	pay(one, 0, task('t1'));
	// The request alone tells, since each try has another run index.
	const other = tryOf({ ...AS_TOOL, runIndex: 1 });
	expect(left(other).tasks).toEqual([]);
	expect(found(0, BOAT, other)).toMatchObject(task('t1'));
	expect(left(other).tasks).toEqual([{ itemIndex: 0, taskId: 't1' }]);
	pay(other, 0, task('t2'), TREE);
	one.finish([]);
	expect(found(0, TREE, tryOf(AS_TOOL))).toMatchObject(task('t2'));
	expect(found(0, BOAT, tryOf(AS_TOOL))).toBeUndefined();
});

test('in an n8n that knows no tool executions, a run is known by its index', () => {
	pay(tryOf({ runIndex: 1, isToolExecution: undefined }), 0, task('t1'));
	expect(found(0, BOAT, tryOf({ runIndex: 1 }))).toMatchObject(task('t1'));
});

test('an answer is kept only where another try may come', () => {
	pay(tryOf({ retryOnFail: false }), 0, answer);
	expect(kept).toEqual({});
	pay(tryOf(), 0, answer);
	expect(found()).toMatchObject(answer);
	expect(logged).toEqual([]);
});

test('a task that ended without an image is forgotten, and stands in the log', () => {
	const first = tryOf();
	pay(first, 1, task('t2'));
	pay(first, 0, task('t1')).dropTask('t1');
	expect(left(first).tasks).toEqual([{ itemIndex: 1, taskId: 't2' }]);
	expect([found(0), found(1)]).toMatchObject([undefined, task('t2')]);
	const line = 'Execution 7, node "Draw", item 0: image task t1 ended without an image';
	const fields = { executionId: '7', node: 'Draw', item: 0, taskId: 't1' };
	expect(logged.at(-1)).toEqual([line, fields]);
});

test('a task that the gateway does not know is forgotten if an earlier execution submitted it', () => {
	pay(tryOf(), 1, task('t2'));
	pay(tryOf(), 0, task('t1')).dropUnknownTask('t1');
	expect(found()).toMatchObject(task('t1'));
	tryOf({ executionId: '8' }).item(0).dropUnknownTask('t1');
	expect(left(tryOf()).tasks).toEqual([{ itemIndex: 1, taskId: 't2' }]);
});

describe('What the error of a run tells beside its own item', () => {
	test('is a task that an item only looks at, or that a cancel left behind', () => {
		const run = tryOf();
		run.item(0).onTaskAccepted('seen');
		run.noteFailure(new CanceledError().with({ taskId: 'left' }), 1);
		run.noteFailure(new CanceledError(), 2);
		run.noteFailure(refused.with({ taskId: 'failed' }), 3);
		run.noteFailure(new Error('a bug'), 4);
		const [seen, leftBehind] = [
			{ itemIndex: 0, taskId: 'seen' },
			{ itemIndex: 1, taskId: 'left' },
		];
		expect(left(run)).toEqual({ tasks: [seen, leftBehind], doubts: [], answers: 0 });
		const own = run.unfinished({ error: refused.with({ taskId: 'seen' }), index: 0 });
		expect(own.tasks).toEqual([leftBehind]);
	});

	test('is each request that may be charged, unless its task is told', () => {
		const run = tryOf();
		pay(run, 0, task('t1'));
		run.noteFailure(lost({ taskId: 't1' }), 0);
		run.noteFailure(lost({ partialText: 'Once' }), 1);
		run.noteFailure(refused.with({ charged: true }), 2);
		run.noteFailure(refused, 3);
		expect(left(run).doubts).toMatchObject([
			{ itemIndex: 1, message: 'Lost', partialText: 'Once' },
			{ itemIndex: 2, message: 'Refused' },
		]);
		const own = run.unfinished({ error: lost(), index: 1 });
		expect(own.doubts.map(({ itemIndex }) => itemIndex)).toEqual([2]);
	});

	test('is the number of answers, without those of items that it tells already', () => {
		const run = tryOf();
		for (const index of [0, 1, 2, 3]) pay(run, index, answer);
		run.noteFailure(lost(), 1);
		expect(run.unfinished({ error: lost(), index: 0 }).answers).toBe(2);
	});
});

describe('A request that may have been executed', () => {
	function fails(error: ApiError | NetworkError, retryOnFail?: boolean) {
		const first = tryOf({ retryOnFail });
		found(0, BOAT, first);
		first.noteFailure(error, 0);
	}

	test('is not sent by the next try, which fails with the same error', () => {
		fails(lost());
		expect(() => found()).toThrow('Lost');
		// Who runs the execution again does so on purpose.
		expect(found(0, BOAT, tryOf({ executionId: '8' }))).toBeUndefined();
		tryOf().finish([]);
		expect(kept).toEqual({});
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
	test.each<[string, retryOnFail: boolean, errors: unknown[], isKept: boolean]>([
		['without items', true, [], false],
		['whose first item is none of an error', true, [undefined, 'x'], false],
		['whose first item has no error in its field (null)', true, [null], false],
		['whose first item has no error in its field (false)', true, [false], false],
		['whose first item is an error that n8n tries again', true, ['x'], true],
		['whose first item is an error, without Retry On Fail', false, ['x'], false],
	])('%s, what it paid for is dropped, unless another try comes', (...row) => {
		const [, retryOnFail, errors, isKept] = row;
		const run = tryOf({ retryOnFail });
		pay(run, 0, task('t1'));
		run.finish(errors.map((error) => ({ json: { error } })) as INodeExecutionData[]);
		expect('modelAccess' in kept).toBe(isKept);
		expect(hints).toEqual([]);
	});

	test('a task that this try did not ask for is a hint, and dropped with the rest', () => {
		pay(tryOf(), 3, task('t1'));
		pay(tryOf(), 4, task('t2'));
		const next = tryOf();
		found(4, BOAT, next);
		pay(next, 3, task('t3'), TREE);
		next.finish([]);
		const message =
			'Item 3: an earlier try submitted image task t1 with another request. It may be charged; Task → Wait fetches it.';
		expect(hints).toEqual([{ message, type: 'warning', location: 'outputPane' }]);
		expect(kept).toEqual({});
	});
});
