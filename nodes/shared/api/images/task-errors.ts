import { formatAdvice, type Advice } from '../errors/advice';
import { describeError } from '../errors/describe';
import { impliedStatus } from '../errors/error-body';
import {
	CanceledError,
	FailedTaskError,
	ModelAccessError,
	TaskError,
	UnknownTaskError,
	type ApiError,
	type ErrorDetails,
	type Refusal,
} from '../errors/errors';
import { adviseOn, isQuotaExhausted, type Evidence } from '../errors/evidence';
import { sanitizeField } from '../errors/sanitize';
import { TRY_LATER } from '../errors/status-table';
import { formatUnixTime } from '../http/clock';
import type { Client } from '../http/request';
import { statusOutcome } from '../http/retry';
import type { ImageTask } from '../schemas';
import { getTaskError, type PollResult } from './task';

/** A failure that happened after the gateway accepted the task, with the task's ID. */
export function withTask(error: unknown, taskId: string): unknown {
	if (!(error instanceof ModelAccessError)) return error;
	const told = error instanceof TaskError || error instanceof CanceledError;
	if (told || error.details.taskId !== undefined) return error.withTaskId(taskId);
	return error.with({ taskId, advice: formatAdvice([error.details.advice, ACCEPTED_ADVICE]) });
}

const FETCH_IT = 'Do not submit it again: fetch it with Task → Wait and its task ID.';

const ACCEPTED_ADVICE = `The image task was accepted and may be charged. ${FETCH_IT}`;

/**
 * The error of a task that the gateway does not know.
 * @param acceptedAt Unix seconds at which the gateway accepted it; absent: a user entered the ID
 */
export function unknownTask(
	taskId: string,
	{ details }: ApiError,
	acceptedAt?: number,
): UnknownTaskError {
	const known = { ...details, taskId, retryable: false };
	if (acceptedAt === undefined) {
		return new UnknownTaskError(`The gateway knows no image task "${taskId}" (HTTP 404)`, {
			...known,
			advice:
				'The task ID is wrong, the task has expired, or another API key submitted it. Use the credential that submitted the task. If that does not help, check the usage in the gateway’s console: the task may have been charged.',
		});
	}
	return new UnknownTaskError('The gateway has lost the image task (HTTP 404)', {
		...known,
		maybeExecuted: true,
		advice: `The gateway accepted it at ${formatUnixTime(acceptedAt)} and no longer knows it. ${MAYBE_CHARGED}`,
	});
}

const MAYBE_CHARGED =
	'The task may be charged. Check the usage in the gateway’s console before you submit it again.';

/** The error of a task that ended without an image. */
export function failedTask(
	client: Pick<Client, 'redact' | 'optionNames'>,
	taskId: string,
	task: ImageTask,
): FailedTaskError {
	const evidence = getEvidence(client, task);
	const outcome = taskOutcome(evidence);
	const { status, code, type, message } = evidence;
	const found = adviseOn(evidence);
	const { title, advice, ...known } = OUTCOMES[outcome](found.advice);
	const details: ErrorDetails = {
		...known,
		taskId,
		finding: found.kind,
		httpStatus: status,
		type,
		code,
		advice: formatAdvice(advice, client.optionNames),
	};
	const reason = message || type || 'the gateway gave no reason';
	// What may have been made was not refused, whatever the code says.
	const told = outcome === 'inDoubt' ? title : (found.title ?? title);
	const parts = { title: told, status, code, message: reason };
	return new FailedTaskError(describeError(parts), details);
}

function getEvidence(client: Pick<Client, 'redact'>, task: ImageTask): Evidence {
	const error = getTaskError(task);
	const said = (text: string | undefined) => sanitizeField(client.redact, text);
	const fields = {
		type: said(error?.type),
		code: said(error?.code),
		message: said(error?.message),
	};
	const { http_status } = task;
	// Without a status, what was done is in doubt. With a success status, the error itself tells.
	const isSuccess = http_status !== undefined && http_status < 400;
	const status = isSuccess ? impliedStatus(fields) : http_status;
	return { ...fields, status, source: 'failedTask' };
}

type TaskOutcome = Refusal | 'inDoubt' | 'refused';

/** What a message says of a failure after the image was made, and charged. */
const STORING = /\bstor(e|ed|ing|age)\b|upload/i;

/**
 * What a failed task stands for. Only a refusal by 429 or 503 shows that nothing was made. Other
 * 5xx, and no status, leave it in doubt.
 */
function taskOutcome(evidence: Evidence): TaskOutcome {
	const { status } = evidence;
	if (status === undefined) return 'inDoubt';
	if (isQuotaExhausted(evidence)) return 'refused';
	const outcome = statusOutcome(status);
	if (outcome === 'unavailable') return isAboutStoring(evidence) ? 'inDoubt' : outcome;
	if (outcome === 'rateLimited' || outcome === 'refused') return outcome;
	return 'inDoubt';
}

