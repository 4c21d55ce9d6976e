import type {
	BinaryHelperFunctions,
	IExecuteFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IN8nHttpFullResponse,
	ISupplyDataFunctions,
} from 'n8n-workflow';
import { RequestAborted, unlessAborted } from '../../api/http/abort';
import { toTransportFault } from './transport-fault';
import {
	TransportFault,
	type GatewayReply,
	type GatewayRequest,
	type Headers,
	type OpenReply,
	type Transport,
} from '../../api/http/transport';
import { CREDENTIAL } from './credential';

/** Whose request helper is used: a node that runs, a list in the editor, a sub-node. */
export type RequestContext = IExecuteFunctions | ILoadOptionsFunctions | ISupplyDataFunctions;

/**
 * Sends requests by n8n's request helper, which adds the key. The instance's proxy, SSRF policy,
 * cancel signal and tracing apply.
 *
 * `ignoreHttpStatusErrors` matters beyond its name: without it the helper sends a request that was
 * answered with 401 a second time. `disableFollowRedirect` keeps the key at its origin.
 *
 * @param cancel ends what is under way, beside the execution's cancel signal, which the helper minds
 */
export function createTransport(
	context: RequestContext,
	baseUrl: string,
	cancel?: AbortSignal,
): Transport {
	return new HelperTransport(context, baseUrl, cancel);
}

/** In which form n8n's helper hands over the body, and what the gateway may send. */
interface BodyForm {
	encoding: 'text' | 'stream';
	accept: string;
}

const AS_TEXT: BodyForm = { encoding: 'text', accept: 'application/json' };
const AS_STREAM: BodyForm = {
	encoding: 'stream',
	accept: 'text/event-stream, application/json',
};

class HelperTransport implements Transport {
	constructor(
		private readonly context: RequestContext,
		private readonly baseUrl: string,
		private readonly cancel?: AbortSignal,
	) {}

	async send(message: GatewayRequest): Promise<GatewayReply> {
		const connection = new AbortController();
		const send = async () => await this.request(message, AS_TEXT, connection);
		const { statusCode, headers, body } = await inTime(message.timeoutMs, connection, send);
		return {
			status: statusCode,
			headers: headers as Headers,
			body: typeof body === 'string' ? body : '',
		};
	}

	async open(message: GatewayRequest): Promise<OpenReply> {
		const connection = new AbortController();
		const reply = await this.request(message, AS_STREAM, connection);
		return openReply(reply, message.timeoutMs, connection);
	}

	private async request(
		message: GatewayRequest,
		form: BodyForm,
		connection: AbortController,
	): Promise<IN8nHttpFullResponse> {
		return await unlessCanceled(this.cancel, connection, async () => {
			return await this.callHelper(message, form, connection.signal);
		});
	}

	private async callHelper(
		{ method, path, body, headers, timeoutMs }: GatewayRequest,
		{ encoding, accept }: BodyForm,
		connection: AbortSignal,
	): Promise<IN8nHttpFullResponse> {
		const { context } = this;
		try {
			return (await context.helpers.httpRequestWithAuthentication.call(context, CREDENTIAL, {
				method,
				url: this.baseUrl + path,
				headers: { ...headers, Accept: accept },
				body,
				timeout: timeoutMs,
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				disableFollowRedirect: true,
				encoding,
				// The helper puts the execution's cancel signal instead of an `abortSignal`. This one
				// reaches the socket.
				agentOptions: { signal: connection } as IHttpRequestOptions['agentOptions'],
			})) as IN8nHttpFullResponse;
		} catch (error) {
			throw toTransportFault(error);
		}
	}
}

/** A body that n8n hands over as a stream. */
export type Readable = Exclude<Parameters<BinaryHelperFunctions['prepareBinaryData']>[0], Buffer>;

/**
 * Bounds a reply as a whole: n8n's own time-out bounds each silence of the connection, so that a
 * reply which drips never ends by it. The timer is one of the platform's that keeps no process
 * alive; here a connection is open meanwhile.
 * @throws {TransportFault} it took longer than `ms` milliseconds
 */
async function inTime<T>(
	ms: number,
	connection: AbortController,
	begin: () => Promise<T>,
): Promise<T> {
	const limit = AbortSignal.timeout(ms);
	try {
		return await unlessAborted(begin(), limit);
	} catch (error) {
		if (error === limit.reason) connection.abort();
		throw error === limit.reason ? new TransportFault('timeout') : error;
	}
}

/**
 * Ends a request whose caller has left.
 * @throws {RequestAborted} the signal is aborted
 */
async function unlessCanceled<T>(
	cancel: AbortSignal | undefined,
	connection: AbortController,
	begin: () => Promise<T>,
): Promise<T> {
	if (!cancel) return await begin();
	try {
		return await unlessAborted(begin(), cancel);
	} catch (error) {
		if (cancel.aborted) connection.abort();
		throw cancel.aborted ? new RequestAborted() : error;
	}
}

function openReply(
	{ statusCode, headers, body }: IN8nHttpFullResponse,
	timeoutMs: number,
	connection: AbortController,
): OpenReply {
	const reply = { status: statusCode, headers: headers as Headers };
	const stream = body as unknown as Readable;
	const chunks = readChunks(stream);
	return {
		...reply,
		chunks,
		whole: async () => ({
			...reply,
			body: await inTime(timeoutMs, connection, async () => await readText(chunks)),
		}),
		close: () => {
			connection.abort();
			stream.destroy();
		},
	};
}

async function readText(chunks: AsyncIterable<Uint8Array>): Promise<string> {
	const decoder = new TextDecoder();
	const pieces: string[] = [];
	for await (const chunk of chunks) pieces.push(decoder.decode(chunk, { stream: true }));
	return pieces.join('') + decoder.decode();
}

/**
 * The chunks of a body.
 * @throws {TransportFault} the connection failed
 */
export function readChunks(body: Readable): AsyncGenerator<Uint8Array> {
	// An error without a listener would end the process; who reads the chunks sees it as well.
	body.on('error', () => {});
	return iterate(body);
}

async function* iterate(body: Readable): AsyncGenerator<Uint8Array> {
	try {
		for await (const chunk of body) yield chunk as Uint8Array;
	} catch (error) {
		const fault = toTransportFault(error);
		const isKnown = fault instanceof TransportFault || fault instanceof RequestAborted;
		throw isKnown ? fault : new TransportFault('lost');
	}
}
