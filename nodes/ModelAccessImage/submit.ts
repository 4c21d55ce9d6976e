import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { ModelAccessError, FailedTaskError } from '../shared/api/errors/errors';
import { findDifferences } from '../shared/api/images/differences';
import type { ImageRequest } from '../shared/api/images/image-request';
import {
	Refusals,
	submitUntilAccepted,
	type ImageSubmission,
} from '../shared/api/images/submit-task';
import { readTask, type PollResult } from '../shared/api/images/task';
import { taskOutput, type ImageOrigin } from '../shared/api/images/task-images';
import { downloadImages } from './download';
import type { ImageScope, SubmitSettings, WaitSettings } from './fields';
import { waitForTask, type AwaitedTask, type EndOfWait } from './wait';

/** What is submitted, and by which its task is known again when the node is tried once more. */
export interface Submission extends Omit<ImageSubmission, 'maxWaitMs'> {
	request: ImageRequest;
	/** Tells this request from others for the same item. */
	identity: unknown;
}

/** A task that the gateway accepted, now or at an earlier try of the node. */
interface SubmittedTask extends AwaitedTask {
	/** The item of the task as it was accepted. */
	accepted: IDataObject;
	/** How the gateway refused the image before; absent: it was not asked at this try. */
	refusals?: Refusals;
}

/**
 * Submits a task once, however often the node is tried, and makes items of what becomes of it. An
 * image that the rate limit refuses is submitted again, since nothing was made.
 * @throws {ModelAccessError} from the submit on, every error carries the task's ID
 */
export async function submitAndDeliver(
	{ scope, wait, simplify, files }: SubmitSettings,
	submission: Submission,
): Promise<INodeExecutionData[]> {
	const { model, prompt } = submission.request;
	if (!files) {
		const { taskId, accepted, first } = await takeUpOrSubmit(scope, submission);
		scope.client.slot.onSucceeded();
		if (first) scope.onPoll(taskId)(first);
		return [{ json: acceptedOutput(accepted, { taskId, model, prompt }, simplify) }];
	}
	try {
		const { seen, taskId, isDone } = await submitAndWait(scope, submission, wait);
		const origin = { taskId, model, prompt };
		if (!isDone) return [{ json: taskOutput(seen, origin, simplify) as IDataObject }];
		const output = await downloadImages(scope, seen, origin, files);
		hintAtDifferences(scope, submission.request, seen, output);
		return output;
	} catch (error) {
		throw notToRepeat(await explained(scope, submission.request, error));
	}
}

/** The output of a task that the node does not wait for, also of one that an earlier try submitted. */
function acceptedOutput(accepted: IDataObject, origin: ImageOrigin, simplify: boolean) {
	const { retry_after: retryAfter } = accepted;
	const seen = {
		json: accepted,
		task: readTask(accepted),
		retryAfter: typeof retryAfter === 'number' ? retryAfter : undefined,
	};
	return taskOutput(seen, origin, simplify) as IDataObject;
}

/** Submits again if the task fails because the gateway refused it, until the queue or a limit ends it. */
async function submitAndWait(
	scope: ImageScope,
	submission: Submission,
	wait: WaitSettings,
): Promise<EndOfWait> {
	let refusals: Refusals | undefined;
	for (;;) {
		const task = await takeUpOrSubmit(scope, submission, refusals);
		try {
			return await waitForTask(scope, task, wait);
		} catch (error) {
			refusals ??= task.refusals ?? new Refusals(scope.client, scope.maxWaitMs);
			refusals.note(error);
		}
	}
}

/** Takes up the task of an earlier try, or submits one and keeps it for the next. */
async function takeUpOrSubmit(
	{ client, maxWaitMs, work }: ImageScope,
	{ kind, body, identity }: Submission,
	earlierRefusals?: Refusals,
): Promise<SubmittedTask> {
	const earlier = work.restore(identity);
	if (earlier?.kind === 'task') {
		const { taskId, accepted, acceptedAt } = earlier;
		return { taskId, accepted, acceptedAt, endsAt: client.time.now() + maxWaitMs };
	}
	const image = { kind, body, maxWaitMs };
	const { first, endsAt, refusals } = await submitUntilAccepted(client, image, earlierRefusals);
	const { taskId, task, gatewayTime } = first;
	const acceptedAt = task.created_at ?? Math.floor(gatewayTime / 1000);
	const accepted = taskOutput(first, { taskId }, false) as IDataObject;
	work.save({ kind: 'task', taskId, accepted, acceptedAt });
	return { taskId, accepted, acceptedAt, first, endsAt, refusals };
}

/** The same error, with what the model list says if a failed task was about the model. */
async function explained(
	{ client }: ImageScope,
	{ model }: ImageRequest,
	error: unknown,
): Promise<unknown> {
	if (!(error instanceof FailedTaskError) || error.details.finding !== 'model') return error;
	const advice = await client.adviseOnModel?.({ model }, error.details);
	return advice === undefined ? error : error.with({ advice: `Nothing was made. ${advice}` });
}

/**
 * Running this operation once more would submit, and pay for, another task, although this one goes
 * on, unless it has failed.
 */
function notToRepeat(error: unknown): unknown {
	const goesOn =
		error instanceof ModelAccessError &&
		error.details.taskId !== undefined &&
		!(error instanceof FailedTaskError);
	return goesOn ? error.with({ retryable: false }) : error;
}

/** Hints, once a run, at what the gateway made otherwise than it was asked to. */
function hintAtDifferences(
	{ hint }: ImageScope,
	request: ImageRequest,
	{ task }: PollResult,
	output: INodeExecutionData[],
) {
	for (const [what, text] of findDifferences(request, task, output.map(getMimeType))) {
		hint(what, text);
	}
}

const getMimeType = ({ json }: INodeExecutionData): string | undefined =>
	(json.file as { mime_type?: string } | undefined)?.mime_type;
