import { text } from 'node:stream/consumers';
import { ALL_OPTION_NAMES } from '../../support/option-names';
import { keyRedactor } from '../../../nodes/shared/api/credential/api-key';
import * as errors from '../../../nodes/shared/api/errors/errors';
import { RequestAborted } from '../../../nodes/shared/api/http/abort';
import { request, type Client } from '../../../nodes/shared/api/http/request';
import * as http from '../../../nodes/shared/api/http/transport';
import { VirtualTime } from '../../../scripts/engine/virtual-time';

/** The key of every client here. */
export const KEY = 'sk-live-51+Qx/9vRt_2mZ~7pLk';

/** The clock's start. */
export const START = Date.UTC(2026, 0, 1);

type Bytes = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Bytes on their way, or what makes them. */
export type Chunks = Bytes | ((time: VirtualTime) => Bytes);

type Answer = http.GatewayReply & { chunks?: Chunks };

/** What the gateway does with one request: answers, or leaves it without an answer. */
export type Exchange = Answer | http.TransportFault | RequestAborted;

/** A reply; an object becomes JSON. */
export function reply(status: number, body: unknown = '', headers: http.Headers = {}) {
	const json = typeof body !== 'string';
	return {
		status,
		headers: { ...(json && { 'content-type': 'application/json' }), ...headers } as http.Headers,
		body: json ? JSON.stringify(body) : body,
	};
}

/** An error as LiteLLM words it: what its provider said, in its own body, stands in the message. */
export const quotedError = (said: object | string, code: string, type = 'T') => {
	const body = typeof said === 'string' ? said : JSON.stringify({ error: said });
	const failed = "\n\nLiteLLM: model group 'm' failed with the error above.";
	return { error: { message: `litellm.APIError: OpenAIException - ${body}${failed}`, type, code } };
};

/** The request was canceled on its way. */
export const aborted = () => new RequestAborted();

/** No reply. */
export const fault = (...given: ConstructorParameters<typeof http.TransportFault>) =>
	new http.TransportFault(...given);

export type Arrangement = Partial<Client> & { chance?: () => number };

/** A client of a gateway that does this with each request (one exchange: with all), from START on. */
export function arrange(given: Exchange[] | Exchange = [], more: Arrangement = {}) {
	const { chance, ...overrides } = more;
	const time = new VirtualTime(START, chance);
	const script = Array.isArray(given) ? [...given] : [];
	/** Requests that reached the transport. */
	const sent: Array<http.GatewayRequest & { at: number }> = [];
	const transport = {
		closed: 0,
		/** Does its part while a request is under way. */
		during: () => {},
		send: async (message: http.GatewayRequest): Promise<Answer> => {
			sent.push({ ...message, at: time.now() });
			transport.during();
			const next = Array.isArray(given) ? script.shift() : given;
			if (!next) throw new Error(`request ${sent.length} is one more than the script has`);
			if (next instanceof Error) throw next;
			return await Promise.resolve(next);
		},
		open: async (message: http.GatewayRequest): Promise<http.OpenReply> => {
			const { body, chunks = [Buffer.from(body)], ...head } = await transport.send(message);
			const stream = (async function* () {
				yield* typeof chunks === 'function' ? chunks(time) : chunks;
			})();
			const whole = async () => ({ ...head, body: await text(stream) });
			return { ...head, chunks: stream, whole, close: () => void transport.closed++ };
		},
	};
	const controller = new AbortController();
	const client: Client = {
		transport,
		time,
		signal: controller.signal,
		maxRetries: 3,
		timeoutMs: 60_000,
		deadline: START + 3_600_000,
		redact: keyRedactor(KEY),
		optionNames: ALL_OPTION_NAMES,
		...overrides,
	};
	/** Runs time until `work` is done. */
	const drive = async <T>(work: Promise<T>) => await time.drive(work);
	/** Runs time until `work` has failed. */
	const failure = async (work: Promise<unknown>) => await failureOf(drive(work));
	return { client, transport, time, sent, cancel: () => controller.abort(), drive, failure };
}

type Work<T> = (client: Client) => Promise<T>;

/** One request of this kind. */
export const sending =
	(kind: Parameters<typeof request>[1] = 'response', body: http.GatewayRequest['body'] = {}) =>
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
export async function failureOf(work: Promise<unknown>): Promise<errors.ModelAccessError> {
	const outcome = await work.then(
		() => 'a success',
		(error: unknown) => error,
	);
	if (outcome instanceof errors.ModelAccessError) return outcome;
	throw new Error(`not a failure of the client: ${String(outcome)}`, { cause: outcome });
}

/** The client's own error that `work` throws. */
export function refusalOf(work: () => unknown): errors.ModelAccessError {
	try {
		work();
	} catch (error) {
		if (error instanceof errors.ModelAccessError) return error;
		throw error;
	}
	throw new Error('not refused');
}

/** Everything of an error that a user can come to see. */
export function shown(error: errors.ModelAccessError): string {
	return [error.message, error.stack, JSON.stringify(error.details)].join('\n');
}

/** Details of an error; a text is the whole of what is said, a pattern is found in it. */
type Told = Omit<Partial<errors.ErrorDetails>, 'advice'> & { advice?: string | RegExp };

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
