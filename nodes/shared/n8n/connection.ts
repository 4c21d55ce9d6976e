import type { IExecuteFunctions, ILoadOptionsFunctions } from 'n8n-workflow';
import { keyRedactor, normalizeApiKey } from '../client/api-key';
import { normalizeBaseUrl } from '../client/base-url';
import type { Client } from '../client/request';
import type { Time } from '../client/time';
import { gatewayTransport } from './transport';

/** The credential type that all nodes of this package use. */
export const CREDENTIAL = 'modelAccessApi';

/** A gateway as the credential describes it. */
export type Connection = Pick<Client, 'transport' | 'time' | 'redact'> & {
	/** Normalised base address. */
	baseUrl: string;
};

/**
 * Reads and checks the credential, once for all items: n8n's request helper reads it without an
 * item as well.
 * @throws {InputError} the base URL or the key is not usable
 */
export async function connect(
	context: IExecuteFunctions | ILoadOptionsFunctions,
	time: Time,
): Promise<Connection> {
	const { baseUrl, apiKey } = await context.getCredentials<{ baseUrl: string; apiKey: string }>(
		CREDENTIAL,
	);
	const base = normalizeBaseUrl(String(baseUrl ?? ''));
	return {
		baseUrl: base,
		transport: gatewayTransport(context, base),
		time,
		redact: keyRedactor(normalizeApiKey(String(apiKey ?? ''))),
	};
}
