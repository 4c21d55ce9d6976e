import type { ZodSchema } from 'zod';
import { zodToJsonSchema } from 'zod-to-json-schema';
import { InputError } from '../shared/api/errors/errors';
import type { Tool } from './sdk';

export type FunctionTool = Extract<Tool, { type: 'function' }>;

/**
 * Tools as the Responses API takes them. A function is not strict unless it says so: the schemas of
 * n8n's tools have optional properties, which strict ones may not.
 * @throws {InputError} a tool tells its parameters in a way that is not known here
 */
export function toolsOf(tools: Tool[]): Array<Record<string, unknown>> {
	return tools.map((tool) => {
		if (tool.type === 'provider') return { type: tool.name, ...tool.args };
		const { name, description, strict = false } = tool;
		return {
			type: 'function',
			name,
			...(description !== undefined && { description }),
			parameters: parametersOf(tool.inputSchema, `Tool "${name}"`),
			strict,
		};
	});
}

/**
 * A schema as JSON Schema of an object, as functions have to have one for their parameters, even an
 * empty one.
 * @param schema JSON Schema, or zod's, of whichever copy of zod: n8n's own tools and its kit for AI
 * nodes do not always share one
 * @param field what an error calls it
 * @throws {InputError} it is neither
 */
export function parametersOf(schema: unknown, field: string): Record<string, unknown> {
	const { properties = {}, ...rest } = jsonSchemaOf(schema, field);
	const parameters: Record<string, unknown> = { ...rest, type: 'object', properties };
	delete parameters.$schema;
	return parameters;
}

function jsonSchemaOf(schema: unknown, field: string): Record<string, unknown> {
	if (typeof schema !== 'object' || schema === null) return {};
	if ('toJSONSchema' in schema && typeof schema.toJSONSchema === 'function') {
		return schema.toJSONSchema() as Record<string, unknown>;
	}
	const { _def: definition } = schema as { _def?: { typeName?: unknown } };
	if (definition?.typeName !== undefined) {
		return { ...zodToJsonSchema(schema as ZodSchema, { $refStrategy: 'none' }) };
	}
	if (definition === undefined && !('_zod' in schema)) return schema as Record<string, unknown>;
	throw new InputError(
		field,
		'describes its parameters in a way that is not known here',
		'Describe them by JSON Schema, or update the Model Access nodes.',
	);
}

/**
 * `tool_choice` as the Responses API takes it.
 * @param choice in any of the forms that LangChain knows: a word, the name of a function, an object
 */
export function toolChoiceOf(choice: unknown): unknown {
	if (choice === undefined || choice === null || choice === '') return undefined;
	if (choice === 'any' || choice === true) return 'required';
	if (typeof choice === 'string') {
		return ['auto', 'none', 'required'].includes(choice)
			? choice
			: { type: 'function', name: choice };
	}
	const { type, function: called } = choice as { type?: unknown; function?: { name?: unknown } };
	return type === 'function' && called ? { type, name: called.name } : choice;
}
