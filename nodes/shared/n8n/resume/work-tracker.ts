import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { CanceledError, ModelAccessError, NetworkError } from '../../api/errors/errors';
import type { TaskRecord, UnfinishedWork } from '../errors';
import { ResumeStore, type SavedWork } from './resume-store';

/** What an item pays for, so that no error and no other try of the node loses it. */
export interface ItemWork {
	/**
	 * Says what the item is about to pay for.
	 * @param request everything that tells it from other requests, as JSON
	 * @returns what an earlier try of the node brought for it, not to be paid for again
	 * @throws {ModelAccessError} an earlier try left in doubt whether it was executed
	 */
	restore(request: unknown): SavedWork | undefined;
	/** Keeps what the request brought, until the node has handed on its output. */
	save(work: SavedWork): void;
	/** Notes a task that the gateway accepted, so that no error of the run can lose it. */
	onTaskAccepted(taskId: string): void;
	/** Drops a task that ended without an image: there is nothing to fetch. */
	dropTask(taskId: string): void;
	/** Drops a task that the gateway does not know, unless this execution submitted it. */
	dropUnknownTask(taskId: string): void;
}

/** What the items of a run pay for, and what they leave behind if the run fails. */
export class WorkTracker {
	private readonly store: ResumeStore;
	private readonly tasks = new Map<string, TaskRecord>();
	private readonly doubts: UnfinishedWork['doubts'] = [];
	private readonly answered = new Set<number>();
	/** What each item is about to pay for, by its index. */
	private readonly requests = new Map<number, unknown>();

	constructor(private readonly context: IExecuteFunctions) {
		this.store = new ResumeStore(context);
		for (const task of this.store.tasks()) this.tasks.set(task.taskId, task);
	}

	/** Whether "Retry On Fail" is set. */
	private get mayBeTriedAgain(): boolean {
		return this.context.getNode().retryOnFail === true;
	}

	/** The work of one item. */
	item(index: number): ItemWork {
		return {
			restore: (request) => this.restore(index, request),
			save: (work) => this.save(index, work),
			onTaskAccepted: (taskId) => this.onTaskAccepted(index, taskId),
			dropTask: (taskId) => this.dropTask(index, taskId),
			dropUnknownTask: (taskId) => this.store.dropUnknown(taskId),
		};
	}

	private restore(index: number, request: unknown): SavedWork | undefined {
		this.requests.set(index, request);
		const work = this.store.restore(index, request);
		if (work?.kind === 'doubt') throw new NetworkError(work.message, { ...work.details });
		// The store of a tool does not list what no call has asked for yet.
		if (work?.kind === 'task') this.onTaskAccepted(index, work.taskId);
		return work;
	}

	/** An answer takes room, so it is kept only where another try may come. */
	private save(index: number, work: SavedWork) {
		if (work.kind === 'task') {
			this.onTaskAccepted(index, work.taskId);
			this.log(index, `image task ${work.taskId} was accepted`, { taskId: work.taskId });
		}
		if (work.kind === 'answer') this.answered.add(index);
		if (work.kind === 'task' || this.mayBeTriedAgain) {
			this.store.save(index, this.requests.get(index), work);
		}
	}

	private onTaskAccepted(itemIndex: number, taskId: string) {
		this.tasks.set(taskId, { itemIndex, taskId });
	}

	private dropTask(index: number, taskId: string) {
		this.store.dropFailed(taskId);
		this.tasks.delete(taskId);
		this.log(index, `image task ${taskId} ended without an image`, { taskId });
	}

	/** Notes what the failure of an item says of costs and tasks. */
	noteFailure(error: unknown, index: number) {
		if (!(error instanceof ModelAccessError)) return;
		this.noteCharge(error, index);
		const { taskId } = error.details;
		if (error instanceof CanceledError && taskId !== undefined) this.onTaskAccepted(index, taskId);
	}

	/**
	 * Notes what a failed request may have cost. Where another try may come, a doubt keeps it from
	 * sending the same again.
	 */
	private noteCharge({ message, details }: ModelAccessError, itemIndex: number) {
		if (!details.maybeExecuted && !details.charged) return;
		const { partialText, taskId } = details;
		this.doubts.push({ itemIndex, message, partialText, taskId });
		const request = this.requests.get(itemIndex);
		if (details.maybeExecuted && this.mayBeTriedAgain && request !== undefined) {
			this.store.save(itemIndex, request, { kind: 'doubt', message, details });
		}
	}

	/** What the run leaves behind beside what its error is about, each thing once. */
	unfinished({ error, index }: { error: unknown; index?: number }): UnfinishedWork {
		const own = error instanceof ModelAccessError ? error.details.taskId : undefined;
		const tasks = [...this.tasks.values()].filter(({ taskId }) => taskId !== own);
		const doubts = this.doubts.filter(
			({ itemIndex, taskId = '' }) => itemIndex !== index && !this.tasks.has(taskId),
		);
		const told = new Set([index, ...doubts.map(({ itemIndex }) => itemIndex)]);
		return { tasks, doubts, answers: [...this.answered].filter((item) => !told.has(item)).length };
	}

	/** Hints at tasks that no item asked for, and drops what the output of the run holds. */
	finish(output: INodeExecutionData[]) {
		for (const { itemIndex, taskId } of this.store.unclaimed()) {
			this.context.addExecutionHints({
				message: `Item ${itemIndex}: an earlier try submitted image task ${taskId} with another request. It may be charged; Task → Wait fetches it.`,
				type: 'warning',
				location: 'outputPane',
			});
		}
		if (!this.isTriedAgain(output)) this.store.clear();
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
	private log(index: number, what: string, details: { taskId: string }) {
		const executionId = this.context.getExecutionId();
		const { name } = this.context.getNode();
		this.context.logger.info(`Execution ${executionId}, node "${name}", item ${index}: ${what}`, {
			executionId,
			node: name,
			item: index,
			...details,
		});
	}
}
