import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { CancelledError, ModelAccessError } from '../client/errors';
import type { Client } from '../client/request';
import type { Time } from '../client/time';
import { ChunkRelay } from './chunk-relay';
import { connect, type Connection } from './connection';
import { errorDetails, nodeError, type TaskRecord } from './errors';
import type { Operation } from './operation';
import { numberParameter } from './parameters';
import { TaskLedger } from './task-ledger';

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
	/** The tasks of earlier tries of this node. */
	ledger: TaskLedger;
	/**
	 * Where the workflow itself streams: opens the item's turn to pass text on to its caller. The
	 * runner ends it.
	 */
	beginStream(): ((piece: string) => void) | undefined;
	/** Notes a task that the gateway accepted, so that no error of the run can lose it. */
	accepted(taskId: string): void;
}

const DEFAULT_CONCURRENCY = 4;

/**
 * Runs an operation for all items: several side by side, outputs in input order and linked to
 * their items. A failure becomes an error item under "Continue"; otherwise it ends the node: no
 * new item starts, waits end, requests under way are awaited, and the error lists the tasks that
 * were accepted for other items.
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
	const outputs = new Map<number, INodeExecutionData[]>();
	try {
		const shared = await run.begin(async () => ({
			connection: await connect(context, time),
			limit: pLimit(concurrencyOf(context)),
		}));
		if (!shared) return [run.errorItems(items.length)];
		await Promise.all(
			items.map(async (_, index) => {
				await shared.limit(async () => {
					if (run.ended) return;
					const output = await run.item(index, async (signal) => {
						const scope = itemScope(context, shared.connection, index, signal, run);
						return await operation.run(scope);
					});
					if (output) outputs.set(index, output);
				});
			}),
		);
	} finally {
		run.close();
	}
	run.throwIfFailed();
	const output = items.flatMap((_, index) => outputs.get(index) ?? []);
	if (!isTriedAgain(context, output)) run.ledger.delivered();
	return [output];
}

/** n8n tries a node again also where it succeeded, if its first item looks like an error. */
function isTriedAgain(context: IExecuteFunctions, output: INodeExecutionData[]): boolean {
	return context.getNode().retryOnFail === true && Boolean(output[0]?.json.error);
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
	connection: Connection,
	index: number,
	signal: AbortSignal,
	run: Run,
): ItemScope {
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
			signal,
			onRetry: ({ reason, waitMs, attempt }) =>
				context.logger.debug(
					`Item ${index}: ${reason}; sending again in ${waitMs} ms (retry ${attempt})`,
				),
			...bounds,
		}),
		ledger: run.ledger,
		beginStream: () => run.relay?.begin(index),
		accepted: (taskId) => run.tasks.push({ itemIndex: index, taskId }),
	};
}

/** One run of the node: who is at work, what was accepted, and what ended it. */
class Run {
	readonly tasks: TaskRecord[] = [];
	readonly ledger: TaskLedger;
	readonly relay?: ChunkRelay;
	private failure?: { error: unknown; index: number };
	private readonly working = new Set<AbortController>();
	private readonly cancel?: AbortSignal;
	private readonly stop = () => this.working.forEach((controller) => controller.abort());

	constructor(private readonly context: IExecuteFunctions) {
		this.ledger = new TaskLedger(context);
		// Not there in older n8n.
		if (context.isStreaming?.()) this.relay = new ChunkRelay(context);
		this.cancel = context.getExecutionCancelSignal();
		this.cancel?.addEventListener('abort', this.stop, { once: true });
	}

	get ended(): boolean {
		return this.failure !== undefined || this.cancel?.aborted === true;
	}

	close() {
		this.cancel?.removeEventListener('abort', this.stop);
	}

	/**
	 * Does what all items need.
	 * @returns undefined where it failed and the node is to continue
	 */
	async begin<T>(work: () => Promise<T>): Promise<T | undefined> {
		try {
			return await work();
		} catch (error) {
			this.failure = { error, index: 0 };
		}
		if (!this.context.continueOnFail()) this.throwIfFailed();
		return undefined;
	}

	/** What failed for all items, as an error item for each. */
	errorItems(count: number): INodeExecutionData[] {
		return Array.from({ length: count }, (_, index) => this.errorItem(this.failure?.error, index));
	}

	/**
	 * Does one item's work. Each has a signal of its own, since a shared one would collect a
	 * listener for every wait.
	 */
	async item(
		index: number,
		work: (signal: AbortSignal) => Promise<INodeExecutionData[]>,
	): Promise<INodeExecutionData[] | undefined> {
		const controller = new AbortController();
		this.working.add(controller);
		try {
			const output = await work(controller.signal);
			this.relay?.end(index);
			return output.map((item) => ({ ...item, pairedItem: { item: index } }));
		} catch (error) {
			this.relay?.end(index, nodeError(this.context.getNode(), error, index).message);
			if (this.ended) return undefined;
			if (this.context.continueOnFail() && !(error instanceof CancelledError)) {
				return [this.errorItem(error, index)];
			}
			this.failure = { error, index };
			this.stop();
			return undefined;
		} finally {
			this.working.delete(controller);
		}
	}

	throwIfFailed() {
		const failure =
			this.failure ??
			(this.cancel?.aborted ? { error: new CancelledError(), index: undefined } : undefined);
		if (!failure) return;
		const others = this.tasks.filter(({ itemIndex }) => itemIndex !== failure.index);
		throw nodeError(this.context.getNode(), failure.error, failure.index, others);
	}

	private errorItem(error: unknown, index: number): INodeExecutionData {
		const node = this.context.getNode();
		const made = nodeError(node, error, index);
		const item: INodeExecutionData = {
			json: {
				error: made.message,
				error_details:
					error instanceof ModelAccessError
						? errorDetails(error)
						: { retryable: false, advice: made.description ?? '' },
			},
			pairedItem: { item: index },
		};
		if (node.onError === 'continueErrorOutput') {
			// n8n tells by this field which items go to the error output, and replaces the JSON of
			// items that still have it afterwards. It copies what it sends there, and so loses it.
			Object.defineProperty(item, 'error', { value: made, enumerable: false });
		}
		return item;
	}
}
