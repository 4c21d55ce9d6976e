import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { CanceledError, ModelAccessError, NetworkError } from '../../api/errors/errors';
import { redactError, type Redact } from '../../api/errors/sanitize';
import { StreamRelay } from '../runner/stream-relay';
import { errorDetails, nodeError, type UnfinishedWork, type TaskRecord } from '../errors';
import { isAgentTool, toToolError, toToolErrorItem } from '../agent-tool';
import type { PaidWork } from '../runner/operation';
import { ResumeStore, type SavedWork } from './resume-store';

/** One item that is being worked on. */
export interface ItemRun {
	readonly index: number;
	/** Aborted when the node fails or is canceled: waits end, nothing new is sent. */
	readonly stopped: AbortSignal;
	/** Aborted when the execution is canceled: what is under way ends as well. */
	readonly canceled: AbortSignal;
	/** What the item is about to pay for. */
	request?: unknown;
}

/** One run of the node: its items, what was paid for, and what ended it. */
export class Run {
	private readonly resumeStore: ResumeStore;
	/** Where the workflow itself streams. */
	readonly relay?: StreamRelay;
	/** Takes the key out of what is shown; known once the credential is read. */
	redact: Redact = (text) => text;
	private readonly hinted = new Set<string>();
	private readonly tasks = new Map<string, TaskRecord>();
	private readonly doubts: UnfinishedWork['doubts'] = [];
	private readonly answered = new Set<number>();
	private readonly active = new Map<ItemRun, { stop: () => void; cancel: () => void }>();
	private readonly executionCancel?: AbortSignal;
	private failure?: { error: unknown; index: number };

	constructor(private readonly context: IExecuteFunctions) {
		this.resumeStore = new ResumeStore(context);
		for (const task of this.resumeStore.tasks()) this.tasks.set(task.taskId, task);
		if (streamsToCaller(context)) this.relay = new StreamRelay(context);
		this.executionCancel = context.getExecutionCancelSignal();
		this.executionCancel?.addEventListener('abort', this.cancel, { once: true });
	}

	/** Whether no new item starts. */
	get ended(): boolean {
		return this.failure !== undefined || this.executionCancel?.aborted === true;
	}

	/** Whether "Retry On Fail" is set. */
	private get mayBeTriedAgain(): boolean {
		return this.context.getNode().retryOnFail === true;
	}

