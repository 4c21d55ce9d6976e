import type {
	IAuthenticate,
	ICredentialDataDecryptedObject,
	ICredentialTestRequest,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';
import { normalizeApiKey } from '../nodes/shared/api/credential/api-key';
import { normalizeBaseUrl } from '../nodes/shared/api/credential/base-url';
import { bodyMessages, statusMessages } from '../nodes/shared/api/credential/test-messages';
import { ValidationError } from '../nodes/shared/api/errors/errors';

const WHERE_FROM =
	'<a href="https://github.com/example/n8n-nodes-model-access/blob/main/docs/credential.md" target="_blank">Where to get both</a>.';

/** A gateway's address and a key for it. */
export class ModelAccessApi implements ICredentialType {
	name = 'modelAccessApi';

	displayName = 'Model Access API';

	icon = { light: 'file:modelAccessApi.svg', dark: 'file:modelAccessApi.dark.svg' } as const;

	documentationUrl =
		'https://github.com/example/n8n-nodes-model-access/blob/main/docs/credential.md';

	properties: INodeProperties[] = [
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			description: `A key that you create in the gateway’s console, or get from its operator. It decides which models you may use. ${WHERE_FROM}`,
		},
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'https://api.example.com/v1',
			description: `The gateway’s address, which its console or its operator names. It ends in /v1, which is added if it is missing. ${WHERE_FROM}`,
		},
		{
			displayName: 'Allow HTTP in a Private Network',
			name: 'allowPrivateHttp',
			type: 'boolean',
			default: false,
			description:
				'Whether the Base URL may begin with http:// if its host is private, such as http://gateway:8080 in Docker. The key then travels unencrypted. Public hosts always need https.',
		},
	];

	/**
	 * Adds the key to a request of the base URL's origin; any other is refused. This holds for
	 * n8n's HTTP Request node too, by either of n8n's request helpers: redirects are not followed,
	 * since n8n would carry the key along, and certificates are always checked.
	 *
	 * @throws {ValidationError} the credential is not usable, or the request goes to another origin
	 * @see contract, "Authentication" 1, 2 and 7
	 */
	authenticate: IAuthenticate = async (credentials, requestOptions) => {
		const { baseUrl, apiKey } = usable(credentials);
		return {
			...atOrigin(requestOptions, baseUrl, credentials.baseUrl),
			headers: {
				...withoutAuthorization(requestOptions.headers),
				authorization: `Bearer ${apiKey}`,
			},
			...STAY_AT_ORIGIN,
		};
	};

	test: ICredentialTestRequest = {
		request: { baseURL: '={{ $credentials.baseUrl }}', url: '/models' },
		rules: TEST_RULES,
	};
}

/** What n8n's older request helper, which its HTTP Request node uses, calls the same things. */
interface OlderRequestOptions {
	uri?: string;
	followRedirect?: boolean;
	followAllRedirects?: boolean;
	rejectUnauthorized?: boolean;
}

/** The options, by which each of n8n's helpers stays where it is sent and checks who answers. */
const STAY_AT_ORIGIN: Partial<IHttpRequestOptions & OlderRequestOptions> = {
	sendCredentialsOnCrossOriginRedirect: false,
	disableFollowRedirect: true,
	followRedirect: false,
	followAllRedirects: false,
	maxRedirects: 0,
	skipSslCertificateValidation: false,
	rejectUnauthorized: true,
};

/**
 * The header is written in lower case: `Authorization` in this very spelling is what n8n puts back
 * into a request that was redirected to another host.
 */
function withoutAuthorization(headers: IHttpRequestOptions['headers'] = {}) {
	return Object.fromEntries(
		Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization'),
	);
}

/** @throws {ValidationError} with its advice in its message: n8n's test shows nothing else */
function usable({ baseUrl, apiKey, allowPrivateHttp }: ICredentialDataDecryptedObject) {
	try {
		return {
			baseUrl: normalizeBaseUrl(String(baseUrl ?? ''), {
				allowPrivateHttp: allowPrivateHttp === true,
			}),
			apiKey: normalizeApiKey(String(apiKey ?? '')),
		};
	} catch (error) {
		if (error instanceof ValidationError) error.message += `. ${error.details.advice}`;
		throw error;
	}
}

/** What the test says. n8n's types allow one kind of rule at a time, n8n itself any mixture. */
const TEST_RULES = [
	...statusMessages().map(({ status, message }) => ({
		type: 'responseCode',
		properties: { value: status, message },
	})),
	...bodyMessages().map((properties) => ({ type: 'responseSuccessBody', properties })),
] as ICredentialTestRequest['rules'];

/**
 * The request with one absolute address, so that what was checked is what is sent.
 * @param typedBaseUrl as it stands in the credential, which n8n's test uses unchanged
 * @throws {ValidationError} the address is not of the base URL's origin
 */
function atOrigin(
	options: IHttpRequestOptions & OlderRequestOptions,
	baseUrl: string,
	typedBaseUrl: unknown,
): IHttpRequestOptions {
	const { url, uri, baseURL, ...rest } = options;
	const base = baseURL === undefined || baseURL === typedBaseUrl ? baseUrl : baseURL;
	const address = absolute(url || String(uri ?? ''), base);
	const { origin } = new URL(baseUrl);
	if (!URL.canParse(address) || new URL(address).origin !== origin) {
		const advice = `This credential is sent to ${origin} only. Use an address there, or another credential.`;
		const refused = new ValidationError(
			'URL',
			'is not an address of the gateway in the credential',
			advice,
		);
		// n8n's HTTP Request node shows this field below the message.
		throw Object.assign(refused, { description: advice });
	}
	return { ...rest, ...(uri !== undefined && { uri: address }), url: address };
}

/** Joins an address and its base as n8n's helpers do: a path is put behind the base. */
function absolute(url: string, base: string): string {
	if (/^([a-z][a-z0-9+.-]*:)?[/\\]{2}/i.test(url))
		return URL.canParse(url, base) ? new URL(url, base).href : url;
	return `${base.replace(/\/+$/, '')}/${url.replace(/^\/+/, '')}`;
}
