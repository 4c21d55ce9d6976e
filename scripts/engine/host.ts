import 'reflect-metadata';

import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ExecutionLifecycleHooks, ExternalSecretsProxy, InstanceSettings } from 'n8n-core';
import { LoggerProxy, UnexpectedError } from 'n8n-workflow';
import type {
	IDataObject,
	IWorkflowBase,
	IWorkflowExecuteAdditionalData,
	NodeExecutionHint,
	StructuredChunk,
	WorkflowExecuteMode,
} from 'n8n-workflow';

import { Container, Logger } from './core-modules';
import type { CredentialsInMemory } from './credentials';

/** One log line of `this.logger`, n8n's helpers or n8n's engine. */
export interface LogEntry {
	level: 'error' | 'warn' | 'info' | 'debug';
	message: string;
	metadata?: unknown;
}

/** What a run records beside its items. Pass one in to read it after a failure. */
export interface RunRecord {
	logs: LogEntry[];
	/** The arguments of each `sendMessageToUI` call. */
	uiMessages: unknown[][];
	/** Each chunk that the caller of the execution got by `sendChunk`. */
	chunks: StructuredChunk[];
	/** Hints of the node to the user. */
	hints: NodeExecutionHint[];
}

/** An empty {@link RunRecord}. */
export const newRecord = (): RunRecord => ({
	logs: [],
	uiMessages: [],
	chunks: [],
	hints: [],
});

/**
 * The record of the run of the current asynchronous call. n8n has one logger for the process, and
 * runs can overlap.
 */
const currentRecord = new AsyncLocalStorage<RunRecord>();

/** Runs `work` and writes everything that n8n logs meanwhile into `record`. */
export const recordingInto = async <T>(record: RunRecord, work: () => Promise<T>): Promise<T> =>
	await currentRecord.run(record, work);

const write =
	(level: LogEntry['level']) =>
	(message: string, metadata?: unknown): void => {
		currentRecord.getStore()?.logs.push({ level, message, metadata });
	};

const collectingLogger = {
	error: write('error'),
	warn: write('warn'),
	info: write('info'),
	debug: write('debug'),
	scoped: () => collectingLogger,
};

let prepared = false;

/**
 * Gives n8n-core a logger and instance settings. n8n-core reads the settings from a folder, or
 * writes them there. The folder is removed on return.
 */
export function prepareHost(): void {
	if (prepared) return;
	prepared = true;
	Container.set(Logger, collectingLogger as unknown as InstanceType<typeof Logger>);
	LoggerProxy.init(collectingLogger);

	const folder = mkdtempSync(join(tmpdir(), 'n8n-user-folder-'));
	const before = process.env.N8N_USER_FOLDER;
	process.env.N8N_USER_FOLDER = folder;
	try {
		Container.get(InstanceSettings);
	} finally {
		if (before === undefined) delete process.env.N8N_USER_FOLDER;
		else process.env.N8N_USER_FOLDER = before;
		rmSync(folder, { recursive: true, force: true });
	}
}

const HOST = 'https://n8n.example.test';

/** What an execution knows about its n8n instance. */
export interface ExecutionSurroundings {
	credentialsHelper: CredentialsInMemory;
	workflow: IWorkflowBase;
	mode: WorkflowExecuteMode;
	executionId: string | undefined;
	record: RunRecord;
	/** Whether the caller of the execution receives chunks, as a streaming webhook does. */
	streaming?: boolean;
	onMessage?: (source: string, messages: unknown[]) => void;
}

/** The `additionalData` of one execution, with real lifecycle hooks that write to its record. */
export function buildAdditionalData({
	credentialsHelper,
	workflow,
	mode,
	executionId,
	record,
	streaming = false,
	onMessage,
}: ExecutionSurroundings): IWorkflowExecuteAdditionalData {
	const hooks = new ExecutionLifecycleHooks(mode, executionId ?? '', workflow);
	hooks.addHandler('sendChunk', (chunk) => {
		record.chunks.push(chunk);
	});
	const unavailable = (what: string) => async () => {
		throw new UnexpectedError(`${what} is not part of this test engine`);
	};
	return {
		credentialsHelper,
		hooks,
		executionId,
		streamingEnabled: streaming,
		currentNodeExecutionIndex: 0,
		externalSecretsProxy: Container.get(ExternalSecretsProxy),
		executeWorkflow: unavailable('Running a sub-workflow'),
		getRunExecutionData: unavailable('Reading another execution'),
		getRuntimeCredential: unavailable('A runtime credential'),
		startRunnerTask: unavailable('A task runner'),
		logAiEvent: () => undefined,
		sendDataToUI: (_type, data) => {
			const { source, messages } = data as IDataObject & { source: string; messages: unknown[] };
			record.uiMessages.push(messages);
			onMessage?.(source, messages);
		},
		variables: {},
		workflowId: workflow.id,
		restApiUrl: `${HOST}/rest`,
		instanceBaseUrl: `${HOST}/`,
		formBaseUrl: `${HOST}/form`,
		formWaitingBaseUrl: `${HOST}/form-waiting`,
		formTestBaseUrl: `${HOST}/form-test`,
		webhookBaseUrl: `${HOST}/webhook`,
		webhookWaitingBaseUrl: `${HOST}/webhook-waiting`,
		webhookTestBaseUrl: `${HOST}/webhook-test`,
		mcpBaseUrl: `${HOST}/mcp`,
		mcpTestBaseUrl: `${HOST}/mcp-test`,
	};
}
