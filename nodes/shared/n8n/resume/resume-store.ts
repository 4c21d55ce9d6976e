import { createHash } from 'crypto';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { ErrorDetails } from '../../api/errors/errors';
import type { TaskRecord } from '../errors';

/** What a request brought that may have been paid for. */
export type SavedWork =
	/**
	 * An image task that the gateway accepted; `accepted` is the body of the 202, `acceptedAt` its
	 * moment in Unix seconds.
	 */
	| { kind: 'task'; taskId: string; accepted: IDataObject; acceptedAt?: number }
	/** A model's answer, as the gateway sent it. */
	| { kind: 'answer'; json: IDataObject; requestId?: string; clientRequestId?: string }
	/** Nothing that is known, although the request may have been executed. */
	| { kind: 'doubt'; message: string; details: ErrorDetails };

type Entry = SavedWork & { itemIndex: number; executionId: string | undefined };

/** Where the entries stand in the node's context. */
const SLOT = 'modelAccess';

/**
 * What this node has paid for in this execution and not handed on yet. "Retry On Fail" runs the
 * node again from the start. With the store, the next try uses what an earlier one brought, and
 * does not pay again.
 *
 * It lives in the node's context, which n8n keeps across tries. All runs of a node inside a loop
 * share that object. The key of an entry is the run, the item and a hash of the request. As an
 * agent's tool a node gets another run index at each try; there the request alone has to do.
 */
export class ResumeStore {
	private readonly kept: IDataObject;
	private readonly run: string;
	private readonly executionId: string | undefined;
	private readonly touched = new Set<string>();

	constructor(context: IExecuteFunctions) {
		this.kept = context.getContext('node');
		this.executionId = context.getExecutionId();
		// Not there in older n8n, where no tool is tried again either.
		this.run = context.isToolExecution?.()
			? 'tool'
			: String(context.getWorkflowDataProxy(0).$runIndex ?? 0);
	}

	/**
	 * What an earlier try brought for the same request of the same item. A doubt of an earlier
	 * execution does not count: the user has seen it, and runs it again on purpose.
	 */
	restore(itemIndex: number, request: unknown): SavedWork | undefined {
		const key = this.key(itemIndex, request);
		const entry = this.entries[key];
		if (entry?.kind === 'doubt' && entry.executionId !== this.executionId) return undefined;
		if (entry) this.touched.add(key);
		return entry;
	}

	/** Keeps what a request brought. */
	save(itemIndex: number, request: unknown, work: SavedWork): void {
		const key = this.key(itemIndex, request);
		this.touched.add(key);
		const entry: Entry = { ...work, itemIndex, executionId: this.executionId };
		const entries = (this.kept[SLOT] ??= {}) as unknown as Record<string, Entry>;
		entries[key] = entry;
	}

	/** The tasks of this run of the node that are not handed on, of earlier tries as well. */
	tasks(): TaskRecord[] {
		return this.findTasks(() => true);
	}

	/** Drops a task that ended without an image: the next try has to submit it anew. */
	dropFailed(taskId: string): void {
		this.remove((_, entry) => entry.kind === 'task' && entry.taskId === taskId);
	}

	/**
	 * Drops a task that the gateway no longer knows, if an earlier execution submitted it: it is
	 * long gone. One of this execution stays, so that no try pays for it again.
	 */
	dropUnknown(taskId: string): void {
		this.remove(
			(_, entry) =>
				entry.kind === 'task' && entry.taskId === taskId && entry.executionId !== this.executionId,
		);
	}

	/** Tasks of this run that no request of this try asked for: an earlier one had another request. */
	unclaimed(): TaskRecord[] {
		return this.findTasks((key) => !this.touched.has(key));
	}

	/** Drops what this run of the node kept: it is in the node's output. */
	clear(): void {
		this.remove((key) => this.touched.has(key) || this.isOfRun(key));
	}

	private findTasks(isWanted: (key: string) => boolean): TaskRecord[] {
		return Object.entries(this.entries).flatMap(([key, entry]) =>
			this.isOfRun(key) && isWanted(key) && entry.kind === 'task'
				? [{ itemIndex: entry.itemIndex, taskId: entry.taskId }]
				: [],
		);
	}

	private get entries(): Record<string, Entry> {
		return (this.kept[SLOT] ?? {}) as unknown as Record<string, Entry>;
	}

	/** Tools run side by side under one name, so there a run has only what it touched. */
	private isOfRun(key: string): boolean {
		return this.run === 'tool' ? this.touched.has(key) : key.startsWith(`${this.run}:`);
	}

	private remove(isUnwanted: (key: string, entry: Entry) => boolean): void {
		const wanted = Object.entries(this.entries).filter(([key, entry]) => !isUnwanted(key, entry));
		if (wanted.length > 0) this.kept[SLOT] = Object.fromEntries(wanted) as unknown as IDataObject;
		else delete this.kept[SLOT];
	}

	private key(itemIndex: number, request: unknown): string {
		const hash = createHash('sha256').update(JSON.stringify(request)).digest('hex');
		return `${this.run}:${itemIndex}:${hash}`;
	}
}
