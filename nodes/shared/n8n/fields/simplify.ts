import type { INodeProperties } from 'n8n-workflow';
import type { ItemScope } from '../runner/operation';
import { booleanParameter } from './parameters';

export const simplifyField = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
} satisfies INodeProperties;

/** @throws {ValidationError} it is neither true nor false */
export function readSimplify({ parameter }: Pick<ItemScope, 'parameter'>): boolean {
	return booleanParameter(parameter(simplifyField.name), simplifyField);
}
