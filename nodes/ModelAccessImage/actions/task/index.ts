import type { Resource } from '../../../shared/n8n/runner/operation';
import { get } from './get.operation';
import { wait } from './wait.operation';

export const task: Resource = {
	value: 'task',
	name: 'Task',
	description: 'Image tasks that you submitted before',
	operations: [get, wait],
};
