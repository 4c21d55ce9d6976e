import { NodeApiError, NodeOperationError, type IDataObject, type INode } from 'n8n-workflow';
import { CanceledError, ValidationError, ModelAccessError } from '../api/errors/errors';
import { shorten } from '../api/errors/shorten';

/** An image task that the gateway accepted in this run of the node. */
export interface TaskRecord {
	itemIndex: number;
	taskId: string;
}

/** What a run that ends in an error leaves behind. */
export interface UnfinishedWork {
	/** Tasks that the gateway accepted, without the one that the error is about. */
	tasks: TaskRecord[];
	/** Other items whose request may have been executed although nothing came of it. */
	doubts: Array<{
		itemIndex: number;
		message: string;
		partialText?: string;
		/** The task that it is about, if it is known. */
		taskId?: string;
	}>;
	/** How many answers of other items were received. */
	answers: number;
}

const NOTHING: UnfinishedWork = { tasks: [], doubts: [], answers: 0 };

/** `error_details` of an item that failed under "Continue". */
export function errorDetails({ details }: ModelAccessError): IDataObject {
	const { httpStatus, type, code, requestId, clientRequestId, taskId } = details;
	const { retryable, advice } = details;
	return {
		...(httpStatus !== undefined && { http_status: httpStatus }),
		...(type !== undefined && { type }),
		...(code !== undefined && { code }),
		...(requestId !== undefined && { request_id: requestId }),
		...(clientRequestId !== undefined && { client_request_id: clientRequestId }),
		...(taskId !== undefined && { task_id: taskId }),
		...(details.partialText !== undefined && { partial_text: details.partialText }),
		...(details.partialOutput && { partial_output: details.partialOutput }),
		...(details.imageUrls && { image_urls: [...details.imageUrls] }),
		retryable,
		advice,
	};
}

/** What an n8n error shows. */
interface Shown {
	/** What happened, in one line. */
	message: string;
	/** What to do. */
	description: string;
	/** For n8n's details of the error. */
	context: IDataObject;
}

/**
 * The only place that turns a failure into n8n's form. One line says what happened, and the
 * description says what to do.
 *
 * @param error what the client threw; anything else is passed on as an operation error
 * @param itemIndex the item that failed
 * @param unfinished what else the run leaves behind
 */
export function nodeError(
	node: INode,
	error: unknown,
	itemIndex: number | undefined,
	unfinished: UnfinishedWork = NOTHING,
): NodeApiError | NodeOperationError {
	if (error instanceof ModelAccessError) {
		const shown = withUnfinishedWork(describe(error), unfinished);
		return show(createError(node, error, itemIndex), shown);
	}
	const made = isNodeError(error)
		? error
		: new NodeOperationError(node, error as Error, { itemIndex });
	const message = shorten(made.message);
	const description = shorten(made.description ?? '');
	const context = { itemIndex: made.context.itemIndex ?? itemIndex };
	return show(made, withUnfinishedWork({ message, description, context }, unfinished));
}

function isNodeError(error: unknown): error is NodeApiError | NodeOperationError {
	return error instanceof NodeApiError || error instanceof NodeOperationError;
}

function describe(error: ModelAccessError): Shown {
	const { advice, taskId, requestId, clientRequestId } = error.details;
	const identifiers = [
		taskId && `Task ID: ${taskId}.`,
		requestId && `Request ID: ${requestId}.`,
		clientRequestId && `Client request ID: ${clientRequestId}.`,
	];
	return {
		message: error.message,
		description: [shorten(advice), ...identifiers].filter(Boolean).join(' '),
		context: { details: errorDetails(error) },
	};
}

function createError(
	node: INode,
	error: ModelAccessError,
	itemIndex: number | undefined,
): NodeApiError | NodeOperationError {
	const { message, details } = error;
	if (error instanceof ValidationError || error instanceof CanceledError) {
		return new NodeOperationError(node, message, { itemIndex });
	}
	const httpCode = details.httpStatus === undefined ? {} : { httpCode: String(details.httpStatus) };
	return new NodeApiError(node, {}, { message, itemIndex, ...httpCode });
}

/**
 * Sets what an error of n8n's shows. n8n replaces messages in which it finds a system code, even
 * inside a word, so they are set once more after the error is made.
 */
function show<E extends NodeApiError | NodeOperationError>(
	error: E,
	{ message, description, context }: Shown,
): E {
	if ('details' in context) error.messages = [];
	return Object.assign(error, {
		message,
		description,
		context: { ...error.context, ...context },
	});
}

/** Adds to an error what the run leaves behind: tasks, requests in doubt, answers. */
function withUnfinishedWork(shown: Shown, { tasks, doubts, answers }: UnfinishedWork): Shown {
	const accepted = [...tasks].sort((a, b) => a.itemIndex - b.itemIndex);
	const inDoubt = [...doubts].sort((a, b) => a.itemIndex - b.itemIndex);
	const lines = [tellTasks(accepted), tellDoubts(inDoubt), tellAnswers(answers)].flat();
	return {
		message: shown.message + countTasks(tasks),
		description: [shown.description, ...lines].filter(Boolean).join(LINE_BREAK),
		context: {
			...shown.context,
			...(accepted.length > 0 && {
				acceptedTasks: accepted.map(({ itemIndex, taskId }) => ({
					item: itemIndex,
					task_id: taskId,
				})),
			}),
			...(inDoubt.length > 0 && {
				inDoubt: inDoubt.map(({ itemIndex, message, partialText }) => ({
					item: itemIndex,
					message,
					...(partialText !== undefined && { partial_text: partialText }),
				})),
			}),
		},
	};
}

/** n8n shows a description as HTML, where other line breaks do not count. */
const LINE_BREAK = '<br>\n';

/** A description whose reader shows it as plain text: on one line. */
export const onOneLine = (description: string) => description.replaceAll(LINE_BREAK, ' ');

function countTasks({ length }: TaskRecord[]): string {
	if (length === 0) return '';
	return length === 1
		? ' – 1 image task of another item was accepted'
		: ` – ${length} image tasks of other items were accepted`;
}

function tellTasks(tasks: TaskRecord[]): string[] {
	if (tasks.length === 0) return [];
	return [
		'Image tasks of other items were accepted and may be charged. Do not submit them again: fetch each with Task → Wait.',
		...tasks.map(({ itemIndex, taskId }) => `Item ${itemIndex}: ${taskId}`),
	];
}

function tellDoubts(doubts: UnfinishedWork['doubts']): string[] {
	if (doubts.length === 0) return [];
	return [
		'These requests may have been executed and charged as well. Check the usage in the gateway’s console.',
		...doubts.map(({ itemIndex, message }) => `Item ${itemIndex}: ${message}`),
	];
}

function tellAnswers(answers: number): string {
	if (answers === 0) return '';
	const [were, areLost, them] =
		answers === 1
			? ['answer of another item was', 'It is lost', 'it']
			: ['answers of other items were', 'They are lost', 'them'];
	return `${answers} ${were} received. ${areLost} unless Retry On Fail returns ${them}. Set On Error to Continue to keep what succeeds.`;
}
