import { adviceFor } from '../errors/advice';
import {
	AnswerError,
	CancelledError,
	FailedTaskError,
	InputError,
	ModelAccessError,
	StatusError,
	TaskError,
	UnknownTaskError,
} from '../errors/errors';
import { quoteField } from '../errors/sanitize';
import { requireText } from '../errors/require-text';
import { unusableAnswer } from '../errors/from-reply';
import { fieldsOf, parseJson } from '../http/json';
import { exchange, parseAnswer, request, type Answer, type Client } from '../http/request';
import { pause, statusOutcome } from '../http/retry';
import { gatewayNow, retryAfterSeconds } from '../http/retry-after';
import { checkAnswer, imageTaskSchema, type ImageTask } from '../schemas';
import { statusMeaning } from '../errors/status-table';
import { unixTime } from '../http/clock';
import { header, type GatewayReply } from '../http/transport';

/** What one reply said about a task. */
export interface Observation {
	/** Checked, for reading. */
	task: ImageTask;
	/** As the gateway sent it. */
	json: Record<string, unknown>;
	/** Seconds, where the reply named them. */
	retryAfter?: number;
	/** When the reply was here: milliseconds since the epoch, by the local clock. */
	now: number;
	/** The same moment by the gateway's clock. */
	gatewayNow: number;
}

/** A task the gateway has accepted. From here on it may cost money and must not get lost. */
export interface AcceptedTask extends Observation {
	taskId: string;
}

/** Which of the two submit endpoints. */
export type SubmitKind = 'generations' | 'edits';

/**
 * Submits an image task, once (see the retry table).
 *
 * Where the 202's body can't be read, the ID is taken from its `Location`: the task is paid for.
 * @throws {ModelAccessError} see {@link request}; nothing says that a task exists
 * @see contract, "POST /v1/images/generations/async" and "POST /v1/images/edits/async"
 */
export async function submitImageTask(
	client: Client,
	kind: SubmitKind,
	body: Record<string, unknown> | FormData,
): Promise<AcceptedTask> {
	const path = `/images/${kind}/async`;
	return acceptedTask(client, await exchange(client, 'image', { method: 'POST', path, body }));
}

/**
 * Reads a task once.
 * @throws {TaskError} the gateway does not know the task
 * @throws {ModelAccessError} see {@link request}; every error carries the task's ID
 * @see contract, "GET /v1/images/tasks/<task_id>" and "Errors" 6
 */
export async function pollImageTask(client: Client, taskId: string): Promise<Observation> {
	try {
		const path = `/images/tasks/${encodeURIComponent(taskId)}`;
		const answer = await request(client, 'read', { method: 'GET', path });
		const what = { what: 'image task', kind: 'read' } as const;
		return observe(client, answer, checkAnswer(imageTaskSchema, answer, what));
	} catch (error) {
		const unknown = error instanceof StatusError && error.facts.httpStatus === 404;
		throw unknown ? unknownTask(taskId, error) : withTask(error, taskId);
	}
}

/** Where the waiting for a task stands. Serialisable, so that it can be taken up again. */
export interface PollState {
	taskId: string;
	/** How often in a row the gateway named no time to wait. */
	unnamedWaits: number;
}

export interface PollSettings {
	/** Milliseconds; no wait is shorter. */
	pollIntervalMs: number;
	/** Milliseconds since the epoch; no wait ends later. */
	deadline: number;
}

export type PollStep =
	/** The task has its pictures. */
	| { next: 'completed' }
	/** The task ended without. */
	| { next: 'failed' }
	/** Poll again after `waitMs`. */
	| { next: 'wait'; waitMs: number; state: PollState }
	/** A wait of `waitMs` would end too late. */
	| { next: 'giveUp'; waitMs: number; because: 'deadline' | 'expiry' };

const UNNAMED_WAIT_MS = 3_000;
const LONGEST_UNNAMED_WAIT_MS = 15_000;

/**
 * One step of waiting for a task: what was seen in, what to do out. Pure.
 * @see contract, "States and transitions" and "Limits" (poll fallback)
 */
