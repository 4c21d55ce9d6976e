import { formatAdvice } from '../errors/advice';
import {
	CanceledError,
	FailedTaskError,
	ModelAccessError,
	TaskError,
	UnknownTaskError,
	type ApiError,
} from '../errors/errors';
import { sanitizeField } from '../errors/sanitize';
import { statusMeaning } from '../errors/status-table';
import { formatUnixTime } from '../http/clock';
import type { Client } from '../http/request';
import { statusOutcome } from '../http/retry';
import type { ImageTask } from '../schemas';
import type { PollResult } from './task';

/** A failure that happened after the gateway accepted the task, with the task's ID. */
export function withTask(error: unknown, taskId: string): unknown {
	if (!(error instanceof ModelAccessError)) return error;
	const told = error instanceof TaskError || error instanceof CanceledError;
	if (told || error.details.taskId !== undefined) return error.withTaskId(taskId);
	return error.with({ taskId, advice: `${ACCEPTED_ADVICE} ${error.details.advice}` });
}

const ACCEPTED_ADVICE =
	'The image task was accepted and may be charged: do not submit it again, fetch it with Task → Wait and its task ID.';

/** The error of a task that the gateway does not know. */
export function unknownTask(taskId: string, { details }: ApiError): UnknownTaskError {
	return new UnknownTaskError(`The gateway knows no image task "${taskId}" (HTTP 404)`, {
		...details,
		taskId,
		retryable: false,
		advice:
			'The task ID is wrong, the task has expired, or it was submitted with another API key: the gateway answers the same for all three. Use the credential that submitted it, and collect pictures before expires_at.',
	});
}

/** The error of a task whose status is `failed`. */
export function failedTask(
	client: Pick<Client, 'redact' | 'optionNames'>,
	taskId: string,
	{ error, http_status }: ImageTask,
): FailedTaskError {
	const said = (text: string | undefined) => sanitizeField(client.redact, text);
	const reason = said(error?.message || error?.type) || 'the gateway gave no reason';
	const meaning = http_status !== undefined && http_status >= 400 && statusMeaning(http_status);
	const outcome = http_status !== undefined ? statusOutcome(http_status) : 'refused';
	return new FailedTaskError(`The image task failed: ${reason}`, {
		taskId,
		httpStatus: http_status,
		type: said(error?.type),
		code: said(error?.code),
		retryable: outcome === 'rateLimited' || outcome === 'unavailable',
		advice: formatAdvice(
			[
				...(meaning ? meaning.advice : []),
				'Change the request if the reason asks for it, and submit a new task; this one will not be done.',
			],
			client.optionNames,
		),
	});
}

/** The error of a task that is not done when the waiting ends. */
export function timedOut(
	{ optionNames }: Client,
	taskId: string,
	{ task }: PollResult,
	{ because, waitMs }: { because: 'deadline' | 'expiry'; waitMs: number },
): TaskError {
	const wait = `The next look at it would have been in ${Math.ceil(waitMs / 1000)} s.`;
	const expires =
		task.expires_at === undefined
			? ''
			: ` The gateway keeps the task until ${formatUnixTime(task.expires_at)}.`;
	return because === 'expiry'
		? new TaskError('The image task is about to expire and is not done', {
				taskId,
				retryable: false,
				advice: `${wait}${expires} Nothing can be fetched after that.`,
			})
		: new TaskError('The image was not done within Max Wait', {
				taskId,
				retryable: true,
				advice: formatAdvice(
					[
						`${wait} The task goes on and may be charged: do not submit it again, fetch it with Task → Wait and its task ID.${expires}`,
						{
							ifOption: 'Max Wait',
							text: 'Raise the Max Wait option for images that take longer.',
						},
					],
					optionNames,
				),
			});
}
