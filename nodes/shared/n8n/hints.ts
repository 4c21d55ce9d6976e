import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * Shows a hint at the node's output, once a run.
 * @param what tells hints apart: of several with the same, the first is shown
 */
export type Hint = (what: string, message: string) => void;

/** The hints of one run. */
export function createHint(context: IExecuteFunctions): Hint {
	const shown = new Set<string>();
	return (what, message) => {
		if (shown.has(what)) return;
		shown.add(what);
		context.addExecutionHints({ message, type: 'warning', location: 'outputPane' });
	};
}
