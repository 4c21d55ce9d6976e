import type { IDataObject, INodeProperties } from 'n8n-workflow';

function namesIn(properties: INodeProperties[], collection: string): Set<string> {
	const collections = properties.filter(({ name }) => name === collection);
	const options = collections.flatMap((field) => (field.options ?? []) as INodeProperties[]);
	return new Set(options.map(({ name }) => name));
}

/** Parameters with each of their `options` in the collection in which the properties declare it. */
export function placeOptions(properties: INodeProperties[], given: IDataObject): IDataObject {
	const { options, ...parameters } = given;
	if (typeof options !== 'object' || options === null) return { ...parameters, options };
	const advanced = namesIn(properties, 'advanced');
	const of = (isAdvanced: boolean) => {
		const all = Object.entries(options as IDataObject);
		return Object.fromEntries(all.filter(([name]) => advanced.has(name) === isAdvanced));
	};
	const own = parameters.advanced as IDataObject | undefined;
	return { ...parameters, options: of(false), advanced: { ...own, ...of(true) } };
}
