import type {
	ISupplyDataFunctions,
	NodeApiError,
	NodeOperationError,
	SupplyData,
} from 'n8n-workflow';
import { redactError, type Redact } from '../shared/api/errors/sanitize';
import type { Clock } from '../shared/api/http/clock';
import { createClient } from '../shared/n8n/http/client';
import { connect } from '../shared/n8n/http/connection';
import { explainEmpty } from '../shared/n8n/fields/empty-expression';
import { getOptionNames } from '../shared/n8n/fields/option-names';
import { nodeError } from '../shared/n8n/errors';
import { ModelAccessChatModel, type ChatModelSettings } from './chat-model';
import { properties, readParameters } from './fields';
import { hintAtAnswer } from './hints';
import { keepImages } from './images';
import { repairAdapter } from './langchain-adapter';
import type { LangChainModel } from './langchain-model';
import { loadSdk } from './sdk';

/**
 * Supplies the chat model of one item to an agent or a chain.
 * @param time n8n's clock; tests pass their own
 * @throws {NodeApiError|NodeOperationError} a field or the credential is invalid, or this n8n is
 * too old
 */
export async function supplyChatModel(
	context: ISupplyDataFunctions,
	itemIndex: number,
	time: Clock,
): Promise<SupplyData> {
	try {
		const { supplyModel } = await loadSdk();
		const settings = await createSettings(context, itemIndex, time);
		const supplied = supplyModel(context, new ModelAccessChatModel(settings));
		const response = repairAdapter(supplied.response as LangChainModel, context.logger);
		return { ...supplied, response };
	} catch (error) {
		const origin = { index: itemIndex, properties };
		throw subNodeError(context, explainEmpty(context, origin, error), itemIndex);
	}
}

async function createSettings(
	context: ISupplyDataFunctions,
	itemIndex: number,
	time: Clock,
): Promise<ChatModelSettings> {
	const { bounds, ...parameters } = readParameters(context, itemIndex);
	const connection = await connect(context, time);
	return {
		...parameters,
		canceled: context.getExecutionCancelSignal(),
		client: (cancel) =>
			createClient({ ...connection, transport: connection.transportUntil(cancel) }, bounds, {
				optionNames: getOptionNames({ properties }),
				signal: cancel,
				onRetry: ({ reason, waitMs, attempt }) =>
					context.logger.debug(`${reason}; sending again in ${waitMs} ms (retry ${attempt})`),
			}),
		onAnswer: async (created, body) => {
			hintAtAnswer(context, created, body);
			await keepImages(context, created);
		},
		toError: (error) => subNodeError(context, error, itemIndex, connection.redact),
	};
}

/** Marks the error as one of a sub-node: n8n then shows it beside that, not in the agent. */
function subNodeError(
	context: ISupplyDataFunctions,
	error: unknown,
	itemIndex: number,
	redact: Redact = (text) => text,
): NodeApiError | NodeOperationError {
	const made = nodeError(context.getNode(), redactError(error, redact), itemIndex);
	made.functionality = 'configuration-node';
	return made;
}
