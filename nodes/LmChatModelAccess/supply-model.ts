import type {
	IDataObject,
	INodeProperties,
	ISupplyDataFunctions,
	NodeApiError,
	NodeOperationError,
	SupplyData,
} from 'n8n-workflow';
import type { Redact } from '../shared/client/failure';
import { requireText } from '../shared/client/require-text';
import { incompleteReason } from '../shared/client/response-output';
import type { Time } from '../shared/client/time';
import { connect } from '../shared/n8n/connection';
import { controlsOf } from '../shared/n8n/controls';
import { nodeError, redacted } from '../shared/n8n/errors';
import { modelPicker } from '../shared/n8n/model-picker';
import {
	extraBodyOption,
	maxRetriesOf,
	maxRetriesOption,
	optionsCollection,
} from '../shared/n8n/option-fields';
import { jsonObjectParameter } from '../shared/n8n/parameters';
import {
	idleTimeoutOption,
	maxOutputTokensOption,
	modelFieldsOf,
	reasoningEffortOption,
	responseTimeoutOption,
	responseTimesOf,
	serviceTierOption,
	storeOption,
	temperatureOption,
	topPOption,
} from '../shared/n8n/response-options';
import { ModelAccessChatModel, type ChatModelSettings } from './chat-model';
import { repairAdapter } from './langchain-adapter';
import type { LangChainModel } from './langchain-model';
import { loadSdk } from './sdk';

/** The fields of the chat model. */
export const properties: INodeProperties[] = [
	{
		displayName:
			"This node must be connected to an AI agent or chain. <a data-action='openSelectiveNodeCreator' data-action-parameter-creatorview='AI'>Insert one</a>",
		name: 'notice',
		type: 'notice',
		default: '',
		typeOptions: { containerClass: 'ndv-connection-hint-notice' },
	},
	modelPicker,
	optionsCollection(
		extraBodyOption('{ "user": "42" }'),
		idleTimeoutOption,
		maxOutputTokensOption,
		maxRetriesOption,
		reasoningEffortOption,
		responseTimeoutOption,
		serviceTierOption,
		storeOption,
		temperatureOption,
		topPOption,
	),
];

/**
 * Supplies the chat model of one item to an agent or a chain.
 * @param time n8n's, but for tests
 * @throws {NodeApiError|NodeOperationError} a field or the credential is not usable, or this n8n is
 * too old
 */
export async function supplyChatModel(
	context: ISupplyDataFunctions,
	itemIndex: number,
	time: Time,
): Promise<SupplyData> {
	try {
		const { supplyModel } = await loadSdk();
		const settings = await settingsOf(context, itemIndex, time);
		const supplied = supplyModel(context, new ModelAccessChatModel(settings));
		const response = repairAdapter(supplied.response as LangChainModel, context.logger);
		return { ...supplied, response };
	} catch (error) {
		throw subNodeError(context, error, itemIndex);
	}
}

async function settingsOf(
	context: ISupplyDataFunctions,
	itemIndex: number,
	time: Time,
): Promise<ChatModelSettings> {
	const modelId: unknown = context.getNodeParameter('model', itemIndex, '', { extractValue: true });
	requireText(modelId, 'Model', 'Choose a model from the list or enter its exact ID.');
	const options = context.getNodeParameter('options', itemIndex, {}) as IDataObject;
	const { timeoutMs, idleMs } = responseTimesOf(options);
	const maxRetries = maxRetriesOf(options.maxRetries);
	const fields = modelFieldsOf(options);
	const extraBody = jsonObjectParameter(options.extraBody, 'Extra Body');
	const connection = await connect(context, time);
	return {
		modelId: String(modelId),
		fields,
		extraBody,
		idleMs,
		cancelled: context.getExecutionCancelSignal(),
		client: (cancel) => ({
			transport: connection.transportUntil(cancel),
			time,
			redact: connection.redact,
			controls: controlsOf({ properties }),
			signal: cancel,
			timeoutMs,
			maxRetries,
			deadline: time.now() + timeoutMs,
			onRetry: ({ reason, waitMs, attempt }) =>
				context.logger.debug(`${reason}; sending again in ${waitMs} ms (retry ${attempt})`),
		}),
		onAnswer: ({ response }) => {
			const reason = incompleteReason(response);
			if (reason === undefined) return;
			context.addExecutionHints({ message: reason, type: 'warning', location: 'outputPane' });
		},
		toError: (error) => subNodeError(context, error, itemIndex, connection.redact),
	};
}

/** The error as n8n shows those of nodes that serve another node. */
function subNodeError(
	context: ISupplyDataFunctions,
	error: unknown,
	itemIndex: number,
	redact: Redact = (text) => text,
): NodeApiError | NodeOperationError {
	const made = nodeError(context.getNode(), redacted(error, redact), itemIndex);
	made.functionality = 'configuration-node';
	return made;
}
