import type { INodeProperties } from 'n8n-workflow';

/** A field's name as messages have it: without its unit. */
export function optionLabel({ displayName }: Pick<INodeProperties, 'displayName'>): string {
	return displayName.replace(/ \([^)]*\)$/, '');
}

/** The fields and options of an operation, by the names that users see, their units left out. */
export function getOptionNames({
	properties,
}: {
	properties: INodeProperties[];
}): ReadonlySet<string> {
	const options = properties
		.filter(({ type }) => type === 'collection')
		.flatMap(({ options = [] }) => options as INodeProperties[]);
	return new Set([...properties, ...options].map(optionLabel));
}
