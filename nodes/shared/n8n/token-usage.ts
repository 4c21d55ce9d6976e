import * as workflow from 'n8n-workflow';
import type { IExecuteFunctions } from 'n8n-workflow';

/** n8n-workflow of n8n before 2.16 lacks it. */
type Accumulate = (context: IExecuteFunctions, input: number, output: number) => void;

/** The usage of an answer or a task; nothing where the gateway sent none. */
export type TokenUsage = { input_tokens?: number; output_tokens?: number } | null | undefined;

/**
 * Adds the tokens of an answer to those of the run, as n8n's own nodes do. Older n8n has no place
 * for them.
 * @param usage as the gateway counted it
 */
export function addTokenUsage(context: IExecuteFunctions, usage: TokenUsage): void {
	const { accumulateTokenUsage: accumulate } = workflow as { accumulateTokenUsage?: Accumulate };
	const { input_tokens: input = 0, output_tokens: output = 0 } = usage ?? {};
	if (accumulate === undefined || input + output === 0) return;
	accumulate(context, input, output);
}

/** Where the counted tasks are kept, in the context that all nodes of an execution share. */
const COUNTED = 'modelAccessCountedTasks';

/**
 * Adds the tokens of a finished image task, once an execution. Several nodes may read the same
 * task, and "Retry On Fail" may read it again.
 */
export function addTaskUsage(context: IExecuteFunctions, taskId: string, usage: TokenUsage): void {
	const kept = context.getContext('flow');
	const counted = (kept[COUNTED] ?? []) as string[];
	if (!usage || counted.includes(taskId)) return;
	kept[COUNTED] = [...counted, taskId];
	addTokenUsage(context, usage);
}

/** {@link addTaskUsage} for the tasks of an execution. */
export const taskUsageCounter =
	(context: IExecuteFunctions) =>
	(taskId: string, usage: TokenUsage): void =>
		addTaskUsage(context, taskId, usage);
