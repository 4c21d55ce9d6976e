import { createHash } from 'crypto';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

/** An accepted task, as it is kept between the tries of a node. */
export interface LedgerEntry {
	taskId: string;
	/** The body of the 202. */
	accepted: IDataObject;
}

/** Where the entries stand in the node's context. */
const SLOT = 'modelAccessImageTasks';

/**
 * What this node has submitted in this execution and not delivered yet. "Retry On Fail" runs the
 * node again from the start: the ledger lets the next try take up the tasks of the one before,
 * which are paid for, in place of submitting them anew.
 *
 * It lives in the node's context, which n8n keeps across tries. That is one object for all runs of
 * a node inside a loop, so an entry is known by run, item and request.
 */
export class TaskLedger {
	private readonly entries: Record<string, LedgerEntry>;
	private readonly runIndex: number;

	constructor(context: IExecuteFunctions) {
		const kept = context.getContext('node');
		this.entries = (kept[SLOT] ??= {}) as Record<string, LedgerEntry>;
		this.runIndex = Number(context.getWorkflowDataProxy(0).$runIndex ?? 0);
	}

	/** The task that an earlier try submitted for the same item with the same request. */
	find(itemIndex: number, request: unknown): LedgerEntry | undefined {
		return this.entries[this.key(itemIndex, request)];
	}

	/** Keeps a task that has just been accepted. */
	keep(itemIndex: number, request: unknown, entry: LedgerEntry): void {
		this.entries[this.key(itemIndex, request)] = entry;
	}

	/** Drops a task that ended without a picture: the next try has to submit it anew. */
	drop(taskId: string): void {
		for (const [key, entry] of Object.entries(this.entries)) {
			if (entry.taskId === taskId) delete this.entries[key];
		}
	}

	/** Drops all tasks of this run: their pictures are in the node's output. */
	delivered(): void {
		for (const key of Object.keys(this.entries)) {
			if (key.startsWith(`${this.runIndex}:`)) delete this.entries[key];
		}
	}

	private key(itemIndex: number, request: unknown): string {
		const hash = createHash('sha256').update(JSON.stringify(request)).digest('hex');
		return `${this.runIndex}:${itemIndex}:${hash}`;
	}
}
