import type {
	IExecuteFunctions,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';
import { ModelAccessError } from '../api/errors/errors';
import { isAgentTool, toToolError, toToolErrorItem } from './agent-tool';
import { errorDetails, nodeError, type UnfinishedWork } from './errors';

const ADVICE_ON_N8N =
	'This error is of n8n, not of the gateway. Check the expressions of the fields and the input of the node.';

/** What an item becomes that failed under "Continue". */
export function errorItem(
	context: IExecuteFunctions,
	error: unknown,
	index: number,
): INodeExecutionData {
	const node = context.getNode();
	const made = nodeError(node, error, index);
	const item: INodeExecutionData = {
		json: {
			error: made.message,
			error_details:
				error instanceof ModelAccessError
					? errorDetails(error)
					: { retryable: false, advice: made.description || ADVICE_ON_N8N },
		},
		pairedItem: { item: index },
	};
	if (isAgentTool(context)) item.json = toToolErrorItem(made);
	if (node.onError === 'continueErrorOutput') {
		// n8n adds the fields of the input item's JSON there, and leaves its files behind.
		const { binary } = context.getInputData()[index] ?? {};
		if (binary) item.binary = binary;
		// n8n tells by this field which items go to the error output. It replaces the JSON of items
		// that still have the field afterwards. It copies what it sends there, and so loses the field.
		Object.defineProperty(item, 'error', { value: made, enumerable: false });
	}
	return item;
}

/** The error that ends a node, with what its run leaves behind. */
export function runError(
	context: IExecuteFunctions,
	{ error, index }: { error: unknown; index?: number },
	unfinished: UnfinishedWork,
): NodeApiError | NodeOperationError {
	const shown = nodeError(context.getNode(), error, index, unfinished);
	return isAgentTool(context) ? toToolError(shown) : shown;
}
