import type { IDataObject, INodeProperties } from 'n8n-workflow';
import type { RequestBounds } from '../http/client';
import { defineOption, secondsOption, textOption } from './define-option';
import { maxRetriesOption, timeoutOption, type Listed } from './options';
import { optionalBoolean, jsonObjectParameter, omitUndefined, optionalNumber } from './parameters';
import { textList } from './text';

const maxOutputTokensOption: INodeProperties = {
	displayName: 'Max Output Tokens',
	name: 'maxOutputTokens',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 1024,
	description: 'How many tokens the answer may have at most. Reasoning counts as well.',
};

const reasoningEffortOption = textOption({
	displayName: 'Reasoning Effort',
	name: 'reasoningEffort',
	type: 'options',
	options: [
		{ name: 'High', value: 'high' },
		{ name: 'Low', value: 'low' },
		{ name: 'Medium', value: 'medium' },
		{ name: 'Minimal', value: 'minimal' },
		{ name: 'None', value: 'none' },
		{ name: 'X-High', value: 'xhigh' },
	],
	default: 'medium',
	description: 'How much the model reasons before it answers. Support depends on the model.',
});

const reasoningSummaryOption = textOption({
	displayName: 'Reasoning Summary',
	name: 'reasoningSummary',
	type: 'options',
	options: [
		{ name: 'Automatic', value: 'auto' },
		{ name: 'Concise', value: 'concise' },
		{ name: 'Detailed', value: 'detailed' },
	],
	default: 'auto',
	description: 'How the model sums up its reasoning',
});

const serviceTierOption = textOption({
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
	description: 'How fast the gateway works on the request, and at what price',
});

const storeOption = {
	displayName: 'Store',
	name: 'store',
	type: 'boolean',
	default: false,
	description:
		'Whether the gateway keeps the response. The node sends this only if you add the option.',
} satisfies INodeProperties;

const temperatureOption: INodeProperties = {
	displayName: 'Temperature',
	name: 'temperature',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 2, numberPrecision: 2 },
	default: 1,
	description: 'How freely the model chooses its words: 0 is strict, higher is freer',
};

const topPOption: INodeProperties = {
	displayName: 'Top P',
	name: 'topP',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 1, numberPrecision: 2 },
	default: 1,
	description: 'How many of the likeliest words the model considers, from 0 to 1',
};

const promptCacheKeyOption = textOption({
	displayName: 'Prompt Cache Key',
	name: 'promptCacheKey',
	type: 'string',
	default: '',
	placeholder: 'e.g. support-bot',
	description: 'Requests with the same key share a cache: a repeated beginning then costs less',
});

const safetyIdentifierOption = textOption({
	displayName: 'Safety Identifier',
	name: 'safetyIdentifier',
	type: 'string',
	default: '',
	placeholder: 'e.g. a hash of the user’s ID',
	description:
		'An ID of your user, by which the provider tells users apart when it looks for abuse',
});

const verbosityOption = textOption({
	displayName: 'Verbosity',
	name: 'verbosity',
	type: 'options',
	options: [
		{ name: 'High', value: 'high' },
		{ name: 'Low', value: 'low' },
		{ name: 'Medium', value: 'medium' },
	],
	default: 'medium',
	description: 'How much the model says. Support depends on the model.',
});

const includeOption = defineOption(
	{
		displayName: 'Include',
		name: 'include',
		type: 'string',
		default: '',
		placeholder: 'e.g. reasoning.encrypted_content',
		description: 'Parts to add to the answer; separate several by commas',
	},
	textList,
);

const metadataOption = defineOption(
	{
		displayName: 'Metadata (JSON)',
		name: 'metadata',
		type: 'json',
		default: '{}',
		placeholder: '{ "customer": "42" }',
		description: 'Names and values that the gateway keeps with the response',
	},
	(value, label) => unlessEmpty(jsonObjectParameter(value, label)),
);

function unlessEmpty(fields: Record<string, unknown>): Record<string, unknown> | undefined {
	return Object.keys(fields).length > 0 ? fields : undefined;
}

/**
 * The body fields of the options above that were set, under the gateway's names.
 * @param format `text.format`, where the answer is to have a form
 * @throws {ValidationError} names the option
 */
export function readModelFields(
	options: IDataObject,
	format: Record<string, unknown> | undefined,
): Record<string, unknown> {
	const reasoning = omitUndefined({
		effort: reasoningEffortOption.read(options),
		summary: reasoningSummaryOption.read(options),
	});
	return omitUndefined({
		include: includeOption.read(options),
		max_output_tokens: optionalNumber(options.maxOutputTokens, {
			field: 'Max Output Tokens',
			min: 1,
			whole: true,
		}),
		metadata: metadataOption.read(options),
		prompt_cache_key: promptCacheKeyOption.read(options),
		reasoning: unlessEmpty(reasoning),
		safety_identifier: safetyIdentifierOption.read(options),
		service_tier: serviceTierOption.read(options),
		store: optionalBoolean(options.store, storeOption.displayName),
		text: unlessEmpty(omitUndefined({ format, verbosity: verbosityOption.read(options) })),
		temperature: optionalNumber(options.temperature, { field: 'Temperature', min: 0 }),
		top_p: optionalNumber(options.topP, { field: 'Top P', min: 0 }),
	});
}

const responseTimeoutOption = timeoutOption(300, 'How long to wait for an answer');

export const idleTimeoutOption = secondsOption({
	displayName: 'Idle Timeout (Seconds)',
	name: 'idleTimeout',
	default: 60,
	description: 'How long to wait for the next part of a stream',
});

/** The options of everything that asks for an answer. */
export const answerOptions: Listed[] = [
	maxOutputTokensOption,
	reasoningEffortOption,
	reasoningSummaryOption,
	temperatureOption,
	topPOption,
	verbosityOption,
];

/** The advanced options of everything that asks for an answer. */
export const carriageOptions: Listed[] = [
	includeOption,
	maxRetriesOption,
	metadataOption,
	promptCacheKeyOption,
	responseTimeoutOption,
	safetyIdentifierOption,
	serviceTierOption,
	storeOption,
];

/** What bounds requests for responses; an answer has as long as one request. */
export function readResponseBounds(options: IDataObject): RequestBounds {
	const timeoutMs = responseTimeoutOption.read(options);
	return { timeoutMs, totalMs: timeoutMs, maxRetries: maxRetriesOption.read(options) };
}
