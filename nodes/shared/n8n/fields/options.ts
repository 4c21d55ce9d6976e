import type {
	IDataObject,
	IDisplayOptions,
	IExecuteFunctions,
	INodeProperties,
} from 'n8n-workflow';
import { defineOption, numberOption, secondsOption, type Option } from './define-option';
import { jsonObjectParameter } from './parameters';

/** An entry of a collection. */
export type Listed = INodeProperties | Option<unknown>;

/** The options of an operation. A name stands in one of the collections only. */
export interface Collections {
	/** What the model makes. */
	options: Listed[];
	/** How it is carried: waiting, sending again, files, and what the gateway keeps. */
	advanced?: Listed[];
}

/** The collections of an operation; their entries show up sorted by name, as n8n wants. */
export function optionFields({ options, advanced = [] }: Collections): INodeProperties[] {
	const fields = [collection('Options', 'options', options)];
	if (advanced.length > 0) fields.push(collection('Advanced', 'advanced', advanced));
	return fields;
}

function collection(displayName: string, name: string, options: Listed[]): INodeProperties {
	return {
		displayName,
		name,
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: options
			.map((option) => ('field' in option ? option.field : option))
			.sort((a, b) => a.displayName.localeCompare(b.displayName)),
	};
}

type Hide = NonNullable<IDisplayOptions['hide']>;

/**
 * The same option, hidden if one of these fields has one of these values. n8n then drops its value.
 * `show` would fail for a neighbor in the collection that is not set.
 */
export function hideIf<T extends Option<unknown>>(option: T, hide: Hide): T {
	const { displayOptions } = option.field;
	return {
		...option,
		field: {
			...option.field,
			displayOptions: { ...displayOptions, hide: { ...displayOptions?.hide, ...hide } },
		},
	};
}

/** The options of an item by name, whichever collection holds them. */
export function readOptions(
	context: Pick<IExecuteFunctions, 'getNodeParameter'>,
	index: number,
): IDataObject {
	const read = (name: string) => context.getNodeParameter(name, index, {}) as IDataObject;
	return { ...read('advanced'), ...read('options') };
}

export const concurrencyOption = numberOption(
	{
		displayName: 'Concurrency',
		name: 'concurrency',
		default: 4,
		description:
			'How many items the node works on at the same time. The value of the first item counts for all.',
	},
	{ min: 1, whole: true },
);

export const maxRetriesOption = numberOption(
	{
		displayName: 'Max Retries',
		name: 'maxRetries',
		typeOptions: { minValue: 0 },
		default: 3,
		description:
			'How often to send a request again if the gateway is overloaded or unreachable. The node sends nothing again that you might pay for twice.',
	},
	{ min: 0, whole: true },
);

/**
 * The time-out of one request.
 * @param seconds the default
 * @param description what it bounds
 */
export function timeoutOption(seconds: number, description: string): Option<number> {
	return secondsOption({
		displayName: 'Timeout (Seconds)',
		name: 'timeout',
		default: seconds,
		description,
	});
}

/** @param example an object that shows what it is for */
export function extraBodyOption(example: string): Option<Record<string, unknown>> {
	return defineOption(
		{
			displayName: 'Extra Body (JSON)',
			name: 'extraBody',
			type: 'json',
			default: '{}',
			placeholder: example,
			description:
				'Fields to add to the request’s body, as a JSON object. They override the fields above.',
		},
		jsonObjectParameter,
	);
}
