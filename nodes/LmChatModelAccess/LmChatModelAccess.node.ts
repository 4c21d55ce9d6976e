import {
	NodeConnectionTypes,
	type INodeType,
	type INodeTypeDescription,
	type ISupplyDataFunctions,
	type SupplyData,
} from 'n8n-workflow';
import { searchModels } from '../shared/n8n/fields/model-picker';
import { n8nClock } from '../shared/n8n/clock';
import { properties } from './fields';
import { supplyChatModel } from './supply-model';

/** A language model for AI agents and chains. */
export class LmChatModelAccess implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Model Access Chat Model',
		name: 'lmChatModelAccess',
		icon: { light: 'file:lmChatModelAccess.svg', dark: 'file:lmChatModelAccess.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: '={{ $parameter["model"] }}',
		description: 'Use a model of a Model Access gateway in an AI agent or chain',
		defaults: { name: 'Model Access Chat Model' },
		inputs: [],
		outputs: [NodeConnectionTypes.AiLanguageModel],
		outputNames: ['Model'],
		credentials: [{ name: 'modelAccessApi', required: true }],
		properties,
	};

	methods = { listSearch: { searchModels } };

	async supplyData(this: ISupplyDataFunctions, itemIndex: number): Promise<SupplyData> {
		return await supplyChatModel(this, itemIndex, n8nClock);
	}
}
