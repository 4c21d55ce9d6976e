import type { INodeProperties } from 'n8n-workflow';
import { numberParameter } from './parameters';

/** The `options` collection of an operation; its entries show up sorted by name, as n8n wants. */
export function optionsCollection(...options: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: options.sort((a, b) => a.displayName.localeCompare(b.displayName)),
	};
}

export const concurrencyOption: INodeProperties = {
	displayName: 'Concurrency',
	name: 'concurrency',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 4,
	description:
		'How many items are worked on side by side. One number for all items: that of the first one counts.',
};

export const maxRetriesOption: INodeProperties = {
	displayName: 'Max Retries',
	name: 'maxRetries',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 3,
	description:
		'How often a request is sent again where that cannot be charged twice: when the gateway asks to slow down, is overloaded, or could not be reached',
};

/** @throws {InputError} */
export function maxRetriesOf(value: unknown): number {
	return numberParameter(value, { field: 'Max Retries', fallback: 3, min: 0, whole: true });
}

/** @param seconds the default; `description` says what it bounds */
export function timeoutOption(seconds: number, description: string): INodeProperties {
	return {
		displayName: 'Timeout (Seconds)',
		name: 'timeout',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: seconds,
		description,
	};
}

/** @param example an object that shows what it is for */
export function extraBodyOption(example: string): INodeProperties {
	return {
		displayName: 'Extra Body (JSON)',
		name: 'extraBody',
		type: 'json',
		default: '{}',
		placeholder: example,
		description:
			'Fields to add to the request’s body, as a JSON object. They are merged last and win over the fields above.',
	};
}
