import type { INodeProperties } from 'n8n-workflow';
import type { Operation } from '../runner/operation';

/** The fields and options of an operation, by the names that users see, their units left out. */
export function controlsOf({ properties }: Pick<Operation, 'properties'>): ReadonlySet<string> {
	const options = properties
		.filter(({ type }) => type === 'collection')
		.flatMap(({ options = [] }) => options as INodeProperties[]);
	return new Set(
		[...properties, ...options].map(({ displayName }) => displayName.replace(/ \([^)]*\)$/, '')),
	);
}
