import { NodeOperationError } from 'n8n-workflow';
import type { IExecuteFunctions, INodeType } from 'n8n-workflow';

/** "n8n Form", version 1: the ending that returns a file of the item. */
export const form: INodeType = {
	description: {
		displayName: 'n8n Form',
		name: 'form',
		group: ['input'],
		version: 1,
		description: 'Generate webforms in n8n and pass their responses to the workflow',
		defaults: { name: 'Form' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [
			{ displayName: 'Page Type', name: 'operation', type: 'string', default: 'page' },
			{
				displayName: 'On n8n Form Submission',
				name: 'respondWith',
				type: 'string',
				default: 'text',
			},
			{
				displayName: 'Input Data Field Name',
				name: 'inputDataFieldName',
				type: 'string',
				default: 'data',
			},
		],
	},
	async execute(this: IExecuteFunctions) {
		const hasTrigger = this.getParentNodes(this.getNode().name).some(
			({ type }) => type === 'n8n-nodes-base.formTrigger',
		);
		const isEnding = this.getNodeParameter('operation', 0) === 'completion';
		if (!hasTrigger || !isEnding || this.getNodeParameter('respondWith', 0) !== 'returnBinary') {
			throw new NodeOperationError(this.getNode(), 'This run only ends a form by a file');
		}
		this.helpers.assertBinaryData(0, this.getNodeParameter('inputDataFieldName', 0) as string);
		return [this.getInputData()];
	},
};
