import { NodeApiError, NodeOperationError, type IDataObject, type INode } from 'n8n-workflow';
import {
	CancelledError,
	InputError,
	ModelAccessError,
	type FailureFacts,
} from '../api/errors/errors';
import type { Redact } from '../api/errors/from-reply';

/** An image task that the gateway accepted in this run of the node. */
export interface TaskRecord {
	itemIndex: number;
	taskId: string;
}

/** What a run that ends in an error leaves behind besides. */
export interface Remains {
	/** Tasks that the gateway accepted, beside the one that the error is about. */
	tasks: TaskRecord[];
	/** Other items whose request may have been executed although nothing came of it. */
	doubts: Array<{ itemIndex: number; message: string; partialText?: string }>;
	/** How many answers of other items were received. */
	answers: number;
}

const NOTHING: Remains = { tasks: [], doubts: [], answers: 0 };

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
 * Takes secrets out of everything an error shows: somebody else may have echoed the key.
 * @returns the same error
 */
export function redacted(error: unknown, redact: Redact): unknown {
	if (!(error instanceof Error)) return error;
	error.message = redact(error.message);
	if (error.stack !== undefined) error.stack = redact(error.stack);
	const shown = error instanceof ModelAccessError ? error.facts : error;
	for (const [name, value] of Object.entries(shown)) {
		const texts = shown as unknown as Record<string, unknown>;
		if (typeof value === 'string') texts[name] = redact(value);
		if (Array.isArray(value)) {
			texts[name] = value.map((one: unknown) => (typeof one === 'string' ? redact(one) : one));
		}
	}
	return error;
}

/**
 * The one place that turns a failure into n8n's form: one line that says what happened, and a
 * description that says what to do.
 *
 * @param error what the client threw; anything else is passed on as an operation error
 * @param itemIndex the item that failed
 * @param remains what else the run leaves behind
 */
export function nodeError(
	node: INode,
	error: unknown,
	itemIndex: number | undefined,
	remains: Remains = NOTHING,
): NodeApiError | NodeOperationError {
	if (!(error instanceof ModelAccessError)) {
		if (error instanceof NodeApiError || error instanceof NodeOperationError) {
			error.context.itemIndex ??= itemIndex;
			return withRemains(error, remains);
		}
		return withRemains(new NodeOperationError(node, error as Error, { itemIndex }), remains);
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
	return withRemains(made, remains);
}

function identifiers({ requestId, taskId }: FailureFacts): string {
	const named = [taskId && `Task ID: ${taskId}.`, requestId && `Request ID: ${requestId}.`];
	return named.filter(Boolean).join(' ');
}

/** How many task IDs a message names; the description and the context name all. */
const TASKS_IN_MESSAGE = 5;

function withRemains<E extends NodeApiError | NodeOperationError>(
	error: E,
	{ tasks, doubts, answers }: Remains,
): E {
	const notes: string[] = [];
	if (tasks.length > 0) {
		const ids = tasks.map(({ taskId }) => taskId);
		const some = ids.slice(0, TASKS_IN_MESSAGE).join(', ');
		const more = ids.length > TASKS_IN_MESSAGE ? ', …' : '';
		error.message += ` – ${ids.length} accepted image ${ids.length === 1 ? 'task' : 'tasks'} besides: ${some}${more}`;
		const listed = tasks.map(({ itemIndex, taskId }) => `item ${itemIndex}: ${taskId}`).join(', ');
		notes.push(
			`These tasks were accepted and may be charged; do not submit them again, fetch each with Task → Wait: ${listed}.`,
		);
		error.context.acceptedTasks = tasks.map(({ itemIndex, taskId }) => ({
			item: itemIndex,
			task_id: taskId,
		}));
	}
	if (doubts.length > 0) {
		const listed = doubts
			.map(({ itemIndex, message }) => `item ${itemIndex}: ${message}`)
			.join('; ');
		notes.push(
			`These requests may have been executed and charged as well; check the usage in the gateway’s console: ${listed}.`,
		);
		error.context.inDoubt = doubts.map(({ itemIndex, message, partialText }) => ({
			item: itemIndex,
			message,
			...(partialText !== undefined && { partial_text: partialText }),
		}));
	}
	if (answers > 0) {
		notes.push(
			`${answers} ${answers === 1 ? 'answer' : 'answers'} of other items had been received; if no further try of the node hands ${answers === 1 ? 'it' : 'them'} on, ${answers === 1 ? 'it is' : 'they are'} lost. Set On Error to Continue to keep what succeeds.`,
		);
	}
	error.description = [error.description, ...notes].filter(Boolean).join(' ');
	return error;
}
