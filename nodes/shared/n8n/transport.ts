import type {
	BinaryHelperFunctions,
	IExecuteFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IN8nHttpFullResponse,
} from 'n8n-workflow';
import {
	faultKind,
	TransportFault,
	type GatewayReply,
	type GatewayRequest,
	type Headers,
	type OpenReply,
	type Transport,
} from '../client/transport';
import { CREDENTIAL } from './connection';

/**
 * Speaks to the gateway by n8n's request helper, which adds the key and carries the instance's
 * proxy, SSRF policy, cancel signal and tracing.
 *
 * `ignoreHttpStatusErrors` matters beyond its name: without it the helper sends a request that was
 * answered with 401 a second time. `disableFollowRedirect` keeps the key at its origin.
 */
export function gatewayTransport(
	context: IExecuteFunctions | ILoadOptionsFunctions,
	baseUrl: string,
): Transport {
	const request = async (
		{ method, path, body, timeoutMs }: GatewayRequest,
		{ encoding, accept }: { encoding: 'text' | 'stream'; accept: string },
	): Promise<IN8nHttpFullResponse> => {
		try {
			return (await context.helpers.httpRequestWithAuthentication.call(context, CREDENTIAL, {
				method,
				url: baseUrl + path,
				headers: { Accept: accept },
				body: body as IHttpRequestOptions['body'],
				timeout: timeoutMs,
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				disableFollowRedirect: true,
				encoding,
			})) as IN8nHttpFullResponse;
		} catch (error) {
			throw transportFault(error);
		}
	};
	return {
		async send(message): Promise<GatewayReply> {
			const { statusCode, headers, body } = await request(message, {
				encoding: 'text',
				accept: 'application/json',
			});
			return {
				status: statusCode,
				headers: headers as Headers,
				body: typeof body === 'string' ? body : '',
			};
		},
		async open(message): Promise<OpenReply> {
			const reply = await request(message, {
				encoding: 'stream',
				accept: 'text/event-stream, application/json',
			});
			return openReply(reply, reply.body as unknown as Readable);
		},
	};
}

/** A body that n8n hands over as a stream. */
export type Readable = Exclude<Parameters<BinaryHelperFunctions['prepareBinaryData']>[0], Buffer>;

function openReply({ statusCode, headers }: IN8nHttpFullResponse, body: Readable): OpenReply {
	const reply = { status: statusCode, headers: headers as Headers };
	const chunks = chunksOf(body);
	return {
		...reply,
		chunks,
		async whole() {
			const decoder = new TextDecoder();
			const pieces: string[] = [];
			for await (const chunk of chunks) pieces.push(decoder.decode(chunk, { stream: true }));
			return { ...reply, body: pieces.join('') + decoder.decode() };
		},
		close: () => body.destroy(),
	};
}

/**
 * The chunks of a body.
 * @throws {TransportFault} the connection failed
 */
export function chunksOf(body: Readable): AsyncGenerator<Uint8Array> {
	// An error without a listener would end the process; who reads the chunks sees it as well.
	body.on('error', () => {});
	return readChunks(body);
}

async function* readChunks(body: Readable): AsyncGenerator<Uint8Array> {
	try {
		for await (const chunk of body) yield chunk as Uint8Array;
	} catch (error) {
		const fault = transportFault(error);
		throw fault instanceof TransportFault ? fault : new TransportFault('lost');
	}
}

/**
 * Reads a helper's error as a fault of the exchange. Only its code goes on: what n8n wraps holds
 * the request with its headers, and so the key.
 * @returns the error itself where it is none of the network's
 */
export function transportFault(error: unknown): unknown {
	const chain = causes(error);
	if (chain.some(({ name, message }) => /ssrf/i.test(`${name} ${message}`))) {
		return new TransportFault('blocked');
	}
	const code = chain.map((cause) => cause.code).findLast((found) => typeof found === 'string');
	const known = code !== undefined || chain.some((cause) => cause.isAxiosError === true);
	return known ? new TransportFault(faultKind(code as string | undefined), code as string) : error;
}

interface Cause extends Error {
	code?: unknown;
	isAxiosError?: unknown;
}

function causes(error: unknown): Cause[] {
	const chain: Cause[] = [];
	for (let next = error; next instanceof Error && !chain.includes(next); next = next.cause) {
		chain.push(next);
	}
	return chain;
}
