import { NodeOperationError, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import pLimit from 'p-limit';
import { CanceledError } from '../../api/errors/errors';
import { shorten } from '../../api/errors/shorten';
import type { Clock } from '../../api/http/clock';
import { RateLimitQueue, type QueueSummary } from '../../api/http/rate-limit-queue';
import { isAgentTool } from '../agent-tool';
import { n8nClock } from '../clock';
import { errorItem, runError } from '../error-item';
import { getOptionNames } from '../fields/option-names';
import { concurrencyOption } from '../fields/options';
import { createHint } from '../hints';
import { connect, type Connection } from '../http/connection';
import { WorkTracker } from '../resume/work-tracker';
import type { Operation, Resource } from './operation';
import { runItem, type ItemResult, type RunScope } from './run-item';
import { StreamRelay } from './stream-relay';

/**
 * Runs the operation that the node is set to.
 * @param time n8n's, but for tests
 * @throws {NodeApiError|NodeOperationError}
 */
export async function execute(
	context: IExecuteFunctions,
	resources: Resource[],
	time: Clock = n8nClock,
): Promise<INodeExecutionData[][]> {
	const operation = findOperation(context, resources);
	const work = new WorkTracker(context);
	const end = new EarlyEnd(context);
	let output: INodeExecutionData[];
	try {
		const shared = await prepare(context, time);
		if ('error' in shared) {
			const failure = { error: shared.error, index: 0 };
			if (!context.continueOnFail()) throw runError(context, failure, work.unfinished(failure));
			return [context.getInputData().map((_, index) => errorItem(context, shared.error, index))];
		}
		output = await runItems({ context, operation, work, end, ...shared });
	} finally {
		end.close();
	}
	const { failure } = end;
	if (failure) throw runError(context, failure, work.unfinished(failure));
	work.finish(output);
	return [output];
}

function findOperation(context: IExecuteFunctions, resources: Resource[]): Operation {
	const chosen = context.getNodeParameter('resource', 0);
	const wanted = context.getNodeParameter('operation', 0, '');
	const operation = resources
		.find(({ value }) => value === chosen)
		?.operations.find(({ value }) => value === wanted);
	if (operation) return operation;
	throw new NodeOperationError(
		context.getNode(),
		shorten(`The operation "${String(wanted)}" of "${String(chosen)}" does not exist`),
		{ description: 'Select Resource and Operation from their lists.' },
	);
}

/** What all items need. */
interface Shared {
	connection: Connection;
	concurrency: number;
	time: Clock;
}

async function prepare(
	context: IExecuteFunctions,
	time: Clock,
): Promise<Shared | { error: unknown }> {
	try {
		const connection = await connect(context, time);
		return { connection, concurrency: readConcurrency(context), time };
	} catch (error) {
		return { error };
	}
}

function readConcurrency(context: IExecuteFunctions): number {
	const concurrency = context.getNodeParameter('advanced.concurrency', 0, '');
	return concurrencyOption.read({ concurrency });
}

/** A run of the node that all is ready for. */
interface PreparedRun extends Shared, Pick<RunScope, 'context' | 'operation' | 'work'> {
	end: EarlyEnd;
}

/**
 * Runs an operation for all items: several side by side, outputs in input order and linked to their
 * items. A failure becomes an error item under "Continue". Otherwise it ends the run: no new item
 * starts, waits end, and requests under way are awaited.
 */
async function runItems({
	concurrency,
	time,
	end,
	...run
}: PreparedRun): Promise<INodeExecutionData[]> {
	const { context, operation } = run;
	const hint = createHint(context);
	const relay = streamsToCaller(context) ? new StreamRelay(context) : undefined;
	const scope = { ...run, hint, relay, optionNames: getOptionNames(operation) };
	const items = context.getInputData();
	const limit = pLimit(concurrency);
	const queue = new RateLimitQueue(time, Math.min(concurrency, items.length));
	const runOne = async (index: number) => {
		if (end.hasCome) return [];
		const { stopped, canceled, forget } = end.watch();
		const slot = queue.slot(index);
		try {
			const result = await runItem(scope, { index, stopped, canceled, slot });
			return settle(scope, end, index, result);
		} finally {
			forget();
			slot.release();
		}
	};
	const outputs = await Promise.all(
		items.map(async (_, index) => await limit(async () => await runOne(index))),
	);
	if (queue.summary) hint('refused', tellRefused(operation, queue.summary));
	return outputs.flat();
}

/** @returns the output of an item, or an error item; nothing if its failure ends the run */
function settle(
	{ context, work }: Pick<RunScope, 'context' | 'work'>,
	end: EarlyEnd,
	index: number,
	result: ItemResult,
): INodeExecutionData[] {
	if ('output' in result) return result.output;
	const { error } = result;
	work.noteFailure(error, index);
	if (end.hasCome) return [];
	if (context.continueOnFail() && !(error instanceof CanceledError)) {
		return [errorItem(context, error, index)];
	}
	end.fail({ error, index });
	return [];
}

/** Whether what the node says reaches the caller of the workflow: an agent's tool speaks to the agent. */
function streamsToCaller(context: IExecuteFunctions): boolean {
	return !isAgentTool(context) && context.isStreaming?.() === true;
}

/** What a run tells of requests that the gateway refused, at its end. */
function tellRefused({ unit }: Operation, { fewest, refused }: QueueSummary): string {
	const units = fewest === 1 ? unit : `${unit}s`;
	const submits = refused === 1 ? 'submit' : 'submits';
	return `The gateway took ${fewest} ${units} at a time and refused ${refused} ${submits}. Set Concurrency to ${fewest} to avoid them.`;
}

/** A failure that is not continued, or the cancellation of the execution. */
interface Failure {
	error: unknown;
	/** Undefined if no item failed. */
	index?: number;
}

/** What ends a run before all its items are done. */
class EarlyEnd {
	private failed?: Failure;
	private readonly active = new Set<{ stop: () => void; cancel: () => void }>();
	private readonly executionCancel?: AbortSignal;

	constructor(context: IExecuteFunctions) {
		this.executionCancel = context.getExecutionCancelSignal();
		this.executionCancel?.addEventListener('abort', this.cancel, { once: true });
	}

	/** Whether no new item starts. */
	get hasCome(): boolean {
		return this.failed !== undefined || this.isCanceled;
	}

	get failure(): Failure | undefined {
		if (this.failed || !this.isCanceled) return this.failed;
		return { error: new CanceledError() };
	}

	private get isCanceled(): boolean {
		return this.executionCancel?.aborted === true;
	}

	/**
	 * Signals for one item. Each item has signals of its own, since a shared one would collect a
	 * listener for every wait.
	 */
	watch() {
		const stopping = new AbortController();
		const canceling = new AbortController();
		const item = { stop: () => stopping.abort(), cancel: () => canceling.abort() };
		this.active.add(item);
		const forget = () => void this.active.delete(item);
		return { stopped: stopping.signal, canceled: canceling.signal, forget };
	}

	/** Ends the waits of all items. */
	fail(failure: Failure) {
		this.failed = failure;
		this.stop();
	}

	close() {
		this.executionCancel?.removeEventListener('abort', this.cancel);
	}

	private readonly stop = () => this.active.forEach(({ stop }) => stop());

	private readonly cancel = () => {
		this.stop();
		this.active.forEach(({ cancel }) => cancel());
	};
}
