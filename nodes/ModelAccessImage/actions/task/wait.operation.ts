import type { INodeExecutionData } from 'n8n-workflow';
import type { PollResult } from '../../../shared/api/images/task';
import type { ItemScope, Operation } from '../../../shared/n8n/runner/operation';
import { concurrencyOption, optionsCollection } from '../../../shared/n8n/fields/options';
import {
	binaryPropertyField,
	downloadImagesField,
	fileOptions,
	readBounds,
	readFileSettings,
	readWaitSettings,
	requestOptions,
	waitOptions,
} from '../../fields';
import { progressReport, waitAndDownload } from '../../wait';
import { readTaskId, taskIdField } from './fields';

/** Task → Wait: polls a task that was submitted before, then downloads its images. */
export const wait: Operation = {
	value: 'wait',
	name: 'Wait',
	action: 'Wait for a task',
	description: 'Wait until an image task is done and get its images',
	properties: [
		taskIdField,
		downloadImagesField,
		binaryPropertyField,
		optionsCollection(...fileOptions, ...waitOptions, ...requestOptions, concurrencyOption),
	],
	async run(item: ItemScope): Promise<INodeExecutionData[]> {
		const taskId = readTaskId(item);
		const client = item.client(readBounds(item));
		const wait = readWaitSettings(item);
		const files = readFileSettings(item);
		const report = progressReport(item, taskId);
		const onPoll = (seen: PollResult) => {
			item.onTaskAccepted(taskId);
			report(seen);
		};
		return await waitAndDownload(item, client, { origin: { taskId }, wait, files, onPoll });
	},
};
