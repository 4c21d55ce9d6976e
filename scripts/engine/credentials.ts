import { getAdditionalKeys } from 'n8n-core';
import { ICredentialsHelper, NodeHelpers, UnexpectedError, isExpression } from 'n8n-workflow';
import type {
	ICredentialDataDecryptedObject,
	ICredentials,
	ICredentialsExpressionResolveValues,
	ICredentialType,
	IDataObject,
	IExecuteData,
	IHttpRequestHelper,
	IHttpRequestOptions,
	INode,
	INodeCredentialsDetails,
	INodeParameters,
	INodeProperties,
	IRequestOptionsSimplified,
	IWorkflowExecuteAdditionalData,
	Workflow,
	WorkflowExecuteMode,
} from 'n8n-workflow';

/** Saved credential data, by credential type. */
export type CredentialData = Record<string, ICredentialDataDecryptedObject>;

/** The options of every run that may use credentials. */
export interface WithCredentials {
	/** The saved data, by credential type. */
	credentials?: CredentialData;
	/** The instances of these credential types. */
	credentialTypes?: ICredentialType[];
}

/**
 * Does the work of n8n's credentials helper, with data in memory instead of a database. It supports
 * parent types, defaults, and expressions in the data. `authenticate` may be a function or generic.
 * `preAuthentication` may have an expirable property.
 */
export class CredentialsInMemory extends ICredentialsHelper {
	private readonly data: CredentialData;
	private readonly types: Map<string, ICredentialType>;

	constructor({ credentials = {}, credentialTypes = [] }: WithCredentials) {
		super();
		this.data = structuredClone(credentials);
		this.types = new Map(credentialTypes.map((type) => [type.name, type]));
	}

	/** The types with data in this run. */
	get saved() {
		return Object.keys(this.data);
	}

	/** The `credentials` entry that n8n saves in a node for these types. */
	reference(types: string[]): Record<string, INodeCredentialsDetails> {
		return Object.fromEntries(
			types.filter((type) => this.data[type]).map((type) => [type, { id: type, name: type }]),
		);
	}

	getParentTypes(name: string): string[] {
		return (this.types.get(name)?.extends ?? []).flatMap((parent) => [
			parent,
			...this.getParentTypes(parent),
		]);
	}

	isCredentialUsableByNode(credentialType: string, nodeType: string): boolean {
		const type = this.types.get(credentialType);
		if (!type?.restrictToSupportedNodes) return true;
		return (type.supportedNodes ?? []).some(
			(supported) => supported === nodeType || nodeType.endsWith(`.${supported}`),
		);
	}

	getCredentialsProperties(name: string): INodeProperties[] {
		const properties: INodeProperties[] = [];
		for (const parent of this.typeNamed(name).extends ?? []) {
			NodeHelpers.mergeNodeProperties(properties, this.getCredentialsProperties(parent));
		}
		NodeHelpers.mergeNodeProperties(properties, this.typeNamed(name).properties);
		return properties;
	}

	async getDecrypted(
		additionalData: IWorkflowExecuteAdditionalData,
		_nodeCredentials: INodeCredentialsDetails,
		type: string,
		mode: WorkflowExecuteMode,
		executeData?: IExecuteData,
		raw?: boolean,
		resolveWith?: ICredentialsExpressionResolveValues,
	): Promise<ICredentialDataDecryptedObject> {
		const saved = this.data[type];
		if (!saved) throw new UnexpectedError(`No credential of type "${type}" was saved`);
		const decrypted = structuredClone(saved);
		return raw
			? decrypted
			: this.withDefaults(additionalData, decrypted, type, mode, executeData, resolveWith);
	}

