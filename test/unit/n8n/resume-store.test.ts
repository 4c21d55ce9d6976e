import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { ResumeStore, type SavedWork } from '../../../nodes/shared/n8n/resume/resume-store';

/** What n8n keeps of a node: one object for all its tries and runs in an execution. */
interface Kept {
	kept: IDataObject;
	runIndex?: number;
	executionId?: string;
	/** Undefined: n8n does not know. */
	isTool?: (() => boolean) | undefined;
}

const asTool = { isTool: () => true };

const storeOf = ({ kept, runIndex = 0, executionId = '1', ...rest }: Kept) =>
	new ResumeStore({
		getContext: () => kept,
		getExecutionId: () => executionId,
		getWorkflowDataProxy: () => ({ $runIndex: runIndex }),
		isToolExecution: 'isTool' in rest ? rest.isTool : () => false,
	} as unknown as IExecuteFunctions);

const task = (taskId: string): SavedWork => {
	return { kind: 'task', taskId, accepted: { task_id: taskId } };
};
const details = { advice: 'Check', retryable: false };
const doubt: SavedWork = { kind: 'doubt', message: 'The connection was lost', details };
const BOAT = { model: 'm', prompt: 'A boat' };
const TREE = { model: 'm', prompt: 'A tree' };

let kept: IDataObject;
beforeEach(() => {
	kept = {};
});

describe('What an earlier try paid for', () => {
	test('is found by the next try, also where n8n has saved the execution between them', () => {
		storeOf({ kept }).save(0, BOAT, task('t1'));
		const saved = JSON.parse(JSON.stringify(kept)) as IDataObject;
		for (const read of [kept, saved])
			expect(storeOf({ kept: read }).restore(0, BOAT)).toMatchObject(task('t1'));
	});

	test('is found for no other item, request or run of the node', () => {
		storeOf({ kept }).save(0, BOAT, task('t1'));
		expect(storeOf({ kept }).restore(1, BOAT)).toBeUndefined();
		expect(storeOf({ kept }).restore(0, TREE)).toBeUndefined();
		expect(storeOf({ kept, runIndex: 1 }).restore(0, BOAT)).toBeUndefined();
		// Neither a prompt nor a file is kept.
		expect(JSON.stringify(kept)).not.toMatch(/boat/i);
	});

	test('is listed and dropped, of this run alone: run 1 is not run 10', () => {
		const [first, tenth] = [1, 10].map((runIndex) => () => storeOf({ kept, runIndex }));
		first!().save(0, BOAT, task('t1'));
		first!().save(2, BOAT, task('t2'));
		first!().save(3, BOAT, doubt);
		tenth!().save(0, BOAT, task('t10'));
		expect(first!().tasks()).toEqual([
			{ itemIndex: 0, taskId: 't1' },
			{ itemIndex: 2, taskId: 't2' },
		]);
		first!().clear();
		expect(tenth!().tasks()).toEqual([{ itemIndex: 0, taskId: 't10' }]);
	});
});

describe('What is dropped', () => {
	test('a delivered run leaves nothing, not even an empty place, but what other code keeps', () => {
		kept.mine = 1;
		const store = storeOf({ kept });
		store.save(0, BOAT, task('t1'));
		store.save(1, BOAT, doubt);
		expect(store.unclaimed()).toEqual([]);
		store.clear();
		expect(kept).toEqual({ mine: 1 });
	});

	test('a task that no try asked for again is named, and dropped with the rest', () => {
		storeOf({ kept }).save(0, BOAT, task('t1'));
		const asking = storeOf({ kept });
		asking.restore(0, BOAT);
		expect(asking.unclaimed()).toEqual([]);
		// Other nodes of the package would find it under the same name.
		expect(Object.keys(kept)).toEqual(['modelAccess']);
		const next = storeOf({ kept });
		next.save(0, TREE, task('t2'));
		expect(next.unclaimed()).toEqual([{ itemIndex: 0, taskId: 't1' }]);
		next.clear();
		expect(kept).toEqual({});
	});

	test('a failed task, so that it is submitted anew', () => {
		const store = storeOf({ kept });
		store.save(0, BOAT, task('t1'));
		store.save(1, BOAT, task('t2'));
		store.dropFailed('t1');
		expect(store.restore(0, BOAT)).toBeUndefined();
		expect(store.restore(1, BOAT)).toMatchObject({ taskId: 't2' });
	});

	test('an unknown task only where an earlier execution submitted it', () => {
		storeOf({ kept }).save(0, BOAT, task('t1'));
		storeOf({ kept }).save(1, BOAT, task('t2'));
		storeOf({ kept }).dropUnknown('t1');
		expect(storeOf({ kept }).restore(0, BOAT)).toMatchObject({ taskId: 't1' });
		storeOf({ kept, executionId: '2' }).dropUnknown('t1');
		expect(storeOf({ kept }).tasks()).toEqual([{ itemIndex: 1, taskId: 't2' }]);
	});
});

test('a doubt holds for the tries of one execution; who runs it again does so on purpose', () => {
	storeOf({ kept }).save(0, BOAT, doubt);
	expect(storeOf({ kept }).restore(0, BOAT)).toMatchObject({ kind: 'doubt' });
	expect(storeOf({ kept, executionId: '2' }).restore(0, BOAT)).toBeUndefined();
});

test('a call of an agent’s tool drops only what it asked for: others run under the same name', () => {
	const one = storeOf({ kept, ...asTool });
	const other = storeOf({ kept, ...asTool, runIndex: 1 });
	expect(one.restore(0, TREE)).toBeUndefined();
	one.save(0, BOAT, task('t1'));
	// The request alone tells, since each try has another run index.
	expect(other.restore(0, BOAT)).toMatchObject({ taskId: 't1' });
	other.save(0, TREE, task('t2'));
	one.clear();
	expect(storeOf({ kept, ...asTool }).restore(0, TREE)).toMatchObject({ taskId: 't2' });
	expect(storeOf({ kept, ...asTool }).restore(0, BOAT)).toBeUndefined();
});

test('in an n8n that knows no tool executions, a run is known by its index', () => {
	const old = storeOf({ kept, runIndex: 1, isTool: undefined });
	old.save(0, BOAT, task('t1'));
	expect(storeOf({ kept, runIndex: 1 }).restore(0, BOAT)).toMatchObject({ taskId: 't1' });
});
