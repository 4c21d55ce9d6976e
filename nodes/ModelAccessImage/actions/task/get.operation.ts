import type { INodeExecutionData } from 'n8n-workflow';
import { pollImageTask } from '../../../shared/api/images/poll-task';
import type { ItemScope, Operation } from '../../../shared/n8n/runner/operation';
import { concurrencyOption, optionsCollection } from '../../../shared/n8n/fields/options';
import { downloadImages } from '../../download';
import {
	binaryPropertyField,
	downloadImagesField,
	fileOptions,
	readBounds,
	readFileSettings,
	requestOptions,
} from '../../fields';
import { createDownloader, taskOutput } from '../../wait';
import { readTaskId, taskIdField } from './fields';

/** Task → Get: `GET /v1/images/tasks/<task_id>`, once. */
export const get: Operation = {
	value: 'get',
	name: 'Get',
	action: 'Get a task',
	description: 'Look at an image task once, and get its images if they are done',
	properties: [
		taskIdField,
		downloadImagesField,
		binaryPropertyField,
		optionsCollection(...fileOptions, ...requestOptions, concurrencyOption),
	],
	async run(item: ItemScope): Promise<INodeExecutionData[]> {
		const taskId = readTaskId(item);
		const client = item.client(readBounds(item));
		const files = readFileSettings(item);
		const seen = await pollImageTask(client, taskId);
		item.onTaskAccepted(taskId);
		if (seen.task.status !== 'completed') return [taskOutput(taskId, seen)];
		return await downloadImages(createDownloader(item, client), seen.task, { taskId }, files);
	},
};
