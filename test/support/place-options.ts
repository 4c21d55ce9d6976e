import type { IDataObject, INodeProperties } from 'n8n-workflow';

function namesIn(properties: INodeProperties[], collection: string): Set<string> {
	const collections = properties.filter(({ name }) => name === collection);
	const options = collections.flatMap((field) => (field.options ?? []) as INodeProperties[]);
	return new Set(options.map(({ name }) => name));
}

/**
 * Parameters with each option in the collection in which the node declares it. One that it declares
 * nowhere stays among `options`.
 * @param properties of the node, or of the operation
 * @param parameters all their options stand in `options`
 */
export function placeOptions(
	properties: INodeProperties[],
	{ options, ...parameters }: IDataObject,
): IDataObject {
	if (typeof options !== 'object' || options === null) return { ...parameters, options };
	const advanced = namesIn(properties, 'advanced');
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
