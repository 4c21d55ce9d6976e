import { ExecuteContext } from 'n8n-core';
import { NodeHelpers, UnexpectedError, Workflow, createRunExecutionData } from 'n8n-workflow';
import type {
	IDataObject,
	IExecuteData,
	INode,
	INodeExecutionData,
	INodeParameters,
	INodeType,
	IRunExecutionData,
	IWorkflowBase,
	IWorkflowExecuteAdditionalData,
	IWorkflowSettings,
	WorkflowExecuteMode,
} from 'n8n-workflow';

import type { VirtualTime } from './virtual-time';
import { CredentialsInMemory, type WithCredentials } from './credentials';
import { buildAdditionalData, newRecord, prepareHost, recordingInto, type RunRecord } from './host';
import {
	NodeTypesInMemory,
	declaredCredentials,
	nodeInstance,
	nodeNamed,
	newestVersion,
	type NodeSource,
} from './node-types';
import { trackHelpers } from './time-tracking';

/** The name of the node that {@link runNode} runs. */
export const NODE_NAME = 'Node under test';
/** The name of the previous node, which produced its items. */
export const INPUT_NAME = 'Input';
const INPUT_TYPE = 'n8n-nodes-base.manualTrigger';

/** The previous node. It has delivered the items and is never executed. */
const INPUT: INodeType = {
	description: {
		displayName: INPUT_NAME,
		name: 'manualTrigger',
		group: ['trigger'],
		version: 1,
		description: 'Delivers the items',
		defaults: { name: INPUT_NAME },
		inputs: [],
		outputs: ['main'],
		properties: [],
	},
};

export interface RunNodeOptions extends WithCredentials {
	node: NodeSource;
	/** As the editor saves them: expressions start with `=`, defaults may be absent. */
	parameters?: INodeParameters;
	/** The output of the previous node; one empty item if absent. */
	items?: INodeExecutionData[];
	mode?: WorkflowExecuteMode;
	onError?: INode['onError'];
	typeVersion?: number;
	/** The clock of the node's code. The test drives it, and it stops during real work. */
	time?: VirtualTime;
	/** The workflow setting for the place of files. */
	binaryMode?: IWorkflowSettings['binaryMode'];
	executionId?: string;
	/** Aborting it cancels the execution. */
	signal?: AbortSignal;
	/** Whether the caller of the execution receives chunks. */
	streaming?: boolean;
	runIndex?: number;
	/** The value of `getContext('node')` at the start. */
	nodeContext?: IDataObject;
	/** The execution to continue; it keeps node contexts over several runs. */
	runExecutionData?: IRunExecutionData;
	/** The record for logs and messages, for a test that reads them after a failure. */
	record?: RunRecord;
}

/** The result of a run of one node. */
export interface NodeRun extends RunRecord {
	/** The items of each output. */
	outputs: INodeExecutionData[][];
	/** The items of the first output. */
	items: INodeExecutionData[];
	/** The value of `getContext('node')` at the end. */
	nodeContext: IDataObject;
	context: ExecuteContext;
	additionalData: IWorkflowExecuteAdditionalData;
	runExecutionData: IRunExecutionData;
}

/** One node in a workflow of its own, ready to be executed. */
export interface PreparedNode {
	workflow: Workflow;
	node: INode;
	context: ExecuteContext;
	additionalData: IWorkflowExecuteAdditionalData;
	runExecutionData: IRunExecutionData;
	record: RunRecord;
}

/**
 * Runs one node in n8n's own execution context: real helpers, real expressions, real credential
 * flow, real binary data. The node sees its items as the output of a node called "Input".
 *
 * @throws what the node throws
 */
export async function runNode(options: RunNodeOptions): Promise<NodeRun> {
	const prepared = prepareNode(options);
	const { workflow, context, additionalData, runExecutionData, record, node } = prepared;
	const type = workflow.nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
	record.hints = context.hints;
	const execute = type.execute?.bind(context);
	if (!execute) throw new UnexpectedError(`"${node.type}" has no execute method`);

	const work = recordingInto(record, async () => await execute());
	const answer = await (options.time ? options.time.drive(work) : work);
	if (answer && !Array.isArray(answer)) {
		throw new UnexpectedError('A request to the engine needs a whole workflow');
	}
	const outputs = answer ?? [];
	return {
		...record,
		outputs,
		items: outputs[0] ?? [],
		nodeContext: NodeHelpers.getContext(runExecutionData, 'node', node),
		context,
		additionalData,
		runExecutionData,
	};
}

