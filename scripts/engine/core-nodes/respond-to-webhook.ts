import { NodeOperationError } from 'n8n-workflow';
import type { IDataObject, IExecuteFunctions, INodeType } from 'n8n-workflow';

/** "Respond to Webhook", version 1.5: JSON and text, whole or as a chunk of a streamed answer. */
export const respondToWebhook: INodeType = {
	description: {
		displayName: 'Respond to Webhook',
		name: 'respondToWebhook',
		group: ['transform'],
		version: 1.5,
		description: 'Returns data for Webhook',
		defaults: { name: 'Respond to Webhook' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [
			{
				displayName: 'Respond With',
				name: 'respondWith',
				type: 'string',
				default: 'firstIncomingItem',
			},
			{ displayName: 'Response Body', name: 'responseBody', type: 'json', default: '' },
			{
				displayName: 'Options',
				name: 'options',
				type: 'collection',
				default: {},
				options: [
					{
						displayName: 'Enable Streaming',
						name: 'enableStreaming',
						type: 'boolean',
						default: true,
					},
				],
			},
		],
	},
	async execute(this: IExecuteFunctions) {
		const respondWith = this.getNodeParameter('respondWith', 0);
		if (respondWith !== 'json' && respondWith !== 'text') {
			throw new NodeOperationError(this.getNode(), 'This run only responds with JSON or text');
		}
		const body = this.getNodeParameter('responseBody', 0) as IDataObject | string;
		const { enableStreaming = true } = this.getNodeParameter('options', 0);
		if (this.isStreaming() && enableStreaming) {
			this.sendChunk('begin', 0);
			this.sendChunk('item', 0, body);
			this.sendChunk('end', 0);
		} else {
			await this.sendResponse({ body, headers: {}, statusCode: 200 });
		}
		return [this.getInputData()];
	},
};
