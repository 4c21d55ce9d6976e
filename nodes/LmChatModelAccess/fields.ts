import type { IDataObject, INodeProperties, ISupplyDataFunctions } from 'n8n-workflow';
import { requireText } from '../shared/client/require-text';
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

/** What the user set in the node. */
export interface Parameters {
	modelId: string;
	/** Body fields of the options that the user set, under the gateway's names. */
	fields: Record<string, unknown>;
	extraBody: Record<string, unknown>;
	/** How long to wait for an answer, in milliseconds. */
	timeoutMs: number;
	/** How long a stream may be silent, in milliseconds. */
	idleMs: number;
	maxRetries: number;
}

/** An option: its field, which has its default, and its reader. */
interface Option<T> {
	field: INodeProperties;
	/** @throws {InputError} names the option */
	read(options: IDataObject): T;
}

function defineOption<T>(
	field: INodeProperties,
	read: (value: IDataObject[string]) => T,
): Option<T> {
	return { field, read: (options) => read(options[field.name]) };
}

const timeoutMs = defineOption(
	responseTimeoutOption,
	(timeout) => responseTimesOf({ timeout }).timeoutMs,
);
const idleMs = defineOption(
	idleTimeoutOption,
	(idleTimeout) => responseTimesOf({ idleTimeout }).idleMs,
);
const maxRetries = defineOption(maxRetriesOption, maxRetriesOf);
const extraBody = defineOption(extraBodyOption('{ "user": "42" }'), (value) =>
	jsonObjectParameter(value, 'Extra Body'),
);

/** The options that become body fields; `modelFieldsOf` is their reader. */
const bodyOptions = [
	maxOutputTokensOption,
	reasoningEffortOption,
	serviceTierOption,
	storeOption,
	temperatureOption,
	topPOption,
];

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
		...bodyOptions,
		...[timeoutMs, idleMs, maxRetries, extraBody].map(({ field }) => field),
	),
];

/**
 * Reads the fields for one item.
 * @throws {InputError} names the field
 */
export function readParameters(context: ISupplyDataFunctions, itemIndex: number): Parameters {
	const modelId: unknown = context.getNodeParameter('model', itemIndex, '', { extractValue: true });
	requireText(modelId, 'Model', 'Choose a model from the list or enter its exact ID.');
	const options = context.getNodeParameter('options', itemIndex, {}) as IDataObject;
	return {
		modelId: String(modelId),
		timeoutMs: timeoutMs.read(options),
		idleMs: idleMs.read(options),
		maxRetries: maxRetries.read(options),
		fields: modelFieldsOf(options),
		extraBody: extraBody.read(options),
	};
}
