import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { searchImageModels } from '../shared/n8n/fields/model-picker';
import { resourceProperties, getSubtitle, type Resource } from '../shared/n8n/runner/operation';
import { execute } from '../shared/n8n/runner/run-items';
import { image } from './actions/image';
import { task } from './actions/task';

/** What the node offers, in the order of its selector. */
export const resources: Resource[] = [image, task];

/** Generates images by the gateway's asynchronous tasks and hands them on as files. */
export class ModelAccessImage implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Model Access Image',
		name: 'modelAccessImage',
		icon: { light: 'file:modelAccessImage.svg', dark: 'file:modelAccessImage.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: getSubtitle(resources),
		description: 'Generate and edit images through a Model Access gateway and get them as files',
		defaults: { name: 'Model Access Image' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'modelAccessApi', required: true }],
		properties: resourceProperties(resources),
	};

	methods = { listSearch: { searchModels: searchImageModels } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await execute(this, resources);
	}
}
