import type { INodeExecutionData } from 'n8n-workflow';
import type { Observation } from '../../../shared/api/images/task';
import type { ItemScope } from '../../../shared/n8n/runner/run-items';
import type { Operation } from '../../../shared/n8n/runner/operation';
import { concurrencyOption, optionsCollection } from '../../../shared/n8n/fields/options';
import {
	binaryPropertyField,
	deliveryOf,
	downloadImagesField,
	fileNameOption,
	maxFileSizeOption,
} from '../../download';
import {
	boundedClient,
	collect,
	progressReport,
	requestOptions,
	waitingOf,
	waitingOptions,
} from '../../wait';
import { taskIdField, taskIdOf } from './task-fields';

/** Task → Wait: polls a task that was submitted before, then downloads its pictures. */
export const wait: Operation = {
	value: 'wait',
	name: 'Wait',
	action: 'Wait for a task',
	description: 'Wait until an image task is done and get its images',
	properties: [
		taskIdField,
		downloadImagesField,
		binaryPropertyField,
		optionsCollection(
			fileNameOption,
			maxFileSizeOption,
			...waitingOptions,
			...requestOptions,
			concurrencyOption,
		),
	],
	async run(item: ItemScope): Promise<INodeExecutionData[]> {
		const taskId = taskIdOf(item);
		const client = boundedClient(item);
		const waiting = waitingOf(item);
		const delivery = deliveryOf(item, client.timeoutMs);
		const report = progressReport(item, taskId);
		const onSeen = (seen: Observation) => {
			item.accepted(taskId);
			report(seen);
		};
		return await collect(item, client, { taskId }, { waiting, delivery, onSeen });
	},
};
