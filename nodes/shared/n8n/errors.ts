import { NodeApiError, NodeOperationError, type IDataObject, type INode } from 'n8n-workflow';
import { CancelledError, InputError, ModelAccessError, type FailureFacts } from '../client/errors';

/** An image task that the gateway accepted in this run of the node. */
export interface TaskRecord {
	itemIndex: number;
	taskId: string;
}

/** `error_details` of an item that failed under "Continue". */
export function errorDetails({ facts }: ModelAccessError): IDataObject {
	const { httpStatus, type, code, requestId, taskId, retryable, advice } = facts;
	return {
		...(httpStatus !== undefined && { http_status: httpStatus }),
		...(type !== undefined && { type }),
		...(code !== undefined && { code }),
		...(requestId !== undefined && { request_id: requestId }),
		...(taskId !== undefined && { task_id: taskId }),
		...(facts.partialText !== undefined && { partial_text: facts.partialText }),
		...(facts.imageUrls && { image_urls: facts.imageUrls }),
		retryable,
		advice,
	};
}

/**
 * The one place that turns a failure into n8n's form: one line that says what happened, and a
 * description that says what to do.
 *
 * @param error what the client threw; anything else is passed on as an operation error
 * @param itemIndex the item that failed
 * @param others tasks that the gateway accepted for other items of the run
 */
export function nodeError(
	node: INode,
	error: unknown,
	itemIndex: number | undefined,
	others: TaskRecord[] = [],
): NodeApiError | NodeOperationError {
	if (!(error instanceof ModelAccessError)) {
		if (error instanceof NodeApiError || error instanceof NodeOperationError) {
			error.context.itemIndex ??= itemIndex;
			return withOthers(error, others);
		}
		return withOthers(new NodeOperationError(node, error as Error, { itemIndex }), others);
	}
	const { facts, message } = error;
	const description = [facts.advice, identifiers(facts)].filter(Boolean).join(' ');
	const local = error instanceof InputError || error instanceof CancelledError;
	const made = local
		? new NodeOperationError(node, message, { itemIndex, description })
		: new NodeApiError(
				node,
				{},
				{
					message,
					description,
					itemIndex,
					...(facts.httpStatus !== undefined && { httpCode: String(facts.httpStatus) }),
				},
			);
	// n8n replaces messages in which it finds a system code, even inside a word.
	made.message = message;
	made.description = description;
	made.messages = [];
	made.context.details = errorDetails(error);
	return withOthers(made, others);
}

function identifiers({ requestId, taskId }: FailureFacts): string {
	const named = [taskId && `Task ID: ${taskId}.`, requestId && `Request ID: ${requestId}.`];
	return named.filter(Boolean).join(' ');
}

/** How many task IDs a message names; the description and the context name all. */
const TASKS_IN_MESSAGE = 5;

function withOthers<E extends NodeApiError | NodeOperationError>(
	error: E,
	others: TaskRecord[],
): E {
	if (others.length === 0) return error;
	const ids = others.map(({ taskId }) => taskId);
	const some = ids.slice(0, TASKS_IN_MESSAGE).join(', ');
	const more = ids.length > TASKS_IN_MESSAGE ? ', …' : '';
	const whose = error.context.itemIndex === undefined ? '' : ' of other items';
	error.message += ` – ${ids.length} accepted image ${ids.length === 1 ? 'task' : 'tasks'}${whose}: ${some}${more}`;
	const listed = others.map(({ itemIndex, taskId }) => `item ${itemIndex}: ${taskId}`).join(', ');
	error.description = [
		error.description,
		`These tasks were accepted and may be charged; do not submit them again, fetch each with Task → Wait: ${listed}.`,
	]
		.filter(Boolean)
		.join(' ');
	error.context.acceptedTasks = others.map(({ itemIndex, taskId }) => ({
		item: itemIndex,
		task_id: taskId,
	}));
	return error;
}
