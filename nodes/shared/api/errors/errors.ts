/** What is known about a failure beside its message; all of it may be shown to the user. */
export interface FailureFacts {
	/** What the user can do about it, in sentences. */
	advice: string;
	/** Whether sending the same again later is safe and may help. */
	retryable: boolean;
	httpStatus?: number;
	/** `error.type` of the gateway's error body. */
	type?: string;
	/** `error.code` of the gateway's error body. */
	code?: string;
	/** `X-Request-ID` of the reply. */
	requestId?: string;
	/** The image task this is about, accepted and possibly paid for. */
	taskId?: string;
	/** Where finished pictures of the task lie, as far as known. */
	imageUrls?: string[];
	/** Seconds that the gateway asked to wait. */
	retryAfter?: number;
	/** Whether a request that may cost may have been executed, although nothing came of it. */
	inDoubt?: boolean;
	/** Whether the request was executed, and may be charged, although nothing usable came of it. */
	charged?: boolean;
	/** Whether no time was left to wait as long as was asked. */
	outOfTime?: boolean;
	/** What of an answer was received: it may have been paid for. */
	partialText?: string;
}

/**
 * Every failure that the client reports. A failure is a value with fields until the last moment;
 * only the caller (a node, a chat model) turns it into the form its host wants.
 */
export class ModelAccessError extends Error {
	constructor(
		message: string,
		readonly facts: FailureFacts,
	) {
		super(message);
		this.name = new.target.name;
	}

	/** The same failure, about a task that the gateway had accepted before it happened. */
	ofTask(taskId: string, imageUrls?: string[]): this {
		this.facts.taskId ??= taskId;
		if (imageUrls?.length) this.facts.imageUrls ??= imageUrls;
		return this;
	}
}

/** Something was refused before anything was sent. */
export class InputError extends ModelAccessError {
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
}

/** The gateway answered with an error status (contract, "Errors"). */
export class StatusError extends ModelAccessError {}

/** No usable reply came: the connection failed, was lost, or timed out. */
export class NetworkError extends ModelAccessError {}

/** A reply came with a success status, but its content is not what the contract says. */
export class AnswerError extends ModelAccessError {}

/** A streamed answer broke off, or the gateway said in it that it failed. */
export class StreamError extends ModelAccessError {}

/** The task ended without a picture, or the waiting for it did. */
export class TaskError extends ModelAccessError {}

/** The gateway does not know the task: it never was, has expired, or belongs to another key. */
export class UnknownTaskError extends TaskError {}

/** The gateway says that the task failed: there is nothing to fetch, now or later. */
export class FailedTaskError extends TaskError {}

/** The picture could not be fetched from where the gateway stored it. */
export class DownloadError extends ModelAccessError {}

const SENT_BEFORE_CANCEL = 'The execution was canceled after a request had been sent';

/** The execution was canceled, or its batch had failed. Nothing was sent after that. */
export class CancelledError extends ModelAccessError {
	/** @param doubt what to say of a request that was under way and may have been executed */
	constructor(doubt = '') {
		super(doubt === '' ? 'The execution was canceled' : SENT_BEFORE_CANCEL, {
			advice: [
				doubt,
				'Nothing more was sent. A task that had been accepted goes on at the gateway.',
			]
				.filter(Boolean)
				.join(' '),
			retryable: false,
			...(doubt !== '' && { inDoubt: true }),
		});
	}
}

/** Longest piece of somebody else's text that a message quotes, in characters. */
const LONGEST_QUOTE = 500;

/**
 * Text from outside, made fit for a message: one line, no control characters, of bounded length.
 * @param text what the gateway, a proxy or a storage host sent
 */
export function quotable(text: string, longest = LONGEST_QUOTE): string {
	const line = text
		.slice(0, longest * 4)
		// eslint-disable-next-line no-control-regex
		.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
		.replace(/ {2,}/g, ' ')
		.trim();
	return line.length > longest ? `${line.slice(0, longest).trimEnd()}…` : line;
}
