import { ExecuteContext, LoadOptionsContext, RoutingNode } from 'n8n-core';
import { UnexpectedError, Workflow, createEmptyRunExecutionData } from 'n8n-workflow';
import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestOptions,
	INode,
	INodeCredentialTestResult,
	INodeExecutionData,
	INodeListSearchResult,
	INodeParameters,
	INodeType,
	IRequestOptions,
} from 'n8n-workflow';

import type { VirtualTime } from './virtual-time';
import type { WithCredentials } from './credentials';
import { newRecord, recordingInto, type RunRecord } from './host';
import type { NodeSource } from './node-types';
import { HTTP_REQUEST_TYPE, prepareNode } from './run-node';
import { trackHelpers } from './time-tracking';

export interface RunListSearchOptions extends WithCredentials {
	node: NodeSource;
	/** The key in the node's `methods.listSearch`. */
	method: string;
	/** The text in the list's search field. */
	filter?: string;
	/** The pagination token of the previous page. */
	paginationToken?: string;
	/** The node's parameters in the editor. */
	parameters?: INodeParameters;
	/** The path of the list's parameter. */
	path?: string;
	time?: VirtualTime;
	record?: RunRecord;
}

/**
 * Gets the entries of a node's searchable list, as the editor does.
 *
 * @throws what the method throws
 */
export async function runListSearch(options: RunListSearchOptions): Promise<INodeListSearchResult> {
	const { method, filter, paginationToken, path = '', time } = options;
	const { workflow, node, additionalData, record } = prepareNode(options);
	additionalData.currentNodeParameters = node.parameters;
	const context = new LoadOptionsContext(workflow, node, additionalData, path);
	if (time) trackHelpers(context, time);
	const type = workflow.nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
	const search = type.methods?.listSearch?.[method];
	if (!search) throw new UnexpectedError(`The node has no list called "${method}"`);
	const work = recordingInto(
		record,
		async () => await search.call(context, filter, paginationToken),
	);
	return await (time ? time.drive(work) : work);
}

export interface RunCredentialTestOptions {
	credentialType: ICredentialType;
	/** The data in the credential's form. */
	data: ICredentialDataDecryptedObject;
	time?: VirtualTime;
	record?: RunRecord;
}

/**
 * Tests a credential as n8n does. Its `test` request goes through n8n's routing node. The reply
 * becomes the message that n8n shows.
 */
export async function runCredentialTest({
	credentialType,
	data,
	time,
	record = newRecord(),
}: RunCredentialTestOptions): Promise<INodeCredentialTestResult> {
	const { test, name } = credentialType;
	if (!test) {
		return { status: 'Error', message: 'No testing function found for this credential.' };
	}
	const probe = testNode(name, test.request);
	const prepared = prepareNode({
		node: probe,
		credentials: { [name]: data },
		credentialTypes: [credentialType],
		mode: 'internal',
		record,
	});
	const node: INode = { ...prepared.node, type: 'n8n-nodes-base.noOp', name: 'Temp-Node' };
	const workflow = new Workflow({
		nodes: [node],
		connections: {},
		active: false,
		nodeTypes: { ...prepared.workflow.nodeTypes, getByNameAndVersion: () => probe },
	});
	const context = new ExecuteContext(
		workflow,
		node,
		prepared.additionalData,
		'internal',
		createEmptyRunExecutionData(),
		0,
		[],
		{ main: [[{ json: {} }]] },
		{ node, data: {}, source: null },
		[],
	);
	const decrypted = await prepared.additionalData.credentialsHelper.getDecrypted(
		prepared.additionalData,
		{ id: name, name },
		name,
		'internal',
	);
	const routing = new RoutingNode(context, probe, { id: name, name, type: name, data: decrypted });
	const work = recordingInto(record, async () => await routing.runNode());
	let answer: INodeExecutionData[][] | null | undefined;
	try {
		answer = await (time ? time.drive(time.track(work)) : work);
	} catch (error) {
		return { status: 'Error', message: failureMessage(error as Error, test) };
	}
	for (const rule of test.rules ?? []) {
		if (rule.type !== 'responseSuccessBody') continue;
		const body = answer?.[0]?.[0]?.json ?? {};
		if (valueAt(body, rule.properties.key) === rule.properties.value) {
			return { status: 'Error', message: rule.properties.message };
		}
	}
	return { status: 'OK', message: 'Connection successful!' };
}

interface ResponseCause {
	code?: string;
	response?: { status: number; statusText?: string };
}

/** The message of n8n for a failed credential test. */
function failureMessage(error: Error, test: NonNullable<ICredentialType['test']>): string {
	const cause = error.cause as ResponseCause | undefined;
	if (!cause?.response) return cause?.code ?? error.message;
	const { status, statusText } = cause.response;
	for (const rule of test.rules ?? []) {
		if (rule.type === 'responseCode' && rule.properties.value === status) {
			return rule.properties.message;
		}
	}
	if (status < 199 || status > 299) return statusText || `Received HTTP status code: ${status}`;
	return error.message;
}

const valueAt = (body: object, path: string): unknown =>
	path
		.split('.')
		.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], body);

const testNode = (
	credentialType: string,
	request: NonNullable<ICredentialType['test']>['request'],
): INodeType => ({
	description: {
		displayName: 'No Operation',
		name: 'noOp',
		group: ['organization'],
		version: 1,
		description: 'Carries the test request of a credential',
		defaults: { name: 'Temp-Node' },
		inputs: ['main'],
		outputs: ['main'],
		credentials: [{ name: credentialType, required: true }],
		properties: [
			{ displayName: 'Temp', name: 'temp', type: 'string', default: '', routing: { request } },
		],
	},
});

interface RequestAs {
	credentialType: ICredentialType;
	data: ICredentialDataDecryptedObject;
	time?: VirtualTime;
	record?: RunRecord;
	/** Aborting it cancels the execution. */
	signal?: AbortSignal;
}

export type RequestAsOptions = RequestAs &
	(
		| { helper: 'httpRequestWithAuthentication'; options: IHttpRequestOptions }
		| { helper: 'requestWithAuthentication'; options: IRequestOptions }
	);

/**
 * Sends one request as n8n's HTTP Request node does with a predefined credential type.
 *
 * @throws what the helper throws
 */
export async function requestAs(request: RequestAsOptions): Promise<unknown> {
	const { credentialType, data, time, signal } = request;
	const { context, record } = prepareNode({
		node: HTTP_REQUEST_NODE,
		credentials: { [credentialType.name]: data },
		credentialTypes: [credentialType],
		time,
		signal,
		record: request.record,
	});
	const { helpers } = context;
	const work = recordingInto(
		record,
		async (): Promise<unknown> =>
			request.helper === 'requestWithAuthentication'
				? await helpers.requestWithAuthentication.call(
						context,
						credentialType.name,
						request.options,
						undefined,
						0,
					)
				: await helpers.httpRequestWithAuthentication.call(
						context,
						credentialType.name,
						request.options,
					),
	);
	return await (time ? time.drive(work) : work);
}

/** Only the name matters: n8n lets a node of this type use every credential. */
const HTTP_REQUEST_NODE: INodeType = {
	description: {
		displayName: 'HTTP Request',
		name: HTTP_REQUEST_TYPE,
		group: ['output'],
		version: 4,
		description: 'Sends a request with any credential',
		defaults: { name: 'HTTP Request' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [],
	},
};
