import { NodeOperationError, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { shorten } from '../../api/errors/shorten';
import type { Clock } from '../../api/http/clock';
import { RateLimitQueue, type QueueSummary, type Slot } from '../../api/http/rate-limit-queue';
import type { Client } from '../../api/http/request';
import { n8nClock } from '../clock';
import { explainEmpty } from '../fields/empty-expression';
import { getOptionNames } from '../fields/option-names';
import { concurrencyOption, readOptions } from '../fields/options';
import { createClient } from '../http/client';
import { connect, type Connection } from '../http/connection';
import { forAgent } from '../agent-tool';
import type { ItemScope, Operation, Resource } from './operation';
import { Run, type ItemRun } from '../resume/work-tracker';

/**
 * Runs the operation that the node is set to.
 * @param time n8n's, but for tests
 */
export async function execute(
	context: IExecuteFunctions,
	resources: Resource[],
	time: Clock = n8nClock,
): Promise<INodeExecutionData[][]> {
	const chosen = context.getNodeParameter('resource', 0, '');
	const wanted = context.getNodeParameter('operation', 0, '');
	const operation = resources
		.find(({ value }) => value === chosen)
		?.operations.find(({ value }) => value === wanted);
	if (!operation) {
		throw new NodeOperationError(
			context.getNode(),
			shorten(`The operation "${String(wanted)}" of "${String(chosen)}" does not exist`),
			{ description: 'Select Resource and Operation from their lists.' },
		);
	}
	return await runItems(context, operation, time);
}

/**
 * Runs an operation for all items: several side by side, outputs in input order and linked to their
 * items. A failure becomes an error item under "Continue". Otherwise it ends the node: no new item
 * starts, waits end, and requests under way are awaited. The error lists what was paid for other
 * items.
 *
 * @throws {NodeApiError|NodeOperationError}
 */
async function runItems(
	context: IExecuteFunctions,
	operation: Operation,
	time: Clock,
): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	const run = new Run(context);
	const optionNames = getOptionNames(operation);
	const outputs = new Map<number, INodeExecutionData[]>();
	try {
		const shared = await run.begin(async () => ({
			connection: await connect(context, time),
			concurrency: readConcurrency(context),
		}));
		if (!shared) return [run.errorItems(items.length)];
		run.redact = shared.connection.redact;
		const limit = pLimit(shared.concurrency);
		const queue = new RateLimitQueue(time, shared.concurrency);
		const runItem = async (index: number) => {
			const itemRun = run.startItem(index);
			const slot = queue.slot(index);
			const needs = { ...shared.connection, optionNames, slot };
			try {
				const output = await operation.run(itemScope(context, needs, itemRun, run));
				return run.succeed(itemRun, forAgent(context, index, output, operation));
			} catch (error) {
				return run.fail(itemRun, explainEmpty(context, { ...operation, index }, error));
			} finally {
				run.endItem(itemRun);
				slot.release();
			}
		};
		await Promise.all(
			items.map(async (_, index) => {
				await limit(async () => {
					if (run.ended) return;
					const output = await runItem(index);
					if (output) outputs.set(index, output);
				});
			}),
		);
		if (queue.summary) run.hint('refused', tellRefused(operation, queue.summary));
	} finally {
		run.close();
	}
	return [run.finish(items.flatMap((_, index) => outputs.get(index) ?? []))];
}

function readConcurrency(context: IExecuteFunctions): number {
	const concurrency = context.getNodeParameter('advanced.concurrency', 0, '');
	return concurrencyOption.read({ concurrency });
}

/** What a run tells of requests that the gateway refused, at its end. */
function tellRefused({ unit }: Operation, { fewest, refused }: QueueSummary): string {
	const units = fewest === 1 ? unit : `${unit}s`;
	const submits = refused === 1 ? 'submit' : 'submits';
	return `The gateway took ${fewest} ${units} at a time and refused ${refused} ${submits}. Set Concurrency to ${fewest} to avoid them.`;
}

/** @param ms 0 if the queue of the run decides */
const tellWait = (ms: number) => (ms > 0 ? `in ${ms} ms` : 'when the queue allows');

function itemScope(
	context: IExecuteFunctions,
	connection: Connection & Pick<Client, 'optionNames'> & { slot: Slot },
	itemRun: ItemRun,
	run: Run,
): ItemScope {
	const { index } = itemRun;
	return {
		context,
		index,
		connection,
		options: readOptions(context, index),
		parameter: (name) => context.getNodeParameter(name, index, undefined, { extractValue: true }),
		client: (bounds) => ({
			...createClient(connection, bounds, {
				optionNames: connection.optionNames,
				signal: itemRun.stopped,
				cancel: itemRun.canceled,
				onRetry: ({ reason, waitMs, attempt }) =>
					context.logger.debug(
						`Item ${index}: ${reason}; sending again ${tellWait(waitMs)} (retry ${attempt})`,
					),
			}),
			slot: connection.slot,
		}),
		work: run.workOf(itemRun),
		hint: (what, message) => run.hint(what, message),
		beginStream: () => run.relay?.begin(index),
	};
}
