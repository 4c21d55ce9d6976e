import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { parseToolChoice } from '../../../shared/api/responses/tool-choice';
import { ValidationError } from '../../../shared/api/errors/errors';
import type { ItemScope } from '../../../shared/n8n/runner/operation';
import { defineOption, textOption, type Option } from '../../../shared/n8n/fields/define-option';
import { extraBodyOption } from '../../../shared/n8n/fields/options';
import {
	jsonListParameter,
	jsonObjectParameter,
	jsonParameter,
	omitUndefined,
	withExtraBody,
} from '../../../shared/n8n/fields/parameters';
import {
	maxOutputTokensOption,
	readModelFields,
	reasoningEffortOption,
	reasoningSummaryOption,
	serviceTierOption,
	storeOption,
	temperatureOption,
	topPOption,
} from '../../../shared/n8n/fields/response-options';
import { textListParameter, textParameter } from '../../../shared/n8n/fields/text';

const formatTypeField = {
	displayName: 'Type',
	name: 'type',
	type: 'options',
	options: [
		{ name: 'JSON Object', value: 'json_object', description: 'Any JSON object' },
		{
			name: 'JSON Schema',
			value: 'json_schema',
			description: 'JSON that fits a schema',
		},
		{ name: 'Text', value: 'text' },
	],
	default: 'json_schema',
	description: 'What the answer should be',
} satisfies INodeProperties;

const schemaNameField = {
	displayName: 'Schema Name',
	name: 'name',
	type: 'string',
	default: 'answer',
	description: 'Letters, digits, hyphens and underscores',
	displayOptions: { show: { type: ['json_schema'] } },
} satisfies INodeProperties;

const strictField = {
	displayName: 'Strict',
	name: 'strict',
	type: 'boolean',
	default: true,
	description: 'Whether the model has to keep to the schema exactly',
	displayOptions: { show: { type: ['json_schema'] } },
} satisfies INodeProperties;

const include = defineOption(
	{
		displayName: 'Include',
		name: 'include',
		type: 'string',
		default: '',
		placeholder: 'e.g. reasoning.encrypted_content',
		description: 'Additional parts to put into the answer; separate several by commas',
	},
	readList,
);

/** A field of its own, not an option. */
export const instructions = textOption({
	displayName: 'Instructions',
	name: 'instructions',
	type: 'string',
	typeOptions: { rows: 3 },
	default: '',
	placeholder: 'e.g. Answer in French',
	description:
		'How the model should behave. Without it many gateways add instructions of their own, which may cost thousands of tokens a call.',
});

const previousResponseId = textOption({
	displayName: 'Previous Response ID',
	name: 'previousResponseId',
	type: 'string',
	default: '',
	placeholder: 'e.g. resp_68af4030592c81938ec0a5fbab4a3e9f',
	description:
		'A stored response that this one goes on from. Many gateways refuse or drop it: then send the conversation as messages.',
});

const truncation = textOption({
	displayName: 'Truncation',
	name: 'truncation',
	type: 'options',
	options: [
		{ name: 'Automatic', value: 'auto', description: 'Leave out the middle' },
		{ name: 'Disabled', value: 'disabled', description: 'Fail' },
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
			'Whether tools are called: auto, none, required, the name of a function, or a JSON object',
	},
	readToolChoice,
);

const extraBody = extraBodyOption('{ "user": "42" }');

/** The options that become fields of the request's body. */
export const requestBodyOptions: Array<INodeProperties | Option<unknown>> = [
	include,
	maxOutputTokensOption,
	{
		displayName: 'Metadata (JSON)',
		name: 'metadata',
		type: 'json',
		default: '{}',
		placeholder: '{ "customer": "42" }',
		description: 'Names and values that the gateway keeps with the response',
	},
	{
		displayName: 'Output Format',
		name: 'outputFormat',
		type: 'fixedCollection',
		default: { format: { type: 'json_schema' } },
		placeholder: 'Set format',
		description: 'The form of the answer. JSON arrives parsed, in the field parsed.',
		options: [
			{
				displayName: 'Format',
				name: 'format',
				values: [
					formatTypeField,
					schemaNameField,
					{
						displayName: 'Schema (JSON)',
						name: 'schema',
						type: 'json',
						typeOptions: { rows: 8 },
						default:
							'{\n  "type": "object",\n  "properties": {\n    "category": { "type": "string", "enum": ["bug", "wish", "praise"] }\n  },\n  "required": ["category"],\n  "additionalProperties": false\n}',
						description: 'A JSON Schema that describes the answer',
						displayOptions: { show: { type: ['json_schema'] } },
					},
					strictField,
				],
			},
		],
	},
	{
		displayName: 'Parallel Tool Calls',
		name: 'parallelToolCalls',
		type: 'boolean',
		default: true,
		description: 'Whether the model may call several tools at once',
	},
	previousResponseId,
	reasoningEffortOption,
	reasoningSummaryOption,
	serviceTierOption,
	storeOption,
	temperatureOption,
	toolChoice,
	{
		displayName: 'Tools (JSON)',
		name: 'tools',
		type: 'json',
		typeOptions: { rows: 6 },
		default: '[]',
		placeholder: '[{ "type": "web_search" }]',
		description: 'A list of tools that the model may use. Support depends on the model.',
	},
	topPOption,
	truncation,
	extraBody,
];

/**
 * The body fields that were set, each under the gateway's name, and the extra body last.
 * @throws {ValidationError} names the option
 */
export function readBodyFields({ options, parameter }: ItemScope): Record<string, unknown> {
	return withExtraBody(
		omitUndefined({
			...readModelFields(options),
			include: include.read(options),
			instructions: instructions.read({ instructions: parameter('instructions') as string }),
			metadata: unlessEmpty(jsonObjectParameter(options.metadata, 'Metadata')),
			parallel_tool_calls: options.parallelToolCalls,
			previous_response_id: previousResponseId.read(options),
			text: outputFormat(options.outputFormat),
			tool_choice: toolChoice.read(options),
			tools: jsonListParameter(options.tools, 'Tools'),
			truncation: truncation.read(options),
		}),
		extraBody.read(options),
	);
}

function unlessEmpty(fields: Record<string, unknown>): Record<string, unknown> | undefined {
	return Object.keys(fields).length > 0 ? fields : undefined;
}

function readList(value: unknown, field: string): string[] | undefined {
	const texts = textListParameter(value, field) ?? '';
	const list = (Array.isArray(texts) ? texts : texts.split(','))
		.map((part) => part.trim())
		.filter((part) => part !== '');
	return list.length > 0 ? list : undefined;
}

/** `text.format`; the schema is checked here, since the gateway's own message would be far away. */
function outputFormat(value: unknown): Record<string, unknown> | undefined {
	const format = (value as { format?: IDataObject } | undefined)?.format;
	if (!format) return undefined;
	const { strict = strictField.default, schema } = format;
	const type = textParameter(format.type, 'Output Format: Type') ?? formatTypeField.default;
	const name = textParameter(format.name, 'Schema Name') ?? schemaNameField.default;
	if (type !== 'json_schema') return { format: { type } };
	if (!/^[\w-]{1,64}$/.test(name)) {
		throw new ValidationError(
			'Schema Name',
			'is not a name',
			'Use letters, digits, hyphens and underscores, 64 at most.',
		);
	}
	const parsed = jsonObjectParameter(schema, 'Schema');
	if (Object.keys(parsed).length === 0) {
		throw new ValidationError(
			'Schema',
			'is empty',
			'Enter a JSON Schema that describes the answer.',
		);
	}
	return { format: { type, name, schema: parsed, strict } };
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
