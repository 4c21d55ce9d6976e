import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { pollImageTask } from '../../../shared/api/images/poll-task';
import { hasImages } from '../../../shared/api/images/task';
import { taskOutput } from '../../../shared/api/images/task-images';
import { simplifyField } from '../../../shared/n8n/fields/simplify';
import type { ItemScope, Operation } from '../../../shared/n8n/runner/operation';
import { optionFields } from '../../../shared/n8n/fields/options';
import { downloadImages } from '../../download';
import {
	IMAGE_TOOL_FIELDS,
	downloadOptions,
	fileNameOption,
	readFileSettings,
	readScope,
	requestOptions,
} from '../../fields';
import { readTaskId, taskIdField } from './fields';

/** Task → Get: `GET /v1/images/tasks/<task_id>`, once. */
export const get: Operation = {
	value: 'get',
	name: 'Get',
	action: 'Get a task',
	description: 'Look at an image task once, and get its images if they are done',
	unit: 'task',
	toolDescription:
		'Looks at an image task once, by its task ID. Returns its status (status) and, if the image is done, the URL of the image (image_url).',
	toolFields: IMAGE_TOOL_FIELDS,
	properties: [
		taskIdField,
		simplifyField,
		...optionFields({
			options: [fileNameOption],
			advanced: [...downloadOptions, ...requestOptions],
		}),
	],
	async run(item: ItemScope): Promise<INodeExecutionData[]> {
		const taskId = readTaskId(item);
		const scope = readScope(item);
		const files = readFileSettings(item);
		const seen = await pollImageTask(scope.client, taskId);
		if (!hasImages(seen.task)) {
			return [{ json: taskOutput(seen, { taskId }, files.simplify) as IDataObject }];
		}
		scope.work.onTaskAccepted(taskId);
		return await downloadImages(scope, seen, { taskId }, files);
	},
};
