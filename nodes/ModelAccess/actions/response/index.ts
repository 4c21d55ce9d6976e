import type { Resource } from '../../../shared/n8n/runner/operation';
import { create } from './create.operation';

export const response: Resource = {
	value: 'response',
	name: 'Response',
	description: 'The answer of a model',
	operations: [create],
};
