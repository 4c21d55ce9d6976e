import type { IDataObject, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { findModels, listModels } from '../../../shared/api/models/models';
import type { ItemScope, Operation } from '../../../shared/n8n/runner/operation';
import { textOption } from '../../../shared/n8n/fields/define-option';
import { optionFields } from '../../../shared/n8n/fields/options';
import { booleanParameter, numberParameter } from '../../../shared/n8n/fields/parameters';

const BOUNDS = { timeoutMs: 60_000, totalMs: 60_000, maxRetries: 3 };

const returnAllField = {
	displayName: 'Return All',
	name: 'returnAll',
	type: 'boolean',
	default: false,
	description: 'Whether to return all results or only up to a given limit',
} satisfies INodeProperties;

const limitField = {
	displayName: 'Limit',
	name: 'limit',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 50,
	description: 'Max number of results to return',
	displayOptions: { show: { returnAll: [false] } },
} satisfies INodeProperties;

const search = textOption({
	displayName: 'Search',
	name: 'search',
	type: 'string',
	default: '',
	placeholder: 'e.g. image',
	description: 'Return only models whose ID contains this text, in any case',
});

/** Model → Get Many: `GET /v1/models`. */
export const getAll: Operation = {
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many models',
	subtitle: 'List Models',
	description: 'List the models that your key may use',
	unit: 'list',
	toolDescription:
		'Lists the AI models that are available. Returns the ID of each model (id) and, if known, its name (display_name).',
	toolFields: ['id', 'name', 'display_name'],
	properties: [returnAllField, limitField, ...optionFields({ options: [search] })],
	async run(item: ItemScope): Promise<INodeExecutionData[]> {
		const limit = booleanParameter(item.parameter(returnAllField.name), returnAllField)
			? Infinity
			: numberParameter(item.parameter('limit'), {
					field: 'Limit',
					fallback: limitField.default,
					min: 1,
				});
		const wanted = search.read(item.options);
		const models = findModels(await listModels(item.client(BOUNDS)), wanted);
		return models.slice(0, limit).map((model) => ({ json: model as IDataObject }));
	},
};
