import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { searchModels } from '../shared/n8n/fields/model-picker';
import { resourceProperties, getSubtitle, type Resource } from '../shared/n8n/runner/operation';
import { execute } from '../shared/n8n/runner/run-items';
import { model } from './actions/model';
import { response } from './actions/response';

/** What the node offers, in the order of its selector. */
export const resources: Resource[] = [response, model];

/** Lists models and creates responses. */
export class ModelAccess implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Model Access',
		name: 'modelAccess',
		icon: { light: 'file:modelAccess.svg', dark: 'file:modelAccess.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: getSubtitle(resources),
		description: 'List models and get their answers through a Model Access gateway',
		defaults: { name: 'Model Access' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'modelAccessApi', required: true }],
		properties: resourceProperties(resources),
	};

	methods = { listSearch: { searchModels } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await execute(this, resources);
	}
}
