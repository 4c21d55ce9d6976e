import type {
	IExecuteFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IN8nHttpFullResponse,
} from 'n8n-workflow';
import {
	faultKind,
	TransportFault,
	type GatewayReply,
	type Headers,
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
	return {
		async send({ method, path, body, timeoutMs }): Promise<GatewayReply> {
			const options: IHttpRequestOptions = {
				method,
				url: baseUrl + path,
				headers: { Accept: 'application/json' },
				body: body as IHttpRequestOptions['body'],
				timeout: timeoutMs,
				encoding: 'text',
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				disableFollowRedirect: true,
			};
			try {
				const reply = (await context.helpers.httpRequestWithAuthentication.call(
					context,
					CREDENTIAL,
					options,
				)) as IN8nHttpFullResponse;
				return {
					status: reply.statusCode,
					headers: reply.headers as Headers,
					body: typeof reply.body === 'string' ? reply.body : '',
				};
			} catch (error) {
				throw transportFault(error);
			}
		},
	};
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
