import type { Resource } from '../../../shared/n8n/runner/operation';
import { getAll } from './getAll.operation';

export const model: Resource = {
	value: 'model',
	name: 'Model',
	description: 'The models that the gateway offers',
	operations: [getAll],
};
