import { NodeOperationError } from 'n8n-workflow';
import type { IDataObject, IExecuteFunctions, INodeExecutionData, INodeType } from 'n8n-workflow';

/** "Split Out", version 1: one list of each item, without the item's other fields. */
export const splitOut: INodeType = {
	description: {
		displayName: 'Split Out',
		name: 'splitOut',
		group: ['transform'],
		version: 1,
		description: 'Turn a list inside an item into separate items',
		defaults: { name: 'Split Out' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [
			{ displayName: 'Fields To Split Out', name: 'fieldToSplitOut', type: 'string', default: '' },
			{ displayName: 'Include', name: 'include', type: 'string', default: 'noOtherFields' },
			{
				displayName: 'Options',
				name: 'options',
				type: 'collection',
				default: {},
				options: [
					{
						displayName: 'Destination Field Name',
						name: 'destinationFieldName',
						type: 'string',
						default: '',
					},
				],
			},
		],
	},
	async execute(this: IExecuteFunctions) {
		const split: INodeExecutionData[] = [];
		for (const [index, item] of this.getInputData().entries()) {
			if (this.getNodeParameter('include', index) !== 'noOtherFields') {
				throw new NodeOperationError(this.getNode(), 'This run includes no other fields');
			}
			const field = this.getNodeParameter('fieldToSplitOut', index) as string;
			const name = this.getNodeParameter('options.destinationFieldName', index, '') as string;
			for (const entry of item.json[field] as Array<IDataObject[string]>) {
				const isObject = typeof entry === 'object' && entry !== null && !Array.isArray(entry);
				const json = isObject && !name ? (entry as IDataObject) : { [name || field]: entry };
				split.push({ json, pairedItem: { item: index } });
			}
		}
		return [split];
	},
};
