import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { redactError } from '../../api/errors/sanitize';
import type { Slot } from '../../api/http/rate-limit-queue';
import { forAgent } from '../agent-tool';
import { nodeError } from '../errors';
import { explainEmpty } from '../fields/empty-expression';
import { readOptions } from '../fields/options';
import { parameterReader } from '../fields/parameters';
import type { Hint } from '../hints';
import { itemClient } from '../http/client';
import type { Connection } from '../http/connection';
import type { WorkTracker } from '../resume/work-tracker';
import type { ItemScope, Operation } from './operation';
import type { StreamRelay } from './stream-relay';

/** What the items of a run share. */
export interface RunScope {
	context: IExecuteFunctions;
	operation: Operation;
	connection: Connection;
	/** Fields and options that an advice may name. */
	optionNames: ReadonlySet<string>;
	work: WorkTracker;
	hint: Hint;
	/** Where the workflow itself streams. */
	relay?: StreamRelay;
}

/** One item that is being worked on. */
export interface RunningItem {
	index: number;
	/** Aborted when the node fails or is canceled: waits end, nothing new is sent. */
	stopped: AbortSignal;
	/** Aborted when the execution is canceled: what is under way ends as well. */
	canceled: AbortSignal;
	/** Its turn in the queue of the run. */
	slot: Slot;
}

/** What became of an item. */
export type ItemResult = { output: INodeExecutionData[] } | { error: unknown };

/**
 * Does the operation for one item.
 * @returns its output, linked to its input item, or why it failed, without the key
 */
export async function runItem(run: RunScope, item: RunningItem): Promise<ItemResult> {
	const { context, operation, connection, relay } = run;
	const { index } = item;
	try {
		const made = await operation.run(itemScope(run, item));
		const output = forAgent(context, index, made, operation);
		relay?.end(index);
		return { output: output.map((one) => ({ ...one, pairedItem: { item: index } })) };
	} catch (thrown) {
		const explained = explainEmpty(context, { ...operation, index }, thrown);
		const error = redactError(explained, connection.redact);
		relay?.end(index, nodeError(context.getNode(), error, index).message);
		return { error };
	}
}

function itemScope(
	{ context, connection, optionNames, work, hint, relay }: RunScope,
	{ index, stopped, canceled, slot }: RunningItem,
): ItemScope {
	const { logger } = context;
	return {
		context,
		index,
		connection,
		options: readOptions(context, index),
		parameter: parameterReader(context, index),
		client: itemClient({
			logger,
			index,
			connection,
			slot,
			signal: stopped,
			cancel: canceled,
			optionNames,
		}),
		work: work.item(index),
		hint,
		beginStream: relay?.opener(index),
	};
}
