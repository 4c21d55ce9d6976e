import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { InputError } from '../../../shared/client/errors';
import type { ItemScope } from '../../../shared/n8n/items';
import { extraBodyOption } from '../../../shared/n8n/option-fields';
import {
	jsonListParameter,
	jsonObjectParameter,
	jsonParameter,
	onlySet,
	optionalNumber,
	withExtraBody,
} from '../../../shared/n8n/parameters';

/** The options that become fields of the request's body. */
export const requestBodyOptions: INodeProperties[] = [
	{
		displayName: 'Include',
		name: 'include',
		type: 'string',
		default: '',
		placeholder: 'e.g. reasoning.encrypted_content',
		description: 'Additional parts to put into the answer; separate several by commas',
	},
	{
		displayName: 'Instructions',
		name: 'instructions',
		type: 'string',
		typeOptions: { rows: 3 },
		default: '',
		placeholder: 'e.g. Answer in French',
		description: 'How the model should behave, apart from the prompt',
	},
	{
		displayName: 'Max Output Tokens',
		name: 'maxOutputTokens',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 1024,
		description: 'How long the answer may become. Thinking counts as well.',
	},
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
					{
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
					},
					{
						displayName: 'Schema Name',
						name: 'name',
						type: 'string',
						default: 'answer',
						description: 'Letters, digits, hyphens and underscores',
						displayOptions: { show: { type: ['json_schema'] } },
					},
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
					{
						displayName: 'Strict',
						name: 'strict',
						type: 'boolean',
						default: true,
						description: 'Whether the model has to keep to the schema exactly',
						displayOptions: { show: { type: ['json_schema'] } },
					},
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
	{
		displayName: 'Previous Response ID',
		name: 'previousResponseId',
		type: 'string',
		default: '',
		placeholder: 'e.g. resp_68af4030592c81938ec0a5fbab4a3e9f',
		description: 'A stored response that this one goes on from',
	},
	{
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
	},
	{
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
	},
	{
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
	},
	{
		displayName: 'Store',
		name: 'store',
		type: 'boolean',
		default: false,
		description: 'Whether the gateway keeps the response. Sent only when this option is added.',
	},
	{
		displayName: 'Temperature',
		name: 'temperature',
		type: 'number',
		typeOptions: { minValue: 0, maxValue: 2, numberPrecision: 2 },
		default: 1,
		description: 'How freely the model chooses its words: 0 is strict, higher is freer',
	},
	{
		displayName: 'Tool Choice',
		name: 'toolChoice',
		type: 'string',
		default: 'auto',
		placeholder: 'e.g. required',
		description:
			'Whether tools are called: auto, none, required, the name of a function, or a JSON object',
	},
	{
		displayName: 'Tools (JSON)',
		name: 'tools',
		type: 'json',
		typeOptions: { rows: 6 },
		default: '[]',
		placeholder: '[{ "type": "web_search" }]',
		description: 'A list of tools that the model may use. Support depends on the model.',
	},
	{
		displayName: 'Top P',
		name: 'topP',
		type: 'number',
		typeOptions: { minValue: 0, maxValue: 1, numberPrecision: 2 },
		default: 1,
		description: 'How many of the likeliest words are considered, from 0 to 1',
	},
	{
		displayName: 'Truncation',
		name: 'truncation',
		type: 'options',
		options: [
			{ name: 'Automatic', value: 'auto', description: 'Leave out the middle' },
			{ name: 'Disabled', value: 'disabled', description: 'Fail' },
		],
		default: 'disabled',
		description: 'What to do with an input that is too long for the model',
	},
	extraBodyOption('{ "user": "42" }'),
];

/**
 * The body fields that were set, each under the gateway's name, and the extra body last.
 * @throws {InputError} names the option
 */
export function bodyFieldsOf({ options }: ItemScope): Record<string, unknown> {
	const { reasoningEffort, reasoningSummary } = options;
	return withExtraBody(
		onlySet({
			include: listOf(options.include),
			instructions: options.instructions,
			max_output_tokens: optionalNumber(options.maxOutputTokens, {
				field: 'Max Output Tokens',
				min: 1,
				whole: true,
			}),
			metadata: unlessEmpty(jsonObjectParameter(options.metadata, 'Metadata')),
			parallel_tool_calls: options.parallelToolCalls,
			previous_response_id: options.previousResponseId,
			reasoning: unlessEmpty(onlySet({ effort: reasoningEffort, summary: reasoningSummary })),
			service_tier: options.serviceTier,
			store: options.store,
			temperature: optionalNumber(options.temperature, { field: 'Temperature', min: 0 }),
			text: outputFormat(options.outputFormat),
			tool_choice: toolChoice(options.toolChoice),
			tools: jsonListParameter(options.tools, 'Tools'),
			top_p: optionalNumber(options.topP, { field: 'Top P', min: 0 }),
			truncation: options.truncation,
		}),
		jsonObjectParameter(options.extraBody, 'Extra Body'),
	);
}

function unlessEmpty(fields: Record<string, unknown>): Record<string, unknown> | undefined {
	return Object.keys(fields).length > 0 ? fields : undefined;
}

function listOf(value: unknown): unknown[] | undefined {
	const list = Array.isArray(value)
		? (value as unknown[])
		: String(value ?? '')
				.split(',')
				.map((part) => part.trim())
				.filter((part) => part !== '');
	return list.length > 0 ? list : undefined;
}

/** `text.format`; the schema is checked here, since the gateway's own message would be far away. */
function outputFormat(value: unknown): Record<string, unknown> | undefined {
	const format = (value as { format?: IDataObject } | undefined)?.format;
	if (!format) return undefined;
	const { type = 'json_schema', name = 'answer', schema, strict = true } = format;
	if (type !== 'json_schema') return { format: { type } };
	if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name)) {
		throw new InputError(
			'Schema Name',
			'is not a name',
			'Use letters, digits, hyphens and underscores, 64 at most.',
		);
	}
	const parsed = jsonObjectParameter(schema, 'Schema');
	if (Object.keys(parsed).length === 0) {
		throw new InputError('Schema', 'is empty', 'Enter a JSON Schema that describes the answer.');
	}
	return { format: { type, name, schema: parsed, strict } };
}

function toolChoice(value: unknown): unknown {
	if (typeof value !== 'string') return value ?? undefined;
	const text = value.trim();
	if (text === '') return undefined;
	if (text.startsWith('{')) return jsonParameter(text, 'Tool Choice');
	if (['auto', 'none', 'required'].includes(text)) return text;
	return { type: 'function', name: text };
}