function isAboutStoring({ code, type, message }: Evidence): boolean {
	return [code, type, message].some((text) => STORING.test((text ?? '').replaceAll('_', ' ')));
}

type Known = Pick<ErrorDetails, 'retryable' | 'maybeExecuted' | 'refusal'>;

/** What a refusal means for its reader. */
export const NOTHING_MADE = 'Nothing was made or charged.';

/** What each outcome means for its reader. */
const OUTCOMES: Record<TaskOutcome, (found: Advice) => Known & { title: string; advice: Advice }> =
	{
		rateLimited: (found) => ({
			title: 'The gateway’s rate limit refused the image task',
			retryable: true,
			refusal: 'rateLimited',
			advice: [NOTHING_MADE, ...found],
		}),
		unavailable: (found) => ({
			title: 'The gateway could not take the image task',
			retryable: true,
			refusal: 'unavailable',
			advice: [NOTHING_MADE, ...found],
		}),
		refused: (found) => ({
			title: 'The gateway refused the image task',
			retryable: false,
			advice: [...found, ...(found.some(saysNothingMade) ? [] : ['Nothing was made.'])],
		}),
		inDoubt: (found) => ({
			title: 'The image task failed',
			retryable: false,
			maybeExecuted: true,
			advice: [
				'The image may have been made and charged, although it cannot be fetched. Check the usage in the gateway’s console before you submit it again.',
				...found.filter((sentence) => !saysNothingMade(sentence) && sentence !== TRY_LATER),
			],
		}),
	};

const saysNothingMade = (sentence: Advice[number]) =>
	typeof sentence === 'string' && sentence.includes('Nothing was made');

/** The error of a task that is not done when the waiting ends. */
export function timedOut(
	{ optionNames }: Client,
	taskId: string,
	seen: PollResult,
	end: EarlyEnd & { because: 'deadline' | 'expiry' },
): TaskError {
	const { expires_at, status } = seen.task;
	const expires =
		expires_at === undefined
			? ''
			: ` The gateway keeps the task until ${formatUnixTime(expires_at)}.`;
	const stands = `${tellStatus(status, seen)}${tellEarlyEnd(seen, end)}`;
	if (end.because === 'expiry') {
		return new TaskError('The image task is about to expire and is not done', {
			taskId,
			retryable: false,
			advice: `${stands}${expires} Nothing can be fetched after that.`,
		});
	}
	const isLost = secondsAtWork(seen) >= LOST_AFTER;
	const advice: Advice = isLost
		? [stands, PROBABLY_LOST]
		: [
				`${stands} The task goes on and may be charged. ${FETCH_IT}${expires}`,
				{ ifOption: 'Max Wait', text: 'Raise the Max Wait option for images that take longer.' },
			];
	return new TaskError('The image was not done within Max Wait', {
		taskId,
		retryable: !isLost,
		advice: formatAdvice(advice, optionNames),
	});
}

/** When the waiting had to end, and the wait that the gateway asks for before another look. */
interface EarlyEnd {
	waitMs: number;
	/** Milliseconds since the epoch. */
	endsAt: number;
}

/** Why the waiting ended before its time. */
function tellEarlyEnd({ now, retryAfter }: PollResult, { waitMs, endsAt }: EarlyEnd): string {
	const early = Math.round((endsAt - now) / 1000);
	if (retryAfter === undefined || early < 1) return '';
	const next = formatUnixTime((now + waitMs) / 1000);
	return ` The gateway asked the node not to poll again before ${next}, so the node stopped waiting ${formatDuration(early)} early.`;
}

/** Seconds after which a task that is still at work was probably lost. */
const LOST_AFTER = 3600;

const PROBABLY_LOST =
	'Gateways end tasks after about half an hour. A restart of the gateway probably lost this one. Check the usage in the gateway’s console to see whether it was charged.';

/** Characters of a status that a gateway may make up. */
const LONGEST_STATUS = 50;

function tellStatus(status: string, seen: PollResult): string {
	const seconds = secondsAtWork(seen);
	const since = seconds >= 1 ? `, ${formatDuration(seconds)} after it was accepted` : '';
	const word = sanitizeField((text) => text, status, LONGEST_STATUS) ?? '';
	return `Its last status was ${word}${since}.`;
}

/** By the gateway's clock; 0 if it does not say when the task began. */
function secondsAtWork({ task, gatewayTime }: PollResult): number {
	return task.created_at === undefined ? 0 : gatewayTime / 1000 - task.created_at;
}

/** `40 s`, `15 min`, `2 h 5 min`. */
function formatDuration(seconds: number): string {
	if (seconds < 120) return `${Math.round(seconds)} s`;
	const minutes = Math.round(seconds / 60);
	if (minutes < 120) return `${minutes} min`;
	const rest = minutes % 60;
	return `${Math.floor(minutes / 60)} h${rest > 0 ? ` ${rest} min` : ''}`;
}
