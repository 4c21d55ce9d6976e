import { formatAdvice, type Sentence } from '../errors/advice';
import { DownloadError, type ErrorDetails } from '../errors/errors';
import { formatUnixTime } from '../http/clock';
import { parseRetryAfter } from '../http/retry-after';
import { header, type FaultKind, type Headers, type TransportFault } from '../http/transport';
import { IMAGE_TYPE_BYTES } from './image-type';

/** Why one attempt brought no image. */
export class DownloadFailure extends Error {
	constructor(
		message: string,
		readonly mayRetry: boolean,
		private readonly advice: Sentence,
		private readonly reply: Pick<ErrorDetails, 'httpStatus' | 'retryAfter' | 'linkIsGone'> = {},
	) {
		super(message);
	}

	/** @param optionNames what an advice may name */
	toError(host: string, optionNames: ReadonlySet<string> | undefined): DownloadError {
		return new DownloadError(`The image could not be downloaded from ${host}: ${this.message}`, {
			advice: formatAdvice([this.advice, PAID_FOR], optionNames),
			retryable: this.mayRetry,
			...this.reply,
		});
	}
}

export const LATER = 'The storage host or the network failed.';

export const ASK_OPERATOR = 'Ask the gateway’s operator.';

const PAID_FOR =
	'The image is paid for. Do not submit it again: fetch it with Task → Get and its task ID.';

/**
 * For a file whose first bytes are those of no image.
 * @param start the first bytes
 * @param announced bytes that the storage host named; NaN if it named none
 */
export function notAnImage(headers: Headers, start: Uint8Array, announced: number) {
	if (start.length === 0) return new DownloadFailure('the file is empty', true, LATER);
	if (start.length < IMAGE_TYPE_BYTES && start.length < announced) {
		return incomplete(start.length, announced);
	}
	return new DownloadFailure(
		`${nameContent(headers)} came instead of an image`,
		false,
		'Open the image_url of the task in a browser to see what the storage host answers.',
	);
}

function nameContent(headers: Headers): string {
	const contentType = header(headers, 'content-type') ?? '';
	if (/html/i.test(contentType)) return 'a web page (HTML)';
	return /json/i.test(contentType) ? 'JSON' : 'something else';
}

/** For a file with fewer bytes than the storage host named. */
export function incomplete(size: number, announced: number): DownloadFailure {
	return new DownloadFailure(`only ${size} of ${announced} bytes arrived`, true, LATER);
}

/** For a file of unknown length that lacks the end of its type. */
export function cutOff(extension: string, size: number): DownloadFailure {
	return new DownloadFailure(
		`only a part of the ${extension} file arrived (${size} bytes, without its end)`,
		true,
		`${LATER} If a browser shows the whole image, turn Download Images off and use an HTTP Request node.`,
	);
}

/** For a file above the limit, in bytes. */
export function tooLarge(maxBytes: number): DownloadFailure {
	const megabytes = Math.round((maxBytes / 1024 / 1024) * 100) / 100;
	return new DownloadFailure(`it is larger than Max File Size (${megabytes} MB)`, false, {
		ifOption: 'Max File Size',
		text: 'Raise the Max File Size option.',
	});
}

const LINK_IS_GONE = [403, 404, 410];

/**
 * For a reply of the storage host that is no success.
 * @param now milliseconds since the epoch
 */
export function fromStatus(
	{ status, headers }: { status: number; headers: Headers },
	now: number,
): DownloadFailure {
	if (LINK_IS_GONE.includes(status)) return linkIsGone(status);
	const mayRetry = status === 408 || status === 429 || status >= 500;
	return new DownloadFailure(`HTTP ${status}`, mayRetry, mayRetry ? LATER : ASK_OPERATOR, {
		httpStatus: status,
		retryAfter: mayRetry ? parseRetryAfter(headers, now) : undefined,
	});
}

function linkIsGone(httpStatus: number): DownloadFailure {
	const problem = `HTTP ${httpStatus}, the link no longer works`;
	return new DownloadFailure(
		problem,
		false,
		'Download images before the expires_at of their task.',
		{
			httpStatus,
			linkIsGone: true,
		},
	);
}

/**
 * The error of an image whose task names no other link than the one that is dead.
 * @param expiresAt when the task ends, Unix seconds
 * @param now milliseconds since the epoch
 */
export function toDeadLink(
	error: DownloadError,
	expiresAt: number | undefined,
	now: number,
): DownloadError {
	if (expiresAt === undefined || expiresAt * 1000 <= now) return error;
	return error.with({
		advice: `The link expired before its task, which the gateway keeps until ${formatUnixTime(expiresAt)}. The image is paid for, but the task names no other link. ${ASK_OPERATOR}`,
	});
}

const FAULTS: Record<FaultKind, [problem: string, mayRetry: boolean, advice: string]> = {
	unreached: ['the host cannot be reached', true, 'Check that this machine may connect to it.'],
	timeout: ['it did not answer in time', true, LATER],
	lost: ['the connection was lost', true, LATER],
	certificate: ['its TLS certificate is not accepted', false, 'Ask the gateway’s operator.'],
	clientCertificate: ['it asks for a client certificate', false, ASK_OPERATOR],
	handshake: [
		'it refuses the TLS handshake',
		false,
		`It may require a client certificate. ${ASK_OPERATOR}`,
	],
	tls: ['it does not speak TLS, which https needs', false, ASK_OPERATOR],
	blocked: [
		'n8n’s SSRF protection blocked its address',
		false,
		'The address is in a private network that this n8n instance does not allow. Ask its administrator to allow the host.',
	],
};

/** For a missing reply. */
export function fromFault({ kind, code }: TransportFault): DownloadFailure {
	const [problem, mayRetry, advice] = FAULTS[kind];
	const reason = code === undefined ? problem : `${problem} (${code})`;
	return new DownloadFailure(reason, mayRetry, advice);
}
