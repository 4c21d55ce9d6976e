import type { INodeProperties, ISupplyDataFunctions } from 'n8n-workflow';
import { requireText } from '../shared/api/errors/require-text';
import { agentBuiltInToolsField, readBuiltInTools } from '../shared/n8n/fields/built-in-tools';
import { formatOption } from '../shared/n8n/fields/output-format';
import { modelPicker, readModel } from '../shared/n8n/fields/model-picker';
import { extraBodyOption, optionFields, readOptions } from '../shared/n8n/fields/options';
import {
	answerOptions,
	carriageOptions,
	idleTimeoutOption,
	readModelFields,
	readResponseBounds,
} from '../shared/n8n/fields/response-options';
import type { RequestBounds } from '../shared/n8n/http/client';

/** What the user set in the node. */
export interface Parameters {
	modelId: string;
	/** Body fields of the options that the user set, under the gateway's names. */
	fields: Record<string, unknown>;
	/** The gateway's own tools, beside those of the agent. */
	builtInTools?: Array<Record<string, unknown>>;
	extraBody: Record<string, unknown>;
	bounds: RequestBounds;
	/** How long a stream may be silent, in milliseconds. */
	idleMs: number;
}

const responseFormatOption = formatOption(
	'Response Format',
	'responseFormat',
	'The form of the answer',
);

const extraBody = extraBodyOption('{ "user": "42" }');

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
	agentBuiltInToolsField,
	...optionFields({
		options: [...answerOptions, responseFormatOption],
		advanced: [extraBody, idleTimeoutOption, ...carriageOptions],
	}),
];

/**
 * Reads the fields for one item.
 * @throws {ValidationError} names the field
 */
export function readParameters(context: ISupplyDataFunctions, itemIndex: number): Parameters {
	const model: unknown = context.getNodeParameter('model', itemIndex, '', { extractValue: true });
	const modelId = readModel(model);
	requireText(modelId, 'Model', 'Select a model from the list or enter its exact ID.');
	const options = readOptions(context, itemIndex);
	return {
		modelId,
		bounds: readResponseBounds(options),
		idleMs: idleTimeoutOption.read(options),
		fields: readModelFields(options, responseFormatOption.read(options)),
		builtInTools: readBuiltInTools(context.getNodeParameter('builtInTools', itemIndex, {})),
		extraBody: extraBody.read(options),
	};
}
