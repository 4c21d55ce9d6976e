import type { IExecuteFunctions, ISupplyDataFunctions } from 'n8n-workflow';
import { findAddedInstructions } from '../shared/api/responses/added-instructions';
import { getAnswerHints } from '../shared/api/responses/answer-hints';
import type { CreatedResponse } from '../shared/api/responses/created-response';
import { findNotApplied } from '../shared/api/responses/not-applied';

/** Where an execution keeps which hints it has shown: n8n supplies the model anew for each round. */
const SHOWN = 'modelAccessHints';

/**
 * Shows at the node what is worth knowing of an answer.
 * @param body the request as it was sent
 */
export function hintAtAnswer(
	context: ISupplyDataFunctions,
	created: CreatedResponse,
	body: Record<string, unknown>,
): void {
	for (const { key, message } of getAnswerHints(created)) {
		if (key === 'incomplete') show(context, message);
		else showOnce(context, key, message);
	}
	const added = findAddedInstructions(body, created.response);
	if (added !== undefined) {
		showOnce(
			context,
			'added instructions',
			`${added}: set the System Message of the agent, or a system message of the chain.`,
		);
	}
	const notApplied = findNotApplied(body, created.response);
	if (notApplied.length > 0) showOnce(context, 'not applied', notApplied.join(' '));
}

/** Shows a hint once an execution. */
export function showOnce(context: ISupplyDataFunctions, what: string, message: string) {
	// n8n's types lack it for a sub-node, its contexts have it.
	const kept = (context as unknown as IExecuteFunctions).getContext('node');
	const shown = (kept[SHOWN] ?? []) as string[];
	if (shown.includes(what)) return;
	kept[SHOWN] = [...shown, what];
	show(context, message);
}

function show(context: ISupplyDataFunctions, message: string) {
	context.addExecutionHints({ message, type: 'warning', location: 'outputPane' });
}
