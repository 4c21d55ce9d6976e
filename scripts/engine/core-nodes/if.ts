import type { IExecuteFunctions, INodeExecutionData, INodeType } from 'n8n-workflow';

/** "If", version 2: the conditions are evaluated by n8n-core's own filter. */
export const ifNode: INodeType = {
	description: {
		displayName: 'If',
		name: 'if',
		group: ['transform'],
		version: [2, 2.1, 2.2, 2.3],
		description: 'Route items to different branches (true/false)',
		defaults: { name: 'If' },
		inputs: ['main'],
		outputs: ['main', 'main'],
		outputNames: ['true', 'false'],
		properties: [
			{
				displayName: 'Conditions',
				name: 'conditions',
				type: 'filter',
				default: {},
				typeOptions: {
					filter: {
						caseSensitive: '={{!$parameter.options.ignoreCase}}',
						typeValidation: '={{$parameter.looseTypeValidation ? "loose" : "strict"}}',
						version: 2,
					},
				},
			},
			{
				displayName: 'Convert Types Where Required',
				name: 'looseTypeValidation',
				type: 'boolean',
				default: false,
			},
			{
				displayName: 'Options',
				name: 'options',
				type: 'collection',
				default: {},
				options: [
					{ displayName: 'Ignore Case', name: 'ignoreCase', type: 'boolean', default: true },
				],
			},
		],
	},
	async execute(this: IExecuteFunctions) {
		const matching: INodeExecutionData[] = [];
		const others: INodeExecutionData[] = [];
		for (const [index, item] of this.getInputData().entries()) {
			const matches = this.getNodeParameter('conditions', index, false, {
				extractValue: true,
			}) as boolean;
			(matches ? matching : others).push({ ...item, pairedItem: { item: index } });
		}
		return [matching, others];
	},
};
