import { randomUUID } from 'crypto';
import { keyRedactor, normalizeApiKey } from '../../api/credential/api-key';
import { normalizeBaseUrl } from '../../api/credential/base-url';
import type { Carrier } from '../../api/http/request';
import type { Clock } from '../../api/http/clock';
import { CREDENTIAL } from './credential';
import { createTransport, type RequestContext } from './transport';

/** A gateway as the credential describes it, and what the requests of the run share. */
export type Connection = Required<Carrier> & {
	/** Normalized base address. */
	baseUrl: string;
	/** A transport for one piece of work, whose connections end when the signal is aborted. */
	transportUntil(cancel: AbortSignal): Carrier['transport'];
};

/**
 * Reads and checks the credential, once for all items: n8n's request helper reads it without an
 * item as well.
 * @throws {ValidationError} the base URL or the key is not usable
 */
export async function connect(context: RequestContext, time: Clock): Promise<Connection> {
	const { baseUrl, apiKey, allowPrivateHttp } = await context.getCredentials<{
		baseUrl: string;
		apiKey: string;
		allowPrivateHttp?: boolean;
	}>(CREDENTIAL);
	const base = normalizeBaseUrl(String(baseUrl ?? ''), {
		allowPrivateHttp: allowPrivateHttp === true,
	});
	return {
		baseUrl: base,
		transport: createTransport(context, base),
		transportUntil: (cancel) => createTransport(context, base, cancel),
		time,
		newRequestId: () => randomUUID(),
		run: {},
		redact: keyRedactor(normalizeApiKey(String(apiKey ?? ''))),
	};
}