/** A failed run: its error and its record. */
export interface FailedRun extends RunRecord {
	error: Error;
}

/**
 * Runs one node that has to fail, and returns its error with the logs.
 *
 * @throws UnexpectedError if the node succeeds
 */
export async function runNodeToError(options: RunNodeOptions): Promise<FailedRun> {
	const record = options.record ?? newRecord();
	try {
		await runNode({ ...options, record });
	} catch (error) {
		return { ...record, error: error as Error };
	}
	throw new UnexpectedError('The node succeeded where a failure was expected');
}

/** Builds the context of {@link runNode} without running the node, to call helpers directly. */
export function prepareNode(options: RunNodeOptions): PreparedNode {
	prepareHost();
	const { mode = 'manual', executionId = '1', runIndex = 0, time } = options;
	const record = options.record ?? newRecord();
	const credentialsHelper = new CredentialsInMemory(options);
	const { workflow, saved } = workflowAround(options, credentialsHelper);
	const node = nodeNamed(workflow, NODE_NAME);

	const additionalData = buildAdditionalData({
		credentialsHelper,
		workflow: saved,
		mode,
		executionId,
		record,
		streaming: options.streaming,
	});
	const delivered = (options.items ?? [{ json: {} }]).map((item) => ({ ...item }));
	const items = delivered.map((item, index) => ({ ...item, pairedItem: { item: index } }));
	const runExecutionData = options.runExecutionData ?? createRunExecutionData();
	runExecutionData.resultData.runData[INPUT_NAME] = [
		{
			startTime: 0,
			executionIndex: 0,
			executionTime: 0,
			executionStatus: 'success',
			source: [],
			data: { main: [delivered] },
		},
	];
	if (options.nodeContext) {
		Object.assign(NodeHelpers.getContext(runExecutionData, 'node', node), options.nodeContext);
	}
	const data = { main: [items] };
	const executeData: IExecuteData = {
		node,
		data,
		source: { main: [{ previousNode: INPUT_NAME }] },
	};
	const context = new ExecuteContext(
		workflow,
		node,
		additionalData,
		mode,
		runExecutionData,
		runIndex,
		items,
		data,
		executeData,
		[],
		options.signal,
	);
	if (time) trackHelpers(context, time);
	return { workflow, node, context, additionalData, runExecutionData, record };
}

function workflowAround(
	{ node: source, parameters = {}, onError, typeVersion, binaryMode }: RunNodeOptions,
	credentialsHelper: CredentialsInMemory,
) {
	const instance = nodeInstance(source);
	const version = typeVersion ?? newestVersion(instance);
	const type = NodeHelpers.getVersionedNodeType(instance, version);
	const typeName = nodeTypeName(type.description.name);
	const nodes: INode[] = [
		{
			id: 'input',
			name: INPUT_NAME,
			type: INPUT_TYPE,
			typeVersion: 1,
			position: [0, 0],
			parameters: {},
		},
		{
			id: 'node',
			name: NODE_NAME,
			type: typeName,
			typeVersion: version,
			position: [220, 0],
			parameters: structuredClone(parameters),
			credentials: credentialsHelper.reference(
				typeName === HTTP_REQUEST_TYPE ? credentialsHelper.saved : declaredCredentials(type),
			),
			...(onError && { onError }),
		},
	];
	const saved: IWorkflowBase = {
		id: 'workflow',
		name: 'Workflow under test',
		active: false,
		activeVersionId: null,
		isArchived: false,
		createdAt: new Date(0),
		updatedAt: new Date(0),
		nodes,
		connections: {
			[INPUT_NAME]: { main: [[{ node: NODE_NAME, type: 'main', index: 0 }]] },
		},
		settings: { executionOrder: 'v1', ...(binaryMode && { binaryMode }) },
	};
	const nodeTypes = new NodeTypesInMemory({ [typeName]: instance, [INPUT_TYPE]: INPUT });
	const workflow = new Workflow({ ...saved, nodeTypes });
	return { workflow, saved };
}

/** The HTTP Request node, which n8n lets use any credential. */
export const HTTP_REQUEST_TYPE = 'n8n-nodes-base.httpRequest';

/** The full name of a node of this package in n8n. */
const nodeTypeName = (name: string) =>
	name.includes('.') ? name : `n8n-nodes-model-access.${name}`;
