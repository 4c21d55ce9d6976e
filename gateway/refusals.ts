import { ApiError } from './errors';
import type { Capability, GatewaySettings, KeyOptions, ModelOptions } from './options';
import type { RouteName } from './routes';

/** The replies to requests that the gateway refuses by key, group or endpoint. */
export interface Refusals {
	missingKey(): ApiError;
	malformedKey(): ApiError;
	unknownKey(): ApiError;
	unusableKey(status: Exclude<KeyOptions['status'], 'active' | undefined>): ApiError;
	addressNotAllowed(address: string): ApiError;
	usedUp(what: NonNullable<KeyOptions['usedUp']>, route: RouteName): ApiError;
	notPermitted(capability: Capability): ApiError;
	noBalance(): ApiError;
	noSuchModel(id: string): ApiError;
	notSuitable(id: string, ability: keyof ModelOptions): ApiError;
	asyncImagesOff(): ApiError;
}

/** The refusals of the contract (Errors). */
const CONTRACT: Refusals = {
	missingKey: () =>
		new ApiError(401, {
			code: 'missing_authorization',
			message: 'the Authorization header is missing; keys in the query or body do not count',
		}),
	malformedKey: () =>
		new ApiError(401, {
			code: 'invalid_authorization',
			message: 'the Authorization header must be "Bearer <API_KEY>" with exactly one space',
		}),
	unknownKey: () => new ApiError(401),
	unusableKey: (status) =>
		new ApiError(401, { code: `api_key_${status}`, message: `the API key is ${status}` }),
	addressNotAllowed: () =>
		new ApiError(403, {
			code: 'ip_not_allowed',
			message: 'the API key may not be used from this address',
		}),
	usedUp: (what, route) => quotaUsedUp(what, route),
	notPermitted: (capability) =>
		new ApiError(403, {
			code: 'capability_not_allowed',
			message: `the API key's group does not permit ${capability}`,
		}),
	noBalance: () =>
		new ApiError(403, {
			type: 'billing_error',
			code: 'insufficient_balance',
			message: 'the balance of this account is used up',
		}),
	noSuchModel: (id) =>
		new ApiError(404, {
			code: 'model_not_found',
			message: `the model '${id}' does not exist or is not available to this API key`,
			param: 'model',
		}),
	notSuitable: (id, ability) =>
		new ApiError(400, {
			code: 'model_not_suitable',
			message: `model '${id}' does not support ${ability === 'text' ? 'responses' : 'image tasks'}`,
			param: 'model',
		}),
	asyncImagesOff: () =>
		new ApiError(404, {
			code: 'async_images_disabled',
			message: 'asynchronous image tasks are not enabled on this gateway',
		}),
};

/** A body of a code and a message, without `error` around them. */
const flat = (status: number, code: string, message: string, retryAfter?: number) =>
	new ApiError(status, { message, retryAfter, body: { code, message } });

/** An error whose code is its type. */
const typed = (status: number, type: string, message: string) =>
	new ApiError(status, { type, code: type, message });

/** The refusals of the recorded gateway, word for word. */
const REAL: Refusals = {
	...CONTRACT,
	missingKey: () =>
		flat(
			401,
			'API_KEY_REQUIRED',
			'API key is required in Authorization header (Bearer scheme), x-api-key header, or x-goog-api-key header',
		),
	malformedKey: () => flat(401, 'INVALID_API_KEY', 'Invalid API key'),
	unknownKey: () => flat(401, 'INVALID_API_KEY', 'Invalid API key'),
	unusableKey: (status) => {
		if (status === 'expired') return flat(403, 'API_KEY_EXPIRED', 'API key 已过期');
		if (status === 'disabled') return flat(401, 'API_KEY_DISABLED', 'API key is disabled');
		return flat(401, 'INVALID_API_KEY', 'Invalid API key');
	},
	addressNotAllowed: (address) =>
		flat(403, 'ACCESS_DENIED', `Access denied. Your IP is ${address}`),
	notPermitted: (capability) =>
		capability === 'images' || capability === 'edits'
			? typed(403, 'permission_error', 'Image generation is not enabled for this group')
			: CONTRACT.notPermitted(capability),
	noBalance: () => typed(403, 'billing_error', 'insufficient balance'),
	notSuitable: (id, ability) =>
		ability === 'images'
			? typed(400, 'invalid_request_error', `images endpoint requires an image model, got "${id}"`)
			: CONTRACT.notSuitable(id, ability),
	asyncImagesOff: () => typed(404, 'not_found_error', 'async image tasks are not enabled'),
};

/** Responses report a used-up quota as OpenAI does; the other endpoints do not. */
function quotaUsedUp(what: NonNullable<KeyOptions['usedUp']>, route: RouteName): ApiError {
	if (what === 'usage limit') {
		return flat(429, 'USAGE_LIMIT_EXCEEDED', 'usage limit of the subscription exceeded');
	}
	const message = 'API key 额度已用完';
	if (route !== 'responses') return flat(429, 'API_KEY_QUOTA_EXHAUSTED', message);
	const type = 'insufficient_quota';
	return new ApiError(429, {
		message,
		body: { error: { code: type, message, param: null, type } },
	});
}

/** The refusals that the settings ask for. */
export const refusalsOf = ({ realErrors }: Pick<GatewaySettings, 'realErrors'>): Refusals =>
	realErrors ? REAL : CONTRACT;

/** Too many wrong keys came from this address. Valid keys are refused too. */
export const lockedOut = (retryAfter: number) =>
	flat(
		429,
		'INVALID_AUTH_RATE_LIMITED',
		'Too many invalid authentication attempts; retry later',
		retryAfter,
	);

/** The platform of the group has no images. */
export const noImagesAtPlatform = () =>
	typed(404, 'not_found_error', 'Images API is not supported for this platform');
