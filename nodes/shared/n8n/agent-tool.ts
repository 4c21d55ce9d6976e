import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';
import { shorten } from '../api/errors/shorten';
import { isFalse } from './fields/parameters';
import { onOneLine } from './errors';

/**
 * Whether the node runs as a tool of an agent. n8n adds "Tool" to the name of a node's type, whether
 * the agent or the engine runs it. Older n8n does not tell.
 */
export function isAgentTool(context: IExecuteFunctions): boolean {
	return context.isToolExecution?.() === true || context.getNode().type.endsWith('Tool');
}

/** What happened and what to do, as one text. */
function tellAgent({ message, description }: NodeApiError | NodeOperationError): string {
	const end = /[.!?…]$/.test(message) ? '' : '.';
	return shorten(description ? `${message}${end} ${onOneLine(description)}` : message);
}

/** An error of a tool: n8n hands an agent nothing of it but its message. */
export function toToolError<E extends NodeApiError | NodeOperationError>(error: E): E {
	return Object.assign(error, { message: tellAgent(error) });
}

/** An error item of a tool. */
export const toToolErrorItem = (error: NodeApiError | NodeOperationError): IDataObject => ({
	error: tellAgent(error),
});

/**
 * What an agent reads of a result: each field costs tokens in every further round. Raw data, and
 * what is for no agent, stay as they are.
 * @param operation names the fields to keep
 */
export function forAgent(
	context: IExecuteFunctions,
	index: number,
	output: INodeExecutionData[],
	{ toolFields }: { toolFields: string[] },
): INodeExecutionData[] {
	if (!isAgentTool(context)) return output;
	// The operation has refused what is neither true nor false; the output must not get lost by it.
	if (isFalse(context.getNodeParameter('simplify', index, true))) return output;
	return output.map((item) => ({
		...item,
		json: Object.fromEntries(
			Object.entries(item.json).filter(([name]) => toolFields.includes(name)),
		),
	}));
}
