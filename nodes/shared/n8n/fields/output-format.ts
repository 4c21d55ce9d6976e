import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { ValidationError } from '../../api/errors/errors';
import { defineOption, type Option } from './define-option';
import { booleanParameter, jsonObjectParameter } from './parameters';
import { textParameter } from './text';

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
	description: 'Whether the model must follow the schema exactly',
	displayOptions: { show: { type: ['json_schema'] } },
} satisfies INodeProperties;

/**
 * The form of the answer.
 * @param displayName what the option is called
 * @param description what comes of it
 */
export function formatOption(
	displayName: string,
	name: string,
	description: string,
): Option<Record<string, unknown> | undefined> {
	const field: INodeProperties = {
		displayName,
		name,
		type: 'fixedCollection',
		default: { format: { type: 'json_schema' } },
		placeholder: 'Set format',
		description,
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
	};
	return defineOption(field, readFormat);
}

/** `text.format`; the schema is checked here, since the gateway's own message would be far away. */
function readFormat(value: unknown, label: string): Record<string, unknown> | undefined {
	const format = (value as { format?: IDataObject } | undefined)?.format;
	if (!format) return undefined;
	const { schema } = format;
	const type = textParameter(format.type, `${label}: Type`) ?? formatTypeField.default;
	const name = textParameter(format.name, 'Schema Name') ?? schemaNameField.default;
	if (type !== 'json_schema') return { type };
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
	return { type, name, schema: parsed, strict: booleanParameter(format.strict, strictField) };
}
