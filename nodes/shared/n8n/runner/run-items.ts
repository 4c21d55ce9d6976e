import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import type { Client } from '../../api/http/request';
import type { Time } from '../../api/http/clock';
import { connect, type Connection } from '../http/connection';
import { controlsOf } from '../fields/option-names';
import type { Ledger, PaidWork } from './resume-store';
import type { Operation } from './operation';
import { numberParameter } from '../fields/parameters';
import { Run, type ItemRun } from './run';

/** What an operation sees of the item it works on. */
export interface ItemScope {
	context: IExecuteFunctions;
	/** Position of the item in the input. */
	index: number;
	connection: Connection;
	/** The node's `options` for this item. */
	options: IDataObject;
	/** A parameter's value for this item; a resource locator's is its ID. */
	parameter(name: string): unknown;
	/** A client bounded as given; its other needs are those of the run. */
	client(bounds: Pick<Client, 'timeoutMs' | 'maxRetries' | 'deadline'>): Client;
	/**
	 * Says what the item is about to pay for.
	 * @param request everything that tells it from other requests, as JSON
	 * @returns what an earlier try of the node brought for it, not to be paid for again
	 * @throws {ModelAccessError} an earlier try left in doubt whether it was executed
	 */
	earlier(request: unknown): PaidWork | undefined;
	/** Keeps what the request brought, until the node has handed on its output. */
	paid(work: PaidWork): void;
	/** Notes a task that the gateway accepted, so that no error of the run can lose it. */
	accepted(taskId: string): void;
	ledger: Ledger;
	/**
	 * Where the workflow itself streams: opens the item's turn to pass text on to its caller. The
	 * runner ends it.
	 */
	beginStream(): ((piece: string) => void) | undefined;
}

const DEFAULT_CONCURRENCY = 4;

/**
 * Runs an operation for all items: several side by side, outputs in input order and linked to
 * their items. A failure becomes an error item under "Continue"; otherwise it ends the node: no
 * new item starts, waits end, requests under way are awaited, and the error lists what was paid
 * for other items.
 *
 * @throws {NodeApiError|NodeOperationError}
 */
export async function runItems(
	context: IExecuteFunctions,
	operation: Operation,
	time: Time,
): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	const run = new Run(context);
	const controls = controlsOf(operation);
	const outputs = new Map<number, INodeExecutionData[]>();
	try {
		const shared = await run.begin(async () => ({
			connection: await connect(context, time),
			limit: pLimit(concurrencyOf(context)),
		}));
		if (!shared) return [run.errorItems(items.length)];
		run.redact = shared.connection.redact;
		await Promise.all(
			items.map(async (_, index) => {
				await shared.limit(async () => {
					if (run.ended) return;
					const output = await run.item(
						index,
						async (itemRun) =>
							await operation.run(
								itemScope(context, { ...shared.connection, controls }, itemRun, run),
							),
					);
					if (output) outputs.set(index, output);
				});
			}),
		);
	} finally {
		run.close();
	}
	return [run.finish(items.flatMap((_, index) => outputs.get(index) ?? []))];
}

function concurrencyOf(context: IExecuteFunctions): number {
	const value = context.getNodeParameter('options.concurrency', 0, DEFAULT_CONCURRENCY);
	return numberParameter(value, {
		field: 'Concurrency',
		fallback: DEFAULT_CONCURRENCY,
		min: 1,
		whole: true,
	});
}

function itemScope(
	context: IExecuteFunctions,
	connection: Connection & Pick<Client, 'controls'>,
	itemRun: ItemRun,
	run: Run,
): ItemScope {
	const { index } = itemRun;
	return {
		context,
		index,
		connection,
		options: context.getNodeParameter('options', index, {}) as IDataObject,
		parameter: (name) => context.getNodeParameter(name, index, undefined, { extractValue: true }),
		client: (bounds) => ({
			transport: connection.transport,
			time: connection.time,
			redact: connection.redact,
			controls: connection.controls,
			place: itemRun.place,
			signal: itemRun.stopped,
			cancel: itemRun.cancelled,
			onRetry: ({ reason, waitMs, attempt }) =>
				context.logger.debug(
					`Item ${index}: ${reason}; sending again in ${waitMs} ms (retry ${attempt})`,
				),
			...bounds,
		}),
		earlier: (request) => run.earlier(itemRun, request),
		paid: (work) => run.paid(itemRun, work),
		accepted: (taskId) => run.accepted(index, taskId),
		ledger: run.ledger,
		beginStream: () => run.relay?.begin(index),
	};
}
