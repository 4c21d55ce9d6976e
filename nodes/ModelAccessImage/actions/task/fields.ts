import type { INodeProperties } from 'n8n-workflow';
import { parseTaskId } from '../../../shared/api/images/task-id';
import { textParameter } from '../../../shared/n8n/fields/text';
import type { ItemScope } from '../../../shared/n8n/runner/operation';

export const taskIdField: INodeProperties = {
	displayName: 'Task ID',
	name: 'taskId',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. {{ $json.task_id }}',
	description:
		'The task_id that Image → Generate or Edit returned. Use the credential that submitted the task.',
};

/** @throws {ValidationError} it is not a task ID of this gateway */
export function readTaskId(item: ItemScope): string {
	return parseTaskId(
		textParameter(item.parameter(taskIdField.name), taskIdField.displayName),
		item.connection.baseUrl,
	);
}
