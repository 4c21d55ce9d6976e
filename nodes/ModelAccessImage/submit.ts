import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { FailedTaskError, ModelAccessError } from '../shared/api/errors/errors';
import type { Client } from '../shared/api/http/request';
import type { ImageRequest } from '../shared/api/images/image-request';
import { submitImageTask, type SubmitKind } from '../shared/api/images/submit-task';
import type { PollResult } from '../shared/api/images/task';
import type { ItemScope } from '../shared/n8n/runner/operation';
import type { SubmitSettings } from './fields';
import { progressReport, taskOutput, waitAndDownload } from './wait';

/** What is submitted, and by which its task is known again when the node is tried once more. */
export interface Submission {
	kind: SubmitKind;
	request: ImageRequest;
	/** What is sent: the request itself, or a form made from it. */
	body: Record<string, unknown> | FormData;
	/** Tells this request from others for the same item. */
	identity: unknown;
}

/** A task that the gateway accepted. */
interface Submitted {
	taskId: string;
	/** The item of the task as it was accepted. */
	accepted: IDataObject;
	/** The reply to the submit, unless an earlier try of the node received it. */
	first?: PollResult;
}

/**
 * Submits a task once, however often the node is tried, and makes items of what becomes of it.
 * @throws {ModelAccessError} after the task is accepted every error carries its ID
 */
export async function submitAndDeliver(
	item: ItemScope,
	{ bounds, wait, files }: SubmitSettings,
	submission: Submission,
): Promise<INodeExecutionData[]> {
	const client = item.client(bounds);
	const { taskId, accepted, first } = await submitOnce(item, client, submission);
	const onPoll = progressReport(item, taskId);
	if (!files) {
		if (first) onPoll(first);
		return [{ json: accepted }];
	}
	const { model, prompt } = submission.request;
	try {
		const origin = { taskId, model, prompt };
		return await waitAndDownload(item, client, { origin, wait, files, first, onPoll });
	} catch (error) {
		throw notToRepeat(error);
	}
}

/** Takes up the task of an earlier try, or submits one and keeps it for the next. */
async function submitOnce(
	item: ItemScope,
	client: Client,
	{ kind, body, identity }: Submission,
): Promise<Submitted> {
	const earlier = item.restore(identity);
	if (earlier?.kind === 'task') return earlier;
	const first = await submitImageTask(client, kind, body);
	const { taskId } = first;
	const accepted = taskOutput(taskId, first).json;
	item.save({ kind: 'task', taskId, accepted });
	return { taskId, accepted, first };
}

/**
 * Running this operation once more would submit, and pay for, another task, although this one goes
 * on, unless it has failed.
 */
function notToRepeat(error: unknown): unknown {
	const isOver = error instanceof FailedTaskError;
	return error instanceof ModelAccessError && !isOver ? error.with({ retryable: false }) : error;
}
