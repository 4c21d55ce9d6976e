import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { NodeOperationError } from 'n8n-workflow';
import type { IExecuteFunctions, INodeExecutionData, INodeType } from 'n8n-workflow';

import type { CoreNodeOptions } from '.';

/** "Read/Write Files from Disk": write only, into the one folder that the run allows. */
export const readWriteFile = ({ fileFolder }: CoreNodeOptions): INodeType => ({
	description: {
		displayName: 'Read/Write Files from Disk',
		name: 'readWriteFile',
		group: ['input'],
		version: [1, 1.1],
		description: 'Read or write files from the computer that runs n8n',
		defaults: { name: 'Read/Write Files from Disk' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [
			{ displayName: 'Operation', name: 'operation', type: 'string', default: 'read' },
			{ displayName: 'File Path and Name', name: 'fileName', type: 'string', default: '' },
			{
				displayName: 'Input Binary Field',
				name: 'dataPropertyName',
				type: 'string',
				default: 'data',
			},
		],
	},
	async execute(this: IExecuteFunctions) {
		const written: INodeExecutionData[] = [];
		for (const [index, item] of this.getInputData().entries()) {
			if (this.getNodeParameter('operation', index) !== 'write' || !fileFolder) {
				throw new NodeOperationError(this.getNode(), 'This run only writes, into a given folder');
			}
			const fileName = this.getNodeParameter('fileName', index) as string;
			const field = this.getNodeParameter('dataPropertyName', index);
			this.helpers.assertBinaryData(index, field);
			const bytes = await this.helpers.getBinaryDataBuffer(index, field);
			await mkdir(fileFolder, { recursive: true });
			await writeFile(join(fileFolder, basename(fileName)), bytes);
			written.push({ ...item, json: { ...item.json, fileName }, pairedItem: { item: index } });
		}
		return [written];
	},
});
