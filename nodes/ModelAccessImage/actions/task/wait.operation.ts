import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { taskOutput } from '../../../shared/api/images/task-images';
import { simplifyField } from '../../../shared/n8n/fields/simplify';
import type { ItemScope, Operation } from '../../../shared/n8n/runner/operation';
import { optionFields } from '../../../shared/n8n/fields/options';
import {
	IMAGE_TOOL_FIELDS,
	downloadOptions,
	fileNameOption,
	maxWaitOption,
	pollOptions,
	readFileSettings,
	readScope,
	readWaitSettings,
	requestOptions,
	type ImageScope,
} from '../../fields';
import { downloadImages } from '../../download';
import { waitForTask } from '../../wait';
import { readTaskId, taskIdField } from './fields';

/** Task → Wait: polls a task that was submitted before, then downloads its images. */
export const wait: Operation = {
	value: 'wait',
	name: 'Wait',
	action: 'Wait for a task',
	description: 'Wait until an image task is done and get its images',
	unit: 'task',
	toolDescription:
		'Waits until an image task is done, by its task ID. Returns the URL of the image (image_url) and when the URL expires (expires_at).',
	toolFields: IMAGE_TOOL_FIELDS,
	properties: [
		taskIdField,
		simplifyField,
		...optionFields({
			options: [fileNameOption],
			advanced: [...downloadOptions, maxWaitOption, ...pollOptions, ...requestOptions],
		}),
	],
	async run(item: ItemScope): Promise<INodeExecutionData[]> {
		const taskId = readTaskId(item);
		const scope = notingTask(readScope(item));
		const settings = readWaitSettings(item);
		const files = readFileSettings(item);
		const task = { taskId, endsAt: scope.client.deadline };
		const { seen, isDone } = await waitForTask(scope, task, settings);
		if (!isDone) return [{ json: taskOutput(seen, { taskId }, files.simplify) as IDataObject }];
		return await downloadImages(scope, seen, { taskId }, files);
	},
};

/** The same scope; a task that the gateway knows is noted, so that no error of the run loses it. */
function notingTask(scope: ImageScope): ImageScope {
	return {
		...scope,
		onPoll: (taskId) => (seen) => {
			scope.work.onTaskAccepted(taskId);
			scope.onPoll(taskId)(seen);
		},
	};
}
