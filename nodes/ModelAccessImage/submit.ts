import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { ModelAccessError, FailedTaskError } from '../shared/api/errors/errors';
import type { ImageRequest } from '../shared/api/images/image-request';
import { Refusals } from '../shared/api/images/refusals';
import { submitImageTask, type SubmitKind } from '../shared/api/images/submit-task';
import type { PollResult } from '../shared/api/images/task';
import { findDifferences } from '../shared/api/images/differences';
import { downloadImages } from './download';
import type { SubmitSettings } from './fields';
import type { ImageScope } from './scope';
import { taskOutput, waitForTask, type AwaitedTask } from './wait';

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
interface SubmittedTask extends AwaitedTask {
	/** The item of the task as it was accepted. */
	accepted: IDataObject;
}

/**
 * Submits a task once, however often the node is tried, and makes items of what becomes of it. An
 * image that the rate limit refuses is submitted again, since nothing was made.
 * @throws {ModelAccessError} from the submit on, every error carries the task's ID
 */
export async function submitAndDeliver(
	scope: ImageScope,
	{ wait, files }: SubmitSettings,
	submission: Submission,
): Promise<INodeExecutionData[]> {
	const submit = async (refusals: Refusals) => await submitOnce(scope, refusals, submission);
	if (!files) {
		const { taskId, accepted, first } = await untilNotRefused(scope, submit);
		scope.client.slot.onSucceeded();
		if (first) scope.onPoll(taskId, first);
		return [{ json: accepted }];
	}
	const { model, prompt } = submission.request;
	try {
		const ended = await untilNotRefused(scope, async (refusals) => {
			return await waitForTask(scope, await submit(refusals), wait);
		});
		const { seen, taskId, isDone } = ended;
		const origin = { taskId, model, prompt };
		if (!isDone) return [{ json: taskOutput(seen, origin, files.simplify) }];
		const output = await downloadImages(scope, seen, origin, files);
		hintAtDifferences(scope, submission.request, seen, output);
		return output;
	} catch (error) {
		throw notToRepeat(await explained(scope, submission.request, error));
	}
}

/** Repeats what the gateway refuses, until the queue or a limit ends it. */
async function untilNotRefused<T>(
	{ client, maxWaitMs }: ImageScope,
	work: (refusals: Refusals) => Promise<T>,
): Promise<T> {
	const refusals = new Refusals(client, maxWaitMs);
	for (;;) {
		const result = await settle(async () => await work(refusals));
		if ('value' in result) return result.value;
		refusals.note(result.error);
	}
}

async function settle<T>(work: () => Promise<T>): Promise<{ value: T } | { error: unknown }> {
	try {
		return { value: await work() };
	} catch (error) {
		return { error };
	}
}

/** Takes up the task of an earlier try, or submits one and keeps it for the next. */
async function submitOnce(
	{ client, maxWaitMs, work }: ImageScope,
	refusals: Refusals,
	{ kind, body, identity }: Submission,
): Promise<SubmittedTask> {
	const earlier = work.restore(identity);
	if (earlier?.kind === 'task') {
		const { taskId, accepted, acceptedAt } = earlier;
		return { taskId, accepted, acceptedAt, endsAt: client.time.now() + maxWaitMs };
	}
	await refusals.waitForSlot();
	const endsAt = client.time.now() + maxWaitMs;
	const first = await submitImageTask({ ...client, deadline: endsAt }, kind, body);
	const { taskId, task, gatewayTime } = first;
	const acceptedAt = task.created_at ?? Math.floor(gatewayTime / 1000);
	const accepted = taskOutput(first, { taskId }, false);
	work.save({ kind: 'task', taskId, accepted, acceptedAt });
	return { taskId, accepted, acceptedAt, first, endsAt };
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
