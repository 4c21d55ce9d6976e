import type {
	IAuthenticate,
	ICredentialTestRequest,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';
import { normalizeApiKey } from '../nodes/shared/client/api-key';
import { normalizeBaseUrl } from '../nodes/shared/client/base-url';
import { InputError } from '../nodes/shared/client/errors';

/** A gateway's address and a key for it. */
export class ModelAccessApi implements ICredentialType {
	name = 'modelAccessApi';

	displayName = 'Model Access API';

	icon = { light: 'file:modelAccessApi.svg', dark: 'file:modelAccessApi.dark.svg' } as const;

	documentationUrl = 'https://github.com/example/n8n-nodes-model-access#credentials';

	properties: INodeProperties[] = [
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			description: 'A key from the gateway’s console. It decides which models you may use.',
		},
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'https://api.example.com/v1',
			description: 'The gateway’s address. It ends in /v1, which is added where it is missing.',
		},
	];

	/**
	 * Adds the key, and sends it to the origin of the base URL only.
	 * @throws {InputError} the credential is not usable, or the request goes to another origin
	 */
	authenticate: IAuthenticate = async (credentials, requestOptions) => {
		const baseUrl = normalizeBaseUrl(String(credentials.baseUrl ?? ''));
		const apiKey = normalizeApiKey(String(credentials.apiKey ?? ''));
		refuseOtherOrigin(requestOptions, new URL(baseUrl).origin);
		return {
			...requestOptions,
			headers: { ...requestOptions.headers, Authorization: `Bearer ${apiKey}` },
			sendCredentialsOnCrossOriginRedirect: false,
		};
	};

	test: ICredentialTestRequest = {
		request: { baseURL: '={{ $credentials.baseUrl }}', url: '/models' },
	};
}
