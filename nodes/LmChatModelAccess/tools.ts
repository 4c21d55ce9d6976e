import type { ZodSchema } from 'zod';
import { zodToJsonSchema } from 'zod-to-json-schema';
import { parseToolChoice } from '../shared/api/responses/tool-choice';
import { ValidationError } from '../shared/api/errors/errors';
import type { Tool } from './sdk';
import { fromZod4 } from './zod4';

export type FunctionTool = Extract<Tool, { type: 'function' }>;

/**
 * Makes the `tools` of a request. A function is not strict unless it says so. The schemas of n8n's
 * tools have optional properties, which strict ones may not.
 * @throws {ValidationError} the parameters of a tool are in an unknown form
 * @see contract, "Response request" (`tools`)
 */
export function toRequestTools(tools: Tool[]): Array<Record<string, unknown>> {
	return tools.map((tool) => {
		if (tool.type === 'provider') return { type: tool.name, ...tool.args };
		const { name, description, strict = false } = tool;
		return {
			type: 'function',
			name,
			...(description !== undefined && { description }),
			parameters: toParameters(tool.inputSchema, `Tool "${name}"`),
			strict,
		};
	});
}

/**
 * Makes the JSON Schema of an object, which each function needs for its parameters, even if it has
 * none.
 * @param schema JSON Schema, or a schema of any copy of zod: n8n's own tools and its kit for AI nodes
 * do not always share one
 * @param field the schema's name in an error
 * @throws {ValidationError} it is neither
 */
export function toParameters(schema: unknown, field: string): Record<string, unknown> {
	const { properties = {}, ...rest } = toJsonSchema(schema, field);
	if (rest.type !== undefined && rest.type !== 'object') {
		throw new ValidationError(
			field,
			'has parameters that are not an object',
			'A function takes an object. Describe one, with the value in a field of it.',
		);
	}
	return { ...rest, type: 'object', properties };
}

/**
 * Makes the JSON Schema of an answer, which may be a list or a union.
 * @param schema as for `toParameters`
 * @throws {ValidationError} it is neither JSON Schema nor a schema of zod
 */
export function toOutputSchema(schema: unknown, field: string): Record<string, unknown> {
	const json = toJsonSchema(schema, field);
	return SAYS_KIND.some((name) => name in json)
		? json
		: { type: 'object', properties: {}, ...json };
}

/** What says which values fit; a schema with none of it is that of an object. */
const SAYS_KIND = ['type', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', '$ref'];

function toJsonSchema(schema: unknown, field: string): Record<string, unknown> {
	if (typeof schema !== 'object' || schema === null) return {};
	const { _def: definition } = schema as { _def?: { typeName?: unknown } };
	const json = isZod4(schema) ? readZod4(schema) : readZod3(schema, definition?.typeName);
	if (json) return withoutDialect(json);
	throw new ValidationError(
		field,
		'describes its parameters in an unknown form',
		'Describe them with JSON Schema, or update the Model Access nodes.',
	);
}

function withoutDialect(json: Record<string, unknown>): Record<string, unknown> {
	return Object.fromEntries(Object.entries(json).filter(([name]) => name !== '$schema'));
}

const isZod4 = (schema: object) => '_zod' in schema || 'toJSONSchema' in schema;

function readZod4(schema: object): Record<string, unknown> | undefined {
	if ('toJSONSchema' in schema && typeof schema.toJSONSchema === 'function') {
		return (schema as { toJSONSchema: () => Record<string, unknown> }).toJSONSchema();
	}
	return fromZod4(schema);
}

function readZod3(schema: object, typeName: unknown): Record<string, unknown> | undefined {
	if (typeName !== undefined) {
		return { ...zodToJsonSchema(schema as ZodSchema, { $refStrategy: 'none' }) };
	}
	return '_def' in schema ? undefined : (schema as Record<string, unknown>);
}

/**
 * Makes the `tool_choice` of a request.
 * @param choice in any of LangChain's forms: a mode, the name of a function, an object
 * @see contract, "Response request"
 */
export function toToolChoice(choice: unknown): unknown {
	if (choice === undefined || choice === null || choice === '') return undefined;
	if (choice === 'any' || choice === true) return 'required';
	if (typeof choice === 'string') return parseToolChoice(choice);
	const { type, function: called } = choice as { type?: unknown; function?: { name?: unknown } };
	return type === 'function' && called ? { type, name: called.name } : choice;
}
