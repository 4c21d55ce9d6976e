import type { ModelAccessError } from '../errors/errors';

/** What all requests of one run know together. It is made with the connection. */
export interface RunState {
	/**
	 * The error of the first request whose key the gateway refused (401). From then on no request
	 * carries the key: gateways lock an address out after some refusals.
	 */
	keyRefused?: ModelAccessError;
	/** The IDs of the key's models, once they were asked for; undefined where that failed. */
	modelIds?: Promise<string[] | undefined>;
}
