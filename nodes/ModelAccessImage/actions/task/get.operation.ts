import type { INodeExecutionData } from 'n8n-workflow';
import { pollImageTask } from '../../../shared/api/images/poll-task';
import type { ItemScope } from '../../../shared/n8n/runner/run-items';
import type { Operation } from '../../../shared/n8n/runner/operation';
import { concurrencyOption, optionsCollection } from '../../../shared/n8n/fields/options';
import {
	binaryPropertyField,
	deliver,
	deliveryOf,
	downloadImagesField,
	fileNameOption,
	maxFileSizeOption,
} from '../../download';
import { boundedClient, requestOptions, taskOutput } from '../../wait';
import { taskIdField, taskIdOf } from './task-fields';

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
		optionsCollection(fileNameOption, maxFileSizeOption, ...requestOptions, concurrencyOption),
	],
	async run(item: ItemScope): Promise<INodeExecutionData[]> {
		const taskId = taskIdOf(item);
		const client = boundedClient(item);
		const delivery = deliveryOf(item, client.timeoutMs);
		const seen = await pollImageTask(client, taskId);
		item.accepted(taskId);
		if (seen.task.status !== 'completed') return [taskOutput(taskId, seen)];
		return await deliver(item, client, { taskId }, seen, delivery);
	},
};
