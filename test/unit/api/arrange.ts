import { ALL_OPTION_NAMES } from '../../support/option-names';
import { keyRedactor } from '../../../nodes/shared/api/credential/api-key';
import type * as errors from '../../../nodes/shared/api/errors/errors';
import { ModelAccessError, type ErrorDetails } from '../../../nodes/shared/api/errors/errors';
import { RequestAborted } from '../../../nodes/shared/api/http/abort';
import { request, type Client } from '../../../nodes/shared/api/http/request';
import type { RequestKind } from '../../../nodes/shared/api/http/retry';
import {
	TransportFault,
	type FaultKind,
	type GatewayReply,
	type GatewayRequest,
	type Headers,
	type Transport,
} from '../../../nodes/shared/api/http/transport';
import { VirtualTime } from '../../../scripts/engine/virtual-time';

/** The key of every client here. */
export const KEY = 'sk-live-51+Qx/9vRt_2mZ~7pLk';

/** The clock's start. */
export const START = Date.UTC(2026, 0, 1);

const HOUR = 3_600_000;

/** What the gateway does with one request: answers, or leaves it without an answer. */
export type Exchange = GatewayReply | TransportFault | RequestAborted;

/** A gateway that answers as scripted and writes down what it was sent, and when. */
export class ScriptedTransport implements Transport {
	readonly sent: Array<GatewayRequest & { at: number }> = [];

	/** Does its part while a request is under way. */
	during: () => void = () => {};

	constructor(
		private readonly time: VirtualTime,
		private readonly script: Exchange[],
		/** What comes when the script has ended; without it one more request is an error. */
		private readonly then?: Exchange,
	) {}

	async send(message: GatewayRequest): Promise<GatewayReply> {
		this.sent.push({ ...message, at: this.time.now() });
		this.during();
		const next = this.script.shift() ?? this.then;
		if (!next) throw new Error(`request ${this.sent.length} is one more than the script has`);
		if (next instanceof Error) throw next;
		return next;
	}

	open: Transport['open'] = () => {
		throw new Error('nothing here is streamed');
	};
}

/** A reply; an object becomes JSON. */
export function reply(status: number, body: unknown = '', headers: Headers = {}): GatewayReply {
	const json = typeof body !== 'string';
	return {
		status,
		headers: { ...(json && { 'content-type': 'application/json' }), ...headers },
		body: json ? JSON.stringify(body) : body,
	};
}

/**
 * An error as LiteLLM words it: its provider's own stands in the message.
 * @param said the provider's error, in its own body
 */
export const quotedError = (said: object | string, code: string, type = 'T') => {
	const body = typeof said === 'string' ? said : JSON.stringify({ error: said });
	const failed = "\n\nLiteLLM: model group 'm' failed with the error above.";
	return { error: { message: `litellm.APIError: OpenAIException - ${body}${failed}`, type, code } };
};

/** The request was canceled on its way. */
export const aborted = () => new RequestAborted();

/** No reply. */
export function fault(kind: FaultKind, code?: string, detail?: string): TransportFault {
	return new TransportFault(kind, code, detail);
}

export interface Arrangement extends Partial<Client> {
	/** What chance answers. */
	chance?: () => number;
}

/**
 * A client of a scripted gateway, on a clock that stands at {@link START}.
 * @param script what the gateway does with each request; one exchange alone: with all of them
 */
export function arrange(
	script: Exchange[] | Exchange = [],
	{ chance, ...overrides }: Arrangement = {},
) {
	const time = new VirtualTime(START, chance);
	const always = Array.isArray(script) ? undefined : script;
	const transport = new ScriptedTransport(time, Array.isArray(script) ? [...script] : [], always);
	const controller = new AbortController();
	const client: Client = {
		transport,
		time,
		signal: controller.signal,
		maxRetries: 3,
		timeoutMs: 60_000,
		deadline: START + HOUR,
		redact: keyRedactor(KEY),
		optionNames: ALL_OPTION_NAMES,
		...overrides,
	};
	/** Runs time until `work` is done. */
	const drive = async <T>(work: Promise<T>) => await time.drive(work);
	return {
		client,
		transport,
		time,
		/** Requests that reached the transport. */
		sent: transport.sent,
		/** Cancels the client. */
		cancel: () => controller.abort(),
		drive,
		/** Runs time until `work` has failed. */
		failure: async (work: Promise<unknown>) => await failureOf(drive(work)),
	};
}

type Work<T> = (client: Client) => Promise<T>;

/** One request of this kind. */
export const sending =
	(kind: RequestKind = 'response', body: Record<string, unknown> | FormData = {}) =>
	async (client: Client) =>
		await request(client, kind, { method: 'POST', path: '/responses', body });

/** What becomes of work with such a client: its value. */
export async function succeed<T>(script: Exchange[] | Exchange, work: Work<T>, more?: Arrangement) {
	const arranged = arrange(script, more);
	return { ...arranged, value: await arranged.drive(work(arranged.client)) };
}

/** What becomes of work with such a client: the client's own error. */
export async function fail(script: Exchange[] | Exchange, work: Work<unknown>, more?: Arrangement) {
	const arranged = arrange(script, more);
	return { ...arranged, error: await arranged.failure(work(arranged.client)) };
}

/** The client's own error with which `work` fails. */
export async function failureOf(work: Promise<unknown>): Promise<ModelAccessError> {
	const outcome = await work.then(
		() => 'a success',
		(error: unknown) => error,
	);
	if (outcome instanceof ModelAccessError) return outcome;
	throw new Error(`not a failure of the client: ${String(outcome)}`, { cause: outcome });
}

/** The client's own error that `work` throws. */
export function refusalOf(work: () => unknown): ModelAccessError {
	try {
		work();
	} catch (error) {
		if (error instanceof ModelAccessError) return error;
		throw error;
	}
	throw new Error('not refused');
}

/** Everything of an error that a user can come to see. */
export function shown(error: ModelAccessError): string {
	return [error.message, error.stack, JSON.stringify(error.details)].join('\n');
}

/** Details of an error; a text is the whole of what is said, a pattern is found in it. */
type Told = Omit<Partial<ErrorDetails>, 'advice'> & { advice?: string | RegExp };

/** Expects an error of this class, with this message and these details at least. */
export function expectError(
	error: unknown,
	kind: keyof typeof errors | RegExp,
	message: string | RegExp,
	{ advice = /./, ...details }: Told = {},
) {
	const [name, says, toDo] = [kind, message, advice].map((said) =>
		typeof said === 'string' ? said : (expect.stringMatching(said) as string),
	);
	expect(error).toMatchObject({ name, message: says, details: { ...details, advice: toDo } });
}
