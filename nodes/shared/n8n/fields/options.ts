import type { INodeProperties } from 'n8n-workflow';
import { defineOption, numberOption, secondsOption, type Option } from './define-option';
import { jsonObjectParameter } from './parameters';

/** The `options` collection of an operation; its entries show up sorted by name, as n8n wants. */
export function optionsCollection(
	...options: Array<INodeProperties | Option<unknown>>
): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: options
			.map((option) => ('field' in option ? option.field : option))
			.sort((a, b) => a.displayName.localeCompare(b.displayName)),
	};
}

export const concurrencyOption = numberOption(
	{
		displayName: 'Concurrency',
		name: 'concurrency',
		default: 4,
		description:
			'How many items are worked on side by side. One number for all items: that of the first one counts.',
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
			'How often a request is sent again where that cannot be charged twice: when the gateway asks to slow down, is overloaded, or could not be reached',
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
				'Fields to add to the request’s body, as a JSON object. They are merged last and win over the fields above.',
		},
		jsonObjectParameter,
	);
}