	close() {
		this.executionCancel?.removeEventListener('abort', this.cancel);
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
	 * Begins one item. Each has signals of its own, since a shared one would collect a listener for
	 * every wait.
	 */
	startItem(index: number): ItemRun {
		const stopping = new AbortController();
		const canceling = new AbortController();
		const itemRun: ItemRun = {
			index,
			stopped: stopping.signal,
			canceled: canceling.signal,
		};
		this.active.set(itemRun, { stop: () => stopping.abort(), cancel: () => canceling.abort() });
		return itemRun;
	}

	/** The item's output, linked to its input item. */
	succeed({ index }: ItemRun, output: INodeExecutionData[]): INodeExecutionData[] {
		this.relay?.end(index);
		return output.map((item) => ({ ...item, pairedItem: { item: index } }));
	}

	/** @returns an error item, or undefined if the failure ends the node */
	fail(itemRun: ItemRun, thrown: unknown): INodeExecutionData[] | undefined {
		const { index } = itemRun;
		const error = redactError(thrown, this.redact);
		this.relay?.end(index, nodeError(this.context.getNode(), error, index).message);
		this.noteFailure(error, itemRun);
		if (this.ended) return undefined;
		if (this.context.continueOnFail() && !(error instanceof CanceledError)) {
			return [this.errorItem(error, index)];
		}
		this.failure = { error, index };
		this.stop();
		return undefined;
	}

	/** Ends one item, whatever became of it. */
	endItem(itemRun: ItemRun) {
		this.active.delete(itemRun);
	}

	/** See `ItemScope.hint`. */
	hint(what: string, message: string) {
		if (this.hinted.has(what)) return;
		this.hinted.add(what);
		this.context.addExecutionHints({ message, type: 'warning', location: 'outputPane' });
	}

	/** See {@link PaidWork}. */
	workOf(itemRun: ItemRun): PaidWork {
		return {
			restore: (request) => this.restore(itemRun, request),
			save: (work) => this.save(itemRun, work),
			onTaskAccepted: (taskId) => this.onTaskAccepted(itemRun.index, taskId),
			dropTask: (taskId) => this.dropTask(itemRun.index, taskId),
			dropUnknownTask: (taskId) => this.resumeStore.dropUnknown(taskId),
		};
	}

	private restore(itemRun: ItemRun, request: unknown): SavedWork | undefined {
		itemRun.request = request;
		const work = this.resumeStore.restore(itemRun.index, request);
		if (work?.kind === 'doubt') throw new NetworkError(work.message, { ...work.details });
		if (work?.kind === 'task') this.onTaskAccepted(itemRun.index, work.taskId);
		return work;
	}

	/** An answer takes room, so it is kept only where another try may come. */
	private save({ index, request }: ItemRun, work: SavedWork) {
		if (work.kind === 'task') {
			this.onTaskAccepted(index, work.taskId);
			this.log(index, `image task ${work.taskId} was accepted`, { taskId: work.taskId });
		}
		if (work.kind === 'answer') this.answered.add(index);
		if (work.kind === 'task' || this.mayBeTriedAgain) {
			this.resumeStore.save(index, request, work);
		}
	}

	private onTaskAccepted(itemIndex: number, taskId: string) {
		if (!this.tasks.has(taskId)) this.tasks.set(taskId, { itemIndex, taskId });
	}

	private dropTask(index: number, taskId: string) {
		this.resumeStore.dropFailed(taskId);
		this.tasks.delete(taskId);
		this.log(index, `image task ${taskId} ended without an image`, { taskId });
	}

	/**
	 * Ends the run.
	 * @returns the output
	 * @throws {NodeApiError|NodeOperationError} what ended it
	 */
	finish(output: INodeExecutionData[]): INodeExecutionData[] {
		this.throwIfFailed();
		for (const { itemIndex, taskId } of this.resumeStore.unclaimed()) {
			this.context.addExecutionHints({
				message: `Item ${itemIndex}: an earlier try submitted image task ${taskId} with another request. It may be charged; Task → Wait fetches it.`,
				type: 'warning',
				location: 'outputPane',
			});
		}
		if (!this.isTriedAgain(output)) this.resumeStore.clear();
		return output;
	}

	/** n8n tries a node again also where it succeeded, if its first item looks like an error. */
	private isTriedAgain(output: INodeExecutionData[]): boolean {
		const error = output[0]?.json.error;
		const looksLikeOne = error !== undefined && error !== null && error !== false;
		return this.mayBeTriedAgain && looksLikeOne;
	}

	/**
	 * Writes down a task outside of the execution: n8n saves nothing of a node that is still at work,
	 * so if its process is killed now, the log alone knows what was paid for.
	 */
	private log(index: number, what: string, facts: { taskId: string }) {
		const executionId = this.context.getExecutionId();
		const { name } = this.context.getNode();
		this.context.logger.info(`Execution ${executionId}, node "${name}", item ${index}: ${what}`, {
			executionId,
			node: name,
			item: index,
			...facts,
		});
	}

	private readonly stop = () => this.active.forEach(({ stop }) => stop());

	private readonly cancel = () => {
		this.stop();
		this.active.forEach(({ cancel }) => cancel());
	};

	/** Notes what a failure says of costs and tasks. */
	private noteFailure(error: unknown, { index, request }: ItemRun) {
		if (!(error instanceof ModelAccessError)) return;
		this.noteCharge(error, index, request);
		const { taskId } = error.details;
		if (error instanceof CanceledError && taskId !== undefined) this.onTaskAccepted(index, taskId);
	}

	/**
	 * Notes what a failed request may have cost. Where another try may come, a doubt keeps it from
	 * sending the same again.
	 */
	private noteCharge({ message, details }: ModelAccessError, itemIndex: number, request: unknown) {
		if (!details.maybeExecuted && !details.charged) return;
		const { partialText, taskId } = details;
		this.doubts.push({ itemIndex, message, partialText, taskId });
		if (details.maybeExecuted && this.mayBeTriedAgain && request !== undefined) {
			this.resumeStore.save(itemIndex, request, { kind: 'doubt', message, details });
		}
	}

	private throwIfFailed() {
		const canceled = this.executionCancel?.aborted
			? { error: new CanceledError(), index: undefined }
			: undefined;
		const failure = this.failure ?? canceled;
		if (!failure) return;
		const { error, index } = failure;
		const shown = nodeError(this.context.getNode(), error, index, this.workBeside(failure));
		throw isAgentTool(this.context) ? toToolError(shown) : shown;
	}

	/** What the run leaves behind beside what its error is about, each thing once. */
	private workBeside({ error, index }: { error: unknown; index?: number }): UnfinishedWork {
		const own = error instanceof ModelAccessError ? error.details.taskId : undefined;
		const tasks = [...this.tasks.values()].filter(({ taskId }) => taskId !== own);
		const doubts = this.doubts.filter(
			({ itemIndex, taskId = '' }) => itemIndex !== index && !this.tasks.has(taskId),
		);
		const told = new Set([index, ...doubts.map(({ itemIndex }) => itemIndex)]);
		return { tasks, doubts, answers: [...this.answered].filter((item) => !told.has(item)).length };
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
		if (isAgentTool(this.context)) item.json = toToolErrorItem(made);
		if (node.onError === 'continueErrorOutput') {
			// n8n adds the fields of the input item's JSON there, and leaves its files behind.
			const { binary } = this.context.getInputData()[index] ?? {};
			if (binary) item.binary = binary;
			// n8n tells by this field which items go to the error output, and replaces the JSON of
			// items that still have it afterwards. It copies what it sends there, and so loses it.
			Object.defineProperty(item, 'error', { value: made, enumerable: false });
		}
		return item;
	}
}

/** Whether what the node says reaches the caller of the workflow: an agent's tool speaks to the agent. */
function streamsToCaller(context: IExecuteFunctions): boolean {
	return !isAgentTool(context) && context.isStreaming?.() === true;
}
