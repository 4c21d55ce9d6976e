import type { FindingKind } from './findings';
import { shorten } from './shorten';

/** The gateway did nothing: by 429, or by 503. */
export type Refusal = 'rateLimited' | 'unavailable';

/** What is known about a failure beside its message; all of it may be shown to the user. */
export interface ErrorDetails {
	/** What the user can do about it, in sentences. */
	readonly advice: string;
	/** Whether sending the same again later is safe and may help. */
	readonly retryable: boolean;
	readonly httpStatus?: number;
	/** `error.type` of the gateway's error body. */
	readonly type?: string;
	/** `error.code` of the gateway's error body. */
	readonly code?: string;
	/** What it is about, as far as the gateway's code and message tell. */
	readonly finding?: FindingKind;
	/** The gateway's request ID, else the one that was sent. */
	readonly requestId?: string;
	/** `X-Client-Request-ID` of the reply. */
	readonly clientRequestId?: string;
	/** The image task this is about, accepted and possibly paid for. */
	readonly taskId?: string;
	/** Where finished images of the task lie, as far as known. */
	readonly imageUrls?: readonly string[];
	/** Seconds that the gateway asked to wait. */
	readonly retryAfter?: number;
	/** Whether a request that may cost may have been executed, although nothing came of it. */
	readonly maybeExecuted?: boolean;
	/** Whether the request was executed, and may be charged, although nothing usable came of it. */
	readonly charged?: boolean;
	/** Whether no time was left to wait as long as was asked. */
	readonly outOfTime?: boolean;
	/** Why the gateway did nothing at all: its rate limit (429), or no capacity (503). */
	readonly refusal?: Refusal;
	/** Whether the address of an image does not work any more; its task may name another. */
	readonly linkIsGone?: boolean;
	/** The text received of an answer, or of a reply that names no task, which may have been paid for. */
	readonly partialText?: string;
	/** The output items of an answer that were finished. */
	readonly partialOutput?: ReadonlyArray<Record<string, unknown>>;
}

/**
 * Every failure that the client reports: a value that does not change. The caller (a node, a chat
 * model) turns it into the form that its host wants. Its message is bounded, whatever it quotes.
 */
export class ModelAccessError extends Error {
	constructor(
		message: string,
		readonly details: ErrorDetails,
	) {
		super(shorten(message));
	}

	/**
	 * The same failure with more known about it: a new error of the same class.
	 * @param learned wins over what was known; a value that is undefined counts as not given
	 */
	with(learned: Partial<ErrorDetails>, message = this.message): this {
		const given = Object.entries(learned).filter(([, value]) => value !== undefined);
		const details = { ...this.details, ...Object.fromEntries(given) };
		// Past the constructors of subclasses, which make the message and details of a new failure.
		return Reflect.construct(ModelAccessError, [message, details], this.constructor) as this;
	}

	/** The same failure, about a task that the gateway had accepted before. */
	withTaskId(taskId: string, imageUrls?: readonly string[]): this {
		return this.with({
			taskId: this.details.taskId ?? taskId,
			...(imageUrls?.length && { imageUrls: this.details.imageUrls ?? imageUrls }),
		});
	}

	/**
	 * The same failure, but final and without its task: the gateway refused the task that it had
	 * accepted. No other is submitted.
	 */
	asFinalRefusal(): this {
		const details = { ...this.details, taskId: undefined, refusal: undefined };
		return Reflect.construct(ModelAccessError, [this.message, details], this.constructor) as this;
	}
}

/** Something was refused before anything was sent. */
export class ValidationError extends ModelAccessError {
	/**
	 * @param field the name that the user sees on the field, such as `Base URL`
	 * @param problem one sentence without the field's name: `is empty`
	 * @param advice the way out
	 */
	constructor(
		readonly field: string,
		problem: string,
		advice: string,
	) {
		super(`${field} ${problem}`, { advice, retryable: false });
	}

	override with(learned: Partial<ErrorDetails>, message?: string): this {
		return Object.assign(super.with(learned, message), { field: this.field });
	}
}

/** The gateway answered with an error status (contract, "Errors"). */
export class ApiError extends ModelAccessError {}

/** No usable reply came: the connection failed, was lost, or timed out. */
export class NetworkError extends ModelAccessError {}

/** A reply came with a success status, but its content is not what the contract says. */
export class InvalidResponseError extends ModelAccessError {}

/** A streamed answer broke off, or the gateway said in it that it failed. */
export class StreamError extends ModelAccessError {}

/** The task ended without an image, or the waiting for it did. */
export class TaskError extends ModelAccessError {}

/** The gateway does not know the task: it never was, has expired, or belongs to another key. */
export class UnknownTaskError extends TaskError {}

/** The gateway says that the task failed: there is nothing to fetch, now or later. */
export class FailedTaskError extends TaskError {}

/** The image could not be fetched from where the gateway stored it. */
export class DownloadError extends ModelAccessError {}

const NOTHING_MORE = 'Nothing more was sent. An accepted task goes on at the gateway.';

/** The execution was canceled, or its batch had failed. Nothing was sent after that. */
export class CanceledError extends ModelAccessError {
	/** @param doubt what to say of a request that was under way and may have been executed */
	constructor(doubt?: string) {
		const wasSent = doubt === undefined ? '' : ' after a request had been sent';
		super(`The execution was canceled${wasSent}`, {
			advice: doubt === undefined ? NOTHING_MORE : `${doubt} ${NOTHING_MORE}`,
			retryable: false,
			...(doubt !== undefined && { maybeExecuted: true }),
		});
	}
}

const CLASSES = {
	ModelAccessError,
	ValidationError,
	ApiError,
	NetworkError,
	InvalidResponseError,
	StreamError,
	TaskError,
	UnknownTaskError,
	FailedTaskError,
	DownloadError,
	CanceledError,
};

// A class's own name does not outlive the build, which shortens it.
for (const [name, { prototype }] of Object.entries(CLASSES)) prototype.name = name;
