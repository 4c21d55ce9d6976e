import type { IDataObject, INodeProperties } from 'n8n-workflow';
import type { RequestBounds } from '../http/client';
import { secondsOption, textOption } from './define-option';
import { maxRetriesOption, timeoutOption } from './options';
import { omitUndefined, optionalNumber } from './parameters';

export const maxOutputTokensOption: INodeProperties = {
	displayName: 'Max Output Tokens',
	name: 'maxOutputTokens',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 1024,
	description: 'How long the answer may become. Thinking counts as well.',
};

export const reasoningEffortOption = textOption({
	displayName: 'Reasoning Effort',
	name: 'reasoningEffort',
	type: 'options',
	options: [
		{ name: 'High', value: 'high' },
		{ name: 'Low', value: 'low' },
		{ name: 'Medium', value: 'medium' },
		{ name: 'Minimal', value: 'minimal' },
		{ name: 'None', value: 'none' },
	],
	default: 'medium',
	description: 'How much the model thinks before it answers. Support depends on the model.',
});

export const reasoningSummaryOption = textOption({
	displayName: 'Reasoning Summary',
	name: 'reasoningSummary',
	type: 'options',
	options: [
		{ name: 'Automatic', value: 'auto' },
		{ name: 'Concise', value: 'concise' },
		{ name: 'Detailed', value: 'detailed' },
	],
	default: 'auto',
	description: 'Whether and how the model sums up what it thought',
});

export const serviceTierOption = textOption({
	displayName: 'Service Tier',
	name: 'serviceTier',
	type: 'options',
	options: [
		{ name: 'Automatic', value: 'auto' },
		{ name: 'Default', value: 'default' },
		{ name: 'Flex', value: 'flex' },
		{ name: 'Priority', value: 'priority' },
	],
	default: 'auto',
	description: 'How urgently the request is worked on, and priced',
});

export const storeOption: INodeProperties = {
	displayName: 'Store',
	name: 'store',
	type: 'boolean',
	default: false,
	description: 'Whether the gateway keeps the response. Sent only when this option is added.',
};

export const temperatureOption: INodeProperties = {
	displayName: 'Temperature',
	name: 'temperature',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 2, numberPrecision: 2 },
	default: 1,
	description: 'How freely the model chooses its words: 0 is strict, higher is freer',
};

export const topPOption: INodeProperties = {
	displayName: 'Top P',
	name: 'topP',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 1, numberPrecision: 2 },
	default: 1,
	description: 'How many of the likeliest words are considered, from 0 to 1',
};

/**
 * The body fields of the options above (and of Reasoning Summary, where a node has it) that were
 * set, under the gateway's names.
 * @throws {ValidationError} names the option
 */
export function readModelFields(options: IDataObject): Record<string, unknown> {
	const reasoning = omitUndefined({
		effort: reasoningEffortOption.read(options),
		summary: reasoningSummaryOption.read(options),
	});
	return omitUndefined({
		max_output_tokens: optionalNumber(options.maxOutputTokens, {
			field: 'Max Output Tokens',
			min: 1,
			whole: true,
		}),
		reasoning: Object.keys(reasoning).length > 0 ? reasoning : undefined,
		service_tier: serviceTierOption.read(options),
		store: options.store,
		temperature: optionalNumber(options.temperature, { field: 'Temperature', min: 0 }),
		top_p: optionalNumber(options.topP, { field: 'Top P', min: 0 }),
	});
}

export const responseTimeoutOption = timeoutOption(
	300,
	'How long to wait for the answer to one request',
);

export const idleTimeoutOption = secondsOption({
	displayName: 'Idle Timeout (Seconds)',
	name: 'idleTimeout',
	default: 60,
	description: 'How long a stream may be silent before it is given up',
});

/** What bounds requests for responses; an answer has as long as one request. */
export function readResponseBounds(options: IDataObject): RequestBounds {
	const timeoutMs = responseTimeoutOption.read(options);
	return { timeoutMs, totalMs: timeoutMs, maxRetries: maxRetriesOption.read(options) };
}
