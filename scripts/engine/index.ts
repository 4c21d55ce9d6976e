/**
 * Runs nodes and workflows in n8n-core's real engine, inside this process. It depends on no test
 * framework, so scripts can use it too.
 */
export {
	readBinary,
	storeBinaryInMemory,
	storeBinaryOnDisk,
	type BinaryStorage,
} from './binary-storage';
export type { CredentialData, WithCredentials } from './credentials';
export { newRecord, type LogEntry, type RunRecord } from './host';
export type { NodeSource } from './node-types';
export {
	INPUT_NAME,
	NODE_NAME,
	prepareNode,
	runNode,
	runNodeToError,
	type FailedRun,
	type NodeRun,
	type PreparedNode,
	type RunNodeOptions,
} from './run-node';
export {
	requestAs,
	runCredentialTest,
	runListSearch,
	type RequestAsOptions,
	type RunCredentialTestOptions,
	type RunListSearchOptions,
} from './requests';
export {
	runWorkflow,
	type RunWorkflowOptions,
	type WorkflowJson,
	type WorkflowRun,
} from './run-workflow';