export function pollStep(state: PollState, seen: Observation, settings: PollSettings): PollStep {
	if (seen.task.status === 'completed' || seen.task.status === 'failed') {
		return { next: seen.task.status };
	}
	const named = seen.retryAfter !== undefined;
	const asked = named
		? seen.retryAfter! * 1000
		: Math.min(LONGEST_UNNAMED_WAIT_MS, UNNAMED_WAIT_MS * 1.5 ** state.unnamedWaits);
	const waitMs = Math.max(asked, settings.pollIntervalMs);

	const expiry = expiryMoment(seen);
	if (seen.now + waitMs > Math.min(settings.deadline, expiry)) {
		return { next: 'giveUp', waitMs, because: expiry < settings.deadline ? 'expiry' : 'deadline' };
	}
	const unnamedWaits = named ? 0 : state.unnamedWaits + 1;
	return { next: 'wait', waitMs, state: { ...state, unnamedWaits } };
}

/** When the task's record ends, by the local clock. */
function expiryMoment({ task, now, gatewayNow }: Observation): number {
	return task.expires_at === undefined ? Infinity : now + (task.expires_at * 1000 - gatewayNow);
}

/** How the waiting ended, with the last that was seen. */
export interface Waited {
	end: 'completed' | 'timedOut';
	seen: Observation;
	/** For `timedOut`: the error that says so, to be thrown or not. */
	error?: ModelAccessError;
}

/**
 * Polls a task until it ends, the deadline or its expiry is near, or the client is cancelled.
 *
 * @param first what is already known of the task, such as the 202; else it is polled at once
 * @param onSeen told of each reply
 * @throws {TaskError} the task failed, or the gateway no longer knows it
 * @throws {ModelAccessError} a poll failed for good; the error carries the task's ID
 */
export async function waitForImageTask(
	client: Client,
	taskId: string,
	{
		first,
		onSeen,
		...settings
	}: PollSettings & { first?: Observation; onSeen?: (seen: Observation) => void },
): Promise<Waited> {
	let state: PollState = { taskId, unnamedWaits: 0 };
	let seen = first ?? (await pollImageTask(client, taskId));
	for (;;) {
		onSeen?.(seen);
		const step = pollStep(state, seen, settings);
		if (step.next === 'completed') {
			// The gateway has room for another by now, also while the pictures are downloaded.
			client.place?.leave();
			return { end: 'completed', seen };
		}
		if (step.next === 'failed') throw failedTask(client, taskId, seen.task);
		if (step.next === 'giveUp') {
			return { end: 'timedOut', seen, error: timedOut(client, taskId, seen, step) };
		}
		state = step.state;
		try {
			await pause(client, step.waitMs);
			seen = await pollImageTask(client, taskId);
		} catch (error) {
			const late = withTask(error, taskId);
			if (!(late instanceof ModelAccessError && late.facts.outOfTime)) throw late;
			return { end: 'timedOut', seen, error: late };
		}
	}
}

const TASK_ID = 'Task ID';
const TASK_ID_ADVICE =
	'Enter the task_id that Image → Generate returned, or the poll_url beside it, of the gateway in the credential.';

/**
 * Reads a task's ID from what a user has: the ID, a poll path, or a poll URL of the same gateway.
 * @param baseUrl the normalised base address of the credential
 * @throws {InputError} nothing there, an address of another gateway, or no task address at all
 */
export function parseTaskId(input: unknown, baseUrl: string): string {
	const text = typeof input === 'number' ? String(input) : input;
	requireText(text, TASK_ID, TASK_ID_ADVICE);
	const id = text.includes('/') ? taskIdOfAddress(text.trim(), baseUrl) : text.trim();
	if (/^\.{1,2}$/.test(id)) throw new InputError(TASK_ID, 'is no task ID', TASK_ID_ADVICE);
	return id;
}

/** @throws {InputError} */
function taskIdOfAddress(text: string, baseUrl: string): string {
	if (!URL.canParse(text, baseUrl)) {
		throw new InputError(TASK_ID, 'is not a valid address', TASK_ID_ADVICE);
	}
	const url = new URL(text, baseUrl);
	if (url.origin !== new URL(baseUrl).origin) {
		throw new InputError(TASK_ID, 'is an address of another gateway', TASK_ID_ADVICE);
	}
	const id = taskIdOfPath(url.pathname);
	if (id === undefined)
		throw new InputError(TASK_ID, 'is not the address of an image task', TASK_ID_ADVICE);
	return id;
}

