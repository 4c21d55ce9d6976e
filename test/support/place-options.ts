import type { IDataObject, INodeProperties, INodeType } from 'n8n-workflow';

/** The names of the options that a node has in a collection, in any operation. */
function namesIn({ description }: INodeType, collection: string): Set<string> {
	const collections = description.properties.filter(({ name }) => name === collection);
	const options = collections.flatMap((field) => (field.options ?? []) as INodeProperties[]);
	return new Set(options.map(({ name }) => name));
}

/**
 * Parameters with each option in the collection in which the node declares it. One that it declares
 * nowhere stays among `options`.
 * @param parameters all their options stand in `options`
 */
export function placeOptions(
	node: INodeType,
	{ options, ...parameters }: IDataObject,
): IDataObject {
	if (typeof options !== 'object' || options === null) return { ...parameters, options };
	const advanced = namesIn(node, 'advanced');
	const of = (isAdvanced: boolean) =>
		Object.fromEntries(
			Object.entries(options).filter(([name]) => advanced.has(name) === isAdvanced),
		) as IDataObject;
	return {
		...parameters,
		options: of(false),
		advanced: { ...(parameters.advanced as IDataObject | undefined), ...of(true) },
	};
}
