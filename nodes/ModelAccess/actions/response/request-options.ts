import type { INodeProperties } from 'n8n-workflow';
import { parseToolChoice } from '../../../shared/api/responses/tool-choice';
import type { ItemScope } from '../../../shared/n8n/runner/operation';
import { defineOption, textOption } from '../../../shared/n8n/fields/define-option';
import { extraBodyOption, type Listed } from '../../../shared/n8n/fields/options';
import {
	optionalBoolean,
	jsonListParameter,
	jsonParameter,
	omitUndefined,
	optionalNumber,
	withExtraBody,
} from '../../../shared/n8n/fields/parameters';
import { readBuiltInTools } from '../../../shared/n8n/fields/built-in-tools';
import { formatOption } from '../../../shared/n8n/fields/output-format';
import { promptConfigField, readPromptConfig } from './prompt-config';
import { readModelFields } from '../../../shared/n8n/fields/response-options';
import { textParameter } from '../../../shared/n8n/fields/text';

/** A field of its own, not an option. */
export const instructions = textOption({
	displayName: 'Instructions',
	name: 'instructions',
	type: 'string',
	typeOptions: { rows: 3 },
	default: '',
	placeholder: 'e.g. Answer in French',
	description:
		'How the model should behave. If it is empty, many gateways add instructions of their own, which cost thousands of tokens a call.',
});

const conversationId = textOption({
	displayName: 'Conversation ID',
	name: 'conversationId',
	type: 'string',
	default: '',
	placeholder: 'e.g. conv_68af4030592c81938ec0a5fbab4a3e9f',
	description: 'The ID of a conversation that the gateway stores and this response belongs to',
});

const maxToolCallsOption = defineOption(
	{
		displayName: 'Max Built-in Tool Calls',
		name: 'maxToolCalls',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 15,
		description: 'How often the model may use built-in tools for one answer',
	},
	(value, field) => optionalNumber(value, { field, min: 1, whole: true }),
);

const topLogprobs = defineOption(
	{
		displayName: 'Top Logprobs',
		name: 'topLogprobs',
		type: 'number',
		typeOptions: { minValue: 0, maxValue: 20 },
		default: 0,
		description:
			'How many of the likeliest tokens to list at each position. Add message.output_text.logprobs to Include as well.',
	},
	(value, field) => optionalNumber(value, { field, min: 0, whole: true }),
);

const outputFormatOption = formatOption(
	'Output Format',
	'outputFormat',
	'The form of the answer. The output holds the JSON in the field parsed.',
);

const previousResponseId = textOption({
	displayName: 'Previous Response ID',
	name: 'previousResponseId',
	type: 'string',
	default: '',
	placeholder: 'e.g. resp_68af4030592c81938ec0a5fbab4a3e9f',
	description:
		'The ID of a stored response that this one continues. Many gateways refuse or drop it: send the conversation as messages instead.',
});

const truncation = textOption({
	displayName: 'Truncation',
	name: 'truncation',
	type: 'options',
	options: [
		{
			name: 'Automatic',
			value: 'auto',
			description: 'The gateway leaves out the middle of the input',
		},
		{ name: 'Disabled', value: 'disabled', description: 'The request fails' },
	],
	default: 'disabled',
	description: 'What to do with an input that is too long for the model',
});

const toolChoice = defineOption(
	{
		displayName: 'Tool Choice',
		name: 'toolChoice',
		type: 'string',
		default: 'auto',
		placeholder: 'e.g. required',
		description:
			'Whether the model calls tools: auto, none, required, the name of a function, or a JSON object',
	},
	readToolChoice,
);

const extraBody = extraBodyOption('{ "user": "42" }');

const parallelToolCalls = {
	displayName: 'Parallel Tool Calls',
	name: 'parallelToolCalls',
	type: 'boolean',
	default: true,
	description: 'Whether the model may call several tools at once',
} satisfies INodeProperties;

const tools: INodeProperties = {
	displayName: 'Tools (JSON)',
	name: 'tools',
	type: 'json',
	typeOptions: { rows: 6 },
	default: '[]',
	placeholder: '[{ "type": "web_search" }]',
	description: 'A list of tools that the model may use. Support depends on the model.',
};

/** The options of its own that become fields of the request's body. */
export const bodyOptions: Listed[] = [
	conversationId,
	maxToolCallsOption,
	outputFormatOption,
	parallelToolCalls,
	previousResponseId,
	promptConfigField,
	toolChoice,
	tools,
	topLogprobs,
];

/** The same of the advanced options. */
export const advancedBodyOptions: Listed[] = [extraBody, truncation];

/**
 * The body fields that were set, each under the gateway's name, and the extra body last.
 * @throws {ValidationError} names the option
 */
export function readBodyFields({ options, parameter }: ItemScope): Record<string, unknown> {
	const builtIn = readBuiltInTools(parameter('builtInTools')) ?? [];
	const allTools = [...builtIn, ...(jsonListParameter(options.tools, 'Tools') ?? [])];
	return withExtraBody(
		omitUndefined({
			...readModelFields(options, outputFormatOption.read(options)),
			conversation: conversationId.read(options),
			instructions: instructions.read({ instructions: parameter('instructions') as string }),
			max_tool_calls: maxToolCallsOption.read(options),
			parallel_tool_calls: optionalBoolean(
				options.parallelToolCalls,
				parallelToolCalls.displayName,
			),
			previous_response_id: previousResponseId.read(options),
			prompt: readPromptConfig(options.promptConfig),
			tool_choice: toolChoice.read(options),
			tools: allTools.length > 0 ? allTools : undefined,
			top_logprobs: topLogprobs.read(options),
			truncation: truncation.read(options),
		}),
		extraBody.read(options),
	);
}

function readToolChoice(value: unknown, field: string): unknown {
	if (isObject(value)) return value;
	const text = (textParameter(value, field) ?? '').trim();
	if (text === '') return undefined;
	if (text.startsWith('{')) return jsonParameter(text, field);
	return parseToolChoice(text);
}

const isObject = (value: unknown) =>
	typeof value === 'object' && value !== null && !Array.isArray(value);