function taskIdOfPath(path: string): string | undefined {
	const encoded = /\/images\/tasks\/([^/?#]+)\/?([?#]|$)/.exec(path)?.[1];
	try {
		return encoded === undefined ? undefined : decodeURIComponent(encoded);
	} catch {
		return undefined;
	}
}

/**
 * Reads the reply to a submit. The task exists and may be paid for, so its ID is taken from
 * wherever it stands: the body, even one that is not as it should be, or the `Location`.
 * @throws {AnswerError} no ID stands anywhere
 */
function acceptedTask(client: Client, reply: GatewayReply): AcceptedTask {
	const body = fieldsOf(parseJson(reply.body));
	const taskId =
		idOf(body.task_id) ?? idOf(body.id) ?? taskIdOfPath(header(reply.headers, 'location') ?? '');
	if (taskId === undefined) {
		const { requestId } = parseAnswer(client, 'image', reply);
		throw new AnswerError('The gateway accepted the image task, but named no task ID', {
			...unusableAnswer('image'),
			httpStatus: reply.status,
			requestId,
		});
	}
	const checked = imageTaskSchema.safeParse(body);
	const task = checked.success ? checked.data : { task_id: taskId, status: 'processing' };
	const json = checked.success ? body : { ...body, ...task };
	return { ...observe(client, { json, reply }, task), taskId };
}

function idOf(value: unknown): string | undefined {
	const text = typeof value === 'number' ? String(value) : value;
	return typeof text === 'string' && text !== '' ? text : undefined;
}

function observe(client: Client, { json, reply }: Answer, task: ImageTask): Observation {
	const now = client.time.now();
	return {
		task,
		json: json as Record<string, unknown>,
		retryAfter: retryAfterSeconds(reply.headers, now),
		now,
		gatewayNow: gatewayNow(reply.headers, now),
	};
}

function withTask(error: unknown, taskId: string): unknown {
	if (!(error instanceof ModelAccessError)) return error;
	const told = error instanceof TaskError || error instanceof CancelledError;
	if (told || error.facts.taskId !== undefined) return error.withTaskId(taskId);
	return error.with({ taskId, advice: `${ACCEPTED_ADVICE} ${error.facts.advice}` });
}

const ACCEPTED_ADVICE =
	'The image task was accepted and may be charged: do not submit it again, fetch it with Task → Wait and its task ID.';

function unknownTask(taskId: string, { facts }: StatusError): UnknownTaskError {
	return new UnknownTaskError(`The gateway knows no image task "${taskId}" (HTTP 404)`, {
		...facts,
		taskId,
		retryable: false,
		advice:
			'The task ID is wrong, the task has expired, or it was submitted with another API key: the gateway answers the same for all three. Use the credential that submitted it, and collect pictures before expires_at.',
	});
}

/** The error of a task whose status is `failed`. */
export function failedTask(
	client: Pick<Client, 'redact' | 'controls'>,
	taskId: string,
	{ error, http_status }: ImageTask,
): FailedTaskError {
	const said = (text: string | undefined) => quoteField(client.redact, text);
	const reason = said(error?.message || error?.type) || 'the gateway gave no reason';
	const meaning = http_status !== undefined && http_status >= 400 && statusMeaning(http_status);
	const outcome = http_status !== undefined ? statusOutcome(http_status) : 'refused';
	return new FailedTaskError(`The image task failed: ${reason}`, {
		taskId,
		httpStatus: http_status,
		type: said(error?.type),
		code: said(error?.code),
		retryable: outcome === 'rateLimited' || outcome === 'unavailable',
		advice: adviceFor(
			[
				...(meaning ? meaning.advice : []),
				'Change the request if the reason asks for it, and submit a new task; this one will not be done.',
			],
			client.controls,
		),
	});
}

function timedOut(
	{ controls }: Client,
	taskId: string,
	{ task }: Observation,
	{ because, waitMs }: { because: 'deadline' | 'expiry'; waitMs: number },
): TaskError {
	const wait = `The next look at it would have been in ${Math.ceil(waitMs / 1000)} s.`;
	const expires =
		task.expires_at === undefined
			? ''
			: ` The gateway keeps the task until ${unixTime(task.expires_at)}.`;
	return because === 'expiry'
		? new TaskError('The image task is about to expire and is not done', {
				taskId,
				retryable: false,
				advice: `${wait}${expires} Nothing can be fetched after that.`,
			})
		: new TaskError('The image was not done within Max Wait', {
				taskId,
				retryable: true,
				advice: adviceFor(
					[
						`${wait} The task goes on and may be charged: do not submit it again, fetch it with Task → Wait and its task ID.${expires}`,
						{ having: 'Max Wait', say: 'Raise the Max Wait option for images that take longer.' },
					],
					controls,
				),
			});
}
