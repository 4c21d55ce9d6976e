import { endNamed, TASK_ENDS } from '../../gateway/images/ends';
import { generateImage, shown, useHarness } from '../nodes/arrange';
import { TASK_END_ROWS } from './task-ends';

const harness = useHarness();

/** Ends that last longer than Max Wait, or have a test of their own: the words of T11, T12 and T14. */
const ELSEWHERE = ['too slow', 'orphaned', 'lost', 'refused by the model'];

test('every end of a task is told', () => {
	const told = [...TASK_END_ROWS.map(({ end }) => end), ...ELSEWHERE].sort();
	expect(told).toEqual(Object.keys(TASK_ENDS).sort());
});

test.each(TASK_END_ROWS)('$end', async ({ end, submits, message, advice, retryable }) => {
	Object.assign(harness.gateway.settings, { taskEnd: end });
	const error = shown(await harness.imageError(generateImage({ options: { maxWait: 100 } })));
	expect(error.message).toBe(message);
	expect(error.description?.slice(0, advice.length)).toBe(advice);
	expect(error.context.details?.retryable).toBe(retryable);
	expect(harness.gateway.count({ route: 'generations' })).toBe(submits);
	const { charged } = endNamed(end);
	expect(harness.gateway.charges).toHaveLength(charged ? submits : 0);
	// What the gateway charged is never called free.
	if (charged) expect(error.description).toMatch(/charged.*Check the usage/);
});
