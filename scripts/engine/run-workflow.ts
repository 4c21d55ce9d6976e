import { WorkflowExecute } from 'n8n-core';
import { Node, NodeHelpers, UnexpectedError, UserError, Workflow } from 'n8n-workflow';
import type {
	IConnections,
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	INodeType,
	IPinData,
	IRun,
	ITaskData,
	IWorkflowBase,
	WorkflowExecuteMode,
} from 'n8n-workflow';

import { coreNodes, type CoreNodeOptions } from './core-nodes';
import type { VirtualTime } from './virtual-time';
import { CredentialsInMemory, type WithCredentials } from './credentials';
import { buildAdditionalData, newRecord, prepareHost, recordingInto, type RunRecord } from './host';
import { NodeTypesInMemory, declaredCredentials } from './node-types';
import { trackHelpers } from './time-tracking';

/** A workflow as n8n exports it. The type is loose, so that an imported JSON file fits. */
export interface WorkflowJson {
	name?: string;
	nodes: object[];
	connections: object;
	settings?: object;
	pinData?: object;
}

export interface RunWorkflowOptions extends WithCredentials, CoreNodeOptions {
	workflow: WorkflowJson;
	/** Our nodes by their full names. n8n's core nodes are included. */
	nodeTypes: Record<string, INodeType>;
	/** The trigger to start from; the first one if absent. */
	startNode?: string;
	/** The output of the trigger; one empty item if absent. */
	triggerItems?: INodeExecutionData[];
	/**
	 * The clock of our nodes. It also reduces the real wait between tries of a node to the engine's
	 * minimum.
	 */
	time?: VirtualTime;
	mode?: WorkflowExecuteMode;
	executionId?: string;
	/** Aborting it cancels the execution. */
	signal?: AbortSignal;
	streaming?: boolean;
	/** Called with the output of each finished node. */
	onNodeDone?: (nodeName: string, result: ITaskData) => void | Promise<void>;
	/** Called with each message of a running node to the editor. */
	onProgress?: (source: string, messages: unknown[]) => void;
	record?: RunRecord;
}

/** A finished execution as n8n would save it, with its record. */
export interface WorkflowRun extends IRun, RunRecord {
	/** The items on one output of a node, in its last run. */
	items: (nodeName: string, outputIndex?: number) => INodeExecutionData[];
	/** The runs of a node: one, except in a loop. */
	runs: (nodeName: string) => ITaskData[];
	/** The error of the execution, as n8n saves it. */
	error: IRun['data']['resultData']['error'];
}

/**
 * Runs a complete workflow in n8n's own engine. This includes expressions, Retry On Fail, the error
 * output, node contexts and paired items. An error of a node ends the run and is in the result.
 *
 * @throws WorkflowHasIssuesError if a node is unknown or lacks a required parameter
 */
export async function runWorkflow(options: RunWorkflowOptions): Promise<WorkflowRun> {
	prepareHost();
	const { mode = 'manual', executionId = '1', record = newRecord(), time, signal } = options;
	const credentialsHelper = new CredentialsInMemory(options);
	const types: Record<string, INodeType> = { ...coreNodes(options), ...options.nodeTypes };
	const saved = savedWorkflow(options, types, credentialsHelper);
	const workflow = new Workflow({
		...saved,
		nodeTypes: new NodeTypesInMemory(
			time
				? Object.fromEntries(
						Object.entries(types).map(([name, type]) => [name, tracked(type, time)]),
					)
				: types,
		),
	});
	const additionalData = buildAdditionalData({
		credentialsHelper,
		workflow: saved,
		mode,
		executionId,
		record,
		streaming: options.streaming,
		onMessage: options.onProgress,
	});
	additionalData.hooks?.addHandler('nodeExecuteAfter', async (nodeName, result) => {
		await options.onNodeDone?.(nodeName, result);
	});

	const start = startOf(workflow, options.startNode);
	const triggerItems = options.triggerItems ?? [{ json: {} }];
	const execute = async () => {
		const execution = new WorkflowExecute(additionalData, mode).run({
			workflow,
			startNode: start,
			pinData: saved.pinData,
			triggerToStartFrom: {
				name: start.name,
				data: { data: { main: [triggerItems] } } as unknown as ITaskData,
			},
		});
		const cancel = () => execution.cancel();
		if (signal?.aborted) cancel();
		else signal?.addEventListener('abort', cancel, { once: true });
		try {
			return await execution;
		} finally {
			signal?.removeEventListener('abort', cancel);
		}
	};
	const work = recordingInto(record, execute);
	const run = await (time ? time.drive(work) : work);

	const runs = (nodeName: string) => {
		if (!workflow.getNode(nodeName)) throw new UnexpectedError(`No node is called "${nodeName}"`);
		return run.data.resultData.runData[nodeName] ?? [];
	};
	return {
		...run,
		...record,
		error: run.data.resultData.error,
		runs,
		items: (nodeName, outputIndex = 0) => runs(nodeName).at(-1)?.data?.main?.[outputIndex] ?? [],
	};
}

/** The workflow with the IDs and credentials that n8n adds on import. */
function savedWorkflow(
	{ workflow, time }: RunWorkflowOptions,
	types: Record<string, INodeType>,
	credentialsHelper: CredentialsInMemory,
): IWorkflowBase {
	const { name, nodes, connections, settings, pinData } = structuredClone(workflow);
	return {
		id: 'workflow',
		name: name ?? 'Workflow',
		active: false,
		activeVersionId: null,
		isArchived: false,
		createdAt: new Date(0),
		updatedAt: new Date(0),
		connections: connections as IConnections,
		settings: { executionOrder: 'v1', ...settings },
		pinData: pinData as IPinData | undefined,
		nodes: (nodes as INode[]).map((node) => {
			const type = types[node.type];
			const declared = type
				? declaredCredentials(NodeHelpers.getVersionedNodeType(type, node.typeVersion))
				: [];
			return {
				...node,
				id: node.id ?? node.name,
				parameters: node.parameters ?? {},
				credentials: { ...node.credentials, ...credentialsHelper.reference(declared) },
				...(time && node.retryOnFail && { waitBetweenTries: 1 }),
			};
		}),
	};
}

/** The same node type with helpers that stop `time` while they work. */
function tracked(type: INodeType, time: VirtualTime): INodeType {
	// A node of n8n's newer class style gets its context as an argument.
	if (type instanceof Node || !type.execute) return type;
	return Object.create(type, {
		execute: {
			value: async function (this: IExecuteFunctions, ...args: unknown[]) {
				trackHelpers(this, time);
				return await (type.execute as UntypedExecute).apply(this, args);
			},
		},
	}) as INodeType;
}

type UntypedExecute = (this: IExecuteFunctions, ...args: unknown[]) => Promise<unknown>;

function startOf(workflow: Workflow, name?: string): INode {
	const candidates = Object.values(workflow.nodes).filter(
		({ type, typeVersion, disabled }) =>
			!disabled &&
			workflow.nodeTypes
				.getByNameAndVersion(type, typeVersion)
				?.description.group.includes('trigger'),
	);
	const start = name ? workflow.getNode(name) : candidates[0];
	if (!start) throw new UserError('The workflow has no such trigger to start from');
	return start;
}
