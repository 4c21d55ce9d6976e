import { NodeOperationError } from 'n8n-workflow';
import type { IDataObject, IExecuteFunctions, INodeExecutionData, INodeType } from 'n8n-workflow';

interface ResponseOptions {
	response?: { response?: { responseFormat?: string; outputPropertyName?: string } };
}

/** "HTTP Request", version 4.2: GET without credentials, with a file as the response. */
export const httpRequest: INodeType = {
	description: {
		displayName: 'HTTP Request',
		name: 'httpRequest',
		group: ['output'],
		version: [4, 4.1, 4.2],
		description: 'Makes an HTTP request and returns the response data',
		defaults: { name: 'HTTP Request' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [
			{ displayName: 'Method', name: 'method', type: 'string', default: 'GET' },
			{ displayName: 'URL', name: 'url', type: 'string', default: '', required: true },
			{ displayName: 'Options', name: 'options', type: 'json', default: '{}' },
		],
	},
	async execute(this: IExecuteFunctions) {
		const fetched: INodeExecutionData[] = [];
		for (const index of this.getInputData().keys()) {
			const { response } = this.getNodeParameter('options', index) as ResponseOptions;
			const { responseFormat, outputPropertyName = 'data' } = response?.response ?? {};
			if (this.getNodeParameter('method', index) !== 'GET' || responseFormat !== 'file') {
				throw new NodeOperationError(this.getNode(), 'This run only fetches files');
			}
			const url = this.getNodeParameter('url', index) as string;
			const answer = (await this.helpers.httpRequest({
				url,
				encoding: 'arraybuffer',
				returnFullResponse: true,
			})) as { body: Buffer; headers: IDataObject };
			const fileName = new URL(url).pathname.split('/').pop();
			const type = `${answer.headers['content-type'] as string}`;
			const file = await this.helpers.prepareBinaryData(answer.body, fileName, type);
			fetched.push({
				json: {},
				binary: { [outputPropertyName]: file },
				pairedItem: { item: index },
			});
		}
		return [fetched];
	},
};
