import type { Resource } from '../../../shared/n8n/runner/operation';
import { edit } from './edit.operation';
import { generate } from './generate.operation';

export const image: Resource = {
	value: 'image',
	name: 'Image',
	description: 'Images that a model makes',
	operations: [generate, edit],
};