	/** The saved data with the type's defaults and resolved expressions. */
	withDefaults(
		additionalData: IWorkflowExecuteAdditionalData,
		saved: ICredentialDataDecryptedObject,
		type: string,
		mode: WorkflowExecuteMode,
		executeData?: IExecuteData,
		resolveWith?: ICredentialsExpressionResolveValues,
	): ICredentialDataDecryptedObject {
		const data = (NodeHelpers.getNodeParameters(
			this.getCredentialsProperties(type),
			saved as INodeParameters,
			true,
			false,
			null,
			null,
		) ?? {}) as ICredentialDataDecryptedObject;
		if (!resolveWith) return data;
		const { workflow, runExecutionData, runIndex, itemIndex, node, connectionInputData } =
			resolveWith;
		return workflow.expression.getParameterValue(
			data as INodeParameters,
			runExecutionData,
			runIndex,
			itemIndex,
			node.name,
			connectionInputData,
			mode,
			getAdditionalKeys(additionalData, mode, runExecutionData, { isCredential: true }),
			executeData,
			false,
			data,
		) as ICredentialDataDecryptedObject;
	}

	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
		requestOptions: IHttpRequestOptions | IRequestOptionsSimplified,
		workflow?: Workflow,
		node?: INode,
	): Promise<IHttpRequestOptions> {
		const options = requestOptions as IHttpRequestOptions;
		const { authenticate } = this.typeNamed(typeName);
		if (typeof authenticate === 'function') return await authenticate(credentials, options);
		if (!authenticate) return options;
		if (!workflow || !node) throw new UnexpectedError('Generic auth needs a workflow and a node');

		const resolve = (value: string) => {
			if (!isExpression(value)) return value;
			const keys = { $credentials: credentials };
			const resolved = workflow.expression.getSimpleParameterValue(
				node,
				value,
				'internal',
				keys,
				undefined,
				'',
			);
			return resolved ? String(resolved) : '';
		};
		options.headers ??= {};
		const target = options as unknown as Record<string, IDataObject>;
		for (const [part, entries] of Object.entries(authenticate.properties)) {
			for (const [key, value] of Object.entries(entries as Record<string, string>)) {
				(target[part] ??= {})[resolve(key)] = resolve(value);
			}
		}
		return options;
	}

	async preAuthentication(
		helpers: IHttpRequestHelper,
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
		node: INode,
		credentialsExpired: boolean,
	): Promise<ICredentialDataDecryptedObject | undefined> {
		const type = this.typeNamed(typeName);
		const expirable = type.properties.find(
			({ type: kind, typeOptions }) => kind === 'hidden' && typeOptions?.expirable === true,
		);
		if (!expirable || !type.preAuthentication) return undefined;
		const testing = node.parameters?.temp === '' && node.type === 'n8n-nodes-base.noOp';
		if (credentials[expirable.name] !== '' && !credentialsExpired && !testing) return undefined;

		const fresh = (await type.preAuthentication.call(
			helpers,
			credentials,
		)) as ICredentialDataDecryptedObject;
		if (fresh[expirable.name] === undefined) return undefined;
		Object.assign((this.data[typeName] ??= {}), fresh);
		return Object.assign(credentials, fresh);
	}

	async runPreAuthentication(
		helpers: IHttpRequestHelper,
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
	): Promise<ICredentialDataDecryptedObject | undefined> {
		return (await this.typeNamed(typeName).preAuthentication?.call(helpers, credentials)) as
			| ICredentialDataDecryptedObject
			| undefined;
	}

	async getCredentials(): Promise<ICredentials> {
		throw new UnexpectedError('Encrypted credentials are not part of this test engine');
	}

	async updateCredentials(
		_nodeCredentials: INodeCredentialsDetails,
		type: string,
		data: ICredentialDataDecryptedObject,
	): Promise<void> {
		this.data[type] = data;
	}

	async updateCredentialsOauthTokenData(
		nodeCredentials: INodeCredentialsDetails,
		type: string,
		data: ICredentialDataDecryptedObject,
	): Promise<void> {
		await this.updateCredentials(nodeCredentials, type, data);
	}

	private typeNamed(name: string): ICredentialType {
		const type = this.types.get(name);
		if (!type) throw new UnexpectedError(`Unknown credential type "${name}"`);
		return type;
	}
}
