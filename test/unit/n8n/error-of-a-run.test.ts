import { NodeApiError, NodeOperationError, type INode } from 'n8n-workflow';
import { ApiError, CanceledError, ValidationError } from '../../../nodes/shared/api/errors/errors';
import { errorDetails, nodeError, onOneLine } from '../../../nodes/shared/n8n/errors';

const node = { name: 'Image' } as INode;
const told = (...[error, item, remains]: [unknown, number?, Parameters<typeof nodeError>[3]?]) =>
	nodeError(node, error, item, remains);

const IDS = { requestId: 'r', clientRequestId: 'c', taskId: 't' };
const apiError = (details = {}) =>
	new ApiError('Refused', { advice: 'Wait.', retryable: true, ...details });

test('error_details have what is known of an error, and nothing of what is not', () => {
	expect(errorDetails(apiError())).toStrictEqual({ retryable: true, advice: 'Wait.' });
	const partial = { partialText: '', partialOutput: [{ type: 'x' }], imageUrls: ['u'] };
	const known = { httpStatus: 400, type: 'T', code: 'C', ...IDS, ...partial };
	const { partial_text, ...shown } = errorDetails(apiError(known));
	expect(shown).toStrictEqual({
		...{ http_status: 400, type: 'T', code: 'C', request_id: 'r', client_request_id: 'c' },
		...{ task_id: 't', partial_output: [{ type: 'x' }], image_urls: ['u'] },
		...{ retryable: true, advice: 'Wait.' },
	});
	expect(partial_text).toBe('');
});

describe('The error of a node', () => {
	test('names what to do and the IDs, its status where n8n looks for it, and no other message', () => {
		const error = told(apiError({ httpStatus: 429, ...IDS }), 3) as NodeApiError;
		expect(error).toBeInstanceOf(NodeApiError);
		expect([error.message, error.httpCode, error.messages]).toEqual(['Refused', '429', []]);
		expect(error.description).toBe('Wait. Task ID: t. Request ID: r. Client request ID: c.');
		expect(error.context).toMatchObject({ itemIndex: 3, details: { http_status: 429 } });
		expect(error.context).not.toHaveProperty('acceptedTasks');
		expect(error.context).not.toHaveProperty('inDoubt');
		const bare = told(apiError()) as NodeApiError;
		expect([bare.description, bare.httpCode]).toEqual(['Wait.', null]);
	});

	test.each([
		['of its input', new ValidationError('Model', 'is empty', 'Choose one.'), 'Model is empty'],
		['of a cancel', new CanceledError(), 'The execution was canceled'],
		['of anything else', new Error('a bug'), 'a bug'],
	])('%s is none of an API', (_name, thrown, message) => {
		const error = told(thrown, 2);
		expect(error).toBeInstanceOf(NodeOperationError);
		expect([error.message, error.context.itemIndex]).toEqual([message, 2]);
	});

	test('stays what it is if it is one of n8n’s, with the item that it names', () => {
		const own = new NodeOperationError(node, 'Bad', { itemIndex: 5 });
		own.description = 'x'.repeat(100_000);
		const error = told(own, 2);
		expect(error).toBe(own);
		expect([error.message, error.context.itemIndex]).toEqual(['Bad', 5]);
		expect(error.description!.length).toBeLessThan(10_000);
	});

	const TASKS = [4, 1].map((itemIndex) => ({ itemIndex, taskId: `t${itemIndex}` }));
	const DOUBTS = [
		{ itemIndex: 3, message: 'Lost', partialText: 'Hi' },
		{ itemIndex: 2, message: 'Timed out' },
	];
	const BILL = 'Image tasks of other items were accepted and may be charged.';
	const FETCH = 'Do not submit them again: fetch each with Task → Wait.';
	const DOUBT = 'These requests may have been executed and charged as well.';
	const CHECK = 'Check the usage in the gateway’s console.';
	const KEEP = 'Set On Error to Continue to keep what succeeds.';
	const of = (tasks: typeof TASKS, doubts: typeof DOUBTS = [], answers = 0) =>
		told(apiError(), 0, { tasks, doubts, answers });

	test('tells tasks, requests in doubt and answers of other items, by item', () => {
		const { message, description, context } = of(TASKS, DOUBTS, 2);
		expect(message).toBe('Refused – 2 image tasks of other items were accepted');
		expect(description!.split('<br>\n')).toEqual([
			...['Wait.', `${BILL} ${FETCH}`, 'Item 1: t1', 'Item 4: t4'],
			...[`${DOUBT} ${CHECK}`, 'Item 2: Timed out', 'Item 3: Lost'],
			`2 answers of other items were received. They are lost unless Retry On Fail returns them. ${KEEP}`,
		]);
		expect(onOneLine(description!)).toMatch(/^Wait\. Image tasks of other items .* succeeds\.$/);
		const accepted = [1, 4].map((item) => ({ item, task_id: `t${item}` }));
		expect(context.acceptedTasks).toEqual(accepted);
		expect(context.inDoubt).toStrictEqual([
			{ item: 2, message: 'Timed out' },
			{ item: 3, message: 'Lost', partial_text: 'Hi' },
		]);
	});

	test('tells one task, and one answer, as one; without anything else it is the error alone', () => {
		const { message, description } = of(TASKS.slice(1), [], 1);
		expect(message).toBe('Refused – 1 image task of another item was accepted');
		expect(description).toContain('1 answer of another item was received. It is lost unless');
		expect(description).toContain('Retry On Fail returns it.');
		expect(description).not.toContain(DOUBT);
		expect(of([], DOUBTS).message).toBe('Refused');
		expect(of([], DOUBTS).description).not.toContain(BILL);
		expect(of([])).toMatchObject({ message: 'Refused', description: 'Wait.' });
	});
});
