import type { Resource } from '../../../shared/n8n/runner/operation';
import { create } from './create.operation';

export const response: Resource = {
	value: 'response',
	name: 'Response',
	description: 'What a model answers',
	operations: [create],
};
