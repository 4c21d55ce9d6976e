import type { IDataObject, INodeProperties } from 'n8n-workflow';

function namesIn(properties: INodeProperties[], collection: string): Set<string> {
	const collections = properties.filter(({ name }) => name === collection);
	const options = collections.flatMap((field) => (field.options ?? []) as INodeProperties[]);
	return new Set(options.map(({ name }) => name));
}

/** Parameters with each of their `options` in the collection in which the properties declare it. */
export function placeOptions(
	properties: INodeProperties[],
	{ options, ...parameters }: IDataObject,
): IDataObject {
	if (typeof options !== 'object' || options === null) return { ...parameters, options };
	const advanced = namesIn(properties, 'advanced');
	const of = (isAdvanced: boolean) => {
		const own: IDataObject = {};
		for (const [name, value] of Object.entries(options as IDataObject))
			if (advanced.has(name) === isAdvanced) own[name] = value;
		return own;
	};
	const given = parameters.advanced as IDataObject | undefined;
	return { ...parameters, options: of(false), advanced: { ...given, ...of(true) } };
}
